/*
 * Running a command whose JVM counts all objects that it creates (core/agent/count_objects.h).
 */
#ifndef CORE_RECORDER_OBJECTS_RUN_H
#define CORE_RECORDER_OBJECTS_RUN_H

#include "core/base/err.h"

/*
 * Run it to its end; what it prints goes to the standard error.
 *
 * agent  the agent's library
 * path   of an empty file, for the counts
 * flags  of the JVM, or NULL: as launch_fork has them
 *
 * *status: the command's, as a shell tells it.  Returns 0, or -1 with *err set: it could not be run.
 */
int objects_run(char *const *argv, const char *agent, const char *path, const char *const *flags, int *status,
                struct err *err);

#endif
