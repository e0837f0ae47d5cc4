#include "core/emu/plugin/sim_misses.h"

#include "core/base/ticks.h"
#include "core/emu/plugin/vm_memory.h"

#define PERIOD_NS UINT64_C(200000000) /* what was found is written so often */
#define SUMS      (1u << 17)
#define SUMS_FULL (SUMS / 4 * 3)

void sim_sums_open(struct sim_sums *sums, struct owners *owners, struct sim_slots *slots)
{
    *sums = (struct sim_sums){ .owners = owners, .slots = slots, .written_ns = sim_clock_now_ns() };
    sums->sums = (struct vm_table){ sim_map(SUMS * sizeof(struct sim_sum)), SUMS - 1, SUMS };
}

static void tell_totals(struct sim_sums *sums, uint64_t ticks)
{
    uint64_t now[SIM_N_COUNTS], since[SIM_N_COUNTS];
    uint32_t n = atomic_load(&sums->slots->n_used);
    memcpy(now, sums->retired, sizeof now);
    for (uint32_t i = 0; i < n && i < sums->slots->n_slots; i++)
        for (int k = 0; k < SIM_N_COUNTS; k++)
            now[k] += sums->slots->slots[i].counts[k];
    for (int k = 0; k < SIM_N_COUNTS; k++)
        since[k] = now[k] > sums->told[k] ? now[k] - sums->told[k] : 0;
    memcpy(sums->told, now, sizeof now);
    const struct miss_entry entry = {
        .kind = MISS_TOTALS,
        .ticks = ticks,
        .n_accesses = since[SIM_L1D_LOADS] + since[SIM_L1D_STORES],
        .counts = { since[SIM_L1D_LOAD_MISSES] + since[SIM_L1D_STORE_MISSES],
                    since[SIM_L2_LOAD_MISSES] + since[SIM_L2_STORE_MISSES], since[SIM_DTLB_MISSES] },
        .n_looks = sums->n_looks,
        .look_ns = sums->look_ns,
    };
    sums->n_looks = sums->look_ns = 0;
    owners_log(sums->owners, &entry);
}

/* Of what follows. */
static void tell_bytecode(struct sim_sums *sums, uint32_t bytecode)
{
    const struct miss_entry entry = { .kind = MISS_AT, .number = bytecode };
    if (bytecode != sums->bytecode)
        owners_log(sums->owners, &entry);
    sums->bytecode = bytecode;
}

static void write_sum(struct sim_sums *sums, const struct sim_sum *sum, uint64_t ticks)
{
    struct miss_entry entry = { .kind = MISS_COUNTS,
                                .ticks = ticks,
                                .thread = sum->key.thread,
                                .location = sum->key.location,
                                .line = (uint32_t)sum->key.line,
                                .cell = sum->key.cell,
                                .n_kept = sum->n_kept };
    memcpy(entry.counts, sum->counts, sizeof entry.counts);
    tell_bytecode(sums, (uint32_t)sum->key.bytecode);
    if (sum->n_kept > 0)
        owners_log(sums->owners, &entry);
    entry.kind = MISS_ACCESSES;
    entry.n_accesses = sum->n_accesses;
    entry.n_kept = sum->n_drawn;
    if (sum->n_drawn > 0)
        owners_log(sums->owners, &entry);
}

void sim_sums_write(struct sim_sums *sums)
{
    const struct sim_sum *all = sums->sums.elements;
    uint64_t ticks = ticks_now();
    for (uint32_t i = 0; sums->n > 0 && i < SUMS; i++)
        if (all[i].key.thread != 0)
            write_sum(sums, &all[i], ticks);
    if (sums->n > 0)
        memset(sums->sums.elements, 0, SUMS * sizeof *all);
    sums->n = 0;
    sums->written_ns = sim_clock_now_ns();
    tell_totals(sums, ticks);
    owners_flush(sums->owners);
}

bool sim_sums_are_due(const struct sim_sums *sums)
{
    return sim_clock_now_ns() - sums->written_ns > PERIOD_NS;
}

void sim_sums_write_due(struct sim_sums *sums)
{
    if (sim_sums_are_due(sums))
        sim_sums_write(sums);
}

struct sim_sum *sim_sums_of(struct sim_sums *sums, const struct sim_sum_key *key)
{
    if (sums->n > SUMS_FULL)
        sim_sums_write(sums);
    uint64_t hash = vm_hash(key->location + ((uint64_t)key->cell << 40) + ((uint64_t)key->thread << 20) + key->line +
                            (key->bytecode << 30));
    struct sim_sum *sum = vm_table_find(&sums->sums, sizeof *sum, hash, key, sizeof *key);
    sums->n += sum->key.thread == 0;
    sum->key = *key;
    return sum;
}
