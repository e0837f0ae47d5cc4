/*
 * What was found of misses, added up by thread, location and cell, and written to the log (core/trace/misses.h).
 */
#ifndef CORE_EMU_PLUGIN_SIM_SUMS_H
#define CORE_EMU_PLUGIN_SIM_SUMS_H

#include "core/emu/plugin/owners.h"
#include "core/emu/model/sim_slots.h"

/* Whose misses: of one thread, location and cell. */
struct sim_sum_key {
    uint32_t thread, cell;   /* thread: not 0 */
    uint64_t location, line; /* line: plus 1, location is a method */
    uint64_t bytecode;       /* its number plus 1; 0: not known */
};

struct sim_sum {
    struct sim_sum_key key;
    uint32_t n_kept, n_drawn; /* accesses that missed, and any */
    uint64_t counts[MISS_N_COUNTS], n_accesses;
};

struct sim_sums {
    struct owners *owners;                              /* borrowed: whose log is written */
    struct sim_slots *slots;                            /* borrowed: of all threads */
    struct vm_table sums;                               /* by key */
    uint32_t n, bytecode;                               /* bytecode: of the key, told last */
    uint64_t written_ns, n_looks, look_ns;              /* how often, how long was looked up since then */
    uint64_t retired[SIM_N_COUNTS], told[SIM_N_COUNTS]; /* of threads that are gone; by the last totals */
};

/* Returns 0, or -1: no memory. */
int sim_sums_open(struct sim_sums *sums, struct owners *owners, struct sim_slots *slots);

/* The sum of a key; what is there already may be written first. */
struct sim_sum *sim_sums_of(struct sim_sums *sums, const struct sim_sum_key *key);

/* Write all, with the totals of all threads; and what has waited for long enough only. */
void sim_sums_write(struct sim_sums *sums);
void sim_sums_write_due(struct sim_sums *sums);
bool sim_sums_are_due(const struct sim_sums *sums);

#endif
