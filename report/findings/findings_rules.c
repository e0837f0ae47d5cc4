/*
 * The rules: what is looked for, and from where on it is worth a line.
 */
#include "report/findings/findings_internal.h"

const struct finding_rule finding_rules[] = {
    { "lock", 0.1, 0, findings_look_locks },    /* threads that wait for a monitor or lock: of the recording's time */
    { "io", 0.1, 0, findings_look_io },         /* for sockets and files: the same */
    { "pool", 0.1, 0, findings_look_pools },    /* for a queue or pool with nothing left: the same */
    { "paging", 0.1, 0, findings_look_paging }, /* for memory that must be read from disk: the same */
    { "cpu", 0.1, 0, findings_look_cpu },       /* a method's own code, and what it calls of libraries: of CPU time */
    { "gc", 0.05, 0, findings_look_collector }, /* the collector's threads: of CPU time; or its pauses: of the time */
    { "allocation", 0.25, 0, findings_look_allocation }, /* a method's objects: of all bytes allocated */
    { "jit", 0.25, 0, findings_look_compilers },         /* the JIT compilers: of CPU time */
    { "misses", 0.03, 3, findings_look_misses }, /* cycles lost to three times the misses of the rest: of all cycles */
    { "faults", 0.05, 0, findings_look_faults }, /* page faults, at a microsecond each: of CPU time */
    { "preempted", 0.2, 0, findings_look_preempted }, /* threads that wait for a CPU again: of CPU time */
    { "stolen", 0.05, 0, findings_look_stolen },      /* what the host of a virtual machine withheld: of CPU time */
    { NULL, 0, 0, NULL },
};
