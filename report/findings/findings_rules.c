/*
 * The rules: what is looked for, from where on it is worth a line, and what part of its cost a mend saves: as
 * mmprof-advise(1) expects it, nine tenths of what need not be done at all, and little of what may be the program's
 * work.
 */
#include "report/findings/findings_internal.h"

/* What a finding costs at least, of the recording's time: in waiting, and in CPU time, which is of one CPU.  A mended
 * service that used 4 % of a CPU in all had methods of 0.9 %. */
#define SMALL 0.01
#define LARGE 0.02
#define CALLS 0.1  /* that last so long, all together */
#define RATE  0.01 /* 20 MB/s of objects, or what costs as much */

const struct finding_rule finding_rules[] = {
    /* threads that wait in a method of the program's own, of the recording's time: for monitors and locks, sockets and
     * files, a fixed time, a queue or pool with nothing left, results of tasks that have no thread, memory that must be
     * read from disk */
    { "lock", 0.1, 0, SMALL, 0.7, findings_of_locks, false, NULL },
    { "io", 0.1, 0, SMALL, 0.5, findings_of_io, false, NULL },
    { "sleep", 0.1, 0, SMALL, 0.5, findings_of_sleeps, false, NULL },
    { "pool", 0.1, 0, SMALL, 0.5, findings_of_pools, false, NULL },
    { "starved", 0.1, 0, SMALL, 0.9, findings_of_starved, false, NULL },
    { "paging", 0.1, 0, SMALL, 0.9, findings_of_paging, false, NULL },
    /* what is known to be slow, by whose code calls it, of CPU time */
    { "exceptions", 0.03, 0, LARGE, 0.9, findings_of_known, false, "the CPU time" },
    { "hash", 0.03, 0, LARGE, 0.9, findings_of_known, false, "the CPU time" },
    { "library", 0.03, 0, LARGE, 0.8, findings_of_known, false, "the CPU time" },
    { "loading", 0.05, 0, LARGE, 0.9, findings_of_known, false, "the CPU time" },
    /* methods' own code while it is interpreted or C1's, if what C2 made of them is discarded again and again; a
     * method's own code while it is interpreted, of CPU time */
    { "deoptimized", 0.03, 0, LARGE, 0.9, findings_of_deoptimized, false, "the CPU time" },
    { "interpreted", 0.03, 0, LARGE, 0.9, findings_of_interpreted, false, "the CPU time" },
    /* a method's own code and what it calls of libraries, of CPU time; its objects, of all bytes; cycles that are lost
     * to several times the misses of the rest, of all */
    { "cpu", 0.1, 0, LARGE, 0.3, findings_of_cpu, false, "the CPU time" },
    { "allocation", 0.25, 0, RATE, 0.6, findings_of_allocation, false, "all bytes" },
    /* by how much the heap grows steadily, of the heap: a method's part of it */
    { "leak", 0.05, 0, SMALL, 1.0, findings_of_leaks, false, "the heap" },
    { "misses", 0.03, 3, LARGE, 0.5, findings_of_misses, false, "all cycles" },
    /* calls of one value of a method that 'record --argument' tells apart: of the time of all its calls; with a p99 of
     * so many times that of any other value */
    { "value", 0.5, 0, CALLS, 0.3, findings_of_values, false, "its calls' time" },
    { "slow", 0.05, 3, CALLS, 0.3, findings_of_values, false, "its calls' time" },
    /* of CPU time: the collector (or its pauses, of the time; G1 itself aims at 8 %), the JIT compilers, page faults at
     * a microsecond each, what a container's CPU quota stopped, threads that could run and had no CPU, what the host of
     * a virtual machine withheld */
    { "gc", 0.1, 0, LARGE, 0.5, findings_of_collector, false, "the CPU time" },
    { "jit", 0.25, 0, LARGE, 0.2, findings_of_compilers, true, "the CPU time" },
    { "faults", 0.05, 0, LARGE, 0.6, findings_of_faults, false, "the CPU time" },
    { "quota", 0.05, 0, LARGE, 0.9, findings_of_quota, false, "the CPU time" },
    { "preempted", 0.2, 0, LARGE, 0.2, findings_of_preempted, true, "the CPU time" },
    { "stolen", 0.05, 0, LARGE, 0.2, findings_of_stolen, true, "the CPU time" },
    { NULL, 0, 0, 0, 0, NULL, false, NULL },
};
