/*
 * A program: a table of commands, and what main does with it.  mmprof has the commands of most users; those of the
 * laboratory (emulator, JIT) and of the fleet are programs of their own in libexec/mmprof, which mmprof starts.
 */
#ifndef CMD_PROGRAM_H
#define CMD_PROGRAM_H

#include "cmd/commands.h"

struct program {
    const char *purpose;            /* a paragraph of the help */
    const struct command *commands; /* a row without a function is a heading of the help; name NULL ends the table */
};

/* Run the command that argv names, and print its error.  Returns main's exit status. */
int program_main(const struct program *program, int argc, char **argv);

/*
 * Become the program mmprof-NAME, with a command's words: argv[0] is the command.  It is looked for where this program
 * is installed, not on the PATH.  Returns -1 with *err set, if at all.
 */
int program_become(const char *name, int argc, char **argv, struct err *err);

/* A command that is the program mmprof-COMMAND. */
int command_elsewhere(int argc, char **argv, struct err *err);

#endif
