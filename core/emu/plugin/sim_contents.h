/*
 * What is in the simulated caches: now and then the lines of each thread's L1D and L2 and the pages of its data TLB are
 * looked up, and how many are of which class or other memory goes into the log (SA Figure 4).
 *
 * With them, how much of each of the heap's spaces is in use.
 *
 * Threads that executed nothing since the look before are left out.  A thread that runs meanwhile goes on: of its some
 * ten thousand lines a few may be seen twice, or not at all.
 */
#ifndef CORE_EMU_PLUGIN_SIM_CONTENTS_H
#define CORE_EMU_PLUGIN_SIM_CONTENTS_H

#include "core/emu/plugin/sim_lookup.h"

struct sim_contents {
    struct sim_lookup *lookup; /* borrowed */
    uint64_t *addresses;       /* mapped: of a machine's lines; the lowest bits: enum miss_count */
    struct vm_table held;      /* by cell */
    uint32_t n_held;
    uint64_t next_ns; /* of CPU time: the next look */
};

/* A thread's caches. */
struct sim_contents_of {
    const struct sim_machine *machine; /* borrowed */
    uint32_t tid;
    uint64_t n_instructions; /* that it had executed at the look before */
};

/* Returns 0, or -1: no memory. */
int sim_contents_open(struct sim_contents *contents, struct sim_lookup *lookup, const struct sim_model *model);

/* Is it time for a look? */
bool sim_contents_are_due(const struct sim_contents *contents);

/*
 * One thread's part of a look, while no objects move, after sim_lookup_begin.  ticks: of the look.  And its end;
 * own_ns: how long it took.
 */
void sim_contents_look(struct sim_contents *contents, struct sim_contents_of *of, uint64_t ticks);
void sim_contents_looked(struct sim_contents *contents, uint64_t own_ns, uint64_t ticks);

#endif
