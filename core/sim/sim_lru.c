#include "core/sim/sim_lru.h"

#include <string.h>

/* From so many ways on, an index is quicker than a search. */
#define INDEXED_WAYS 12

static size_t places(size_t n_entries)
{
    return n_entries == 0 ? 1 : n_entries;
}

static size_t index_bytes(size_t n_entries)
{
    return (sizeof(struct sim_lru_index) + n_entries * sizeof(uint32_t) + 7) & ~(size_t)7;
}

size_t sim_lru_bytes(size_t n_entries, uint32_t n_ways, bool has_writes)
{
    size_t n = places(n_entries) * (has_writes ? 3 : 2) * sizeof(uint64_t);
    return n_ways < INDEXED_WAYS ? n : n + index_bytes(n_entries);
}

struct sim_lru sim_lru_make(void *memory, size_t n_entries, uint32_t n_ways, unsigned line_bits, bool has_writes)
{
    struct sim_lru table = { .n_ways = n_entries == 0 ? 0 : n_ways, .line_bits = line_bits };
    size_t n = places(n_entries);
    table.lines = memory;
    table.used[0] = table.lines + n;
    table.used[1] = has_writes ? table.used[0] + n : table.used[0];
    memset(table.lines, 0xff, n * sizeof(uint64_t)); /* SIM_EMPTY */
    memset(table.used[0], 0, n * sizeof(uint64_t));
    memset(table.used[1], 0, n * sizeof(uint64_t));
    if (n_entries > 0)
        table.set_mask = n_entries / n_ways - 1;
    if (n_entries > 0 && n_ways >= INDEXED_WAYS) {
        table.index = (struct sim_lru_index *)(void *)(table.used[1] + n);
        memset(table.index, 0xff, index_bytes(n_entries)); /* SIM_NOWHERE */
        table.index->n_old = 0;
    }
    return table;
}

/* ---- the oldest ---- */

/* Of a table that has one set and an index: find the oldest ones. */
static void find_old(struct sim_lru *table)
{
    struct sim_lru_index *index = table->index;
    uint32_t n = 0;
    for (uint32_t at = 0; at < table->n_ways; at++) {
        uint64_t used = sim_lru_used(table, at);
        uint32_t i = n;
        if (n == SIM_NEXT_OLD && used >= index->old_used[0])
            continue;
        if (n == SIM_NEXT_OLD) { /* the youngest, which is first, makes room */
            for (i = 0; i + 1 < n && index->old_used[i + 1] > used; i++) {
                index->old[i] = index->old[i + 1];
                index->old_used[i] = index->old_used[i + 1];
            }
        } else {
            for (n++; i > 0 && index->old_used[i - 1] < used; i--) {
                index->old[i] = index->old[i - 1];
                index->old_used[i] = index->old_used[i - 1];
            }
        }
        index->old[i] = at;
        index->old_used[i] = used;
    }
    index->n_old = n;
}

/* Times only grow: one of the oldest that was not used since is older than all others. */
static uint32_t next_old(struct sim_lru *table)
{
    struct sim_lru_index *index = table->index;
    for (;;) {
        while (index->n_old > 0) {
            uint32_t i = --index->n_old, at = index->old[i];
            if (sim_lru_used(table, at) == index->old_used[i])
                return at;
        }
        find_old(table);
    }
}

uint32_t sim_lru_oldest(struct sim_lru *table, uint64_t line)
{
    if (table->index != NULL && table->set_mask == 0)
        return next_old(table);
    uint32_t first = (uint32_t)(line & table->set_mask) * table->n_ways, oldest = first;
    uint64_t least = UINT64_MAX;
    for (uint32_t at = first; at < first + table->n_ways; at++) {
        uint64_t used = sim_lru_used(table, at);
        oldest = used < least ? at : oldest;
        least = used < least ? used : least;
    }
    return oldest;
}

/* ---- coming and going ---- */

static void unlink_place(const struct sim_lru *table, uint32_t at)
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
            unlink_place(table, at);
        table->index->next[at] = *chain;
        *chain = at;
    }
    table->lines[at] = line;
    table->used[!is_dirty][at] = 0;
    table->used[is_dirty][at] = now; /* behind it, where both are one array */
}

void sim_lru_clear(struct sim_lru *table, uint32_t at)
{
    if (table->index != NULL) {
        unlink_place(table, at);
        table->index->n_old = 0; /* it is the oldest now */
    }
    table->lines[at] = SIM_EMPTY;
    table->used[0][at] = table->used[1][at] = 0;
}
