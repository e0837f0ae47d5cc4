#include "report/diff/diff_internal.h"

#include "test/unit/diff_experiment.h"
#include "test/unit/tap.h"
#include "test/unit/trace_maker.h"

#include <math.h>

static struct arena arena;
static struct err err;

static bool is_near(double a, double b, double absolute)
{
    return fabs(a - b) <= absolute;
}

/* ---- the tests of significance ---- */

static void add_row(struct diff *d, const char *label, const double *before, size_t n_before, const double *after,
                    size_t n_after)
{
    struct diff_row *row = &d->rows[d->n_rows++];
    *row = (struct diff_row){ .kind = "phase", .label = label, .is_phase = true, .order = d->n_rows - 1 };
    for (int side = 0; side < DIFF_SIDES; side++) {
        size_t n = side == DIFF_BEFORE ? n_before : n_after;
        row->values[side] = arena_alloc(&arena, n * DIFF_METRICS_MAX * sizeof **row->values);
        for (size_t i = 0; i < n; i++)
            for (size_t m = 0; m < DIFF_METRICS_MAX; m++)
                row->values[side][i * DIFF_METRICS_MAX + m] =
                    (struct diff_value){ m > 0 ? NAN : (side == DIFF_BEFORE ? before : after)[i], NAN, 0, false };
    }
}

/*
 * Student's data of 1908 on two soporifics, ten higher: of their logarithms t = 1.900284 and df = 17.99557, for which
 * Simpson's rule gives these.
 */
static void test_welch(void)
{
    static const double one[] = { 10.7, 8.4, 9.8, 8.8, 9.9, 13.4, 13.7, 10.8, 10.0, 12.0 },
                        other[] = { 11.9, 10.8, 11.1, 10.1, 9.9, 14.4, 15.5, 11.6, 14.6, 13.4 },
                        same[] = { 4, 4, 4, 4, 4, 4, 4, 4, 4, 4 }, more[] = { 5, 5, 5, 5, 5, 5, 5, 5, 5, 5 },
                        varies[] = { 1, 9, 1, 9, 1, 9, 1, 9, 1, 9 }, none[10] = { 0 };
    struct diff_row_options options = { .n_traces = { 10, 10 } };
    struct diff_row rows[4];
    struct diff d = { .arena = &arena, .options = &options, .rows = rows, .n_metrics = 1 };
    d.metrics[0] = (struct diff_metric){ "time", "total_ns", TABLE_NS, DIFF_TIME, false };
    add_row(&d, "a", one, 10, other, 10);
    add_row(&d, "b", same, 10, same, 10);
    add_row(&d, "c", same, 10, more, 10);
    add_row(&d, "d", varies, 10, none, 10);
    diff_compare(&d);
    CHECK_NUMBER("rows are compared", d.n_rows, 4);
    const struct diff_result *r = &d.rows[0].results[0];
    CHECK("the largest comes first", strcmp(d.rows[0].label, "a") == 0);
    CHECK("the means are the runs', of their logarithms",
          is_near(r->mean[DIFF_BEFORE], 10.620470, 1e-6) && is_near(r->mean[DIFF_AFTER], 12.186697, 1e-6));
    CHECK("the interval of 95 %", is_near(r->low, -0.1531673, 1e-5) && is_near(r->high, 3.5680545, 1e-5));
    CHECK("the p", is_near(r->p, 0.0735391, 1e-6));
    CHECK("which is chance", r->verdict == DIFF_NOT_SHOWN);
    CHECK("the change is of the mean before", is_near(r->change, 0.1474725, 1e-6));
    CHECK("what could have been shown is more than that", r->detectable > r->change && r->detectable < 0.4);
    CHECK("runs that never vary and never differ are alike",
          d.rows[3].results[0].p == 1 && d.rows[3].results[0].verdict == DIFF_NOT_SHOWN);
    CHECK("runs that never vary but differ, differ",
          d.rows[1].results[0].p == 0 && d.rows[1].results[0].verdict == DIFF_HIGHER);
    r = &d.rows[2].results[0];
    CHECK("what is gone cannot be less than gone",
          r->mean[DIFF_BEFORE] == 5 && r->change == -1 && r->low == -5 && r->high > -3);
}

/* Two groups have parts of 45 and 15 % of the 5 %: three quarters and one. */
static void test_correction(void)
{
    struct diff_test tests[] = { { 0.01, DIFF_GROUP_ADJUSTED, 1 },
                                 { 0.5, DIFF_GROUP_ADJUSTED, 1 },
                                 { 0.01, DIFF_GROUP_WHOLE, 1 } };
    struct diff_test alone = { 0.03, DIFF_GROUP_REST, 1 };
    diff_correct(tests, 3);
    diff_correct(&alone, 1);
    CHECK("the first counts for its part, or as the next one where that is less", is_near(tests[0].p, 0.02, 1e-12));
    CHECK("the second for twice its part", is_near(tests[2].p, 0.02, 1e-12));
    CHECK("the last for three times", is_near(tests[1].p, 0.5, 1e-12));
    CHECK("what is tested alone is as it is", alone.p == 0.03);
    struct diff_test weighed[] = { { 0.01, DIFF_GROUP_REST, 3 }, { 0.5, DIFF_GROUP_REST, 1 } };
    diff_correct(weighed, 2);
    CHECK("a large row has the larger part", is_near(weighed[0].p, 0.01 / 0.75, 1e-12));
    struct diff_test found[] = { { 0, DIFF_GROUP_REST, 1 },
                                 { 0, DIFF_GROUP_REST, 1 },
                                 { 0.04, DIFF_GROUP_ADJUSTED, 1 } };
    diff_correct(found, 3);
    CHECK("other findings make no p less than it was", found[2].p == 0.04);
}

/* Variances that are drawn from a known distribution: 8 degrees of freedom each, and 10 of what is usual, 0.04. */
static double chi_squared(struct experiment *e, int df)
{
    double sum = 0;
    for (int i = 0; i < df; i++) {
        double x = experiment_normal(e);
        sum += x * x;
    }
    return sum;
}

enum { N_PRIOR = 400, N_RUNS = 10 };

static void test_prior(void)
{
    static double variances[N_PRIOR], residuals[N_PRIOR][N_RUNS], alike[N_PRIOR];
    static const double *residuals_of[N_PRIOR], *same_of[N_PRIOR];
    struct experiment e = { .random = 7 };
    for (size_t i = 0; i < N_PRIOR; i++) {
        variances[i] = 0.04 * 10 / chi_squared(&e, 10) * chi_squared(&e, 8) / 8;
        alike[i] = 0.04;
        for (size_t k = 0; k < N_RUNS; k++)
            residuals[i][k] = experiment_normal(&e);
        residuals_of[i] = residuals[i];
        same_of[i] = residuals[0];
    }
    struct diff_prior prior = diff_prior_fit(variances, 8, residuals_of, N_PRIOR, N_RUNS);
    CHECK("what variances are usual is found", is_near(prior.variance, 0.04, 0.006) && is_near(prior.df, 10, 4));
    double df = 8, moved = diff_prior_move(&prior, 0.08, &df);
    CHECK("one is moved towards it", moved > 0.04 && moved < 0.07 && is_near(df, 8 + prior.df, 1e-9));
    df = 8;
    CHECK("but not one that is far larger", diff_prior_move(&prior, 0.4, &df) == 0.4 && df == 8);
    struct diff_prior same = diff_prior_fit(alike, 8, same_of, N_PRIOR, N_RUNS);
    df = 8;
    diff_prior_move(&same, 0.04, &df);
    CHECK("rows that vary as one tell as much as one", is_near(df, 8, 1e-6));
    struct diff_prior apart = diff_prior_fit(alike, 8, residuals_of, N_PRIOR, N_RUNS);
    df = 8;
    diff_prior_move(&apart, 0.04, &df);
    CHECK("rows that vary on their own much more", df > 100);
    prior = diff_prior_fit(variances, 8, residuals_of, 3, N_RUNS);
    df = 8;
    CHECK("three rows tell nothing", diff_prior_move(&prior, 0.4, &df) == 0.4 && df == 8);
}

/* ---- causes, and what all have in common ---- */

static const struct diff_row *experiment_find(const struct experiment *e, const char *label)
{
    for (size_t i = 0; i < e->diff.n_rows; i++)
        if (strcmp(e->diff.rows[i].label, label) == 0)
            return &e->diff.rows[i];
    return &e->diff.rows[0];
}

static void test_causes(void)
{
    struct experiment e = { .random = 3 };
    struct experiment_noise quiet = { .row = 0.002, .part = 0.002 }, loud = { .common = 0.2, .row = 0.01, .part = 0.1 };
    experiment_draw(&e, &quiet, 5, 0, 1.3); /* a method that takes 30 % more */
    const struct diff_row *cause = experiment_find(&e, "m0"), *main_row = experiment_find(&e, "main");
    CHECK("it is higher", cause->results[DIFF_TIME].verdict == DIFF_HIGHER);
    CHECK("its callers follow from it", main_row->results[DIFF_TIME].verdict == DIFF_FOLLOWS &&
                                            main_row->results[DIFF_TIME].cause == cause &&
                                            experiment_find(&e, "even")->results[DIFF_TIME].cause == cause);
    CHECK("others do not", experiment_find(&e, "odd")->results[DIFF_TIME].verdict != DIFF_FOLLOWS);
    CHECK("the process is the first row, and higher",
          strcmp(e.diff.rows[0].kind, "total") == 0 && e.diff.rows[0].results[DIFF_TIME].verdict == DIFF_HIGHER);
    struct diff_limit limit = { .text = "", .metric = DIFF_TIME, .change = 0.05 };
    CHECK("a limit is broken by the cause, not by its callers",
          diff_breaks(&limit, cause) && !diff_breaks(&limit, main_row));
    size_t n_tested, n_blind = diff_blind(&e.diff, &limit, &n_tested);
    CHECK("here, such a change would be seen in each row", n_blind == 0 && n_tested >= 10);
    experiment_draw(&e, &loud, 5, 0, 1.3); /* on a machine whose speed varies by 20 % */
    cause = experiment_find(&e, "m0");
    CHECK("its time is not shown to differ", cause->results[DIFF_TIME].verdict == DIFF_NOT_SHOWN);
    CHECK("but it is higher than the rest", cause->results[DIFF_ADJUSTED].verdict == DIFF_HIGHER &&
                                                is_near(cause->results[DIFF_ADJUSTED].change, 0.3, 0.05));
    CHECK("and the limit may have been broken unseen", diff_blind(&e.diff, &limit, &n_tested) > 0);
    arena_free(&e.arena);
}

/* Values that hardly vary, with p next to nothing, and less change than is of interest. */
static void test_least(void)
{
    static const double before[] = { 253401, 253401, 253401 }, after[] = { 253416, 253416, 253416 },
                        more[] = { 258401, 258401, 258401 };
    struct diff_row_options three = { .n_traces = { 3, 3 }, .least = 0.01 };
    struct diff_row rows[4];
    struct diff d = { .arena = &arena, .options = &three, .rows = rows, .n_metrics = 1 };
    add_row(&d, "a", before, 3, after, 3);
    add_row(&d, "b", before, 3, more, 3);
    diff_compare(&d);
    CHECK("15 more of 253,401 are of no interest", strcmp(d.rows[1].label, "a") == 0 && d.rows[1].results[0].p == 0 &&
                                                       d.rows[1].results[0].verdict == DIFF_SMALL);
    CHECK("2 % more are", d.rows[0].results[0].verdict == DIFF_HIGHER);
}

/* ---- from traces ---- */

enum { RUN, SORT, READ, LAMBDA };

/* What a run is like; times in ticks of 1 us. */
struct run {
    uint64_t sort, read; /* of a call */
    uint64_t n_calls, jitter;
    uint64_t cpi; /* of sort; read's is 1 */
    const char *address;
    const char *live;   /* what became of sort; NULL: no live recording */
    bool has_no_probes; /* read(): it is not called then, as far as is known */
};

static void switch_off(struct maker *m, uint32_t method, uint64_t ticks)
{
    const struct trace_event event = { .kind = TRACE_DISABLED, .method = method, .ticks = ticks };
    maker_must(m, trace_write_control(m->writer, &event, 1, &m->err));
}

static const char *make_run(const char *file, const struct run *run)
{
    static const struct trace_counter counters[] = { { .name = "cycles", .why = "", .in_records = true },
                                                     { .name = "instructions", .why = "", .in_records = true } };
    struct maker m;
    uint64_t now = 0, cycles = 0;
    char name[64];
    snprintf(name, sizeof name, "Sort$$Lambda$1/0x%s", run->address == NULL ? "1" : run->address);
    maker_open_scaled(&m, file, 1000);
    maker_info(&m, "recording.mode", run->live == NULL ? "phases" : "live");
    if (run->live != NULL)
        maker_info(&m, "live.method.1", run->live);
    maker_info(&m, "offcpu", "perf");
    maker_must(&m, trace_write_counters(m.writer, counters, 2, &m.err));
    m.n_counters = 2;
    maker_thread(&m, 0, "main", true);
    maker_thread(&m, 1, "GC Thread#0", false);
    maker_method(&m, RUN, "a/Sort", "run", "()V");
    maker_method(&m, SORT, "a/Sort", "sort", "([I)V");
    if (!run->has_no_probes)
        maker_method(&m, READ, "a/Sort", "read", "()V");
    maker_method(&m, LAMBDA, name, "apply", "()V");
    KERNEL(&m, AT(TRACE_CPU_IN, 0, 0), AT(TRACE_CPU_IN, 1, 0), AT(TRACE_CPU_OUT, 1, 100 + run->jitter));
    STEPS(&m, 0, ENTER(RUN, 0, 0, 0));
    uint64_t instructions = 0, n_sorts = run->n_calls;
    if (run->live != NULL && strncmp(run->live, "disarmed", 8) == 0)
        n_sorts /= 2;
    for (uint64_t i = 0; i < run->n_calls; i++) {
        if (i == n_sorts)
            switch_off(&m, SORT, now);
        static const uint32_t methods[] = { SORT, READ, LAMBDA };
        for (size_t k = 0; k < 3; k++) {
            uint64_t time = (k == 0 ? run->sort : run->read) + (i * 7 + k) % 5 * run->jitter;
            if ((k == 1 && run->read == 0) || (k == 0 && i >= n_sorts))
                continue;
            STEPS(&m, 0, ENTER(methods[k], now, cycles, instructions));
            now += time;
            instructions += 1000;
            cycles += 1000 * (k == 0 ? run->cpi : 1) + (i + k) % 3 * 10;
            STEPS(&m, 0, EXIT(methods[k], now, cycles, instructions));
        }
    }
    STEPS(&m, 0, EXIT(RUN, now, cycles, instructions));
    maker_close(&m, now);
    return arena_text(&arena, m.path, strlen(m.path));
}

static struct diff_row_options options;

/* Paths of the traces: n before, then n after. */
static int read_and_compare(struct diff *d, const char *const *paths, size_t n)
{
    options = (struct diff_row_options){
        .paths = { paths, paths + n }, .n_traces = { n, n }, .min_share = 0.01, .least = 0.01
    };
    if (diff_read(d, &options, &arena, &err) < 0)
        return -1;
    diff_compare(d);
    return 0;
}

static const struct diff_row *row_of(const struct diff *d, const char *label)
{
    static struct diff_result nothing[DIFF_METRICS_MAX];
    static const struct diff_row none = { .kind = "", .label = "", .results = nothing };
    for (size_t i = 0; i < d->n_rows; i++)
        if (strcmp(d->rows[i].label, label) == 0)
            return &d->rows[i];
    return &none;
}

static const struct diff_result *result_of(const struct diff *d, const char *label, const char *metric)
{
    for (size_t m = 0; m < d->n_metrics; m++)
        if (strcmp(d->metrics[m].name, metric) == 0)
            return &row_of(d, label)->results[m];
    return &row_of(d, "no such metric")->results[0];
}

static bool breaks(const struct diff *d, const char *limit, const char *label)
{
    struct diff_limit parsed;
    if (diff_limit_parse(d, limit, &parsed, &err) < 0) {
        printf("Bail out! %s\n", err.text);
        return false;
    }
    return diff_breaks(&parsed, row_of(d, label));
}

static bool is_alike(enum diff_verdict verdict)
{
    return verdict == DIFF_NOT_SHOWN || verdict == DIFF_SMALL;
}

static void test_one_each(void)
{
    struct diff d;
    const char *paths[] = {
        make_run("before.dat", &(struct run){ 100, 50, 60, 2, 2, "0000aaaa", NULL, false }),
        make_run("after.dat", &(struct run){ 120, 50, 60, 2, 3, "0000bbbb", NULL, false }),
    };
    CHECK("a trace on each side is compared", read_and_compare(&d, paths, 1) == 0);
    const struct diff_result *time = result_of(&d, "Sort.sort", "time"), *cpi = result_of(&d, "Sort.sort", "CPI");
    CHECK("a phase whose calls take longer is found",
          time->verdict == DIFF_HIGHER && is_near(time->change, 0.192, 0.01));
    CHECK("its interval has the truth", time->low < 60 * 20e3 && time->high > 60 * 20e3 && time->low > 0);
    CHECK("its CPI is higher, too", cpi->verdict == DIFF_HIGHER && is_near(cpi->mean[DIFF_AFTER], 3.01, 0.001));
    CHECK("a phase that is the same is not found", is_alike(result_of(&d, "Sort.read", "time")->verdict) &&
                                                       is_alike(result_of(&d, "Sort.read", "CPI")->verdict));
    CHECK("one call has no interval", result_of(&d, "Sort.run", "time")->verdict == DIFF_UNKNOWN &&
                                          result_of(&d, "Sort.run", "time")->mean[DIFF_AFTER] > 0);
    CHECK("nor has the collector", result_of(&d, "garbage collector", "time")->verdict == DIFF_UNKNOWN);
    CHECK("a hidden class is the same at another address",
          result_of(&d, "Sort$$Lambda$1.apply", "time")->verdict == DIFF_NOT_SHOWN);
    CHECK("a limit is broken by what is significant and beyond it", breaks(&d, "time>15%", "Sort.sort"));
    CHECK("not by what is significant but within", !breaks(&d, "time>25%", "Sort.sort"));
    CHECK("not by chance", !breaks(&d, "time>0%", "Sort.read"));
    CHECK("not in the other direction", !breaks(&d, "TIME<0.01", "Sort.sort"));
    CHECK("any metric has limits", breaks(&d, "cpi>40%", "Sort.sort") && breaks(&d, "time/call>15%", "Sort.sort"));
}

static void test_runs(void)
{
    struct diff d;
    const char *paths[] = {
        make_run("b1.dat", &(struct run){ 100, 50, 10, 1, 2, "1", NULL, false }),
        make_run("b2.dat", &(struct run){ 101, 52, 10, 1, 2, "2", NULL, false }),
        make_run("b3.dat", &(struct run){ 102, 48, 10, 1, 2, "3", NULL, false }),
        make_run("a1.dat", &(struct run){ 80, 51, 10, 1, 2, "4", NULL, false }),
        make_run("a2.dat", &(struct run){ 81, 49, 10, 1, 2, "5", NULL, false }),
        make_run("a3.dat", &(struct run){ 82, 53, 10, 1, 2, "6", NULL, false }),
    };
    CHECK("three traces on each side are compared", read_and_compare(&d, paths, 3) == 0);
    const struct diff_result *sort = result_of(&d, "Sort.sort", "time"), *read = result_of(&d, "Sort.read", "time");
    CHECK("a run is one observation: a phase that is faster",
          sort->verdict == DIFF_LOWER && is_near(sort->change, -0.194, 0.01));
    CHECK("the interval has the truth", sort->low < -200e3 && sort->high > -200e3 && sort->high < 0);
    CHECK("a phase that differs from run to run is not found", read->verdict == DIFF_NOT_SHOWN && read->p > 0.5);
    CHECK("a phase of one call has an interval", !isnan(result_of(&d, "Sort.run", "time")->low));
    CHECK("so has the collector", result_of(&d, "garbage collector", "time")->p == 1);
    CHECK("and the process", result_of(&d, "whole process", "time")->mean[DIFF_BEFORE] > 0 &&
                                 !isnan(result_of(&d, "whole process", "time")->p));
    CHECK("what falls breaks a limit below",
          breaks(&d, "time<10%", "Sort.sort") && !breaks(&d, "time>10%", "Sort.sort"));
    struct table table;
    diff_table(&d, true, &table);
    size_t n_text = table.n_rows;
    diff_table(&d, false, &table);
    CHECK("CSV has all metrics", table.n_rows > 2 * n_text);
}

static void test_new_and_gone(void)
{
    struct diff d;
    const char *paths[] = {
        make_run("p.dat", &(struct run){ 100, 0, 20, 1, 2, "1", NULL, false }),
        make_run("q.dat", &(struct run){ 100, 50, 20, 1, 2, "1", NULL, false }),
    };
    CHECK("a phase may be on one side only", read_and_compare(&d, paths, 1) == 0);
    CHECK("it is new", result_of(&d, "Sort.read", "time")->verdict == DIFF_NEW);
    CHECK("which breaks no limit", !breaks(&d, "time>5%", "Sort.read"));
    const char *turned[] = { paths[1], paths[0] };
    CHECK("or it is gone",
          read_and_compare(&d, turned, 1) == 0 && result_of(&d, "Sort.read", "time")->verdict == DIFF_GONE);
    const char *unknown[] = { make_run("u.dat", &(struct run){ 100, 0, 20, 1, 2, "1", NULL, true }), paths[1] };
    CHECK("what had no probes before is not new, but was not measured",
          read_and_compare(&d, unknown, 1) == 0 &&
              result_of(&d, "Sort.read", "time")->verdict == DIFF_NOT_MEASURED_BEFORE);
    CHECK("nor are own times compared that have its time on one side",
          isnan(result_of(&d, "Sort.run", "self")->mean[DIFF_AFTER]));
    const char *unknown_turned[] = { paths[1], unknown[0] };
    CHECK("nor after", read_and_compare(&d, unknown_turned, 1) == 0 &&
                           result_of(&d, "Sort.read", "time")->verdict == DIFF_NOT_MEASURED_AFTER);
}

/* Two traces on each side, all methods. */
static int compare_all(struct diff *d, const char *const *paths)
{
    options = (struct diff_row_options){ .paths = { paths, paths + 2 }, .n_traces = { 2, 2 }, .all = true };
    if (diff_read(d, &options, &arena, &err) < 0)
        return -1;
    diff_compare(d);
    return 0;
}

/* sort() has probes, hash() in it has none: samples tell of it, in so many of 40. */
static const char *make_sampled(const char *file, uint64_t n_hash, uint64_t all)
{
    static const struct trace_sampled_method methods[] = {
        { .names.class_name = "a/Sort", .names.method = "sort", .names.descriptor = "()V", .source = "" },
        { .names.class_name = "a/Sort", .names.method = "hash", .names.descriptor = "()V", .source = "" }
    };
    struct maker m;
    maker_open_scaled(&m, file, 1000);
    maker_info(&m, "recording.mode", "live");
    maker_info(&m, "live.method.0", "armed 0.5 0 0 ");
    maker_info(&m, "offcpu", "perf");
    maker_thread(&m, 0, "main", true);
    maker_method(&m, 0, "a/Sort", "sort", "()V");
    KERNEL(&m, AT(TRACE_CPU_IN, 0, 0));
    maker_stack(&m, 0, -1, 0, &methods[0], 0, 0);
    maker_stack(&m, 1, 3, 1, &methods[1], 0, 0);
    for (uint64_t i = 0; i < 40; i++) {
        const struct trace_sample sample = {
            .ticks = all * i / 40 + 1, .context = i < n_hash ? 2 : 1, .index = -1, .n = 1, .weight_ns = all * 25
        };
        maker_must(&m, trace_write_sample(m.writer, &sample, &m.err));
    }
    STEPS(&m, 0, ENTER(0, 0), EXIT(0, all));
    maker_close(&m, all);
    return arena_text(&arena, m.path, strlen(m.path));
}

static void test_sampled(void)
{
    struct diff d;
    const char *paths[] = { make_sampled("s1.dat", 10, 40000000), make_sampled("s2.dat", 10, 41000000),
                            make_sampled("s3.dat", 20, 50000000), make_sampled("s4.dat", 20, 51000000) };
    CHECK("recordings with stack samples are compared", compare_all(&d, paths) == 0);
    const struct diff_result *share = result_of(&d, "Sort.hash", "share"), *time = result_of(&d, "Sort.hash", "time");
    CHECK("a method without probes has the share that samples give it",
          is_near(share->mean[DIFF_BEFORE], 0.25, 1e-3) && is_near(share->mean[DIFF_AFTER], 0.5, 1e-3));
    CHECK("its time is compared, too", is_near(time->change, 1.5, 0.1) && time->verdict == DIFF_HIGHER);
    CHECK("its calls are not known",
          isnan(result_of(&d, "Sort.hash", "calls")->mean[DIFF_BEFORE]) && row_of(&d, "Sort.hash")->measured[0] == 0);
    const char *none[] = { make_sampled("s5.dat", 0, 40000000), make_sampled("s6.dat", 0, 40000000), paths[2],
                           paths[3] };
    CHECK("one that no sample met took no time", compare_all(&d, none) == 0 &&
                                                     result_of(&d, "Sort.hash", "time")->verdict == DIFF_NEW &&
                                                     result_of(&d, "Sort.hash", "time")->mean[DIFF_BEFORE] == 0);
    const char *each[] = { paths[0], paths[2] };
    options = (struct diff_row_options){ .paths = { each, each + 1 }, .n_traces = { 1, 1 }, .all = true };
    CHECK("one trace on each side is read", diff_read(&d, &options, &arena, &err) == 0);
    diff_compare(&d);
    CHECK("what samples alone say of one live run is not tested",
          result_of(&d, "Sort.hash", "time")->verdict == DIFF_UNKNOWN &&
              isnan(result_of(&d, "Sort.hash", "time")->low) &&
              is_near(result_of(&d, "Sort.hash", "time")->change, 1.5, 0.1));
    const char *unseen[] = { none[0], paths[2] };
    options = (struct diff_row_options){ .paths = { unseen, unseen + 1 }, .n_traces = { 1, 1 }, .all = true };
    CHECK("nor is it new because no sample met it before",
          diff_read(&d, &options, &arena, &err) == 0 &&
              (diff_compare(&d), result_of(&d, "Sort.hash", "time")->verdict == DIFF_UNKNOWN));
}

/* A live recording switched sort() off after some calls. */
static void test_live(void)
{
    static const char off[] = "disarmed 0.5 20 100000 it is called too often";
    struct diff d, e;
    const char *paths[] = {
        make_run("l1.dat", &(struct run){ 100, 50, 20, 1, 2, "1", "armed 1 0 0 ", false }),
        make_run("l2.dat", &(struct run){ 101, 50, 20, 1, 2, "1", "armed 1 0 0 ", false }),
        make_run("l3.dat", &(struct run){ 130, 50, 10, 1, 2, "1", off, false }),
        make_run("l4.dat", &(struct run){ 131, 50, 20, 1, 2, "1", off, false }),
    };
    CHECK("live recordings are compared", compare_all(&d, paths) == 0 && d.has_live);
    CHECK("calls that were not recorded are not gone",
          isnan(result_of(&d, "Sort.sort", "calls")->mean[DIFF_AFTER]) && isnan(result_of(&d, "Sort.sort", "time")->p));
    CHECK("those that were recorded are compared", result_of(&d, "Sort.sort", "time/call")->verdict == DIFF_HIGHER);
    CHECK("so is the share of what ran meanwhile, as before",
          !isnan(result_of(&d, "Sort.sort", "share")->p) &&
              is_near(result_of(&d, "Sort.sort", "share")->mean[DIFF_AFTER], 0.53, 0.02));
    const char *one[] = { paths[0], paths[2] };
    options = (struct diff_row_options){ .paths = { one, one + 1 }, .n_traces = { 1, 1 }, .all = true };
    CHECK("of one run on each side they are not tested: the probes were there at other times",
          diff_read(&e, &options, &arena, &err) == 0 &&
              (diff_compare(&e), result_of(&e, "Sort.sort", "time/call")->verdict == DIFF_UNKNOWN &&
                                     result_of(&e, "Sort.sort", "CPI")->verdict == DIFF_UNKNOWN));
    CHECK("own times of callers, in which it is hidden, are not", isnan(result_of(&d, "Sort.run", "self")->p));
    const char *mixed[] = { paths[0], paths[1], paths[1], paths[3] };
    CHECK("a run that knows counts alone",
          compare_all(&d, mixed) == 0 && is_near(result_of(&d, "Sort.sort", "calls")->mean[DIFF_AFTER], 20, 1e-9) &&
              isnan(result_of(&d, "Sort.sort", "calls")->p));
}

/* Runs of ten seconds a minute; of the time in which threads could run, they waited for a CPU for so much. */
static void set_loads(struct diff *d, uint64_t first_minute, uint64_t step, double before, double after)
{
    for (int side = DIFF_BEFORE; side < DIFF_SIDES; side++)
        for (size_t i = 0; i < 3; i++) {
            double wait = (side == DIFF_BEFORE ? before : after) + 0.01 * (double)i;
            uint64_t minute = first_minute + step * i + (side == DIFF_BEFORE ? 0 : step == 1 ? 3 : 1);
            d->loads[side][i] =
                (struct diff_load){ minute * UINT64_C(60000000000), 10e9, 10e9 * (1 - wait), 10e9 * wait, 0.05e9 };
        }
}

static void test_load(void)
{
    struct diff_row_options three = { .n_traces = { 3, 3 } };
    static struct diff d = { .arena = &arena, .metrics = { { NULL, NULL, TABLE_NS, DIFF_TIME, false } } };
    d.options = &three;
    set_loads(&d, 1, 1, 0.05, 0.3);
    const char *note = diff_load_note(&d);
    CHECK("one side after the other, and a machine that became busy: a note",
          note != NULL && strstr(note, "waited for a CPU 6 % of the time before and 31 % after") != NULL);
    set_loads(&d, 1, 2, 0.05, 0.3);
    CHECK("none where they were recorded in turns", diff_load_note(&d) == NULL);
    set_loads(&d, 1, 1, 0.05, 0.07);
    CHECK("none where the load is as it was", diff_load_note(&d) == NULL);
    d.loads[DIFF_AFTER][0].stolen_ns = d.loads[DIFF_AFTER][1].stolen_ns = d.loads[DIFF_AFTER][2].stolen_ns = 1e9;
    note = diff_load_note(&d);
    CHECK("what the host keeps is load, too", note != NULL && strstr(note, "withheld 0 % and 10 %") != NULL);
}

static void test_refusals(void)
{
    struct diff d;
    const char *path = make_run("r.dat", &(struct run){ 100, 50, 20, 1, 2, "1", NULL, false });
    const char *paths[] = { path, path, path };
    struct diff_row_options uneven = { .paths = { paths, paths }, .n_traces = { 1, 2 } };
    CHECK("one trace against two is refused", diff_read(&d, &uneven, &arena, &err) < 0);
    CHECK("and what to do is said", strstr(err.text, "next: name one trace on each side") != NULL);
    CHECK("a trace is read for the limits", read_and_compare(&d, paths, 1) == 0);
    static const struct {
        const char *text, *says;
    } rows[] = {
        { "time", "malformed limit 'time'" },
        { ">5%", "malformed limit '>5%'" },
        { "time>x", "malformed limit 'time>x'" },
        { "time>-1%", "malformed limit 'time>-1%'" },
        { "time>5 %", "malformed limit" },
        { "speed>5%", "no metric 'speed'" },
        { "L1-D>5%", "choose one of these: time, self, adjusted, share" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct diff_limit limit;
        char claim[80];
        snprintf(claim, sizeof claim, "the limit '%s' is refused", rows[i].text);
        CHECK(claim, diff_limit_parse(&d, rows[i].text, &limit, &err) < 0 && strstr(err.text, rows[i].says) != NULL);
    }
    const char *missing[] = { "/nonexistent/a.dat", path };
    CHECK("a trace that is not there is an error", read_and_compare(&d, missing, 1) < 0);
}

int main(void)
{
    test_welch();
    test_correction();
    test_prior();
    test_causes();
    test_least();
    test_one_each();
    test_runs();
    test_new_and_gone();
    test_live();
    test_sampled();
    test_load();
    test_refusals();
    arena_free(&arena);
    return tap_done();
}
