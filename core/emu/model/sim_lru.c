#include "core/emu/model/sim_lru.h"

/* From so many ways on, an index is quicker than a search. */
#define INDEXED_WAYS 12

static size_t ways(size_t n_entries)
{
    return n_entries == 0 ? 1 : n_entries;
}

/* Two of each way, and of the one beyond them. */
static size_t times(size_t n_entries)
{
    return 2 * (n_entries + 1);
}

static size_t index_bytes(size_t n_entries)
{
    return (sizeof(struct sim_lru_index) + n_entries * sizeof(uint32_t) + 7) & ~(size_t)7;
}

size_t sim_lru_bytes(size_t n_entries, uint32_t n_ways)
{
    size_t n = (ways(n_entries) + times(n_entries)) * sizeof(uint64_t);
    return n_ways < INDEXED_WAYS ? n : n + index_bytes(n_entries);
}

struct sim_lru sim_lru_make(void *memory, size_t n_entries, uint32_t n_ways, unsigned line_bits)
{
    struct sim_lru table = { .n_ways = n_entries == 0 ? 0 : n_ways, .line_bits = line_bits };
    table.lines = memory;
    table.used = table.lines + ways(n_entries);
    memset(table.lines, 0xff, ways(n_entries) * sizeof(uint64_t)); /* SIM_EMPTY */
    memset(table.used, 0, times(n_entries) * sizeof(uint64_t));
    if (n_entries > 0)
        table.set_mask = n_entries / n_ways - 1;
    if (n_entries > 0 && n_ways >= INDEXED_WAYS) {
        table.index = (struct sim_lru_index *)(void *)(table.used + times(n_entries));
        memset(table.index, 0xff, index_bytes(n_entries)); /* SIM_NOWHERE */
        table.index->n_old = 0;
        table.index->before = table.index->step = 0;
    }
    return table;
}

/* ---- the oldest ---- */

#define AT_BITS  10 /* ways are 1024 at most */
#define OLD_FEW  8
#define OLD_MANY 24

/* A way's time and the way in one number: times are different, but those of empty ways. */
static uint64_t time_and_way(const struct sim_lru *table, uint32_t at)
{
    return sim_lru_used(table, at) << AT_BITS | at;
}

/* The youngest first. */
static void sort_old(uint64_t *old, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        uint64_t one = old[i];
        uint32_t to = i;
        for (; to > 0 && old[to - 1] < one; to--)
            old[to] = old[to - 1];
        old[to] = one;
    }
}

/*
 * All that were used before a time, without a branch that is mispredicted.  Returns how many; if they are more than
 * OLD_MANY, not all are in 'old'.
 */
static uint32_t find_before(const struct sim_lru *table, uint64_t time)
{
    uint64_t *old = table->index->old, before = time << AT_BITS;
    uint32_t n = 0;
    for (uint32_t at = 0; at < table->n_ways; at++) {
        uint64_t one = time_and_way(table, at);
        old[n % SIM_NEXT_OLD] = one;
        n += one < before;
    }
    return n;
}

/* The OLD_FEW that were used longest ago, or all. */
static uint32_t find_few(const struct sim_lru *table)
{
    uint64_t *old = table->index->old;
    uint32_t n = 0;
    for (uint32_t at = 0; at < table->n_ways; at++) {
        uint64_t one = time_and_way(table, at);
        uint32_t to = n;
        if (n == OLD_FEW && one >= old[0])
            continue;
        if (n == OLD_FEW) { /* the youngest, which is first, makes room */
            for (to = 0; to + 1 < n && old[to + 1] > one; to++)
                old[to] = old[to + 1];
        } else {
            for (n++; to > 0 && old[to - 1] < one; to--)
                old[to] = old[to - 1];
        }
        old[to] = one;
    }
    return n;
}

/* Of a table that has one set and an index: find the oldest ones, about 16: as many as in as long a time before. */
static void find_old(struct sim_lru *table)
{
    struct sim_lru_index *index = table->index;
    uint64_t time = index->before + index->step;
    uint32_t n = index->step == 0 ? 0 : find_before(table, time);
    if (n < OLD_FEW / 2 || n > OLD_MANY)
        n = find_few(table);
    else
        sort_old(index->old, n);
    index->n_old = n;
    uint64_t youngest = index->old[0] >> AT_BITS, oldest = index->old[n - 1] >> AT_BITS;
    index->before = youngest + 1;
    index->step = (youngest - oldest) * 16 / n;
}

/* Times only grow: one of the oldest that was not used since is older than all others. */
static uint32_t next_old(struct sim_lru *table)
{
    struct sim_lru_index *index = table->index;
    for (;;) {
        while (index->n_old > 0) {
            uint64_t one = index->old[--index->n_old];
            uint32_t at = (uint32_t)(one % (1u << AT_BITS));
            if (sim_lru_used(table, at) == one >> AT_BITS)
                return at;
        }
        find_old(table);
    }
}

/* In a set of 8 from 'at' on: by halves, as each comparison would else wait for the one before. */
static uint32_t oldest_of_8(const struct sim_lru *table, uint32_t at)
{
    uint64_t old[8];
#pragma GCC unroll 8
    for (uint32_t i = 0; i < 8; i++)
        old[i] = sim_lru_used(table, at + i) << 3 | i;
#pragma GCC unroll 4
    for (uint32_t i = 0; i < 4; i++)
        old[i] = old[i] < old[i + 4] ? old[i] : old[i + 4];
    old[0] = old[0] < old[2] ? old[0] : old[2];
    old[1] = old[1] < old[3] ? old[1] : old[3];
    return at + (uint32_t)((old[0] < old[1] ? old[0] : old[1]) & 7);
}

uint32_t sim_lru_oldest(struct sim_lru *table, uint64_t line)
{
    if (table->index != NULL && table->set_mask == 0)
        return next_old(table);
    uint32_t first = (uint32_t)(line & table->set_mask) * table->n_ways, oldest = first;
    uint64_t least = UINT64_MAX;
    if (table->n_ways == 8)
        return oldest_of_8(table, first);
    for (uint32_t at = first; at < first + table->n_ways; at++) {
        uint64_t used = sim_lru_used(table, at);
        oldest = used < least ? at : oldest;
        least = used < least ? used : least;
    }
    return oldest;
}

/* ---- coming and going ---- */

static void unlink_way(const struct sim_lru *table, uint32_t at)
{
    uint32_t *link = &table->index->chains[table->lines[at] % SIM_CHAINS];
    while (*link != at)
        link = &table->index->next[*link];
    *link = table->index->next[at];
}

void sim_lru_put(struct sim_lru *table, uint32_t at, uint64_t line, bool is_dirty, uint64_t now)
{
    if (table->index != NULL) {
        uint32_t *chain = &table->index->chains[line % SIM_CHAINS];
        if (table->lines[at] != SIM_EMPTY)
            unlink_way(table, at);
        table->index->next[at] = *chain;
        *chain = at;
    }
    table->lines[at] = line;
    sim_lru_use(table, at, !is_dirty, 0);
    sim_lru_use(table, at, is_dirty, now);
}

void sim_lru_clear(struct sim_lru *table, uint32_t at)
{
    if (table->index != NULL) {
        unlink_way(table, at);
        table->index->n_old = 0; /* it is the oldest now */
    }
    table->lines[at] = SIM_EMPTY;
    sim_lru_use(table, at, false, 0);
    sim_lru_use(table, at, true, 0);
}
