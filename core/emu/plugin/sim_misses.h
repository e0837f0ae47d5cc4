/*
 * Where misses are: which instruction, and whose memory.
 *
 * Each thread keeps its misses, instruction and address, until they are looked up: all threads' at once, when one has
 * no room left, when objects are about to move, and at the end.  Looking up takes some 4 % of the time: a thread
 * that fills its room faster throws away every second one, at random, and each of the others counts twice.  What was
 * found is added up and written to a log (core/trace/misses.h) some times a second.
 *
 * Nobody moves objects while they are looked up: the agent says when a collection begins, in a system call that waits
 * here for the end.  What is looked up in a collection itself: see sim_lookup.h.
 */
#ifndef CORE_EMU_PLUGIN_SIM_MISSES_H
#define CORE_EMU_PLUGIN_SIM_MISSES_H

#include "core/emu/plugin/sim_contents.h"

#define SIM_MISSES_KEPT 32768u

/* A thread's. */
struct sim_misses {
    struct sim_misses *before, *next;
    struct sim_miss *kept; /* mapped */
    struct sim_contents_of caches;
    _Atomic bool is_locked;
    uint32_t n, thinned; /* how often it threw every second one away, since it was last looked up */
    uint64_t random;
    int32_t tid;
};

/* Write to a log.  Returns 0, or -1: no memory. */
int sim_misses_open(struct sim_slots *slots, int fd);

/* In a child that was forked: nothing is kept or written. */
void sim_misses_forget(void);

/* A thread comes (mine is zeroed), and goes. */
void sim_misses_begin(struct sim_misses *mine, const struct sim_slot *slot, const struct sim_machine *machine);
void sim_misses_end(struct sim_misses *mine);

/* A slot will be another thread's. */
void sim_misses_retire(const struct sim_slot *slot);

/* What of a thread's loads and stores missed. */
struct sim_missed {
    uint64_t l1d, l2, dtlb;
};

static inline struct sim_missed sim_missed(const uint64_t *counts)
{
    return (struct sim_missed){ counts[SIM_L1D_LOAD_MISSES] + counts[SIM_L1D_STORE_MISSES],
                                counts[SIM_L2_LOAD_MISSES] + counts[SIM_L2_STORE_MISSES], counts[SIM_DTLB_MISSES] };
}

static inline bool sim_misses_are_kept(const struct sim_misses *mine)
{
    return mine->kept != NULL;
}

/* An access missed, where they are kept.  bytecode: the one that the thread has fetched last, if it is in the
 * interpreter. */
void sim_misses_take(struct sim_misses *mine, uint64_t instruction, uint64_t bytecode, uint64_t address,
                     const struct sim_missed *missed);

/*
 * An access is drawn: one of SIM_ACCESSES_DRAWN, whether it missed or not.  Returns how many accesses later the next
 * one is: at random, so that no loop is in step with it; UINT64_MAX: nothing is kept.
 */
uint64_t sim_misses_draw(struct sim_misses *mine, uint64_t instruction, uint64_t bytecode, uint64_t address);

/* How many accesses from a thread's begin until the first. */
uint64_t sim_misses_first_draw(struct sim_misses *mine);

/* What the agent and the program tell: see sim_slots.h */
void sim_misses_tables(const uint64_t *symbols);
void sim_misses_move(void);
void sim_misses_moved(void);
void sim_misses_finish(void);
void sim_misses_stack(uint64_t top);

#endif
