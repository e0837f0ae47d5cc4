/*
 * A thread's loads and stores, in a machine for the program as it is, and one for each policy's address space.  Each
 * machine counts its misses by the class of the object: of those that were placed; of others by where they are.
 *
 * Of data only: instructions are not fetched, so that L2 has data alone, the same in each machine.
 */
#ifndef CORE_EMU_PLACEMENT_PLACEMENT_THREAD_H
#define CORE_EMU_PLACEMENT_PLACEMENT_THREAD_H

#include "core/emu/model/sim_machine.h"
#include "core/emu/placement/placement_policy.h"

#include <stdatomic.h>

enum placement_event { PLACEMENT_L1D, PLACEMENT_L2, PLACEMENT_DTLB, PLACEMENT_EVENTS };

/* Owners besides classes, whose numbers begin behind them. */
enum placement_owner { PLACEMENT_IN_HEAP, PLACEMENT_ELSEWHERE, PLACEMENT_OWNERS };

#define PLACEMENT_OWNERS_MAX (PLACEMENT_CLASSES_MAX + PLACEMENT_OWNERS)
#define PLACEMENT_MACHINES   (PLACEMENT_MAX + 1) /* the first is of the program as it is */

/* Of one machine of all threads: by owner. */
struct placement_misses {
    _Atomic uint64_t counts[PLACEMENT_OWNERS_MAX][PLACEMENT_EVENTS];
};

/* What all threads share. */
struct placement_counts {
    struct placement_misses *misses; /* mapped: of each machine */
    _Atomic uint64_t n_accesses, n_placed;
    enum placement_event event; /* that is sampled */
    uint64_t period;            /* one in so many on average */
    /* Of a sampled miss in the heap, by any thread. */
    void (*sampled)(uint64_t address);
};

struct placement_thread {
    const struct placement_world *world; /* borrowed, as counts */
    struct placement_counts *counts;
    uint64_t n_accesses, n_placed; /* not yet in counts */
    uint64_t until_sample, random;
    struct sim_machine *machines[PLACEMENT_MACHINES]; /* in this mapping */
    uint64_t *events[PLACEMENT_MACHINES];             /* SIM_N_COUNTS of each, likewise */
    size_t n_bytes;                                   /* of this mapping */
};

/* Returns 0, or -1: no memory. */
int placement_counts_open(struct placement_counts *counts, uint32_t n_policies);
void placement_counts_close(struct placement_counts *counts, uint32_t n_policies);

/* NULL: no memory.  number: another one for each thread, so that they do not sample in step. */
struct placement_thread *placement_thread_make(const struct placement_world *world, struct placement_counts *counts,
                                               const struct sim_model *model, uint64_t number);
/* Its counts go into those of all. */
void placement_thread_flush(struct placement_thread *thread);
void placement_thread_free(struct placement_thread *thread);

/* A load or store of n_bytes (1 or more).  One that crosses an object's end is in the object that it begins in. */
void placement_thread_access(struct placement_thread *thread, uint64_t address, uint32_t n_bytes, bool is_store);

#endif
