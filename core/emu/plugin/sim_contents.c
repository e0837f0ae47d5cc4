#include "core/emu/plugin/sim_misses.h"

#include "core/emu/plugin/vm_memory.h"

#define SHARE     50                  /* so many times as long as a look took, there is none */
#define LEAST_NS  UINT64_C(100000000) /* and no less than this: CPU time */
#define HELD      (1u << 16)
#define HELD_FULL (HELD / 4 * 3)
#define WHICH     7u /* of an address, which is one of a line of 8 bytes or more: what it is in */

/* Lines of one cell. */
struct sim_held {
    uint64_t cell; /* plus 1; 0: an empty place */
    uint64_t counts[MISS_N_COUNTS];
};

static size_t n_lines(const struct sim_model *model)
{
    return model->l1d.size_bytes / model->l1d.line_bytes +
           (model->l2.size_bytes == 0 ? 0 : model->l2.size_bytes / model->l2.line_bytes) + model->dtlb.n_entries;
}

void sim_contents_open(struct sim_contents *contents, struct sim_lookup *lookup, const struct sim_model *model)
{
    *contents = (struct sim_contents){ .lookup = lookup };
    contents->addresses = sim_map(n_lines(model) * sizeof *contents->addresses);
    contents->held = (struct vm_table){ sim_map(HELD * sizeof(struct sim_held)), HELD - 1, HELD };
}

bool sim_contents_are_due(const struct sim_contents *contents)
{
    return sim_clock_cpu_ns() >= contents->next_ns;
}

/* ---- the lines ---- */

/* entries: lines, shifted up by so many bits for a dirty one.  The thread goes on meanwhile. */
static size_t take_lines(uint64_t *to, const uint64_t *entries, size_t n, unsigned shift, unsigned line_bits,
                         enum miss_count which)
{
    size_t n_taken = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t entry = __atomic_load_n(&entries[i], __ATOMIC_RELAXED);
        if (entry != SIM_EMPTY)
            to[n_taken++] = entry >> shift << line_bits | which;
    }
    return n_taken;
}

static size_t table_size(uint64_t set_mask, uint32_t n_ways)
{
    return (size_t)(set_mask + 1) * n_ways;
}

static size_t take_l2(const struct sim_machine *m, uint64_t *to)
{
    return take_lines(to, m->l2.entries, table_size(m->l2.set_mask, m->l2.n_ways), 1, m->l2.line_bits, MISS_L2);
}

/* L2 only where it is the thread's own. */
static size_t take_all(const struct sim_machine *m, uint64_t *to)
{
    const struct sim_lru *l1d = &m->l1d, *dtlb = &m->dtlb.first;
    size_t n = take_lines(to, l1d->lines, table_size(l1d->set_mask, l1d->n_ways), 0, l1d->line_bits, MISS_L1D);
    n += m->shared == NULL ? take_l2(m, to + n) : 0;
    return n + take_lines(to + n, dtlb->lines, table_size(dtlb->set_mask, dtlb->n_ways), 0, m->page_bits, MISS_DTLB);
}

/* ---- whose they are ---- */

/* weight: so many lines. */
static void hold(struct sim_contents *contents, uint32_t cell, enum miss_count which, uint64_t weight)
{
    uint64_t key = (uint64_t)cell + 1;
    struct sim_held *held = vm_table_find(&contents->held, sizeof *held, vm_hash(key), &key, sizeof key);
    if (held == NULL || (held->cell == 0 && contents->n_held == HELD_FULL))
        return; /* more classes than that are not told */
    contents->n_held += held->cell == 0;
    held->cell = key;
    held->counts[which] += weight;
}

static void write_held(struct sim_contents *contents, uint32_t tid, uint64_t ticks)
{
    struct sim_held *held = contents->held.elements;
    for (; contents->n_held > 0; held++) {
        if (held->cell == 0)
            continue;
        struct miss_entry entry = {
            .kind = MISS_CONTENTS, .ticks = ticks, .thread = tid, .cell = (uint32_t)held->cell - 1
        };
        memcpy(entry.counts, held->counts, sizeof entry.counts);
        owners_log(&contents->lookup->owners, &entry);
        *held = (struct sim_held){ .cell = 0 };
        contents->n_held--;
    }
}

/* The n lines that were taken are a thread's. */
static void tell_lines(struct sim_contents *contents, const struct sim_machine *m, size_t n, uint32_t tid,
                       uint64_t ticks)
{
    qsort(contents->addresses, n, sizeof *contents->addresses, vm_compare);
    for (size_t i = 0; i < n; i++) {
        uint64_t address = contents->addresses[i];
        uint32_t cell = sim_lookup_memory(contents->lookup, address & ~(uint64_t)WHICH);
        if (cell != OWNERS_NONE)
            hold(contents, cell, (enum miss_count)(address & WHICH), (address & WHICH) == MISS_DTLB ? 1 : m->weight);
    }
    write_held(contents, tid, ticks);
}

void sim_contents_look(struct sim_contents *contents, struct sim_contents_of *of, uint64_t ticks)
{
    const struct sim_machine *m = of->machine;
    uint64_t n_instructions = __atomic_load_n(&m->counts[SIM_INSTRUCTIONS], __ATOMIC_RELAXED);
    if (n_instructions == of->n_instructions)
        return;
    of->n_instructions = n_instructions;
    tell_lines(contents, m, take_all(m, contents->addresses), of->tid, ticks);
    if (m->shared == NULL || contents->has_shared)
        return;
    contents->has_shared = true; /* those of all threads: of the process */
    tell_lines(contents, m, take_l2(m, contents->addresses), (uint32_t)getpid(), ticks);
}

void sim_contents_looked(struct sim_contents *contents, uint64_t own_ns, uint64_t ticks)
{
    struct miss_entry entry = { .kind = MISS_USED, .ticks = ticks };
    contents->has_shared = false;
    heap_walk_used(&contents->lookup->heap, entry.used);
    owners_log(&contents->lookup->owners, &entry);
    contents->next_ns = sim_clock_cpu_ns() + (SHARE * own_ns > LEAST_NS ? SHARE * own_ns : LEAST_NS);
}
