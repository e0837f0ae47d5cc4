/*
 * mmprof: a profiler that finds the method-level phases of a running Java program and says why they are slow.
 */
#include "cmd/commands.h"

#include "core/base/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct command commands[] = {
    { "phases", "[TRACE]", "the call tree of a trace, and the phases worth a second look", command_phases },
    { "report", "[TRACE]", "the phases' time, CPI and misses, next to the JVM's own threads", command_report },
    { "diff", "BEFORE AFTER", "what differs between two versions, where it is more than chance", command_diff },
    { "export", "-f FORMAT [TRACE]", "write a trace for flamegraph.pl, speedscope, pprof, Perfetto", command_export },
    { "dump", "[TRACE]", "print a trace as text", command_dump },
    { "doctor", "[-p PID]", "what works here, and what to do about what does not", command_doctor },
    { "list", "[PATTERN]", "list the events that can be counted here", command_list },
    { "memtrace", "-- COMMAND | [FILE]", "record a Java program's memory accesses and objects, or read them",
      command_memtrace },
    { "profile", "-p PID | -- COMMAND", "find the phases, record them, and report, in one go", command_profile },
    { "record", "-p PID | -- COMMAND", "record a JVM's method entries and exits into a trace", command_record },
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

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return 1;
    }
    if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return print_help(stdout);
    if (strcmp(argv[1], "version") == 0 || strcmp(argv[1], "--version") == 0) {
        puts("mmprof " MMPROF_VERSION);
        return 0;
    }
    struct err err = { "" };
    for (const struct command *c = commands; c->name != NULL; c++) {
        if (strcmp(argv[1], c->name) != 0)
            continue;
        int status = c->run(argc - 1, argv + 1, &err);
        if (status >= 0 && fflush(stdout) == 0)
            return status;
        if (status >= 0)
            err_set(&err, "cannot write to the standard output");
        fprintf(stderr, "mmprof %s: ", c->name);
        text_print_lines(stderr, err.text);
        fputc('\n', stderr);
        return 1;
    }
    fprintf(stderr, "mmprof: unknown command '%s'\n  next: run 'mmprof help' for the list of commands\n", argv[1]);
    return 1;
}
