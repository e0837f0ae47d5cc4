/*
 * mmprof: a profiler that finds the method-level phases of a running Java program and says why they are slow.
 */
#include "cmd/commands.h"
#include "cmd/output_file.h"
#include "core/base/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct command commands[] = {
    { "phases", "[TRACE]", "the call tree of a trace, and the phases worth a second look", command_phases },
    { "report", "[TRACE]", "the phases' time, CPI and misses, next to the JVM's own threads", command_report },
    { "diff", "BEFORE AFTER", "what differs between two versions, where it is more than chance", command_diff },
    { "compare", "PROFILE PROFILE", "how alike the profiles of several recordings are", command_compare },
    { "annotate", "CLASS.METHOD [TRACE]", "the source lines of a method with the stack samples in each",
      command_annotate },
    { "export", "-f FORMAT [TRACE]", "write a trace for flamegraph.pl, speedscope, pprof, Perfetto", command_export },
    { "dump", "[TRACE]", "print a trace as text", command_dump },
    { "doctor", "[-p PID]", "what works here, and what to do about what does not", command_doctor },
    { "list", "[PATTERN]", "list the events that can be counted here", command_list },
    { "memtrace", "-- COMMAND | [FILE]", "record a Java program's memory accesses and objects, or read them",
      command_memtrace },
    { "profile", "-p PID | -- COMMAND", "find the phases, record them, and report, in one go", command_profile },
    { "record", "-p PID | -- COMMAND", "record a JVM's method entries and exits into a trace", command_record },
    { "sample", "-p PID", "a running JVM's methods by CPU time, from stack samples alone", command_sample },
    { "top", "-p PID", "the phases of a running JVM, live in the terminal", command_top },
    { NULL, NULL, NULL, NULL },
};

static int print_help(FILE *out)
{
    fprintf(out, "usage: mmprof COMMAND [OPTIONS]\n\n"
                 "Finds the method-level phases of a running Java program, and says why they are slow.\n\n");
    for (const struct command *c = commands; c->name != NULL; c++)
        fprintf(out, "  %-10s %s\n", c->name, c->summary);
    fprintf(out, "\n'mmprof COMMAND --help' lists a command's options; 'man mmprof-COMMAND' explains them.\n");
    return 0;
}

static bool is_one_of(const char *word, const char *const *words)
{
    while (*words != NULL && strcmp(word, *words) != 0)
        words++;
    return *words != NULL;
}

static const struct command *find(const char *name)
{
    const struct command *c = commands;
    while (c->name != NULL && strcmp(name, c->name) != 0)
        c++;
    return c->name == NULL ? NULL : c;
}

static int run_none(const char *name, struct err *err)
{
    static const char *const help[] = { "help", "--help", "-h", NULL };
    static const char *const version[] = { "version", "--version", NULL };
    if (is_one_of(name, help))
        return print_help(stdout);
    if (is_one_of(name, version))
        return puts("mmprof " MMPROF_VERSION) < 0 ? 1 : 0;
    err_set(err, "unknown command '%s'", name);
    return err_next(err, "run 'mmprof help' for the list of commands");
}

int main(int argc, char **argv)
{
    struct err err = { "" };
    if (argc < 2) {
        print_help(stderr);
        return 1;
    }
    const struct command *command = find(argv[1]);
    int status = command == NULL ? run_none(argv[1], &err) : command->run(argc - 1, argv + 1, &err);
    if (output_check(&err) == 0 && status >= 0) /* in any case: then that is why the command failed */
        return status;
    fprintf(stderr, "mmprof%s%s: ", command == NULL ? "" : " ", command == NULL ? "" : command->name);
    text_print_lines(stderr, err.text);
    fputc('\n', stderr);
    return 1;
}
