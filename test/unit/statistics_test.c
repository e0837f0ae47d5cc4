#include "phases/select/statistics.h"

#include "phases/samples/significance.h"
#include "test/unit/tap.h"
#include "test/unit/trace_maker.h"

#include <math.h>

static bool is_near(double a, double b, double relative)
{
    return fabs(a - b) <= relative * fabs(b);
}

#define CHECK_NEAR(claim, actual, expected, relative)               \
    do {                                                            \
        double near_a = (actual), near_e = (expected);              \
        if (!CHECK(claim, is_near(near_a, near_e, relative)))       \
            printf("# is %.17g, expected %.17g\n", near_a, near_e); \
    } while (0)

/* ---- distributions ---- */

/* Abramowitz & Stegun, Handbook of Mathematical Functions, and Pearson, Tables of the Incomplete Beta Function. */
static void test_beta(void)
{
    static const struct {
        double a, b, x, value;
    } rows[] = {
        { 0.5, 0.5, 0.01, 0.06376856085851985 },
        { 0.5, 0.5, 0.10, 0.2048327646991335 },
        { 1, 0.5, 0.01, 0.005012562893380045 },
        { 1, 0.5, 0.5, 0.2928932188134525 },
        { 2, 2, 0.1, 0.028 },
        { 2, 2, 0.9, 0.972 },
        { 10, 10, 0.5, 0.5 },
        { 20, 5, 0.8, 0.4598773297575791 },
        { 20, 10, 0.6, 0.2146816102371739 },
        { 20, 10, 0.8, 0.9507364826957875 },
        { 20, 20, 0.6, 0.8979413687105918 },
        { 30, 10, 0.7, 0.2241297491808366 },
        { 40, 20, 0.7, 0.7001783247477069 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char claim[80];
        snprintf(claim, sizeof claim, "I_%g(%g, %g) is what the tables say", rows[i].x, rows[i].a, rows[i].b);
        CHECK_NEAR(claim, distribution_incomplete_beta(rows[i].a, rows[i].b, rows[i].x), rows[i].value, 1e-12);
    }
    CHECK_NEAR("I_x(a, 1) is x^a", distribution_incomplete_beta(7.5, 1, 0.3), pow(0.3, 7.5), 1e-12);
    CHECK_NEAR("large parameters converge: the median of a symmetric one", distribution_incomplete_beta(1e8, 1e8, 0.5),
               0.5, 1e-6);
    CHECK("at its ends it is 0 and 1",
          distribution_incomplete_beta(2, 3, 0) == 0 && distribution_incomplete_beta(2, 3, 1) == 1);
    CHECK("outside 0..1 there is no value", isnan(distribution_incomplete_beta(1, 1, 1.5)));
    CHECK("nor without parameters", isnan(distribution_incomplete_beta(0, 1, 0.5)));
}

static void test_tails(void)
{
    /* The usual tables of Student's t and F, here with five decimals. */
    CHECK_NEAR("t for 95 % and 1 degree of freedom", distribution_t_limit(0.05, 1), 12.70620, 1e-6);
    CHECK_NEAR("t for 95 % and 2", distribution_t_limit(0.05, 2), 4.30265, 1e-6);
    CHECK_NEAR("t for 95 % and 10", distribution_t_limit(0.05, 10), 2.22814, 1e-5);
    CHECK_NEAR("t for 99 % and 30", distribution_t_limit(0.01, 30), 2.75000, 1e-5);
    CHECK_NEAR("t for 95 % and very many is the normal one", distribution_t_limit(0.05, 1e9), 1.959964, 1e-6);
    CHECK_NEAR("t for a fraction of a degree more", distribution_t_tails(distribution_t_limit(0.2, 7.3), 7.3), 0.2,
               1e-12);
    CHECK_NEAR("the tail of F(5, 10) at 3.32583 is 5 %", distribution_f_tail(3.32583, 5, 10), 0.05, 1e-5);
    CHECK_NEAR("the tail of F(1, 1) at 4052.18 is 1 %", distribution_f_tail(4052.18, 1, 1), 0.01, 1e-5);
    CHECK_NEAR("that of F(2, d) is (1 + 2 f / d)^(-d / 2)", distribution_f_tail(40, 2, 60), pow(1 + 80. / 60, -30),
               1e-11);
    CHECK("an infinite F has no tail", distribution_f_tail(INFINITY, 3, 4) == 0);
    CHECK_NEAR("that of F(2, d) below 1", distribution_f_tail(0.5, 2, 60), pow(1 + 1. / 60, -30), 1e-11);
    CHECK("of F 0 it is all", distribution_f_tail(0, 2, 60) == 1);
    CHECK("an infinite t has none", distribution_t_tails(INFINITY, 3) == 0);
    CHECK("F needs degrees of freedom", isnan(distribution_f_tail(1, 0, 4)));
}

static void test_gamma(void)
{
    static const struct {
        double x, digamma, trigamma;
    } rows[] = {
        { 0.5, -1.9635100260214235, 4.934802200544679 },
        { 1, -0.5772156649015329, 1.6449340668482264 },
        { 10, 2.251752589066721, 0.10516633568168575 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char claim[80];
        snprintf(claim, sizeof claim, "digamma and trigamma of %g", rows[i].x);
        CHECK(claim, is_near(distribution_digamma(rows[i].x), rows[i].digamma, 1e-12) &&
                         is_near(distribution_trigamma(rows[i].x), rows[i].trigamma, 1e-12));
        CHECK_NEAR("and back", distribution_trigamma_inverse(rows[i].trigamma), rows[i].x, 1e-9);
    }
    CHECK("they need a number above 0",
          isnan(distribution_digamma(0)) && isnan(distribution_trigamma(0)) && isnan(distribution_trigamma_inverse(0)));
}

/* ---- moments ---- */

static void test_moments(void)
{
    struct moments a = { .n = 0 }, b = { .n = 0 }, all = { .n = 0 };
    for (int i = 1; i <= 10; i++) {
        moments_add(i <= 4 ? &a : &b, 1e9 + i);
        moments_add(&all, 1e9 + i);
    }
    CHECK_NEAR("the variance of 1..10 is 55/6, however large the mean", moments_variance(&all), 55. / 6, 1e-12);
    moments_merge(&a, &b);
    CHECK_NUMBER("merged, there are as many values", a.n, 10);
    CHECK_NEAR("merged, the mean is the same", a.mean, all.mean, 1e-15);
    CHECK_NEAR("merged, the variance too", moments_variance(&a), 55. / 6, 1e-12);
    struct moments one = { .n = 0 };
    moments_add(&one, 3);
    CHECK("one value has no variance", isnan(moments_variance(&one)) && isnan(moments_cov(&one)));
}

/* NIST StRD: the analysis of variance of SmLs01 and SmLs04, made by their rule; certified F: 21. */
static void test_nist_simulated(const char *claim, double offset, double relative)
{
    static const double means[] = { 1.4, 1.3, 1.5, 1.3, 1.5, 1.3, 1.5, 1.3, 1.5 };
    struct moments groups[9] = { { .n = 0 } };
    struct anova anova;
    for (size_t i = 0; i < 9; i++)
        for (int j = 0; j < 21; j++)
            moments_add(&groups[i], offset + means[i] + (j == 0 ? 0 : j % 2 == 1 ? -0.1 : 0.1));
    CHECK("the groups differ", anova_compute(groups, 9, &anova));
    CHECK_NEAR(claim, anova.f, 21, relative);
    CHECK("its degrees of freedom are 8 and 180", anova.df_between == 8 && anova.df_within == 180);
}

/* NIST StRD: SiRstv, resistivity of silicon by five instruments. */
static void test_nist_silicon(void)
{
    static const double values[5][5] = { { 196.3052, 196.1240, 196.1890, 196.2569, 196.3403 },
                                         { 196.3042, 196.3825, 196.1669, 196.3257, 196.0422 },
                                         { 196.1303, 196.2005, 196.2889, 196.0343, 196.1811 },
                                         { 196.2795, 196.1748, 196.1494, 196.1485, 195.9885 },
                                         { 196.2119, 196.1051, 196.1850, 196.0052, 196.2090 } };
    struct moments groups[6] = { { .n = 0 } };
    struct anova anova;
    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < 5; j++)
            moments_add(&groups[i], values[i][j]);
    moments_add(&groups[5], 1);
    CHECK("an analysis of five groups", anova_compute(groups, 6, &anova));
    CHECK_NUMBER("a group of one value is left out", anova.n_groups, 5);
    CHECK_NEAR("NIST's certified F of SiRstv", anova.f, 1.18046237440255, 1e-11);
    CHECK_NEAR("its R squared", anova.explained, 0.190999039051129, 1e-9);
    CHECK("such an F is chance", anova.p > 0.3 && anova.p < 0.4);
    CHECK_NEAR("Welch's F, computed by hand", anova.welch_f, 1.0516037072432, 1e-10);
    CHECK_NEAR("with its degrees of freedom", anova.welch_df, 9.951505417086844, 1e-10);
}

static void test_anova_edges(void)
{
    struct moments groups[2] = { { .n = 0 }, { .n = 0 } };
    struct anova anova;
    CHECK("no values: no analysis", !anova_compute(groups, 2, &anova));
    for (int i = 0; i < 4; i++) {
        moments_add(&groups[0], 5);
        moments_add(&groups[1], 5);
    }
    CHECK("values that are all the same: none", !anova_compute(groups, 2, &anova));
    groups[1].mean = 7;
    CHECK("groups that do not vary in themselves differ for sure",
          anova_compute(groups, 2, &anova) && isinf(anova.f) && anova.p == 0 && anova.explained == 1);
    CHECK("Welch's needs groups that vary", isnan(anova.welch_f));
    groups[1] = (struct moments){ .n = 0 };
    for (int i = 0; i < 4; i++)
        moments_add(&groups[1], 6 + i);
    CHECK("each of them", anova_compute(groups, 2, &anova) && anova.f > 0 && isnan(anova.welch_f));
}

/* ---- calls ---- */

enum { RUN, SORT, WALK };

/* Counters: cycles, instructions. */
static void make_calls(struct maker *m)
{
    static const struct trace_counter counters[] = { { .name = "cycles", .why = "", .in_records = true },
                                                     { .name = "instructions", .why = "", .in_records = true } };
    maker_open(m, "statistics.dat");
    maker_info(m, "offcpu", "perf");
    maker_must(m, trace_write_counters(m->writer, counters, 2, &m->err));
    m->n_counters = 2;
    maker_thread(m, 0, "main", true);
    maker_thread(m, 1, "GC Thread#0", true);
    for (uint32_t i = RUN; i <= WALK; i++)
        maker_method(m, i, "a/Sort", "x", "()V");
    KERNEL(m, AT(TRACE_CPU_IN, 0, 0), AT(TRACE_CPU_IN, 1, 0), AT(TRACE_CPU_OUT, 0, 30), AT(TRACE_CPU_IN, 0, 50));
    /* sort takes 20 (of 40), 20, 40 ticks; its CPI is 2, 4, 3.  walk calls itself. */
    STEPS(m, 0, ENTER(RUN, 0, 0, 0), ENTER(SORT, 20, 20, 10), EXIT(SORT, 60, 60, 30), ENTER(SORT, 60, 60, 30),
          EXIT(SORT, 80, 220, 70), GAP(3, 90, 230, 80), ENTER(SORT, 90, 230, 80), EXIT(SORT, 130, 380, 130),
          ENTER(WALK, 130, 380, 130), ENTER(WALK, 140, 400, 140), UNWIND(WALK, 150, 430, 170),
          EXIT(WALK, 170, 480, 180));
    STEPS(m, 1, ENTER(SORT, 10, 0, 0), EXIT(SORT, 20, 5, 5));
    maker_close(m, 200);
}

static struct statistics *build_by(struct maker *m, const struct statistics_options *about, bool has_runs)
{
    struct statistics *s = statistics_open(about);
    struct calltree_observer observer = statistics_observer(s);
    if (!has_runs)
        observer.run = NULL;
    struct calltree_options options = { .observer = &observer };
    struct trace_reader *reader = maker_read(m);
    struct calltree tree;
    maker_must(m, calltree_build(reader, &options, &tree, &m->err));
    calltree_free(&tree);
    trace_close(reader);
    return s;
}

static struct statistics *build(struct maker *m, const struct statistics_options *about)
{
    return build_by(m, about, true);
}

static const struct statistics_options time_and_cpi = {
    .clock = PHASES_CPU,
    .metrics = { { .is_time = true },
                 { .tops = { CALLTREE_COUNTERS },
                   .n_tops = 1,
                   .bottoms = { CALLTREE_COUNTERS + 1 },
                   .n_bottoms = 1,
                   .factor = 1 } },
    .n_metrics = 2,
};

static void test_calls(void)
{
    struct maker m;
    make_calls(&m);
    struct statistics *s = build(&m, &time_and_cpi);
    struct moments time = statistics_moments(s, SORT, 0), cpi = statistics_moments(s, SORT, 1);
    CHECK_NUMBER("three calls of the application ended", time.n, 3);
    CHECK_NEAR("their mean is CPU time, not the wall's", time.mean, 80. / 3, 1e-12);
    CHECK_NEAR("and their variance", moments_variance(&time), 400. / 3, 1e-12);
    CHECK_NEAR("a call's CPI is its own", cpi.mean, 3, 1e-12);
    CHECK_NEAR("so it varies from call to call", moments_variance(&cpi), 1, 1e-12);
    CHECK_NUMBER("a call that never returned is none", statistics_moments(s, RUN, 0).n, 0);
    struct moments walk = statistics_moments(s, WALK, 0);
    CHECK("of a recursive method the outermost call is one", walk.n == 1 && walk.mean == 40);
    struct statistics_error error = statistics_error_of(s, SORT, 1);
    CHECK_NEAR("over all calls CPI is a quotient of sums", error.value, 350. / 110, 1e-12);
    CHECK("three batches tell no error", isnan(error.variance));
    CHECK("a method that nobody knows has no calls", statistics_moments(s, 77, 0).n == 0);
    statistics_close(s);

    struct statistics_options wall = time_and_cpi;
    wall.clock = PHASES_WALL;
    s = build(&m, &wall);
    CHECK_NEAR("on the wall clock waiting counts", statistics_moments(s, SORT, 0).mean, 100. / 3, 1e-12);
    statistics_close(s);
}

/* Without counters: switches, recursion, exits that are missing, and a method that is off the CPU. */
static void make_runs(struct maker *m)
{
    maker_open(m, "runs.dat");
    maker_info(m, "offcpu", "perf");
    maker_thread(m, 0, "main", true);
    for (uint32_t i = RUN; i <= WALK; i++)
        maker_method(m, i, "a/Sort", "x", "()V");
    KERNEL(m, AT(TRACE_CPU_IN, 0, 0), AT(TRACE_CPU_OUT, 0, 4025), AT(TRACE_CPU_IN, 0, 4055));
    for (uint64_t i = 0, at = 10; i < 100; i++, at += 100 + i) {
        STEPS(m, 0, ENTER(RUN, at), ENTER(SORT, at + 10), ENTER(WALK, at + 20), ENTER(SORT, at + 21),
              EXIT(SORT, at + 40), UNWIND(WALK, at + 50 + i % 7));
        if (i % 3 > 0)
            STEPS(m, 0, EXIT(SORT, at + 60));
        STEPS(m, 0, EXIT(RUN, at + 70 + i));
    }
    maker_close(m, 20000);
}

static void test_runs(void)
{
    static const struct statistics_options time_only = { .metrics = { { .is_time = true } }, .n_metrics = 1 };
    struct maker m;
    bool are_same = true;
    make_runs(&m);
    struct statistics *runs = build(&m, &time_only), *steps = build_by(&m, &time_only, false);
    for (uint32_t method = RUN; method <= WALK; method++) {
        struct moments a = statistics_moments(runs, method, 0), b = statistics_moments(steps, method, 0);
        are_same = are_same && memcmp(&a, &b, sizeof a) == 0 &&
                   statistics_quantile(runs, method, 0.9) == statistics_quantile(steps, method, 0.9);
    }
    CHECK_NUMBER("all calls that ended were seen", statistics_moments(runs, WALK, 0).n, 100);
    CHECK_NUMBER("those with an exit of their own", statistics_moments(runs, SORT, 0).n, 66);
    CHECK("records taken at once tell what they tell one by one", are_same);
    statistics_close(runs);
    statistics_close(steps);
}

/* A call of 1000 ticks. */
static void call(struct statistics *s, uint64_t uncounted, uint64_t top, uint64_t bottom)
{
    static uint64_t now;
    const uint64_t none[CALLTREE_COUNTERS + 2] = { 0 }, passed[CALLTREE_COUNTERS + 2] = {
        [CALLTREE_UNCOUNTED] = uncounted, [CALLTREE_COUNTERS] = top, bottom
    };
    struct calltree_observer observer = statistics_observer(s);
    struct calltree_step step = {
        .kind = TRACE_ENTER, .method = 1, .cpu_ticks = now, .passed = none, .n_metrics = CALLTREE_COUNTERS + 2
    };
    observer.step(observer.context, &step);
    step.kind = TRACE_EXIT;
    step.cpu_ticks = now += 1000;
    step.passed = passed;
    observer.step(observer.context, &step);
}

static void test_quotients(void)
{
    struct statistics_options cpi = time_and_cpi;
    cpi.metrics[0] = time_and_cpi.metrics[1];
    cpi.n_metrics = 1;
    struct statistics *s = statistics_open(&cpi);
    call(s, 0, 3, 1);
    struct moments of = statistics_moments(s, 1, 0);
    CHECK("a call of one instruction has a CPI", of.n == 1 && of.mean == 3);
    call(s, 2, 8, 2);
    CHECK_NUMBER("one whose counters were not read for two thousandths has none", statistics_moments(s, 1, 0).n, 1);
    call(s, 1, 8, 2);
    CHECK_NUMBER("for one thousandth it has", statistics_moments(s, 1, 0).n, 2);
    call(s, 0, 5, 0);
    CHECK_NUMBER("without an instruction it has none", statistics_moments(s, 1, 0).n, 2);
    statistics_close(s);
}

static void step(struct calltree_observer *observer, enum trace_kind kind, uint64_t ticks)
{
    struct calltree_step step = { .kind = kind, .method = 1, .cpu_ticks = ticks };
    observer->step(observer->context, &step);
}

/* n calls; the i-th takes what 'each' says. */
static struct statistics_error errors_of(uint64_t n, uint64_t (*each)(uint64_t i))
{
    struct statistics *s =
        statistics_open(&(struct statistics_options){ .metrics = { { .is_time = true } }, .n_metrics = 1 });
    struct calltree_observer observer = statistics_observer(s);
    uint64_t now = 0;
    for (uint64_t i = 0; i < n; i++) {
        step(&observer, TRACE_ENTER, now);
        now += each(i);
        step(&observer, TRACE_EXIT, now);
    }
    struct statistics_error error = statistics_error_of(s, 1, 0);
    statistics_close(s);
    return error;
}

static uint64_t in_turn(uint64_t i)
{
    return i % 2 == 0 ? 90 : 110;
}

static uint64_t in_halves(uint64_t i)
{
    return i < 5000 ? 90 : 110;
}

static uint64_t one_to_five(uint64_t i)
{
    return i + 1;
}

static void test_batches(void)
{
    struct statistics_error error = errors_of(5, one_to_five);
    CHECK("five calls tell the error of their mean", error.value == 3 && error.df == 4);
    CHECK_NEAR("which is variance over n", error.variance, 2.5 / 5, 1e-12);
    error = errors_of(10000, in_turn);
    CHECK("many calls become at most 32 batches", error.n_calls == 10000 && error.df >= 15 && error.df <= 31);
    CHECK("calls that differ in turn have a certain mean", is_near(error.value, 100, 1e-12) && error.variance < 1e-6);
    error = errors_of(10000, in_halves);
    CHECK("calls that differ by halves do not: they are few observations", error.variance > 3);
}

int main(void)
{
    test_beta();
    test_tails();
    test_gamma();
    test_moments();
    test_nist_simulated("NIST's certified F of SmLs01", 0, 1e-11);
    test_nist_simulated("NIST's certified F of SmLs04, a million higher", 1e6, 1e-7);
    test_nist_silicon();
    test_anova_edges();
    test_calls();
    test_runs();
    test_quotients();
    test_batches();
    return tap_done();
}
