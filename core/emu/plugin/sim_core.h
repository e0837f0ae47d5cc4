/*
 * What libmmprof-sim.so keeps: of each thread its core, and what all of them share.
 */
#ifndef CORE_EMU_PLUGIN_SIM_CORE_H
#define CORE_EMU_PLUGIN_SIM_CORE_H

#include "core/emu/plugin/qemu_api.h"
#include "core/emu/plugin/qemu_flags.h"
#include "core/emu/plugin/sim_blocks.h"
#include "core/emu/plugin/sim_misses.h"
#include "core/emu/model/sim_slots.h"

#include <pthread.h>

#define SIM_VCPUS_MAX 65536

/* A thread. */
struct sim_core {
    struct sim_slot *slot; /* where it counts: its own one, or, for the agent's own work, aside */
    struct sim_slot *own, aside;
    const struct sim_block *before; /* the block executed last; sim_no_block: nothing is known of it */
    struct sim_block kept;          /* it, without its groups, when QEMU has thrown it away */
    uint64_t bytecode;              /* the address of the bytecode that the thread fetched last; 0: none yet */
    struct sim_misses misses;
    uint64_t next_draw; /* the machine's time from which on an access is drawn */
    size_t n_bytes;     /* of this mapping */

    /* With windows only: see sim_windows.c */
    struct sim_window_state window;
    int64_t skipping; /* instructions until the next window begins; below 0: it should have, or it has */
    int64_t astray;   /* instructions in the wrong translations, since others were asked for */
    struct qemu_flags flags;
    uint64_t warming_up[SIM_N_COUNTS]; /* what is not counted */

    struct sim_machine machine __attribute__((aligned(64)));
};

/* What enters a block of any shape, for a thread that is not paused; state: the registers. */
typedef void sim_enter_simulated_fn(struct sim_core *core, const struct sim_block *before,
                                    const struct sim_block *block, const void *state);

struct sim_state {
    struct sim_slots *slots;               /* NULL: a child that was forked counts nothing */
    struct sim_core *cores[SIM_VCPUS_MAX]; /* by QEMU's number; NULL: not known yet, or gone */
    pthread_mutex_t making;
    struct sim_blocks blocks;
    const char *out;
    qemu_plugin_execute_fn *(*choose_block)(const struct sim_block *block); /* what is called for it */
    qemu_plugin_memory_fn *on_access;
    sim_enter_simulated_fn *enter; /* with windows, where they simulate */
    int64_t clone;                 /* its number: a thread begins, with a stack */
    bool is_arm64, has_windows, is_checked;
    /* QEMU's callbacks for blocks have the program's registers: some loads and stores are foreseen.  See sim_access.h
     */
    _Atomic bool sees_registers;
};

/* The plugin's one static state. */
extern struct sim_state sim;

extern const struct sim_block sim_no_block;

/*
 * This thread's: each of QEMU's CPUs is a thread of its own.  NULL: not known yet; or, of a number beyond all that are
 * kept, never.
 */
extern _Thread_local struct sim_core *sim_core;

/*
 * In a thread's first block, in a callback as in qemu_flags.h, or without what it is told there: QEMU tells of a new
 * thread in the one that makes it.  NULL: it is not counted.
 */
struct sim_core *sim_core_make(unsigned vcpu, void *state, const uint8_t *returns_to);

/*
 * The thread (core; NULL: none) makes a system call, in a program for x86-64: from then on it may be known where QEMU
 * has its registers and flags.
 */
void sim_core_look_at_state(struct sim_core *core, const struct qemu_flags_call *call);

/* The thread ends that had this number. */
void sim_core_end(unsigned vcpu);

/* QEMU throws all its blocks away, while no thread is in one. */
void sim_core_flush(void);

/* Once: children that are forked count nothing. */
void sim_core_prepare_forks(void);

static inline bool sim_core_is_paused(const struct sim_core *core)
{
    return atomic_load_explicit(&core->slot->is_paused, memory_order_relaxed) != 0;
}

/* The thread's slot, or its window's phase, is another one. */
static inline void sim_core_choose_counts(struct sim_core *core)
{
    bool is_counted = sim.slots->window.counted == 0 || core->window.phase == SIM_COUNTED;
    core->machine.counts = is_counted ? core->slot->counts : core->warming_up;
    core->machine.sets = is_counted && sim.slots->sets > 0 ? &core->slot->sets : NULL;
}

/* The block's instructions are fetched, where that is no hit, or not all are counted. */
void sim_core_fetch_slowly(struct sim_core *core, const struct sim_block *before, const struct sim_block *block);

/*
 * A block's instructions are fetched, behind another one's, if that is a hit.  line_bits: of code; is_line: it is known
 * to be in one line.
 */
static inline __attribute__((always_inline)) bool sim_core_fetch(struct sim_core *core, const struct sim_block *before,
                                                                 const struct sim_block *block, unsigned line_bits,
                                                                 bool is_line)
{
    uint64_t first = block->at >> line_bits, last = (block->behind - 1) >> line_bits;
    return !sim_block_goes_on(before, block) &&
           (is_line ? sim_machine_fetch_hit_line(&core->machine, first, block->n_instructions)
                    : sim_machine_fetch_hit(&core->machine, first, last, block->n_instructions));
}

/* Its loads and stores that are foreseen. */
static inline __attribute__((always_inline)) void sim_core_count_foreseen(struct sim_core *core,
                                                                          const struct sim_block *block)
{
    core->machine.counts[SIM_L1D_LOADS] += block->n_loads;
    __asm__ volatile("" : : : "memory"); /* else both at once, as sim_machine.h says of branches */
    core->machine.counts[SIM_L1D_STORES] += block->n_stores;
}

static inline void sim_core_jump(struct sim_core *core, const struct sim_block *before, const struct sim_block *block)
{
    sim_machine_jump(&core->machine, (enum sim_branch_kind)before->kind, sim_block_last_at(before), before->behind,
                     block->at);
}

static inline void sim_core_conditional(struct sim_core *core, const struct sim_block *before,
                                        const struct sim_block *block)
{
    sim_machine_conditional(&core->machine, sim_block_last_at(before), before->behind != block->at);
}

/* The thread enters a block, behind another one. */
static inline void sim_core_enter(struct sim_core *core, const struct sim_block *before, const struct sim_block *block)
{
    if (__builtin_expect(!sim_core_fetch(core, before, block, core->machine.l1i.line_bits, false), 0))
        sim_core_fetch_slowly(core, before, block);
    if (before->kind == SIM_CONDITIONAL)
        sim_core_conditional(core, before, block);
    else if (before->kind != SIM_NO_BRANCH)
        sim_core_jump(core, before, block);
}

#endif
