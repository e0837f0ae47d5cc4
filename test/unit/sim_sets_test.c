/* A sample of sets: what is counted of its sets is exact, and the rest lies where the estimate's interval says. */
#include "core/emu/model/sim_slots.h"

#include "phases/tree/estimate.h"
#include "test/unit/tap.h"

#include <math.h>
#include <stdlib.h>

struct world {
    struct sim_machine machine;
    struct sim_sets_counts sets;
    uint64_t counts[SIM_N_COUNTS];
    void *memory; /* owned */
};

static void begin(struct world *world, const char *name, uint32_t n, uint64_t seed)
{
    struct sim_model model;
    struct err err;
    if (sim_model_find(name, &model, &err) < 0)
        exit(1);
    *world = (struct world){ .memory = malloc(sim_machine_bytes(&model)) };
    sim_machine_init(&world->machine, &model, world->memory, world->counts);
    world->machine.sets = &world->sets;
    if (n > 0)
        sim_machine_sample(&world->machine, n, sim_sets_draw(n, seed));
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static double uniform(uint64_t *state)
{
    return (double)(next_random(state) >> 11) / 9007199254740992.0;
}

/* ---- streams of addresses ---- */

typedef uint64_t stream_fn(uint64_t *state, uint64_t i);

static uint64_t scattered(uint64_t *state, uint64_t i)
{
    (void)i;
    return 0x10000000 + next_random(state) % (UINT64_C(4) << 20);
}

/* Objects of 24 bytes, few of which are used often. */
static uint64_t objects(uint64_t *state, uint64_t i)
{
    (void)i;
    double u = uniform(state);
    return 0x20000000 + (uint64_t)(200000 * u * u * u * u) * 24 + (next_random(state) % 3) * 8;
}

static uint64_t at, left; /* of the array that is walked */

/* Arrays of 40 to 4000 longs, walked from their begins, at random places. */
static uint64_t walks(uint64_t *state, uint64_t i)
{
    (void)i;
    if (left == 0) {
        at = 0x30000000 + next_random(state) % (UINT64_C(8) << 20) / 8 * 8;
        left = 40 + next_random(state) % 3960;
    }
    left--;
    return at += 8;
}

/* All of them, and a stack. */
static uint64_t mixture(uint64_t *state, uint64_t i)
{
    uint64_t which = next_random(state) >> 20 & 7;
    if (which < 3)
        return 0x7ffff000 + next_random(state) % 2048;
    return which < 5 ? objects(state, i) : which < 7 ? walks(state, i) : scattered(state, i);
}

static const struct {
    const char *name;
    stream_fn *next;
} streams[] = { { "scattered", scattered }, { "objects", objects }, { "walks", walks }, { "mixture", mixture } };

#define N_STREAMS  (sizeof streams / sizeof streams[0])
#define N_ACCESSES 30000

/* Loads, and a store for each fourth, some over the border of two lines; code besides. */
static void run(struct world *world, stream_fn *next, uint64_t seed)
{
    uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) | 1, code = 88172645463325252 ^ seed;
    left = 0;
    for (uint64_t i = 0; i < N_ACCESSES; i++) {
        uint64_t address = next(&state, i), line = (0x400000 + next_random(&code) % 65536) / 64;
        bool is_store = i % 4 == 3;
        if (is_store)
            sim_machine_store(&world->machine, address, 8);
        else
            sim_machine_load(&world->machine, address, 8);
        if (i % 2 == 0)
            sim_machine_fetch_lines(&world->machine, line, line, 0);
    }
}

/* ---- what is exact ---- */

static bool is_same(const struct world *one, const struct world *other, int first, int last)
{
    bool is = true;
    for (int i = first; i <= last; i++) {
        if (one->counts[i] != other->counts[i])
            printf("# count %d: %llu, %llu\n", i, (unsigned long long)one->counts[i],
                   (unsigned long long)other->counts[i]);
        is = is && one->counts[i] == other->counts[i];
    }
    return is;
}

static bool is_same_sets(const struct world *whole, const struct world *sample, uint64_t sampled)
{
    bool is = true;
    for (int i = 0; i < SIM_SET_CLASSES; i++)
        for (enum sim_sets_kind kind = 0; kind < SIM_SETS_KINDS; kind++)
            is = is && sample->sets.misses[i][kind] == ((sampled >> i & 1) != 0 ? whole->sets.misses[i][kind] : 0);
    return is;
}

static void test_exact(void)
{
    static const char *const models[] = { "zen4", "goldencove", "neoverse-n1", "javana", "athlonxp", "ultrasparc3" };
    for (size_t m = 0; m < sizeof models / sizeof models[0]; m++) {
        struct world whole, all, eighth;
        bool is_all = true, is_eighth = true, is_rest = true;
        for (size_t s = 0; s < N_STREAMS; s++) {
            begin(&whole, models[m], 0, 0);
            begin(&all, models[m], 1, 0);
            begin(&eighth, models[m], 8, 1 + s);
            run(&whole, streams[s].next, 7);
            run(&all, streams[s].next, 7);
            run(&eighth, streams[s].next, 7);
            is_all = is_all && is_same(&whole, &all, 0, SIM_N_COUNTS - 1);
            is_eighth = is_eighth && is_same_sets(&whole, &eighth, sim_sets_draw(8, 1 + s));
            is_rest = is_rest && is_same(&whole, &eighth, SIM_L1D_LOADS, SIM_L1D_STORES) &&
                      is_same(&whole, &eighth, SIM_TLB2_HITS, SIM_ITLB_MISSES);
            free(whole.memory);
            free(all.memory);
            free(eighth.memory);
        }
        printf("# %s\n", models[m]);
        CHECK("a sample of all sets counts what is counted without", is_all);
        CHECK("an eighth of them misses what these miss among all", is_eighth);
        CHECK("accesses and TLBs are counted whole", is_rest);
    }
}

/* ---- what is quick ---- */

/* Of the lines of a page, that were used once, so many are hits without being looked up again. */
static uint32_t n_quick(const char *model, uint32_t n)
{
    struct world world;
    uint32_t n_hits = 0;
    begin(&world, model, n, 1);
    unsigned bits = world.machine.l1d.line_bits;
    for (uint64_t address = 0x1000; address < 0x2000; address += UINT64_C(1) << bits)
        sim_machine_load(&world.machine, address, 8);
    for (uint64_t address = 0x1000; address < 0x2000; address += UINT64_C(1) << bits)
        n_hits += sim_machine_hit(&world.machine, address, address + 7, bits, false);
    free(world.memory);
    return n_hits;
}

static void test_quick(void)
{
    CHECK_NUMBER("all lines of a page that was used are hits at once", n_quick("zen4", 0), 64);
    CHECK_NUMBER("with a sample, too, in a simulated set or not", n_quick("zen4", 8), 64);
    CHECK_NUMBER("whatever they are in a model with lines of 32 bytes", n_quick("javana", 8), n_quick("javana", 0));
}

/* ---- what is estimated ---- */

#define SEEDS 300

/* Of each 100 intervals of 95 %, how many have the number that is counted without. */
static void test_interval(size_t s, uint32_t n)
{
    static const char *const kinds[] = { "L1D", "L1I", "L2" };
    uint32_t n_in[SIM_SETS_KINDS] = { 0 };
    double width = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        static struct world whole; /* each tenth stream is another one, with another ten samples */
        struct world sample;
        if (seed % 10 == 0) {
            free(whole.memory);
            begin(&whole, "zen4", 0, 0);
            run(&whole, streams[s].next, 1000 + seed / 10);
        }
        begin(&sample, "zen4", n, seed);
        run(&sample, streams[s].next, 1000 + seed / 10);
        for (enum sim_sets_kind kind = 0; kind < SIM_SETS_KINDS; kind++) {
            struct sim_sets_estimate whole_kind = sim_sets_estimate(&whole.sets, UINT64_MAX, kind);
            struct sim_sets_estimate told = sim_sets_estimate(&sample.sets, sim_sets_draw(n, seed), kind);
            double half = estimate_student(told.degrees_of_freedom) * sqrt(told.variance);
            n_in[kind] += fabs(told.total - whole_kind.total) <= half;
            width += kind == SIM_SETS_L1D ? half / whole_kind.total / SEEDS : 0;
        }
        free(sample.memory);
    }
    for (enum sim_sets_kind kind = 0; kind < SIM_SETS_KINDS; kind++) {
        printf("# %s, 1/%u, %s: %.1f %% (L1D +-%.1f %%)\n", streams[s].name, (unsigned)n, kinds[kind],
               100.0 * n_in[kind] / SEEDS, 100 * width);
        CHECK("93 of 100 intervals and more have the truth", n_in[kind] * 100 >= 93 * SEEDS);
    }
}

static void test_reading(void)
{
    static const char *const bad[] = { "", "8", "1/", "1/0", "1/3", "1/32", "1/8x", "2/8", "1/ 8", "1/-8", "1/008" };
    struct err err;
    uint32_t n = 0;
    CHECK("a share is read", sim_sets_read("1/8", &n, &err) == 0 && n == 8);
    CHECK("all is one", sim_sets_read("1/1", &n, &err) == 0 && n == 1);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK(bad[i], sim_sets_read(bad[i], &n, &err) < 0 && strstr(err.text, "next: ") != NULL);
    struct sim_model model;
    sim_model_find("zen4", &model, &err);
    CHECK("zen4 has sets enough", sim_sets_check(&model, 8, &err) == 0);
    model.l1d.size_bytes = 16384;
    CHECK("an L1D of 32 sets has not", sim_sets_check(&model, 8, &err) < 0 && strstr(err.text, "32 sets") != NULL);
    CHECK("but for all of them", sim_sets_check(&model, 1, &err) == 0);
    for (n = 1; n <= SIM_SETS_MAX; n *= 2)
        CHECK_NUMBER("so many classes are drawn", __builtin_popcountll(sim_sets_draw(n, n)), SIM_SET_CLASSES / n);
}

int main(void)
{
    test_reading();
    test_exact();
    test_quick();
    for (size_t s = 0; s < N_STREAMS; s++)
        test_interval(s, 8);
    test_interval(N_STREAMS - 1, 4);
    return tap_done();
}
