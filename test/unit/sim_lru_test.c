#include "core/emu/model/sim_lru.h"

#include "test/unit/tap.h"

#include <stdlib.h>

/* A repeatable sequence of numbers: xorshift. */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* One use of a line in both kinds of table.  Returns whether they say the same of it, and of what has to go. */
static bool use_both(struct sim_lru *table, struct sim_cache *ordered, uint64_t line, bool is_write, uint64_t now)
{
    uint64_t victim = SIM_EMPTY;
    bool was_there = sim_cache_touch(ordered, line, is_write, &victim);
    uint32_t at = sim_lru_find(table, line);
    if (was_there != (at != SIM_NOWHERE))
        return false;
    if (was_there) {
        sim_lru_use(table, at, is_write, now);
        return true;
    }
    at = sim_lru_oldest(table, line);
    bool is_same = (table->lines[at] == SIM_EMPTY) == (victim == SIM_EMPTY);
    if (victim != SIM_EMPTY)
        is_same = is_same && table->lines[at] == victim >> 1 && sim_lru_is_dirty(table, at) == (victim & 1);
    sim_lru_put(table, at, line, is_write, now);
    return is_same;
}

static bool take_both(struct sim_lru *table, struct sim_cache *ordered, uint64_t line)
{
    uint64_t taken = sim_cache_take(ordered, line);
    uint32_t at = sim_lru_find(table, line);
    if ((at == SIM_NOWHERE) != (taken == SIM_EMPTY))
        return false;
    if (at == SIM_NOWHERE)
        return true;
    bool is_same = sim_lru_is_dirty(table, at) == (taken & 1);
    sim_lru_clear(table, at);
    return is_same;
}

/* Lines of half as many again as the table has, one of them taken out now and then. */
static bool agree(size_t n_sets, uint32_t n_ways)
{
    uint64_t state = 88172645463325252, n = n_sets * n_ways;
    void *memory = malloc(sim_lru_bytes(n, n_ways));
    struct sim_cache ordered = { .entries = malloc(n * sizeof(uint64_t)), .set_mask = n_sets - 1, .n_ways = n_ways };
    if (memory == NULL || ordered.entries == NULL)
        exit(1);
    memset(ordered.entries, 0xff, n * sizeof(uint64_t));
    struct sim_lru table = sim_lru_make(memory, n, n_ways, 6);
    bool is_same = true;
    for (uint64_t now = 1; now < 100000 && is_same; now++) {
        uint64_t r = next_random(&state), line = (r >> 8) % (n + n / 2 + 2);
        is_same = r % 64 == 0 ? take_both(&table, &ordered, line) : use_both(&table, &ordered, line, r & 1, now);
    }
    free(memory);
    free(ordered.entries);
    return is_same;
}

int main(void)
{
    static const struct {
        const char *claim;
        size_t n_sets;
        uint32_t n_ways;
    } rows[] = {
        { "64 sets of 8 ways have the lines that sets in order of use have, and lose the same", 64, 8 },
        { "so does one set of 72 ways, which has an index", 1, 72 },
        { "four sets of 16", 4, 16 },
        { "one set of 12", 1, 12 },
        { "16 sets of one", 16, 1 },
        { "a single line", 1, 1 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        CHECK(rows[i].claim, agree(rows[i].n_sets, rows[i].n_ways));
    return tap_done();
}
