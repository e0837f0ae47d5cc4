/*
 * A set-associative table of lines (or pages) with least-recently-used replacement, made for hits: L1 and the first
 * level of TLBs, which are asked at each access.
 *
 * Each way has the time of its last use, and nothing ever moves: who remembers where a line is (struct sim_recent)
 * writes the time there, and that is all of a hit.  The least recent way of a set is looked for when a line misses.
 * struct sim_cache, whose lines stand in order, is smaller, and quicker where every second access misses.
 *
 * The time of the last read and that of the last write are kept next to each other, so that an access has one to write
 * to without a question; a line is dirty when it has the latter.
 *
 * In a set of many ways (a TLB's 64 or so) both searches would take longer than all else: there an index finds lines,
 * and a search for the least recent way leaves the next few for later.
 */
#ifndef CORE_EMU_MODEL_SIM_LRU_H
#define CORE_EMU_MODEL_SIM_LRU_H

#include "core/base/std.h"

/*
 * A set-associative table of lines (or pages) with least-recently-used replacement: the caches and TLBs.
 *
 * A set's ways stand in the order of their last use, the latest first: a hit in the first one, which most are, moves
 * nothing.  An entry is the whole line number (address / line size) and a dirty bit; a real cache's tag would leave out
 * the bits that the set's index tells.
 */

#define SIM_EMPTY (~UINT64_C(0)) /* an entry, or no line at all */

struct sim_cache {
    uint64_t *entries; /* sets * ways; borrowed */
    uint64_t set_mask; /* sets - 1 */
    uint32_t n_ways;   /* 0: there is no such cache */
    uint32_t line_bits;
};

static inline uint64_t *sim_cache_set(const struct sim_cache *cache, uint64_t line)
{
    return cache->entries + (line & cache->set_mask) * cache->n_ways;
}

/*
 * Use a line, and bring it in if it is not there: it becomes the latest of its set, dirty with dirty 1.  Returns
 * whether it was there; if not, *victim is the entry that had to go, or SIM_EMPTY.
 *
 * Found or not, those that were used later move one way on: one loop does both, a call of memmove for each would cost
 * half as much again as all the rest.
 */
static inline bool sim_cache_touch(struct sim_cache *cache, uint64_t line, uint64_t dirty, uint64_t *victim)
{
    uint64_t *set = sim_cache_set(cache, line), moved = set[0];
    if (__builtin_expect(moved >> 1 == line, 1)) {
        set[0] = moved | dirty;
        return true;
    }
    for (uint32_t i = 1; i < cache->n_ways; i++) {
        uint64_t found = set[i];
        set[i] = moved;
        if (found >> 1 == line) {
            set[0] = found | dirty;
            return true;
        }
        moved = found;
    }
    set[0] = line << 1 | dirty;
    *victim = moved;
    return false;
}

/* Take a line out.  Returns its entry, or SIM_EMPTY: it was not there. */
static inline uint64_t sim_cache_take(struct sim_cache *cache, uint64_t line)
{
    uint64_t *set = sim_cache_set(cache, line);
    for (uint32_t i = 0; i < cache->n_ways; i++) {
        uint64_t found = set[i];
        if (found >> 1 != line)
            continue;
        for (; i + 1 < cache->n_ways; i++)
            set[i] = set[i + 1];
        set[i] = SIM_EMPTY;
        return found;
    }
    return SIM_EMPTY;
}

#define SIM_NOWHERE  UINT32_MAX
#define SIM_CHAINS   256
#define SIM_NEXT_OLD 32

struct sim_lru_index {
    uint32_t chains[SIM_CHAINS]; /* by a line's lowest bits: a way that has such a line, or SIM_NOWHERE */
    /* Those that were oldest when they were looked for, the oldest last: SIM_OLD_TIME of each. */
    uint64_t old[SIM_NEXT_OLD];
    uint32_t n_old;
    uint64_t before; /* all that were used before it were found the last time */
    uint64_t step;   /* so much later it is to be the next time */
    uint32_t next[]; /* of the chain, for each way */
};

struct sim_lru {
    uint64_t *lines;             /* sets * ways, SIM_EMPTY: none; all arrays are borrowed */
    uint64_t *used;              /* two of each way, and of sim_lru_beyond: last read and last written; 0: never */
    struct sim_lru_index *index; /* NULL: there is none */
    uint64_t set_mask;           /* sets - 1 */
    uint32_t n_ways;             /* 0: there is no such cache */
    uint32_t line_bits;
};

/* What of a table of so many entries, which may be none, needs memory. */
size_t sim_lru_bytes(size_t n_entries, uint32_t n_ways);

/* Make an empty one in that memory, of 8 bytes' alignment. */
struct sim_lru sim_lru_make(void *memory, size_t n_entries, uint32_t n_ways, unsigned line_bits);

/* A place that has no line, and whose times nobody reads: for a line that takes none. */
static inline uint32_t sim_lru_beyond(const struct sim_lru *table)
{
    return (uint32_t)(table->set_mask + 1) * table->n_ways;
}

static inline uint64_t sim_lru_used(const struct sim_lru *table, uint32_t at)
{
    uint64_t read = table->used[2 * (size_t)at], written = table->used[2 * (size_t)at + 1];
    return read > written ? read : written;
}

static inline bool sim_lru_is_dirty(const struct sim_lru *table, uint32_t at)
{
    return table->used[2 * (size_t)at + 1] != 0;
}

static inline void sim_lru_use(struct sim_lru *table, uint32_t at, bool is_write, uint64_t now)
{
    table->used[2 * (size_t)at + is_write] = now;
}

/* Where the line is, or SIM_NOWHERE. */
static inline uint32_t sim_lru_find(const struct sim_lru *table, uint64_t line)
{
    if (table->index != NULL) {
        uint32_t at = table->index->chains[line % SIM_CHAINS];
        while (at != SIM_NOWHERE && table->lines[at] != line)
            at = table->index->next[at];
        return at;
    }
    uint32_t first = (uint32_t)(line & table->set_mask) * table->n_ways;
    for (uint32_t at = first; at < first + table->n_ways; at++)
        if (table->lines[at] == line)
            return at;
    return SIM_NOWHERE;
}

/* The way of the line's set that was used longest ago, if ever. */
uint32_t sim_lru_oldest(struct sim_lru *table, uint64_t line);

/* Put a line, which is not there, into a place of its set, in place of what was there. */
void sim_lru_put(struct sim_lru *table, uint32_t at, uint64_t line, bool is_dirty, uint64_t now);

/* Take out what is there. */
void sim_lru_clear(struct sim_lru *table, uint32_t at);

#endif
