/*
 * A set-associative table of lines (or pages) with least-recently-used replacement: the caches and TLBs.
 *
 * A set's ways stand in the order of their last use, the latest first: a hit in the first one, which most are, moves
 * nothing.  An entry is the whole line number (address / line size) and a dirty bit; a real cache's tag would leave out
 * the bits that the set's index tells.
 */
#ifndef CORE_EMU_MODEL_SIM_CACHE_H
#define CORE_EMU_MODEL_SIM_CACHE_H

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

/* Use a line if it is there.  Returns whether it was. */
static inline bool sim_cache_use(struct sim_cache *cache, uint64_t line, uint64_t dirty)
{
    const uint64_t *set = sim_cache_set(cache, line);
    uint64_t none;
    for (uint32_t i = 0; i < cache->n_ways; i++)
        if (set[i] >> 1 == line)
            return sim_cache_touch(cache, line, dirty, &none);
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

#endif
