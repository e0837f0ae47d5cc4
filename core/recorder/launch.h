/*
 * Starting a command so that the first JVM that comes of it loads the agent.
 */
#ifndef CORE_RECORDER_LAUNCH_H
#define CORE_RECORDER_LAUNCH_H

#include "core/base/err.h"

#include <sys/types.h>

/* An emulator to run the command in. */
struct launch_emulator {
    const char *path, *plugin, *program; /* the program is the command's first word, as a file */
    int fd, log_fd;                      /* which it inherits */
};

struct launch {
    pid_t pid;
    int go;     /* write end of the pipe that the child waits on; -1 afterwards */
    int failed; /* read end of the pipe that tells why the command could not be run */
};

/*
 * Fork a child that waits for launch_go.  'java' itself gets -agentpath; any other command gets it by way of
 * JAVA_TOOL_OPTIONS.  Returns 0, or -1 with *err set.
 *
 * agent, options  of -agentpath
 * flags           of the JVM, in front of its own: up to LAUNCH_FLAGS_MAX, then NULL; or NULL
 * emulator        NULL, or to run it in
 */
#define LAUNCH_FLAGS_MAX 4
int launch_fork(struct launch *launch, char *const *argv, const char *agent, const char *options,
                const char *const *flags, const struct launch_emulator *emulator, struct err *err);

/* Let it run its command.  Returns 0, or -1 with *err set when it cannot be run. */
int launch_go(struct launch *launch, const char *command, struct err *err);

/* End a child that was not let go. */
void launch_cancel(struct launch *launch);

#endif
