/*
 * mmprof-lab: the laboratory, which 'mmprof memtrace' and others start.  Programs run in an emulator, or under a JIT
 * compiler that is looked at.
 */
#include "cmd/program.h"

#include <stddef.h>

static const struct command commands[] = {
    { "", NULL, "In an emulator", NULL },
    { "memtrace", "-- COMMAND | [FILE]", "record the memory accesses and objects of a program", command_memtrace },
    { "placement", "-- COMMAND", "count the misses that a program would have if its objects were placed otherwise",
      command_placement },
    { "", NULL, "The JIT compilers", NULL },
    { "check-jit", "FILE JVM | FILE -- COMMAND", "test what the JIT compilers inlined, and which objects they removed",
      command_check_jit },
    { "jit", "-- COMMAND", "count allocations and calls that the JIT compilers remove, by site", command_jit },
    { "drive", "-- COMMAND", "hand hot methods to the JIT compilers before the JVM does: an experiment",
      command_drive },
    { "", NULL, "mmprof's own, with --simulate, --memtrace and views of misses", NULL },
    { "profile", "-- COMMAND", "find the phases, measure them, and print the report", command_profile },
    { "record", "-- COMMAND", "record method entries and exits of a JVM into a trace", command_record },
    { "report", "[TRACE]", "print a view of a trace", command_report },
    { "advise", "[TRACE]", "print what to change", command_advise },
    { "list", "--models", "list the processors that can be simulated", command_list },
    { NULL, NULL, NULL, NULL },
};

static const struct program program = { "The laboratory of mmprof; 'mmprof COMMAND' runs these commands, too.\n",
                                        commands };

int main(int argc, char **argv)
{
    return program_main(&program, argc, argv);
}
