/*
 * Comparisons whose truth is known: sets of runs are drawn, compared as 'mmprof diff' does, and what is said of them is
 * counted.
 *
 * Runs are drawn from noise (experiment_draw), or from runs that were recorded (diff_power.c).
 */
#ifndef TEST_DIFF_EXPERIMENT_H
#define TEST_DIFF_EXPERIMENT_H

#include "report/diff/diff.h"

#include <math.h>
#include <string.h>

#define EXPERIMENT_METRICS 6 /* up to DIFF_PER_CALL */

struct experiment {
    struct arena arena;
    struct diff_row_options options;
    struct diff diff;
    struct diff_row rows[DIFF_METRICS_MAX];
    uint64_t random;
};

/* How runs differ: standard deviations of logarithms. */
struct experiment_noise {
    double common; /* of all rows of a run */
    double row;    /* of each row; uneven: rows have from half to twice as much */
    double part;   /* of a part of the JVM */
    double pair;   /* of all rows of the k-th run of each side, which follow each other; 0: they do not */
    bool is_uneven;
    bool has_slopes;   /* rows take from none to one and a half of what is common */
    bool has_outliers; /* one run in ten has three times as much of each */
};

/* ---- chance ---- */

static inline double experiment_uniform(struct experiment *e)
{
    e->random = e->random * 6364136223846793005u + 1442695040888963407u;
    return ((double)(e->random >> 11) + 0.5) / 9007199254740992.0;
}

/* Box & Muller. */
static inline double experiment_normal(struct experiment *e)
{
    double r = sqrt(-2 * log(experiment_uniform(e)));
    return r * cos(2 * 3.141592653589793 * experiment_uniform(e));
}

/* ---- rows ---- */

static inline void experiment_begin(struct experiment *e, size_t n_before, size_t n_after)
{
    static const struct diff_metric metrics[EXPERIMENT_METRICS] = {
        { "time", "total_ns", TABLE_NS, DIFF_TIME, false },
        { "self", "self_ns", TABLE_NS, DIFF_SELF, false },
        { "adjusted", "adjusted_ns", TABLE_NS, DIFF_ADJUSTED, false },
        { "share", "time_share", TABLE_SHARE, DIFF_SHARE, false },
        { "calls", "calls", TABLE_COUNT, DIFF_CALLS, false },
        { "time/call", "ns_per_call", TABLE_NS, DIFF_PER_CALL, false },
    };
    arena_free(&e->arena);
    e->options = (struct diff_row_options){ .n_traces = { n_before, n_after }, .min_share = 0.01, .least = 0.01 };
    e->diff =
        (struct diff){ .arena = &e->arena, .options = &e->options, .rows = e->rows, .n_metrics = EXPERIMENT_METRICS };
    memcpy(e->diff.metrics, metrics, sizeof metrics);
}

static inline struct diff_row *experiment_row(struct experiment *e, const char *kind, const char *label)
{
    struct diff *d = &e->diff;
    struct diff_row *row = &d->rows[d->n_rows];
    *row = (struct diff_row){ .kind = kind,
                              .label = label,
                              .names = { "", "", "" },
                              .is_phase = true,
                              .order = d->n_rows,
                              .measured = { UINT64_MAX, UINT64_MAX } };
    for (int side = DIFF_BEFORE; side < DIFF_SIDES; side++) {
        size_t n = d->options->n_traces[side] * DIFF_METRICS_MAX;
        row->values[side] = arena_alloc(d->arena, n * sizeof(struct diff_value));
        for (size_t i = 0; i < n; i++)
            row->values[side][i] = (struct diff_value){ NAN, NAN, 0, false };
    }
    d->n_rows++;
    return row;
}

/* ---- a program: main() calls two groups of methods ---- */

#define EXPERIMENT_LEAVES 10
#define EXPERIMENT_GROUPS 2
#define EXPERIMENT_PARTS  2

static const double experiment_ms[EXPERIMENT_LEAVES] = { 1100, 480, 440, 300, 250, 180, 110, 100, 90, 60 };

struct experiment_run {
    double leaves[EXPERIMENT_LEAVES], parts[EXPERIMENT_PARTS]; /* ns */
};

static inline struct experiment_run experiment_run(struct experiment *e, const struct experiment_noise *noise)
{
    struct experiment_run run;
    double more = noise->has_outliers && experiment_uniform(e) < 0.1 ? 3 : 1;
    double common = more * noise->common * experiment_normal(e);
    for (size_t i = 0; i < EXPERIMENT_LEAVES; i++) {
        double sd = noise->row * (noise->is_uneven ? exp2((double)i / 4.5 - 1) : 1);
        double slope = noise->has_slopes ? 1.5 * (double)i / (EXPERIMENT_LEAVES - 1) : 1;
        run.leaves[i] = 1e6 * experiment_ms[i] * exp(slope * common + more * sd * experiment_normal(e));
    }
    for (size_t i = 0; i < EXPERIMENT_PARTS; i++)
        run.parts[i] = 1e6 * (i == 0 ? 500 : 60) * exp(common + more * noise->part * experiment_normal(e));
    return run;
}

static inline void experiment_set(struct diff_row *row, enum diff_side side, size_t run, double time, double self,
                                  double whole)
{
    struct diff_value *values = row->values[side] + run * DIFF_METRICS_MAX;
    values[DIFF_TIME].value = time;
    values[DIFF_SELF].value = self;
    values[DIFF_SHARE].value = time / whole;
    values[DIFF_CALLS].value = 1000;
    values[DIFF_PER_CALL].value = time / 1000;
}

static inline void experiment_take(struct experiment *e, enum diff_side side, size_t i,
                                   const struct experiment_run *run)
{
    struct diff_row *rows = e->rows;
    double groups[EXPERIMENT_GROUPS] = { 0 }, all = 0, whole;
    for (size_t k = 0; k < EXPERIMENT_LEAVES; k++)
        groups[k % EXPERIMENT_GROUPS] += run->leaves[k];
    for (size_t g = 0; g < EXPERIMENT_GROUPS; g++)
        all += groups[g];
    whole = all + run->parts[0] + run->parts[1];
    size_t at = 0;
    experiment_set(&rows[at++], side, i, all, 0.001 * all, whole);
    for (size_t g = 0; g < EXPERIMENT_GROUPS; g++)
        experiment_set(&rows[at++], side, i, groups[g], 0.001 * groups[g], whole);
    for (size_t k = 0; k < EXPERIMENT_LEAVES; k++)
        experiment_set(&rows[at++], side, i, run->leaves[k], run->leaves[k], whole);
    for (size_t p = 0; p < EXPERIMENT_PARTS; p++)
        experiment_set(&rows[at++], side, i, run->parts[p], NAN, whole);
    rows[at].values[side][i * DIFF_METRICS_MAX + DIFF_TIME].value = whole;
}

static const char *const experiment_labels[] = { "main", "even", "odd", "m0", "m1", "m2", "m3", "m4",
                                                 "m5",   "m6",   "m7",  "m8", "m9", "C2", "GC", "whole process" };

/* Who calls whom, in parts of main's time. */
static inline void experiment_pairs(struct experiment *e)
{
    size_t n = 1 + EXPERIMENT_GROUPS + EXPERIMENT_LEAVES;
    struct diff_pair *pairs = arena_alloc(&e->arena, n * n * sizeof *pairs);
    e->diff.pairs = pairs;
    for (size_t callee = 0; callee < n; callee++)
        for (size_t caller = 0; caller <= callee; caller++) {
            bool is_leaf = callee > EXPERIMENT_GROUPS;
            bool calls = caller == 0 || caller == callee ||
                         (is_leaf && caller == 1 + (callee - 1 - EXPERIMENT_GROUPS) % EXPERIMENT_GROUPS);
            if (calls)
                pairs[e->diff.n_pairs++] = (struct diff_pair){ caller, callee, 1 };
        }
}

/* The machine is as fast for both; they were recorded in turns. */
static inline void experiment_share(struct experiment *e, double deviation, size_t pair, struct experiment_run *before,
                                    struct experiment_run *after)
{
    double factor = exp(deviation * experiment_normal(e));
    for (size_t i = 0; i < EXPERIMENT_LEAVES; i++) {
        before->leaves[i] *= factor;
        after->leaves[i] *= factor;
    }
    for (size_t i = 0; i < EXPERIMENT_PARTS; i++) {
        before->parts[i] *= factor;
        after->parts[i] *= factor;
    }
    e->diff.loads[DIFF_BEFORE][pair].start_ns = 2 * pair + 1;
    e->diff.loads[DIFF_AFTER][pair].start_ns = 2 * pair + 2;
}

/* Draw n runs of each side, with the leaf 'changed' by a factor after, and compare them. */
static inline void experiment_draw(struct experiment *e, const struct experiment_noise *noise, size_t n, size_t changed,
                                   double factor)
{
    experiment_begin(e, n, n);
    for (size_t i = 0; i < sizeof experiment_labels / sizeof experiment_labels[0]; i++)
        experiment_row(e, i < 13 ? "phase" : i < 15 ? "c2" : "total", experiment_labels[i]);
    experiment_pairs(e);
    for (size_t i = 0; i < n; i++) {
        struct experiment_run before = experiment_run(e, noise), after = experiment_run(e, noise);
        after.leaves[changed] *= factor;
        if (noise->pair > 0)
            experiment_share(e, noise->pair, i, &before, &after);
        experiment_take(e, DIFF_BEFORE, i, &before);
        experiment_take(e, DIFF_AFTER, i, &after);
    }
    diff_compare(&e->diff);
}

/* ---- what was said ---- */

static bool experiment_is_found(enum diff_verdict verdict)
{
    return verdict == DIFF_HIGHER || verdict == DIFF_LOWER || verdict == DIFF_FOLLOWS;
}

/* How many rows have something that is said to have changed. */
static inline size_t experiment_count(const struct diff *d)
{
    size_t n = 0;
    for (size_t i = 0; i < d->n_rows; i++) {
        bool is_found = false;
        for (size_t m = 0; m < d->n_metrics; m++)
            is_found = is_found || experiment_is_found(d->rows[i].results[m].verdict);
        n += is_found;
    }
    return n;
}

/* Whether a row itself is said to take more time. */
static inline bool experiment_rose(const struct diff *d, const char *label)
{
    for (size_t i = 0; i < d->n_rows; i++) {
        const struct diff_result *results = d->rows[i].results;
        if (strcmp(d->rows[i].label, label) == 0)
            return results[DIFF_TIME].verdict == DIFF_HIGHER || results[DIFF_SELF].verdict == DIFF_HIGHER ||
                   results[DIFF_ADJUSTED].verdict == DIFF_HIGHER;
    }
    return false;
}

/* Of n comparisons: how many find anything with no change; how many find that of a leaf by a factor. */
struct experiment_counts {
    size_t n_false, n_found, n_wrong; /* wrong: other leaves, where one has changed */
};

static inline void experiment_many(struct experiment *e, const struct experiment_noise *noise, size_t n_runs,
                                   double factor, size_t n, struct experiment_counts *counts)
{
    *counts = (struct experiment_counts){ 0, 0, 0 };
    for (size_t i = 0; i < n; i++) {
        experiment_draw(e, noise, n_runs, 2, 1);
        counts->n_false += experiment_count(&e->diff) > 0;
        experiment_draw(e, noise, n_runs, 2, factor);
        counts->n_found += experiment_rose(&e->diff, "m2");
        for (size_t k = 0; k < EXPERIMENT_LEAVES; k++) {
            char label[8] = { 'm', (char)('0' + k), '\0' };
            bool is_wrong = k != 2 && experiment_rose(&e->diff, label);
            counts->n_wrong += is_wrong;
        }
    }
}

#endif
