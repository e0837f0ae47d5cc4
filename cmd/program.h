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
 * A command that is the program mmprof-COMMAND, which takes the place of this one.  It is looked for where this program
 * is installed, not on the PATH.  Returns -1 with *err set, if at all.
 */
int command_elsewhere(int argc, char **argv, struct err *err);

#endif
