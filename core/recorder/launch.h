/*
 * Starting a command, if wanted so that the first JVM that comes of it loads the agent.
 */
#ifndef CORE_RECORDER_LAUNCH_H
#define CORE_RECORDER_LAUNCH_H

#include "core/base/err.h"

#include <stdbool.h>
#include <sys/types.h>

/* An emulator to run the command in, or the first JVM that comes of it. */
struct launch_emulator {
    const char *path, *plugin; /* and its option -plugin */
    const char *program;       /* of the command, as a file, if that is java itself; else NULL */
};

struct launch {
    pid_t pid;
    int go;     /* write end of the pipe that the child waits on; -1 afterwards */
    int failed; /* read end of the pipe that tells why the command could not be run */
    int turn;   /* read end of the pipe whose byte a JVM takes that goes into the emulator; -1: there is none */
};

/* By its name: a file of another name may start a JVM as its child. */
bool launch_is_java(const char *command);

/*
 * Fork a child that waits for launch_go.  'java' itself gets -agentpath; any other command gets it by way of
 * JAVA_TOOL_OPTIONS.  Returns 0, or -1 with *err set (such as that its options are for a JVM that does not start with
 * an agent); launch_end releases it.
 *
 * agent, options  of -agentpath; agent NULL: the command as it is, without flags
 * flags           of the JVM, in front of its own: up to LAUNCH_FLAGS_MAX, then NULL; or NULL
 * emulator        NULL, or to run it in: java itself at once, of any other command the first JVM
 * (core/agent/lab/emulate.h)
 */
#define LAUNCH_FLAGS_MAX 4
int launch_fork(struct launch *launch, char *const *argv, const char *agent, const char *options,
                const char *const *flags, const struct launch_emulator *emulator, struct err *err);

/* Let it run its command.  Returns 0, or -1 with *err set when it cannot be run. */
int launch_go(struct launch *launch, const char *command, struct err *err);

/* No JVM has gone into the emulator yet, of a command that is not java itself. */
bool launch_is_waiting(const struct launch *launch);

#define LAUNCH_FOREVER (-1)

/*
 * Wait until a child ends, for timeout_ms at most.  A Ctrl-C of the terminal meanwhile is the child's, as in system(3);
 * other signals do what they do.  Returns true, with *status as a shell tells it; false: it goes on.
 */
bool launch_wait(pid_t pid, int timeout_ms, int *status);

/* As a shell tells how a child ended: its exit status, or 128 and the number of the signal that killed it. */
int launch_status(int wait_status);

/*
 * Direct the standard output to the standard error, for a child's output, and back.  Returns what launch_output_back
 * needs, or -1 with *err set.
 */
int launch_output_to_error(struct err *err);
void launch_output_back(int saved);

/* End a child that was not let go; one that was goes on, and no JVM of it can go into the emulator any more. */
void launch_end(struct launch *launch);

#endif
