/* What libmmprof-sim.so keeps: of each thread its core, and what all of them share. */
#ifndef CORE_EMU_PLUGIN_SIM_CORE_H
#define CORE_EMU_PLUGIN_SIM_CORE_H

#include "core/emu/model/sim_foreseen.h"
#include "core/emu/model/sim_slots.h"
#include "core/emu/plugin/qemu_api.h"
#include "core/emu/plugin/sim_misses.h"

#include <pthread.h>

/*
 * What the plugin keeps of each block of instructions that QEMU has translated.
 *
 * A block's last instruction may not be executed with it, and then begins the next block: QEMU tells of an instruction
 * that crosses the page's end before it leaves it to the next block, and of 'rep movs' and its like once for each
 * iteration.  A block that begins where the one before had its last instruction, which is no branch, does not count it
 * again.
 */

/*
 * 32 bytes, and behind it its groups of 16 each: with the usual two it is one line of the processor that simulates.  To
 * wait for a block's memory is a quarter of all that a callback does (perf, of a JVM's start); each had three times as
 * much.
 */
struct sim_block {
    uint64_t at, behind;               /* its first instruction, the first one behind it */
    const struct sim_group_rest *rest; /* as in struct sim_foreseen, as are the next four */
    uint8_t n_simple, n_general, n_loads, n_stores;
    uint16_t n_instructions;
    uint8_t kind;   /* of the last instruction: enum sim_branch_kind */
    uint8_t n_last; /* its bytes */
};

/* Of one that is kept. */
static inline const struct sim_group *sim_block_groups(const struct sim_block *block)
{
    return (const struct sim_group *)(const void *)(block + 1);
}

static inline uint64_t sim_block_last_at(const struct sim_block *block)
{
    return block->behind - block->n_last;
}

/* Does the block behind it count one instruction less? */
static inline bool sim_block_goes_on(const struct sim_block *before, const struct sim_block *block)
{
    return before->kind == SIM_NO_BRANCH && sim_block_last_at(before) == block->at;
}

/* Its loads and stores that are foreseen, in the order of groups. */
static inline const struct sim_member *sim_block_members(const struct sim_block *block)
{
    return block->rest->members;
}

/* Owned. */
struct sim_room {
    struct sim_blocks_chunk *newest;
    size_t n_in_newest; /* bytes */
};

struct sim_blocks {
    struct sim_room blocks, rest; /* apart, so that blocks stand close together */
};

/* A copy that stays until they are cleared, with what is foreseen of it, if it is foreseen (NULL: it is not). */
struct sim_block *sim_blocks_add(struct sim_blocks *blocks, const struct sim_block *block,
                                 const struct sim_foresight *foresight);

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
    struct sim_slots *slots;                /* NULL: a child that was forked counts nothing */
    struct sim_core *cores[QEMU_VCPUS_MAX]; /* by QEMU's number; NULL: not known yet, or gone */
    struct sim_shared *shared;              /* made with the first core; NULL: each has its own L2 */
    pthread_mutex_t making;
    struct sim_blocks blocks;
    const char *out;
    qemu_plugin_execute_fn *(*choose_block)(const struct sim_block *block); /* what is called for it */
    qemu_plugin_memory_fn *on_access;
    sim_enter_simulated_fn *enter; /* with windows, where they simulate */
    int64_t clone;                 /* its number: a thread begins, with a stack */
    bool is_arm64, has_windows, is_checked;
    /* QEMU's callbacks for blocks have the program's registers: some loads and stores are foreseen. */
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
 * In a thread's first block, in a callback as in qemu_api.h, or without what it is told there: QEMU tells of a new
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

/*
 * A thread's loads and stores: each goes into the thread's machine, and some are kept, with where they are
 * (sim_misses.h).
 *
 * Most loads and stores of programs for x86-64 are done when their block begins, in groups, with the registers as they
 * are then (core/emu/model/sim_foreseen.h): where the code that QEMU makes calls the plugin, rbp has the address of
 * them, as qemu_api.h says, and that is believed once it was seen in a system call.  Of the others, and all before
 * that, QEMU tells.  So a block's accesses are not in the order in which the program makes them; all are of the same
 * block, and none is lost or counted twice, with one exception: of a block that is left in its middle by a fault (as
 * HotSpot's implicit null checks are), what is behind the fault is counted, too, as its instructions always were.
 */

/* What is called for each of them, for a model, and with windows or without; context: the instruction's address. */
qemu_plugin_memory_fn *sim_access_choose(const struct sim_model *model, bool has_windows);

/* All that are foreseen of a block, one after the other. */
void sim_access_foreseen(struct sim_core *core, const struct sim_block *block, const uint64_t *registers);

/*
 * Those of a block's group i, whose loads and stores were counted, and not yet done: it is in two lines, or in no
 * recent one.  Of a plain machine with lines of 64 bytes.
 */
void sim_access_group_64(struct sim_core *core, const struct sim_block *block, uint32_t i, const uint64_t *registers);

/* One of those that were done just now is due to be drawn. */
void sim_access_draw(struct sim_core *core, const struct sim_block *block, const uint64_t *registers);

/* Of instructions with which the interpreter fetches a bytecode, or its operand: see sim_decode_is_dispatch. */
void sim_access_bytecode(unsigned vcpu, uint32_t info, uint64_t address, void *context);

/*
 * The callbacks for blocks without windows: the thread enters a block, and what is foreseen of its loads and stores is
 * done.
 */

/* What chooses the callback of each block, with the block as its context. */
typedef qemu_plugin_execute_fn *sim_enter_fn(const struct sim_block *block);

/* A block of any shape, and also a thread's first one, or one while it is paused; as qemu_api.h calls. */
void sim_enter_any(unsigned vcpu, const struct sim_block *block, const void *state, const uint8_t *returns_to);

sim_enter_fn *sim_enter_choose(const struct sim_model *model);

/* With windows. */
sim_enter_simulated_fn *sim_enter_choose_simulated(const struct sim_model *model);

/*
 * The callbacks for blocks with windows (core/emu/model/sim_slots.h).
 *
 * Where QEMU has two translations of each block (qemu_api.h), a thread executes light ones while it skips: they count
 * instructions, and no loads and stores are told.  Heavy ones simulate in windows and their warm-up, and have nothing
 * but the count to do while a thread skips: there, they are all that there is where the thread's flags are not known.
 *
 * A window begins in the first heavy block, however late the thread came there: nothing counts as simulated that was
 * not.  What it was late is taken from what is skipped behind the window.
 */

/* For the translation that QEMU is making in this thread: may it be a light one? */
bool sim_windows_are_light(void);

/*
 * QEMU shall call for the light translation of a block.  may_be_again: it, or the block behind it, may not count its
 * first instruction again (struct sim_block): then it is kept, by keep.
 */
void sim_windows_watch_light(struct qemu_plugin_tb *tb, const struct sim_block *block, bool may_be_again,
                             const struct sim_block *(*keep)(const struct sim_block *block));

/* The callback of heavy ones. */
qemu_plugin_execute_fn *sim_windows_choose(const struct sim_block *block);

/* Are there two translations of each block?  From when the first thread's flags are known. */
bool sim_windows_have_light(void);

/*
 * For tests (test/emu/sim_check.c is linked in place of sim_check_none.c), check=foreseen: is what is foreseen of loads
 * and stores what QEMU tells of them?  Instructions whose accesses are foreseen have a callback, too, which compares;
 * what is simulated stays the same.
 */

/* Is it linked?  Else it is not to be asked for. */
bool sim_check_is_there(void);

/* An instruction's accesses are foreseen, the last n_members of foresight, or it has none. */
void sim_check_watch(struct qemu_plugin_insn *insn, const struct sim_foresight *foresight, uint32_t n_members);

/* As sim_enter_fn: what is called for each block. */
qemu_plugin_execute_fn *sim_check_choose(const struct sim_block *block);

/*
 * 'foreseen compared 12 different 0 left 0': left are accesses that were foreseen and not made, in blocks that a fault
 * ended.  Behind it up to 16 lines, 'different at 0x401000: 48 8b 07', of instructions.
 */
void sim_check_print(FILE *out);

#endif
