/*
 * Running a command whose JVM counts all objects that it creates (core/agent/lab/count_objects.h), receivers of calls
 * (count_receivers.h), or calls by their stacks (count_calls.h).
 */
#ifndef CORE_EMU_RUN_COUNTED_RUN_H
#define CORE_EMU_RUN_COUNTED_RUN_H

#include "core/base/err.h"

#include <stdint.h>

enum counted_kind { COUNT_OBJECTS, COUNT_RECEIVERS, COUNT_CALLS };

struct counted_run_plan {
    char *const *argv;        /* the command */
    const char *agent;        /* the agent's library */
    const char *path;         /* of an empty file, for the counts */
    const char *const *flags; /* of the JVM, or NULL: as launch_fork has them */
    enum counted_kind what;
    uint32_t number;    /* of calls, one in so many is counted; of objects with a method, in which of its calls */
    const char *method; /* objects only in a call of it (core/agent/lab/count_window.h); NULL: all */
};

/*
 * Run it to its end; what it prints goes to the standard error.  *status: the command's, as a shell tells it.
 *
 * Returns 0, or -1 with *err set: it could not be run.
 */
int counted_run(const struct counted_run_plan *plan, int *status, struct err *err);

#endif
