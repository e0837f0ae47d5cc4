/* What the commands that measure a program have in common: its JVM, which runs, or the command that starts one. */
#ifndef CMD_TARGET_ARGUMENT_H
#define CMD_TARGET_ARGUMENT_H

#include "cmd/commands.h"

struct target_argument {
    const char *name;     /* of -p, or the word that stands there; NULL: none; borrowed */
    char *const *command; /* or NULL; borrowed */
    const char *among;    /* of --name: a part of the command line of the JVM that is meant; NULL: any; borrowed */
    pid_t pid;            /* target_argument_find: of the JVM that is meant; 0: a command */
    uint64_t start_ticks; /* when it started: jvm_process_check_start; 0: not known */
};

#define TARGET_ARGUMENT_HELP "attach to this running JVM: a PID, main class, jar, or part of its command line"

#define TARGET_ARGUMENT_AMONG_HELP "of several JVMs that COMMAND starts, the one with this in its command line"

/*
 * Parse options, before and behind the JVM's name, and the command; as command_parse, *done is set when the help was
 * printed.  A word is a command behind "--", and if it is a program's; else it names a JVM.  Returns 0, or -1 with
 * *err set.
 */
int target_argument_parse(const char *usage, const char *purpose, const struct options_row *rows, int argc, char **argv,
                          struct target_argument *target, bool *done, struct err *err);

/*
 * Find the JVM, if a command is not given.  what: is to be done to it ("record"), for the message.  Returns 0, or -1
 * with *err set: nothing is named, or both, or no JVM fits, or several.
 */
int target_argument_find(struct target_argument *target, const char *what, struct err *err);

/* Say which JVM of several was measured ("recorded"); program: its command line.  Of one there is nothing to say. */
void target_argument_tell_others(uint32_t n_jvms, pid_t pid, const char *program, const char *measured);

#endif
