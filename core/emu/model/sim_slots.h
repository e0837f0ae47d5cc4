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

#include "core/emu/model/sim_sets.h"
#include "core/emu/model/sim_window.h"

#include <stdatomic.h>

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
