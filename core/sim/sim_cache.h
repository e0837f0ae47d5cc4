/*
 * A set-associative table of lines (or pages) with least-recently-used replacement: the caches and TLBs.
 *
 * A set's ways stand in the order of their last use, the latest first: a hit in the first one, which most are, moves
 * nothing.  An entry is the whole line number (address / line size) and a dirty bit; a real cache's tag would leave out
 * the bits that the set's index tells.
 */
#ifndef CORE_SIM_SIM_CACHE_H
#define CORE_SIM_SIM_CACHE_H

#include <stdbool.h>
#include <stdint.h>

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

/* Is the line there?  It becomes the latest of its set then, and dirty with dirty 1. */
static inline bool sim_cache_use(struct sim_cache *cache, uint64_t line, uint64_t dirty)
{
    uint64_t *set = sim_cache_set(cache, line), found = set[0];
    if (__builtin_expect(found >> 1 == line, 1)) {
        set[0] = found | dirty;
        return true;
    }
    for (uint32_t i = 1; i < cache->n_ways; i++) {
        found = set[i];
        if (found >> 1 != line)
            continue;
        for (; i > 0; i--)
            set[i] = set[i - 1];
        set[0] = found | dirty;
        return true;
    }
    return false;
}

/* Put a line in that is not there.  Returns the entry that had to go, or SIM_EMPTY. */
static inline uint64_t sim_cache_put(struct sim_cache *cache, uint64_t line, uint64_t dirty)
{
    uint64_t *set = sim_cache_set(cache, line), victim = set[cache->n_ways - 1];
    for (uint32_t i = cache->n_ways - 1; i > 0; i--)
        set[i] = set[i - 1];
    set[0] = line << 1 | dirty;
    return victim;
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

#endif
