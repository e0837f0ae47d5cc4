/* Shares of methods from stack samples: what is counted, and whether the intervals hold the truth. */
#include "phases/samples/sample_profile.h"

#include "phases/samples/significance.h"
#include "test/unit/tap.h"

#include <math.h>
#include <stdlib.h>

#define MS UINT64_C(1000000)

static bool is_about(double value, double expected)
{
    return fabs(value - expected) < 1e-9;
}

static struct err err;

static void begin(struct sample_profile *profile, uint64_t block_ns)
{
    if (sample_profile_open(profile, block_ns, UINT64_C(1) << 20, &err) < 0)
        printf("# %s\n", err.text);
}

static bool add(struct sample_profile *profile, uint64_t time_ns, uint32_t group, const uint32_t *methods, uint32_t n)
{
    const struct profile_sample sample = {
        .time_ns = time_ns, .group = group, .tid = 1, .ns = 10, .n = n, .methods = methods
    };
    return sample_profile_add(profile, &sample) == 0;
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
    CHECK("an error needs five blocks", isnan(error_of_first(SAMPLE_BLOCKS_MIN - 1)));
    CHECK("it is by how blocks differ, and by Student's t of their number",
          is_about(error_of_first(5), distribution_t_limit(0.05, 4) / 5) &&
              is_about(error_of_first(12), distribution_t_limit(0.05, 11) / 12));
}

static double chance(void)
{
    return (double)random() / ((double)RAND_MAX + 1);
}

/*
 * A program in episodes: each lasts for a while, and has one method (30 % of them) or another.  Samples of one episode
 * are all alike; so an interval by the number of samples would be far too narrow.
 */
static bool holds(uint64_t episode_ms)
{
    struct sample_profile profile;
    uint32_t method = 0;
    begin(&profile, 100 * MS);
    for (uint64_t ms = 0; ms < 20000; ms += 10) {
        if (ms % episode_ms == 0)
            method = chance() < 0.3;
        add(&profile, ms * MS, 0, &method, 1);
    }
    struct sample_share share = sample_profile_total(&profile, 1);
    sample_profile_free(&profile);
    return fabs(share.share - 0.3) <= share.error;
}

static void test_intervals(void)
{
    static const uint64_t episodes_ms[] = { 10, 50, 200 };
    srandom(7);
    for (size_t i = 0; i < sizeof episodes_ms / sizeof *episodes_ms; i++) {
        int n_held = 0;
        for (int run = 0; run < 400; run++)
            n_held += holds(episodes_ms[i]);
        printf("# episodes of %d ms: %.1f %%\n", (int)episodes_ms[i], n_held / 4.0);
        CHECK("of 400 runs 92 to 98 % hold the truth", n_held >= 368 && n_held <= 392);
    }
}

/*
 * The same with episodes whose lengths are drawn, too, at 99 samples a second: the share of the time that the method
 * had in this very recording.  Returns 1, 0, or -1: it was not seen, or in too few blocks.
 */
static int holds_recorded(double part, double mean_ms, double seconds)
{
    struct sample_profile profile;
    double now_ms = 0, next_ms = 0, in_ms = 0, end_ms = 1000 * seconds;
    begin(&profile, 100 * MS);
    while (now_ms < end_ms) {
        uint32_t method = chance() < part;
        double until_ms = fmin(end_ms, now_ms - mean_ms * log(1 - chance()));
        in_ms += method == 1 ? until_ms - now_ms : 0;
        for (; next_ms < until_ms; next_ms += 1000 / 99.0 * (0.875 + chance() / 4))
            add(&profile, (uint64_t)(next_ms * 1e6), 0, &method, 1);
        now_ms = until_ms;
    }
    struct sample_share share = sample_profile_total(&profile, 1);
    sample_profile_free(&profile);
    return isnan(share.error) ? -1 : fabs(share.share - in_ms / end_ms) <= share.error;
}

static void test_recorded(void)
{
    static const struct {
        double part, mean_ms, seconds;
    } cases[] = { { 0.3, 5, 10 }, { 0.3, 1000, 20 }, { 0.05, 50, 10 }, { 0.01, 5, 20 }, { 0.01, 300, 20 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int n = 0, n_held = 0;
        for (int run = 0; run < 200; run++) {
            int held = holds_recorded(cases[i].part, cases[i].mean_ms, cases[i].seconds);
            n += held >= 0;
            n_held += held > 0;
        }
        printf("# %.0f %% in episodes of %.0f ms on the average: %d of %d\n", 100 * cases[i].part, cases[i].mean_ms,
               n_held, n);
        CHECK("of 200 recordings 95 % hold what was so in them, or more", n > 0 && n_held >= 0.95 * n);
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
    test_recorded();
    return tap_done();
}
