/*
 * mmprof: a profiler that finds the method-level phases of a running Java program and says why they are slow.
 */
#include "cmd/commands.h"
#include "cmd/output_file.h"
#include "core/base/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* In the order of use; a row without a function is a heading of the help. */
static const struct command commands[] = {
    { "", NULL, "Profile a program", NULL },
    { "profile", "JVM | -- COMMAND", "find the phases, measure them, and print the report", command_profile },
    { "top", "JVM", "watch the phases of a running JVM in the terminal", command_top },
    { "sample", "JVM | -- COMMAND", "methods by CPU time, events or waits, from stack samples taken from outside",
      command_sample },
    { "", NULL, "Step by step", NULL },
    { "record", "JVM | -- COMMAND", "record method entries and exits of a JVM into a trace", command_record },
    { "phases", "[TRACE]", "print the call tree of a trace and select its phases", command_phases },
    { "report", "[TRACE]", "print the time, CPI and misses of the phases and of the JVM's own threads",
      command_report },
    { "advise", "[TRACE]", "print what to change, in the order of what it is expected to save", command_advise },
    { "annotate", "CLASS.METHOD [TRACE]", "print a method's source lines with the stack samples in each",
      command_annotate },
    { "diff", "BEFORE AFTER", "find significant differences between two versions of a program", command_diff },
    { "check-jit", "FILE JVM | FILE -- COMMAND", "test what the JIT compilers inlined, and which objects they removed",
      command_check_jit },
    { "jit", "-- COMMAND", "count allocations and calls that the JIT compilers remove, by site", command_jit },
    { "compare", "PROFILE PROFILE", "measure how similar several profiles are", command_compare },
    { "export", "-f FORMAT [TRACE]", "convert a trace for flamegraph.pl, speedscope, pprof, JFR or Perfetto",
      command_export },
    { "fleet", "add|select|compare|sql DIR", "select phases over the recordings of many JVMs, and ask them in SQL",
      command_fleet },
    { "", NULL, "Tools", NULL },
    { "ps", "", "list the JVMs that run here, and whether they can be attached to", command_ps },
    { "doctor", "[JVM]", "check this machine and a JVM; suggest fixes", command_doctor },
    { "list", "[PATTERN]", "list the events that can be counted here", command_list },
    { "dump", "[TRACE]", "print a trace as text", command_dump },
    { "memtrace", "-- COMMAND | [FILE]", "record the memory accesses and objects of a program in an emulator",
      command_memtrace },
    { "placement", "-- COMMAND", "count the misses that a program would have with its objects placed otherwise",
      command_placement },
    { "drive", "-- COMMAND", "hand hot methods to the JIT compilers before the JVM does: an experiment",
      command_drive },
    { NULL, NULL, NULL, NULL },
};

static int print_help(FILE *out)
{
    fprintf(out,
            "usage: mmprof COMMAND [OPTIONS]\n\n"
            "Finds the phases of a running Java program, the few methods that take much of its time, and says why\n"
            "they are slow.\n");
    for (const struct command *c = commands; c->name != NULL; c++)
        if (c->run == NULL)
            fprintf(out, "\n%s:\n", c->summary);
        else
            fprintf(out, "  %-10s %s\n", c->name, c->summary);
    fprintf(out, "\n'mmprof COMMAND --help' lists a command's options; 'man mmprof-COMMAND' explains them.\n"
                 "'source <(mmprof completion bash)' completes them in the shell; zsh likewise.\n");
    return 0;
}

static bool is_one_of(const char *word, const char *const *words)
{
    while (*words != NULL && strcmp(word, *words) != 0)
        words++;
    return *words != NULL;
}

static const struct command *find_command(const char *name)
{
    const struct command *c = commands;
    while (c->name != NULL && (c->run == NULL || strcmp(name, c->name) != 0))
        c++;
    return c->name == NULL ? NULL : c;
}

static int run_none(const char *name, const char *word, struct err *err)
{
    static const char *const help[] = { "help", "--help", "-h", NULL };
    static const char *const version[] = { "version", "--version", NULL };
    if (is_one_of(name, help))
        return print_help(stdout);
    if (is_one_of(name, version))
        return puts("mmprof " MMPROF_VERSION) < 0 ? 1 : 0;
    if (strcmp(name, "completion") == 0)
        return completion_print(word, err);
    err_set(err, "unknown command '%s'", name);
    return err_next(err, "run 'mmprof help' for the list of commands");
}

/* 'help COMMAND' is 'COMMAND --help'.  *command is NULL where it is none of the table. */
static int run(int argc, char **argv, const struct command **command, struct err *err)
{
    static char option[] = "--help";
    bool is_help = argc > 2 && strcmp(argv[1], "help") == 0;
    char *help[] = { argv[2], option, NULL };
    const char *name = is_help ? argv[2] : argv[1];
    *command = find_command(name);
    if (*command == NULL)
        return run_none(name, argv[2], err);
    return is_help ? (*command)->run(2, help, err) : (*command)->run(argc - 1, argv + 1, err);
}

int main(int argc, char **argv)
{
    struct err err = { "" };
    const struct command *command;
    if (argc < 2) {
        print_help(stderr);
        return 1;
    }
    int status = run(argc, argv, &command, &err);
    if (output_check(&err) == 0 && status >= 0) /* in any case: then that is why the command failed */
        return status;
    fprintf(stderr, "mmprof%s%s: ", command == NULL ? "" : " ", command == NULL ? "" : command->name);
    text_print_lines(stderr, err.text);
    fputc('\n', stderr);
    return 1;
}
