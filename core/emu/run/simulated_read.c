#include "core/emu/run/simulated_read.h"

#include <sys/syscall.h>

/*
 * The simulator counts a block of instructions when it is entered.  A read at the beginning of a block has all of those
 * before it and a constant of its own.
 */
#if defined(__x86_64__)
#define BEGIN_BLOCK() __asm__ volatile("jmp 1f\n1:" ::: "memory")
#elif defined(__aarch64__)
#define BEGIN_BLOCK() __asm__ volatile("b 1f\n1:" ::: "memory")
#else
#error "mmprof runs on x86-64 and aarch64"
#endif

/* All counts at once, in one block: there must be no branch in it. */
static __attribute__((noinline)) void copy_counts(const volatile uint64_t *from, uint64_t *to)
{
    _Static_assert(SIM_N_COUNTS == 18, "all counts are copied");
    BEGIN_BLOCK();
    to[0] = from[0], to[1] = from[1], to[2] = from[2], to[3] = from[3], to[4] = from[4], to[5] = from[5];
    to[6] = from[6], to[7] = from[7], to[8] = from[8], to[9] = from[9], to[10] = from[10], to[11] = from[11];
    to[12] = from[12], to[13] = from[13], to[14] = from[14], to[15] = from[15], to[16] = from[16], to[17] = from[17];
}

void simulated_tell(uint64_t what, const void *argument)
{
    syscall(SIM_SYSCALL, what, argument);
}

static uint64_t sum(uint64_t set, const uint64_t *counts)
{
    uint64_t all = 0;
    for (; set != 0; set &= set - 1)
        all += counts[__builtin_ctzll(set)];
    return all;
}

/* The cycles of a set of counts; of an empty one, of all. */
static uint64_t cost_of(const struct sim_costs *cost, uint64_t set, const uint64_t *counts)
{
    uint64_t some[SIM_N_COUNTS];
    for (int i = 0; i < SIM_N_COUNTS; i++)
        some[i] = set == 0 || (set >> i & 1) != 0 ? counts[i] : 0;
    return sim_cycles(cost, some);
}

static void read_counts(const struct simulated_thread *thread, const struct counter_layout *layout, uint64_t *columns)
{
    uint64_t counts[SIM_N_COUNTS];
    copy_counts(thread->slot->counts, counts);
    for (int i = 0; thread->since_base && i < SIM_N_COUNTS; i++)
        counts[i] -= thread->slot->base[i];
    for (uint32_t i = 0; i < layout->n_slots; i++) {
        uint64_t config = layout->codes[i].config, set = config & ((UINT64_C(1) << SIM_N_COUNTS) - 1);
        columns[i] = (config & SIMULATED_CYCLES) != 0 ? cost_of(thread->cost, set, counts) : sum(set, counts);
    }
    for (uint32_t g = 0; layout->n_groups > 1 && g <= layout->n_groups; g++)
        columns[layout->n_slots + g] = counts[g == 1 ? SIM_INSTRUCTIONS : SIM_EXECUTED];
}

static void close_counts(struct simulated_thread *thread)
{
    if (thread->is_aside)
        simulated_tell(SIM_TELL_BACK, NULL);
    thread->slot = NULL;
}

static void set(struct simulated_thread *thread, struct sim_slot *slot, const struct sim_slots *slots)
{
    *thread = (struct simulated_thread){ .slot = slot,
                                         .cost = &slots->model.cost,
                                         .is_paused = &slot->is_paused,
                                         .read = read_counts,
                                         .close = close_counts };
}

int simulated_open(struct simulated_thread *thread, bool is_aside)
{
    struct sim_answer answer = { NULL, NULL };
    uint64_t counts[SIM_N_COUNTS];
    syscall(SIM_SYSCALL, is_aside ? SIM_ASK_ASIDE : SIM_ASK_SLOT, &answer);
    if (answer.slot == NULL || answer.slots == NULL)
        return ENOSYS;
    set(thread, answer.slot, answer.slots);
    thread->since_base = true;
    thread->is_aside = is_aside;
    copy_counts(answer.slot->counts, counts);
    memcpy(answer.slot->base, counts, sizeof counts);
    return 0;
}

bool simulated_find(struct sim_slots *slots, int32_t tid, struct simulated_thread *thread)
{
    struct sim_slot *slot = sim_slots_find(slots, tid);
    if (slot != NULL)
        set(thread, slot, slots);
    return slot != NULL;
}
