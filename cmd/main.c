/* mmprof: a profiler that finds the method-level phases of a running Java program and says why they are slow. */
#include "cmd/program.h"

/* In the order of use. */
static const struct command commands[] = {
    { "", "Profile a program", NULL },
    { "profile", "find the phases, measure them, and print the report", command_profile },
    { "top", "watch the phases of a running JVM in the terminal", command_top },
    { "sample", "methods by CPU time, events or waits, from stack samples taken from outside", command_sample },
    { "", "Step by step", NULL },
    { "record", "record method entries and exits of a JVM into a trace", command_record },
    { "phases", "print the call tree of a trace and select its phases", command_phases },
    { "report", "print the time, CPI and misses of the phases and of the JVM's own threads", command_report },
    { "advise", "suggest changes, largest expected saving first", command_advise },
    { "annotate", "print a method's source lines with the stack samples in each", command_annotate },
    { "diff", "find significant differences between two versions of a program", command_diff },
    { "check-jit", "test what the JIT compilers inlined, and which objects they removed", command_elsewhere },
    { "jit", "count allocations and calls that the JIT compilers remove, by site", command_elsewhere },
    { "sweep", "run a program with several heap sizes: what collections cost with each", command_elsewhere },
    { "export", "convert a trace for flamegraph.pl, speedscope, pprof, JFR or Perfetto", command_export },
    { "fleet", "select phases over recordings of many JVMs, or query them with SQL", command_elsewhere },
    { "", "Tools", NULL },
    { "ps", "list the JVMs that run here, and whether they can be attached to", command_ps },
    { "doctor", "check this machine and a JVM; suggest fixes", command_doctor },
    { "list", "list the events that can be counted here", command_list },
    { "dump", "print a trace as text", command_dump },
    { "mcp", "serve an assistant: tools of the Model Context Protocol", command_elsewhere },
    { "memtrace", "record the memory accesses and objects of a program in an emulator", command_elsewhere },
    { "placement", "count the misses that a program would have if its objects were placed otherwise",
      command_elsewhere },
    { "drive", "hand hot methods to the JIT compilers before the JVM does: an experiment", command_elsewhere },
    { "compare", NULL, command_compare },
    { NULL, NULL, NULL },
};

static const struct program program = {
    "Finds the phases of a running Java program, the few methods that take much of its time, and says why\n"
    "they are slow.\n",
    commands
};

int main(int argc, char **argv)
{
    return program_main(&program, argc, argv);
}
