/* The subcommands: one file each; main.c holds the table, and nothing else knows the list. */
#ifndef CMD_COMMANDS_H
#define CMD_COMMANDS_H

#include "core/base/err.h"
#include "core/base/options.h"

struct command {
    const char *name, *summary; /* without a summary, the help does not list it */
    /* argv[0] is the command's name.  Returns the exit status, or -1 with *err set. */
    int (*run)(int argc, char **argv, struct err *err);
};

int command_advise(int argc, char **argv, struct err *err);
int command_annotate(int argc, char **argv, struct err *err);
int command_check_jit(int argc, char **argv, struct err *err);
int command_compare(int argc, char **argv, struct err *err);
int command_diff(int argc, char **argv, struct err *err);
int command_doctor(int argc, char **argv, struct err *err);
int command_drive(int argc, char **argv, struct err *err);
int command_dump(int argc, char **argv, struct err *err);
int command_export(int argc, char **argv, struct err *err);
int command_fleet(int argc, char **argv, struct err *err);
int command_jit(int argc, char **argv, struct err *err);
int command_list(int argc, char **argv, struct err *err);
int command_record(int argc, char **argv, struct err *err);
int command_memtrace(int argc, char **argv, struct err *err);
int command_placement(int argc, char **argv, struct err *err);
int command_ps(int argc, char **argv, struct err *err);
int command_profile(int argc, char **argv, struct err *err);
int command_sample(int argc, char **argv, struct err *err);
int command_sweep(int argc, char **argv, struct err *err);
int command_top(int argc, char **argv, struct err *err);

/*
 * Parse a command's options; --help and --help-all are handled here: *done is set when it was given and printed.
 * purpose is the paragraph under the usage line.  Returns 0, or -1 with *err set.
 */
int command_parse(const char *usage, const char *purpose, const struct options_row *rows, int argc, char **argv,
                  int *n_parsed, bool *done, struct err *err);

/* Print the shell's script that completes commands and options: "bash" or "zsh".  Returns 0, or -1 with *err set. */
int completion_print(const char *shell, struct err *err);

int command_phases(int argc, char **argv, struct err *err);
int command_report(int argc, char **argv, struct err *err);

#endif
