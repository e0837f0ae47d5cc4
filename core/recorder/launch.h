/* Starting a command, if wanted so that a JVM that comes of it loads the agent; and the processes that it leaves. */
#ifndef CORE_RECORDER_LAUNCH_H
#define CORE_RECORDER_LAUNCH_H

#include "core/base/std.h"
#include "core/base/err.h"

#include <sys/resource.h>

/* An emulator to run the command in, or the first JVM that comes of it. */
struct launch_emulator {
    const char *path, *plugin; /* and its option -plugin */
    const char *program;       /* of the command, as a file, if that is java itself; else NULL */
};

#define LAUNCH_FLAGS_MAX 4

struct launch_plan {
    char *const *argv;                      /* the command; all borrowed */
    const char *agent, *options;            /* of -agentpath; agent NULL: the command as it is, without flags */
    const char *const *flags;               /* of the JVM: up to LAUNCH_FLAGS_MAX, then NULL; or NULL */
    const char *name;                       /* a part of the JVM's command line; NULL: any */
    const struct launch_emulator *emulator; /* NULL, or to run it in */
};

struct launch {
    pid_t pid;
    int go;     /* write end of the pipe that the child waits on; -1 afterwards */
    int failed; /* read end of the pipe that tells why the command could not be run */
    int turn;   /* read end of the pipe whose byte a JVM takes that goes into the emulator; -1: there is none */
    bool is_over;
    int wait_status;     /* of the command, when it is over */
    pid_t watched;       /* the process whose usage is wanted; 0: the command's */
    struct rusage usage; /* of that, if it was ours to wait for */
    bool has_usage;
};

#define LAUNCH_NONE                        \
    {                                      \
        .go = -1, .failed = -1, .turn = -1 \
    }

/*
 * Is the command java itself: a program, and no script of that name?  path: PATH_MAX bytes for where it is found, or
 * NULL.
 */
bool launch_is_java(const char *command, char *path);

/* As execvp finds it.  Returns false when there is none. */
bool launch_find(const char *name, char *path, size_t n);

/*
 * Fork a child that waits for launch_go.  java itself gets its options in front of its own words; of any other command,
 * a JVM that runs a program gets them when its launcher starts (core/jvm/start_java.c).  What the command leaves behind
 * becomes our child (a subreaper's) when its parent ends.
 *
 * Returns 0, or -1 with *err set (such as that its options are for a JVM that does not start with an agent); launch_end
 * releases it.
 */
int launch_fork(struct launch *launch, const struct launch_plan *plan, struct err *err);

/*
 * Take what has ended of it.  Returns whether a process of it is left: the command, or one that it has started and left
 * behind.
 */
bool launch_look(struct launch *launch);

/* Let it run its command.  Returns 0, or -1 with *err set when it cannot be run. */
int launch_go(struct launch *launch, const char *command, struct err *err);

/* No JVM has gone into the emulator yet, of a command that is not java itself. */
bool launch_is_waiting(const struct launch *launch);

/* Wait until the command has ended, and a JVM that it left behind, too.  *status: the command's. */
void launch_wait_for_jvm(struct launch *launch, int *status);

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
