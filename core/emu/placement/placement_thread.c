#include "core/emu/placement/placement_result.h"

#include <sys/mman.h>

#define LINE_BYTES 64u

static size_t misses_bytes(uint32_t n_policies)
{
    return ((size_t)n_policies + 1) * sizeof(struct placement_misses);
}

void placement_counts_open(struct placement_counts *counts, uint32_t n_policies)
{
    counts->misses = sim_map(misses_bytes(n_policies));
}

void placement_counts_close(struct placement_counts *counts, uint32_t n_policies)
{
    munmap(counts->misses, misses_bytes(n_policies));
    counts->misses = NULL;
}

/* ---- threads ---- */

static size_t up(size_t n)
{
    return (n + LINE_BYTES - 1) & ~(size_t)(LINE_BYTES - 1);
}

/* Until the next sample: uniform, of that mean, so that no loop is in step with it (PEBSI §4.1). */
static uint64_t next_period(struct placement_thread *thread)
{
    thread->random ^= thread->random << 13;
    thread->random ^= thread->random >> 7;
    thread->random ^= thread->random << 17;
    return 1 + (thread->random >> 16) % (2 * thread->counts->period - 1);
}

struct placement_thread *placement_thread_make(const struct placement_world *world, struct placement_counts *counts,
                                               const struct sim_model *model, uint64_t number)
{
    size_t n_machine = up(sizeof(struct sim_machine)), n_counts = up(SIM_N_COUNTS * sizeof(uint64_t));
    size_t n_each = n_machine + n_counts + up(sim_machine_bytes(model));
    size_t n = up(sizeof(struct placement_thread)) + (world->n_policies + 1) * n_each;
    char *at = sim_map(n);
    struct placement_thread *thread = (void *)at;
    *thread = (struct placement_thread){ .world = world, .counts = counts, .n_bytes = n };
    thread->random = (number + 1) * UINT64_C(0x9e3779b97f4a7c15) | 1;
    thread->until_sample = next_period(thread);
    at += up(sizeof *thread);
    for (uint32_t i = 0; i <= world->n_policies; i++, at += n_each) {
        thread->machines[i] = (void *)at;
        thread->events[i] = (void *)(at + n_machine);
        sim_machine_init(thread->machines[i], model, at + n_machine + n_counts, thread->events[i]);
    }
    return thread;
}

void placement_thread_flush(struct placement_thread *thread)
{
    atomic_fetch_add(&thread->counts->n_accesses, thread->n_accesses);
    atomic_fetch_add(&thread->counts->n_placed, thread->n_placed);
    thread->n_accesses = thread->n_placed = 0;
}

void placement_thread_free(struct placement_thread *thread)
{
    placement_thread_flush(thread);
    munmap(thread, thread->n_bytes);
}

/* ---- accesses ---- */

struct machine_missed {
    uint64_t n[PLACEMENT_EVENTS];
};

static struct machine_missed missed_by(const uint64_t *events)
{
    return (struct machine_missed){ { [PLACEMENT_L1D] = events[SIM_L1D_LOAD_MISSES] + events[SIM_L1D_STORE_MISSES],
                                      [PLACEMENT_L2] = events[SIM_L2_LOAD_MISSES] + events[SIM_L2_STORE_MISSES],
                                      [PLACEMENT_DTLB] = events[SIM_DTLB_MISSES] } };
}

static uint32_t owner_of(const struct placement_world *world, const struct placement_object *object, uint64_t address)
{
    if (object != NULL)
        return PLACEMENT_OWNERS + object->class_of;
    return address - world->map.heap < world->map.heap_bytes ? PLACEMENT_IN_HEAP : PLACEMENT_ELSEWHERE;
}

static void sample(struct placement_thread *thread, uint64_t address, uint64_t n_missed)
{
    if (n_missed < thread->until_sample) {
        thread->until_sample -= n_missed;
        return;
    }
    thread->until_sample = next_period(thread);
    thread->counts->sampled(address);
}

/* It is none of the recent lines.  Counts what of it missed. */
static __attribute__((noinline)) void access_slowly(struct placement_thread *thread, uint32_t machine,
                                                    const struct placement_object *object, uint64_t address,
                                                    uint64_t place, uint32_t n_bytes, bool is_store)
{
    struct machine_missed before = missed_by(thread->events[machine]);
    sim_machine_data(thread->machines[machine], place, n_bytes, is_store);
    struct machine_missed after = missed_by(thread->events[machine]);
    uint32_t owner = owner_of(thread->world, object, address);
    for (int i = 0; i < PLACEMENT_EVENTS; i++) {
        uint64_t n = after.n[i] - before.n[i];
        if (n == 0)
            continue;
        atomic_fetch_add_explicit(&thread->counts->misses[machine].counts[owner][i], n, memory_order_relaxed);
        if (machine == 0 && !is_store && i == (int)thread->counts->event && owner != PLACEMENT_ELSEWHERE)
            sample(thread, address, n);
    }
}

static inline void access_one(struct placement_thread *thread, uint32_t machine, const struct placement_object *object,
                              uint64_t address, uint64_t place, uint32_t n_bytes, bool is_store)
{
    struct sim_machine *m = thread->machines[machine];
    if ((is_store && !m->is_plain) || !sim_machine_hit(m, place, place + n_bytes - 1, m->l1d.line_bits, is_store))
        access_slowly(thread, machine, object, address, place, n_bytes, is_store);
}

void placement_thread_access(struct placement_thread *thread, uint64_t address, uint32_t n_bytes, bool is_store)
{
    const struct placement_world *world = thread->world;
    const struct placement_object *object = placement_map_find(&world->map, address);
    thread->n_accesses++;
    thread->n_placed += object != NULL;
    access_one(thread, 0, object, address, address, n_bytes, is_store);
    for (uint32_t i = 0; i < world->n_policies; i++) {
        const struct placement_policy *policy = &world->policies[i];
        unsigned heat = policy->kind == PLACEMENT_FIELDS ? (unsigned)policy->heat : PLACEMENT_HEATS;
        uint64_t place = object == NULL ? address : placement_map_address(&world->map, object, i, heat, address);
        access_one(thread, i + 1, object, address, place, n_bytes, is_store);
    }
}
