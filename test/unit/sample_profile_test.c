/* Shares of methods from stack samples: what is counted, and whether the intervals hold the truth. */
#include "phases/samples/sample_profile.h"

#include "core/perf/perf_rings.h"
#include "phases/samples/significance.h"
#include "test/unit/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000000)

static bool is_about(double value, double expected)
{
    return fabs(value - expected) < 1e-9;
}

static void begin(struct sample_profile *profile, uint64_t block_ns)
{
    sample_profile_open(profile, block_ns, UINT64_C(1) << 20);
}

static bool add(struct sample_profile *profile, uint64_t time_ns, uint32_t group, const uint32_t *methods, uint32_t n)
{
    const struct profile_sample sample = {
        .time_ns = time_ns, .group = group, .tid = 1, .ns = 10, .n = n, .methods = methods
    };
    sample_profile_add(profile, &sample);
    return true;
}

static void test_counting(void)
{
    const uint32_t stacks[3][4] = { { 2, 1, 0 }, { 1, 2, 1, 0 }, { CONTEXT_NONE, 0 } };
    const uint32_t lengths[3] = { 3, 4, 2 };
    struct sample_profile profile;
    bool is_added = true;
    begin(&profile, 10 * MS);
    for (uint32_t i = 0; i < 3; i++)
        is_added = is_added && add(&profile, i * MS, 0, stacks[i], lengths[i]);
    is_added = is_added && add(&profile, 3 * MS, 1, NULL, 0);
    CHECK("samples are added", is_added && profile.n_samples == 4);
    CHECK("the outermost method has all of the application's", is_about(sample_profile_total(&profile, 0).share, 0.75));
    CHECK("a recursive one is counted once a sample", sample_profile_total(&profile, 1).n_samples == 2);
    CHECK("own time is the innermost method's",
          sample_profile_self(&profile, 1).n_samples == 1 && sample_profile_self(&profile, 2).n_samples == 1);
    CHECK("or that of the one that called a stub", sample_profile_self(&profile, 0).n_samples == 1);
    struct sample_share part, waiting;
    sample_profile_row(&profile, &profile.groups[1], &part, &waiting);
    CHECK("a part of the JVM has its own", is_about(part.share, 0.25));
    CHECK("a method that was not found has none",
          sample_profile_total(&profile, 77).n_samples == 0 && is_about(sample_profile_total(&profile, 77).share, 0));
    CHECK("one block of time tells no error", isnan(sample_profile_total(&profile, 0).error));
    const struct context_node *nodes = profile.tree.nodes;
    context_tree_sum(&profile.tree);
    CHECK("contexts are a tree",
          profile.tree.n == 5 && nodes[1].method == 0 && nodes[1].total.n_samples == 3 && nodes[1].total.ns == 30);
    sample_profile_free(&profile);
}

/*
 * Two methods, one in the calls of the other, with a weight, and instructions and cycles: the inner one 3 cycles an
 * instruction, the outer one's own code 1.
 */
static void test_counters(void)
{
    const uint32_t stacks[2][2] = { { 1, 0 }, { 0, 0 } };
    const uint64_t counters[2][2] = { { 100, 300 }, { 300, 300 } };
    struct sample_profile profile;
    begin(&profile, 10 * MS);
    for (uint32_t i = 0; i < 20; i++) {
        const struct profile_sample sample = { .time_ns = i * 5 * MS,
                                               .tid = 1,
                                               .ns = i % 2 == 0 ? 30 : 10,
                                               .n = 2 - i % 2,
                                               .methods = stacks[i % 2],
                                               .n_counters = 2,
                                               .counters = counters[i % 2] };
        sample_profile_add(&profile, &sample);
    }
    const struct sample_row *outer = &profile.rows[0], *inner = &profile.rows[1];
    CHECK("shares are of weights, not of samples", is_about(sample_profile_total(&profile, 1).share, 0.75) &&
                                                       sample_profile_weight(&profile) == 400 &&
                                                       sample_profile_total(&profile, 1).n_samples == 10);
    CHECK("what was counted is that of the innermost method",
          is_about(sample_profile_ratio(&profile, inner, true, 1, 0).value, 3) &&
              is_about(sample_profile_ratio(&profile, outer, true, 1, 0).value, 1));
    CHECK("and in total of all on the stack",
          is_about(sample_profile_ratio(&profile, outer, false, 1, 0).value, 600.0 / 400));
    CHECK("with an interval: here all blocks of time are alike",
          is_about(sample_profile_ratio(&profile, outer, false, 1, 0).error, 0));
    CHECK("where nothing was counted there is none",
          isnan(sample_profile_ratio(&profile, &profile.no_method, false, 1, 0).value));
    sample_profile_free(&profile);
}

static void test_waiting(void)
{
    const uint32_t method = 0;
    struct sample_profile profile;
    struct sample_share total, waiting;
    begin(&profile, 10 * MS);
    for (uint32_t i = 0; i < 8; i++) {
        const struct profile_sample sample = { .time_ns = i * MS,
                                               .tid = 1,
                                               .ns = 10,
                                               .group = i >= 6,
                                               .is_waiting = i % 2 == 0,
                                               .n = i < 4,
                                               .methods = &method };
        sample_profile_add(&profile, &sample);
    }
    CHECK("waits are a part of a method's time", is_about(sample_profile_total(&profile, 0).share, 4.0 / 7) &&
                                                     is_about(sample_profile_waiting(&profile, 0).share, 2.0 / 7));
    sample_profile_row(&profile, &profile.no_method, &total, &waiting);
    CHECK("and of what no method was found for", is_about(total.share, 2.0 / 7) && is_about(waiting.share, 1.0 / 7));
    sample_profile_row(&profile, &profile.groups[1], &total, &waiting);
    CHECK("the JVM's own threads that wait are in no share",
          is_about(total.share, 1.0 / 7) && profile.idle_ns[1] == 10 && profile.n_idle == 1 && profile.n_samples == 7);
    profile.rest = 1;
    sample_profile_add(&profile, &(struct profile_sample){ .group = 1, .ns = 10, .is_waiting = true });
    CHECK("but those of the application in no row are: other rows keep their shares",
          is_about(sample_profile_total(&profile, 0).share, 4.0 / 8));
    sample_profile_free(&profile);
}

/* A stack of three: the recursive one twice; what is known of its calls comes with the sample. */
static void test_calls(void)
{
    static const uint32_t methods[] = { 2, 1, 1, 0 };
    struct sample_profile profile;
    struct profile_sample sample = { .tid = 1, .n = 4, .methods = methods, .new_first = 0, .new_after = 4 };
    begin(&profile, 10 * MS);
    sample_profile_add(&profile, &sample);
    sample.new_first = 2;
    sample_profile_add(&profile, &sample);
    sample.new_after = 3;
    sample_profile_add(&profile, &sample);
    CHECK("calls that are surely others are counted", sample_profile_calls(&profile, 2) == 2);
    CHECK("recursive ones, too", sample_profile_calls(&profile, 1) == 4);
    CHECK("the same call once", sample_profile_calls(&profile, 0) == 1);
    sample.new_first = sample.new_after = 0;
    sample.methods = (const uint32_t[]){ 3, 1, 1, 0 };
    sample_profile_add(&profile, &sample);
    CHECK("what was seen was called", sample_profile_calls(&profile, 3) == 1 && sample_profile_calls(&profile, 9) == 0);
    char calls[64] = "";
    for (uint32_t i = 0; (i = context_tree_next(&profile.tree, i)) != 0;)
        snprintf(calls + strlen(calls), sizeof calls - strlen(calls), " %u:%u", profile.tree.nodes[i].method,
                 context_tree_calls(&profile.tree.nodes[i]));
    CHECK("contexts have those of their own", strcmp(calls, " 0:1 1:1 1:3 2:2 3:1") == 0);
    sample_profile_free(&profile);
}

/* Blocks double: 1000 blocks of time are 16 to 32 in the end, and nothing is lost. */
static void test_blocks(void)
{
    struct sample_profile profile;
    uint32_t method = 3;
    begin(&profile, 10 * MS);
    for (uint64_t i = 0; i < 1000; i++)
        add(&profile, 5 * MS + i * 10 * MS, 0, &method, 1);
    CHECK("pairs of blocks become one",
          profile.n_blocks > 15 && profile.n_blocks <= 32 && profile.block_ns == 320 * MS);
    CHECK("with all of their samples", sample_profile_total(&profile, 3).n_samples == 1000);
    CHECK("what has all has no error", is_about(sample_profile_total(&profile, 3).error, 0));
    sample_profile_free(&profile);
}

/* n samples of a ns, each in a block of its own, the first one of a method: its error is t / n. */
static double error_of_first(uint32_t n)
{
    struct sample_profile profile;
    begin(&profile, 10 * MS);
    profile.is_of_blocks = true;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t method = i == 0;
        const struct profile_sample sample = { .time_ns = i * 10 * MS, .tid = 1, .ns = 1, .n = 1, .methods = &method };
        sample_profile_add(&profile, &sample);
    }
    double error = sample_profile_total(&profile, 1).error;
    sample_profile_free(&profile);
    return error;
}

static void test_error(void)
{
    CHECK("samples of one moment: an error needs five blocks", isnan(error_of_first(SAMPLE_BLOCKS_MIN - 1)));
    CHECK("it is by how blocks differ, and by Student's t of their number",
          is_about(error_of_first(5), distribution_t_limit(0.05, 4) / 5) &&
              is_about(error_of_first(12), distribution_t_limit(0.05, 11) / 12));
}

static double chance(void)
{
    return (double)random() / ((double)RAND_MAX + 1);
}

/*
 * What a program does: four methods in turn, 45, 30, 15 and 10 % of a cycle, or each for a while that is drawn, with
 * the cycle as the mean.
 */
struct program {
    double cycle_ms;
    bool is_drawn;
    double until_ms; /* the current method's end, */
    uint32_t method;
    double had_ms[4]; /* what each has had by then */
};

static const double parts[] = { 0.45, 0.3, 0.15, 0.1 };

static void turn(struct program *p, double end_ms)
{
    double ms = p->cycle_ms * parts[p->method = (p->method + 1) % 4], drawn = chance();
    if (p->is_drawn) {
        p->method = drawn < 0.45 ? 0 : drawn < 0.75 ? 1 : drawn < 0.9 ? 2 : 3;
        ms = -p->cycle_ms * log(1 - chance());
    }
    ms = fmin(ms, end_ms - p->until_ms);
    p->had_ms[p->method] += ms;
    p->until_ms += ms;
}

/* What the program does at a moment: later ones only. */
static uint32_t method_at(struct program *p, double ms, double end_ms)
{
    while (p->until_ms < ms)
        turn(p, end_ms);
    return p->method;
}

/* A clock of a CPU, or the only one. */
struct clock {
    double next_ms, period_ms, first_ms;
};

static void draw(struct clock *clocks, int n, double now_ms)
{
    for (int i = 0; i < n; i++) {
        clocks[i].period_ms = n * 10 * perf_rings_drawn(chance(), false);
        clocks[i].next_ms = clocks[i].first_ms = now_ms + clocks[i].period_ms;
    }
}

/* When the program has a CPU: always, or for slices and pauses that are drawn. */
struct slices {
    bool are_drawn;
    double until_ms; /* the slice's end, of the clock, */
    double pause_ms; /* and the pause behind it */
    double cpu_ms;   /* that the program has had by then */
    double crowd;    /* pauses are so many times as long, for a while */
};

#define SLICE_MS 12.0
#define PAUSE_MS 18.0
#define CROWD_MS 300.0 /* of the program's CPU time */

/* The program's CPU time at a moment, and whether it has the CPU: later ones only. */
static bool runs_at(struct slices *slices, double ms, double *cpu_ms)
{
    *cpu_ms = ms;
    if (!slices->are_drawn)
        return true;
    while (slices->until_ms + slices->pause_ms < ms) {
        double slice_ms = -SLICE_MS * log(1 - chance());
        slices->until_ms += slices->pause_ms + slice_ms;
        if (chance() < slice_ms / CROWD_MS)
            slices->crowd = exp(6 * chance() - 3);
        slices->pause_ms = -PAUSE_MS * slices->crowd * log(1 - chance());
        slices->cpu_ms += slice_ms;
    }
    *cpu_ms = slices->cpu_ms - fmax(0, slices->until_ms - ms);
    return ms < slices->until_ms;
}

/*
 * Periods as core/recorder draws them, of 10 ms, anew after half a second or so.  end_ms is of the clock.  Returns the
 * program's CPU time.
 */
static double record(struct program *p, int n, bool is_shared, double end_ms, struct sample_profile *profile)
{
    struct slices slices = { .are_drawn = is_shared, .crowd = 1 };
    struct clock clocks[2];
    double anew_ms = 0, cpu_ms;
    uint32_t n_draws = 0;
    for (;;) {
        struct clock *clock = n == 2 && clocks[1].next_ms < clocks[0].next_ms ? &clocks[1] : &clocks[0];
        if (n_draws == 0 || clock->next_ms >= anew_ms) {
            draw(clocks, n, anew_ms);
            anew_ms += 400 + 200 * chance();
            n_draws++;
            continue;
        }
        if (clock->next_ms >= end_ms)
            break;
        bool runs = runs_at(&slices, clock->next_ms, &cpu_ms);
        uint32_t method = method_at(p, cpu_ms, end_ms);
        bool is_first = n == 2 && clock->next_ms == clock->first_ms;
        uint64_t ns = (uint64_t)(clock->period_ms * (is_first ? 1.5e6 : 1e6));
        const struct profile_sample sample = { .time_ns = (uint64_t)(clock->next_ms * 1e6),
                                               .ns = perf_rings_mark(ns, clock == &clocks[1], n_draws),
                                               .n = 1,
                                               .methods = &method };
        if (runs)
            sample_profile_add(profile, &sample);
        clock->next_ms += clock->period_ms;
    }
    runs_at(&slices, end_ms, &cpu_ms);
    method_at(p, cpu_ms, cpu_ms);
    p->had_ms[p->method] -= p->until_ms - cpu_ms;
    return cpu_ms;
}

struct held {
    int n, n_held;
    double squares, halves;
};

/* One recording of 20 s: which intervals hold what was so in it? */
static void run_once(double cycle_ms, bool is_drawn, int n_clocks, bool is_shared, struct held held[4])
{
    struct program program = { .cycle_ms = cycle_ms, .is_drawn = is_drawn };
    struct sample_profile profile;
    begin(&profile, 100 * MS);
    profile.is_halved = n_clocks == 2;
    program.until_ms = -chance() * cycle_ms; /* it has begun before */
    while (program.until_ms < 0)
        turn(&program, 20000);
    memset(program.had_ms, 0, sizeof program.had_ms);
    program.had_ms[program.method] = program.until_ms;
    method_at(&program, 0, 20000);
    double cpu_ms = record(&program, n_clocks, is_shared, 20000, &profile);
    for (uint32_t i = 0; i < 4; i++) {
        struct sample_share share = sample_profile_total(&profile, i);
        double difference = share.share - program.had_ms[i] / cpu_ms;
        held[i].n += !isnan(share.error);
        held[i].n_held += fabs(difference) <= share.error;
        held[i].squares += difference * difference;
        held[i].halves += isnan(share.error) ? 0 : share.error;
    }
    sample_profile_free(&profile);
}

#define RUNS 200

/* Returns the largest error, in those of independent samples. */
static double run_cycle(double cycle_ms, bool is_drawn, int n_clocks, bool is_shared, struct held held[4])
{
    double ratio = 0;
    for (int run = 0; run < RUNS; run++)
        run_once(cycle_ms, is_drawn, n_clocks, is_shared, held);
    printf("# %d %s %4.0f ms%s:", n_clocks, is_drawn ? "drawn" : "cycle", cycle_ms, is_shared ? ", shared" : "");
    for (int i = 0; i < 4; i++) {
        ratio = fmax(ratio, sqrt(held[i].squares / RUNS / (parts[i] * (1 - parts[i]) / 2000)));
        printf("  %3.0f %% of them +-%.2f", 100.0 * held[i].n_held / held[i].n, 100 * held[i].halves / held[i].n);
    }
    printf("; error %.2f times that of independent samples\n", ratio);
    return ratio;
}

static void test_intervals(void)
{
    static const double cycles_ms[] = { 1, 3, 7, 10, 15, 20, 30, 50, 150, 500, 1000 };
    const size_t n_cycles = sizeof cycles_ms / sizeof *cycles_ms;
    int n = 0, n_held = 0;
    srandom(7);
    for (size_t i = 0; i < n_cycles + 2; i++) {
        struct held held[4] = { { .n = 0 } };
        double ratio = i < n_cycles ? run_cycle(cycles_ms[i], false, 2, false, held)
                                    : run_cycle(i == n_cycles ? 1 : 100, true, 2, false, held);
        int n_now = 0;
        for (int k = 0; k < 4; k++) {
            n_now += held[k].n_held;
            n += held[k].n;
            n_held += held[k].n_held;
        }
        CHECK("the error is at most 1.3 times that of independent samples, in step or not", ratio < 1.3);
        CHECK("90 to 98 % of the intervals hold the recording's own share", n_now > 720 && n_now < 784);
        CHECK("half an interval is 2.8 points at most", held[0].halves < 0.028 * RUNS);
    }
    printf("# all: %.1f %%\n", 100.0 * n_held / n);
    CHECK("of all 93 to 97 %", n_held >= 0.93 * n && n_held <= 0.97 * n);
}

static void test_shared(void)
{
    static const double cycles_ms[] = { 1, 15, 150, 1000, 3000 };
    int n = 0, n_held = 0;
    for (size_t i = 0; i < sizeof cycles_ms / sizeof *cycles_ms; i++) {
        struct held held[4] = { { .n = 0 } };
        run_cycle(cycles_ms[i], i % 2 == 1, 2, true, held);
        for (int k = 0; k < 4; k++) {
            n += held[k].n;
            n_held += held[k].n_held;
        }
    }
    printf("# all: %.1f %%\n", 100.0 * n_held / n);
    CHECK("of a busy machine 93 to 97 %", n_held >= 0.93 * n && n_held <= 0.97 * n);
}

/* Where CPUs cannot be sampled: intervals are too wide, but for programs in step. */
static void test_one_clock(void)
{
    static const double cycles_ms[] = { 1, 7, 15, 150 };
    for (size_t i = 0; i < sizeof cycles_ms / sizeof *cycles_ms; i++) {
        struct held held[4] = { { .n = 0 } };
        CHECK("one clock: the error is at most 1.5 times that of independent samples",
              run_cycle(cycles_ms[i], false, 1, false, held) < 1.5);
        CHECK("five of six intervals hold the recording's own share, or more",
              held[0].n_held + held[1].n_held > 5.0 / 6 * (held[0].n + held[1].n));
    }
}

int main(void)
{
    test_counting();
    test_counters();
    test_waiting();
    test_calls();
    test_blocks();
    test_error();
    test_intervals();
    test_shared();
    test_one_clock();
    return tap_done();
}
