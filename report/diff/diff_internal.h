/* What the steps of a comparison share: variances, correction, adjustment, causes, load. */
#ifndef REPORT_DIFF_DIFF_INTERNAL_H
#define REPORT_DIFF_DIFF_INTERNAL_H

#include "core/base/map.h"
#include "report/diff/diff.h"
#include "report/source.h"
#include "report/view/view_pass.h"

/* What one trace says of a row and metric. */
static inline struct diff_value *diff_value_of(const struct diff_row *row, enum diff_side side, size_t trace,
                                               size_t metric)
{
    return &row->values[side][trace * DIFF_METRICS_MAX + metric];
}

/* ---- variances (diff_prior.c) ---- */

/* What variances are usual: each is drawn from variance * df / chi-squared(df). */
struct diff_prior {
    double variance, df; /* df 0: nothing is known; infinite: all are the same */
    double df_max;       /* of all rows together: they may vary alike */
};

/*
 * Fit it to the variances of n rows, each of df degrees of freedom; those that are NAN or 0 are none.
 *
 * residuals  by row, n_runs each: what the variances were computed from, values less their side's mean; borrowed.
 *
 * Rows that vary together tell less: with r the mean of the squares of their correlations, n rows count as
 * n / (1 + (n - 1) r).  Fewer than five rows, or two runs on each side, tell nothing.
 *
 * Source: Smyth 2004, section 6.2; the limit on degrees of freedom as in limma, with the correlation as in Wu & Smyth,
 * Camera, Nucleic Acids Research 40, 2012.
 */
struct diff_prior diff_prior_fit(const double *variances, double df, const double *const *residuals, size_t n,
                                 size_t n_runs);

/* The variance, with *df, moved towards what is usual, unless it is far larger.  *df is set to what it has then. */
double diff_prior_move(const struct diff_prior *prior, double variance, double *df);

/* ---- one row and metric (diff_estimate.c) ---- */

struct diff_mean {
    double mean, variance, df; /* variance: of the mean */
    double value;              /* the mean in the metric's unit */
};

struct diff_estimate {
    bool is_log; /* of the values' logarithms: all are positive */
    struct diff_mean means[DIFF_SIDES];
    double variance, df; /* of the difference of the means; NAN: not known */
    double more;         /* the variance has so many times more than the runs' own: the adjustment's */
};

struct diff_estimate diff_estimate_of(const struct diff *diff, const struct diff_row *row, size_t metric);

/* Means, change, interval and p. */
void diff_judge(const struct diff_estimate *estimate, struct diff_result *result);

/* The least rise (a fraction) that a test with this significance finds in four of five comparisons; NAN: not known. */
double diff_detectable(const struct diff_estimate *estimate, double significance);

/* ---- many tests (diff_correct.c) ---- */

struct diff_test {
    double p;       /* in: of the test; out: corrected */
    unsigned group; /* below DIFF_GROUPS */
    double weight;  /* positive: its part of the group's */
};

enum {
    DIFF_GROUP_WHOLE,    /* the process' time, with 15 % of the 5 % */
    DIFF_GROUP_SELF,     /* own times, and those of the JVM's parts: 5 % */
    DIFF_GROUP_ADJUSTED, /* own times, adjusted: 45 %; where there are none, the own times have these, too */
    DIFF_GROUP_TIME,     /* times with all that is called: 30 % */
    DIFF_GROUP_ASKED,    /* other metrics that have a limit: 20 % */
    DIFF_GROUP_REST,     /* all else: 5 % */
    DIFF_GROUPS
};

/*
 * Correct the p of n tests by weighted false discovery rate, in place: each group that has tests is given its part of
 * the 5 % (the percentages above, over those of groups that have tests), each of its tests a part of that by weight,
 * s, and
 *
 *     corrected p(i) = the least of p(j) / (s(j) * rank of j) for all j from i on       ranked by p / s
 *
 * but not less than p(i), so that intervals of 95 % and verdicts agree.
 *
 * Where nothing differs at all, a corrected p is below 0.05 in 5 % of the comparisons at most.
 *
 * Source: Genovese, Roeder & Wasserman 2006.
 */
void diff_correct(struct diff_test *tests, size_t n);

/* The part of the 5 % that a test of a group has, where the weights of all in each group have these sums. */
double diff_part(const double sums[DIFF_GROUPS], const struct diff_test *test);

/* ---- pairs of runs (diff_pairs.c) ---- */

/* Set is_paired and in_turn. */
void diff_pair_runs(struct diff *diff);

/* The variance of the mean difference within pairs takes the place of the estimate's. */
void diff_pairs_estimate(const struct diff *diff, const struct diff_row *row, size_t metric,
                         struct diff_estimate *estimate);

/* ---- steps ---- */

/* Set the metric DIFF_ADJUSTED, and diff->common (diff_adjust.c). */
void diff_adjust(struct diff *diff);

/* Whether the row's own time is large enough to be looked at. */
bool diff_has_own_time(const struct diff *diff, const struct diff_row *row);

/* All of its time is its own, in each trace. */
bool diff_is_leaf(const struct diff *diff, const struct diff_row *row);

/* Own times are not known where a callee's time is part of them in some traces, but not in all (diff_causes.c). */
void diff_hide_self(struct diff *diff);

/* Set the cause of rows whose time follows another row's (diff_causes.c); verdicts are set. */
void diff_fold(struct diff *diff);

/* ---- reading ---- */

/* Add the trace's times of rows on behalf of others (diff_callers.c).  pairs: what was added before; rows: by method,
 * an index or SIZE_MAX. */
void diff_add_callers(struct diff *diff, struct map *pairs, const struct report_source *source, const size_t *rows,
                      size_t n_rows);

/* What CSV calls a unit; and a number with how text prints it, or nothing for NAN (diff_table.c). */
const char *diff_unit_key(enum table_unit unit);
struct table_cell diff_shown(double number, const char *words);

/* Its load (diff_load.c). */
struct diff_load diff_load_of(const struct report_source *source);

/* A note if the sides were not recorded in turns and the machine's load changed between them; else NULL. */
const char *diff_load_note(const struct diff *diff);

/* The state of reading traces into rows of values (diff_read.c, diff_rows.c). */

/* The traces in which a method had probes, a bit each. */
struct diff_measured {
    uint64_t traces[DIFF_SIDES];
};

struct diff_reading {
    struct diff *diff;
    struct map rows, metrics;    /* by text, to indexes */
    struct map pairs;            /* of rows, to indexes */
    struct map measured;         /* of methods that had probes in some trace, to indexes of where */
    struct diff_measured *where; /* the arena's */
    size_t n_where, where_room;
    enum diff_side side;
    size_t trace; /* of the side's */
    bool with_statistics;
    /* of the trace being read; local: until the next one */
    struct arena local;
    struct view_pass pass;
    struct report_source source; /* the pass', with what samples saw in its tree */
    struct calltree_total *totals;
    size_t n_totals;
    struct table table;
};

/* Take the metrics and rows of the trace being read: r->table, r->source and r->pass. */
void diff_rows_take(struct diff_reading *r);

/* The row of a method of the trace being read; SIZE_MAX: none. */
size_t diff_rows_find(struct diff_reading *r, uint32_t method);

/* After all traces: what was measured but not called took no time. */
void diff_rows_finish(struct diff_reading *r);

#endif
