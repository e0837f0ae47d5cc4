/*
 * What the simulator counts, in memory that three parties share: the plugin inside the emulator counts, the agent in
 * the emulated JVM reads its thread's counts at each probe, mmprof record reads all threads' from outside.
 *
 * The emulator and the program in it have one address space, so the agent needs no mapping of its own: a system call
 * that no kernel has, SIM_SYSCALL, is a question to the plugin, which sees all system calls, for the thread's slot.
 * Without a plugin it is refused with ENOSYS.
 */
#ifndef CORE_EMU_MODEL_SIM_SLOTS_H
#define CORE_EMU_MODEL_SIM_SLOTS_H

#include "core/base/err.h"
#include "core/emu/model/sim_machine.h"

#include <stdatomic.h>

/*
 * Set sampling: of the caches' sets, one of n is simulated, and counts are multiplied by n.
 *
 *     1/8     of 64 classes of sets, by the lowest bits of a line's number in L2, 8 are simulated, in L1 as in L2
 *
 * A line of another class is a hit, and its page alone is looked up; one of these finds its set as it would be if all
 * were simulated, for no line moves from a set to another.  So what is counted of them is exact, and what is estimated
 * is the rest.  Hits are done as without a sample (struct sim_machine), so a sample saves a part of what misses take,
 * and nothing else.  Which classes are simulated is drawn, the same ones in each run; TLBs (fully associative, mostly)
 * and predictors are simulated whole.
 *
 * How far an estimate may be off is told by how much the classes differ from each other: the standard error of a total
 * estimated from a random sample without replacement, with as many degrees of freedom as classes but one.
 */

#define SIM_SETS_DEFAULT 8
#define SIM_SETS_MAX     16
#define SIM_SETS_SEED    UINT64_C(45)

/* "1/8": 1, 2, 4, 8 or 16.  Returns 0, or -1 with *err set. */
int sim_sets_read(const char *text, uint32_t *n, struct err *err);

/* Can one of n sets of this model be simulated (0: all, without a sample)?  Returns 0, or -1 with *err set. */
int sim_sets_check(const struct sim_model *model, uint32_t n, struct err *err);

/* A bit for each of the 64 / n classes that are simulated. */
uint64_t sim_sets_draw(uint32_t n, uint64_t seed);

/* Misses of all sets, estimated, and the square of that estimate's standard error; of 1/1, 0. */
struct sim_sets_estimate {
    double total, variance;
    uint32_t degrees_of_freedom;
};

struct sim_sets_estimate sim_sets_estimate(const struct sim_sets_counts *counts, uint64_t sampled,
                                           enum sim_sets_kind kind);

/*
 * Sampling windows: of each thread's instructions, a part is simulated and counted, and the rest only executed.
 *
 *     500K+250K/10M     of each 10 million, 500,000 warm caches and predictors up, the next 250,000 are counted
 *
 * Where in its period a window is, is drawn for each period: a program in step with the periods would else always show
 * the same part of itself.  The same thread draws the same windows in each run.
 */

#define SIM_WINDOW_DEFAULT    "500K+250K/10M"
#define SIM_WINDOW_TEXT_BYTES 80

/* In instructions.  Plain data; counted 0: there are no windows, everything is counted. */
struct sim_window {
    uint64_t warm_up, counted, period;
};

enum sim_window_phase { SIM_SKIPPED, SIM_WARMING_UP, SIM_COUNTED };

/* Where a thread is. */
struct sim_window_state {
    int64_t left; /* instructions until the phase ends; below 0: it should have */
    enum sim_window_phase phase;
    uint64_t behind; /* what will be left of the period behind the window */
    uint64_t random;
};

/* Read it.  Returns 0, or -1 with *err set. */
int sim_window_read(const char *text, struct sim_window *window, struct err *err);

/* As sim_window_read reads it, in instructions. */
void sim_window_print(const struct sim_window *window, char *text, size_t n);

/* Can it be simulated?  For a window that came from elsewhere. */
int sim_window_check(const struct sim_window *window, struct err *err);

/* A thread's first period begins; number: of the thread. */
void sim_window_begin(struct sim_window_state *state, const struct sim_window *window, uint32_t number);

/*
 * A thread that skips comes to its window with a block of n instructions; n_late, n or more or less, are those beyond
 * what it was to skip, with the block.  What came before the block is taken from what will be left behind the window.
 * sim_window_next is next.
 */
void sim_window_begin_late(struct sim_window_state *state, uint64_t n_late, uint32_t n);

/* Less than 0 is left: go on to the phase that is due. */
void sim_window_next(struct sim_window_state *state, const struct sim_window *window);

#define SIM_SLOTS_MAGIC UINT32_C(0x6d69730c)
#define SIM_SLOTS_MAX   16384 /* threads, one after the other; the memory is sparse */

/* syscall(SIM_SYSCALL, SIM_ASK_SLOT, &answer): where the calling thread's slot is. */
#define SIM_SYSCALL  0x6d6d7066L
#define SIM_ASK_SLOT UINT64_C(0x736c6f7400000001)

/*
 * syscall(SIM_SYSCALL, what, symbols): where HotSpot's tables are, SIM_N_SYMBOLS addresses of the variables below, 0
 * for one that is not there; and without an argument: objects are about to move, stay where they are again; the program
 * is about to end.
 */
#define SIM_TELL_TABLES UINT64_C(0x736c6f7400000002)
#define SIM_TELL_MOVE   UINT64_C(0x736c6f7400000003)
#define SIM_TELL_MOVED  UINT64_C(0x736c6f7400000004)
#define SIM_TELL_END    UINT64_C(0x736c6f7400000005)

/*
 * syscall(SIM_SYSCALL, SIM_ASK_ASIDE, &answer): from now on the calling thread counts in a slot of its own that nobody
 * else sees, and no misses of it are kept, until syscall(SIM_SYSCALL, SIM_TELL_BACK, NULL).
 */
#define SIM_ASK_ASIDE UINT64_C(0x736c6f7400000006)
#define SIM_TELL_BACK UINT64_C(0x736c6f7400000007)

/*
 * syscall(SIM_SYSCALL, SIM_TELL_OWN, two addresses): where the agent's code begins and ends.  What is executed there is
 * counted in 'own' of its thread's slot and nowhere else, and leaves the simulated processor as it was.
 */
#define SIM_TELL_OWN UINT64_C(0x736c6f7400000008)

#define SIM_N_SYMBOLS 14
#define SIM_SYMBOL_NAMES                                                                                    \
    {                                                                                                       \
        "gHotSpotVMStructs", "gHotSpotVMStructEntryArrayStride", "gHotSpotVMStructEntryTypeNameOffset",     \
            "gHotSpotVMStructEntryFieldNameOffset", "gHotSpotVMStructEntryOffsetOffset",                    \
            "gHotSpotVMStructEntryAddressOffset", "gHotSpotVMTypes", "gHotSpotVMTypeEntryArrayStride",      \
            "gHotSpotVMTypeEntryTypeNameOffset", "gHotSpotVMTypeEntrySizeOffset", "gHotSpotVMIntConstants", \
            "gHotSpotVMIntConstantEntryArrayStride", "gHotSpotVMIntConstantEntryNameOffset",                \
            "gHotSpotVMIntConstantEntryValueOffset"                                                         \
    }

enum sim_own_count { SIM_OWN_INSTRUCTIONS, SIM_OWN_ACCESSES, SIM_N_OWN };

struct sim_slot {
    _Atomic int32_t tid;       /* of the thread; 0: nobody's yet */
    _Atomic uint32_t is_ended; /* the thread has ended: its counts stay as they are */
    /* The agent asks, for its own work: nothing is counted, and caches and predictors stay as they are. */
    _Atomic uint32_t is_paused;
    uint64_t counts[SIM_N_COUNTS];
    uint64_t base[SIM_N_COUNTS]; /* the counts when the agent began to read them */
    uint64_t own[SIM_N_OWN];     /* what the agent's code did, in none of these */
    struct sim_sets_counts sets; /* with a sample of sets: what of the counts each class has */
} __attribute__((aligned(64)));

struct sim_slots;

struct sim_answer {
    struct sim_slot *slot;
    struct sim_slots *slots;
};

struct sim_slots {
    uint32_t magic, n_slots;
    struct sim_model model;   /* set before the plugin starts */
    struct sim_window window; /* likewise */
    uint32_t sets;            /* likewise; one of so many is simulated; 0: all, without a sample */
    _Atomic uint32_t n_used;  /* slots given out so far */
    struct sim_slot slots[];
};

static inline size_t sim_slots_bytes(uint32_t n_slots)
{
    return sizeof(struct sim_slots) + n_slots * sizeof(struct sim_slot);
}

/*
 * The latest thread's of this id, or NULL.  The emulated program may write what it likes into the numbers: never beyond
 * SIM_SLOTS_MAX.
 */
static inline struct sim_slot *sim_slots_find(struct sim_slots *slots, int32_t tid)
{
    uint32_t n = atomic_load(&slots->n_used), room = slots->n_slots < SIM_SLOTS_MAX ? slots->n_slots : SIM_SLOTS_MAX;
    for (uint32_t i = n < room ? n : room; i-- > 0;)
        if (atomic_load(&slots->slots[i].tid) == tid)
            return &slots->slots[i];
    return NULL;
}

#endif
