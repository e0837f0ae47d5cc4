/* The comparison: which rows are kept, what is tested, verdicts. */
#include "core/base/xalloc.h"
#include "report/diff/diff_internal.h"
#include "symbolize/java_names.h"

#define WEIGHT_LEAST 0.01 /* of the process' time */
#define NEARLY_WHOLE 0.8

static bool is_method(const struct diff_row *row)
{
    return strcmp(row->kind, "phase") == 0;
}

static bool is_whole(const struct diff_row *row)
{
    return strcmp(row->kind, "total") == 0;
}

/* ---- rows ---- */

/* The mean of what is known; NAN: nothing is. */
static double mean_of(const struct diff *d, const struct diff_row *row, enum diff_side side, size_t metric)
{
    double sum = 0, n = 0;
    for (size_t i = 0; i < d->options->n_traces[side]; i++) {
        double value = diff_value_of(row, side, i, metric)->value;
        sum += isnan(value) ? 0 : value;
        n += !isnan(value);
    }
    return sum / n;
}

static double larger(const struct diff *d, const struct diff_row *row, size_t metric)
{
    return fmax(mean_of(d, row, DIFF_BEFORE, metric), mean_of(d, row, DIFF_AFTER, metric)); /* NAN only if both are */
}

/* A phase of one side, a method with own time, or a row of the JVM or the process. */
static bool is_kept(const struct diff *d, const struct diff_row *row)
{
    if (!is_method(row))
        return true;
    bool is_asked = row->is_phase || d->options->all || diff_has_own_time(d, row);
    return is_asked && !(larger(d, row, DIFF_SHARE) < d->options->min_share); /* one that is not known counts */
}

struct diff_sortable {
    struct diff_row row;
    int part; /* the process, methods, the rest */
    double time;
};

/* Methods by time, the others as they came. */
static int in_order(const void *a, const void *b)
{
    const struct diff_sortable *x = a, *y = b;
    if (x->part != y->part)
        return x->part - y->part;
    if (x->time != y->time)
        return (x->time < y->time) - (x->time > y->time);
    return (x->row.order > y->row.order) - (x->row.order < y->row.order);
}

static void keep_rows(struct diff *d)
{
    struct diff_sortable *kept = xreallocarray(NULL, d->n_rows + 1, sizeof *kept);
    size_t n = 0;
    for (size_t i = 0; i < d->n_rows; i++) {
        const struct diff_row *row = &d->rows[i];
        double time = is_method(row) ? larger(d, row, DIFF_TIME) : 0;
        if (is_kept(d, row))
            kept[n++] = (struct diff_sortable){ *row,
                                                is_whole(row)    ? 0
                                                : is_method(row) ? 1
                                                                 : 2,
                                                isnan(time) ? 0 : time };
    }
    qsort(kept, n, sizeof *kept, in_order);
    for (size_t i = 0; i < n; i++)
        d->rows[i] = kept[i].row;
    d->n_rows = n;
    free(kept);
}

static bool has_name(const struct diff_row *row)
{
    return is_method(row) && row->names.method != NULL && row->names.method[0] != '\0';
}

/* Each the only one of its kind among those that are kept; a trace's own labels tell more methods apart. */
static void label_rows(const struct diff *d)
{
    struct method_name *names = arena_alloc(d->arena, (d->n_rows + 1) * sizeof *names);
    size_t n = 0;
    for (size_t i = 0; i < d->n_rows; i++)
        if (has_name(&d->rows[i]))
            names[n++] = d->rows[i].names;
    const char **labels = java_names_labels(d->arena, names, n);
    n = 0;
    for (size_t i = 0; i < d->n_rows; i++)
        if (has_name(&d->rows[i]))
            d->rows[i].label = labels[n++];
}

/* ---- variances ---- */

/* What a metric's rows are compared by. */
struct comparing {
    struct diff *diff;
    size_t metric, n_runs;
    struct diff_estimate *estimates; /* by row */
    double *variances;               /* by row: of a run; NAN: none, or not to be moved */
    double *residuals;               /* by row, n_runs */
    const double **residuals_of;     /* by row: there */
};

/* Times and rates of methods vary alike, in parts; numbers of calls may not vary at all, and the JVM's threads do as
 * they like. */
static bool is_moved(const struct comparing *c, size_t row)
{
    enum diff_role role = c->diff->metrics[c->metric].role;
    const struct diff_estimate *e = &c->estimates[row];
    if (role == DIFF_SELF && !diff_has_own_time(c->diff, &c->diff->rows[row])) /* what is little varies more */
        return false;
    if (c->diff->is_paired && role != DIFF_ADJUSTED)
        return false;
    return is_method(&c->diff->rows[row]) && role != DIFF_CALLS && e->is_log && e->variance > 0 &&
           e->means[DIFF_BEFORE].df + e->means[DIFF_AFTER].df + 2 == (double)c->n_runs;
}

/* The variance of one run that gives the means' difference its. */
static double runs_part(const struct comparing *c)
{
    const size_t *n = c->diff->options->n_traces;
    return 1 / (double)n[DIFF_BEFORE] + 1 / (double)n[DIFF_AFTER];
}

static void read_variance(struct comparing *c, size_t i)
{
    const struct diff *d = c->diff;
    double *residuals = c->residuals + i * c->n_runs;
    c->residuals_of[i] = residuals;
    c->variances[i] = NAN;
    if (!is_moved(c, i))
        return;
    c->variances[i] = c->estimates[i].variance / runs_part(c) / c->estimates[i].more;
    for (int side = DIFF_BEFORE; side < DIFF_SIDES; side++)
        for (size_t k = 0; k < d->options->n_traces[side]; k++)
            *residuals++ = log(diff_value_of(&d->rows[i], (enum diff_side)side, k, c->metric)->value) -
                           c->estimates[i].means[side].mean;
}

/* Five runs of a row tell little of how it varies; all rows together tell more. */
static void move_variances(struct comparing *c)
{
    size_t n = c->diff->n_rows;
    for (size_t i = 0; i < n; i++)
        read_variance(c, i);
    double df = (double)c->n_runs - (c->diff->metrics[c->metric].role == DIFF_ADJUSTED ? 3 : 2);
    struct diff_prior prior = diff_prior_fit(c->variances, df, c->residuals_of, n, c->n_runs);
    for (size_t i = 0; i < n; i++)
        if (!isnan(c->variances[i])) {
            struct diff_estimate *e = &c->estimates[i];
            e->variance = diff_prior_move(&prior, c->variances[i], &e->df) * runs_part(c) * e->more;
        }
}

static void begin_comparing(struct comparing *c, struct diff *d)
{
    size_t n = d->n_rows + 1;
    *c =
        (struct comparing){ .diff = d, .n_runs = d->options->n_traces[DIFF_BEFORE] + d->options->n_traces[DIFF_AFTER] };
    c->estimates = xcalloc(n * d->n_metrics, sizeof *c->estimates);
    c->variances = xcalloc(n, sizeof *c->variances);
    c->residuals = xcalloc(n * c->n_runs, sizeof *c->residuals);
    c->residuals_of = xcalloc(n, sizeof(double *));
}

static void end_comparing(struct comparing *c)
{
    free(c->estimates);
    free(c->variances);
    free(c->residuals);
    free(c->residuals_of);
}

static void compare_metric(struct comparing *c)
{
    struct diff *d = c->diff;
    for (size_t i = 0; i < d->n_rows; i++)
        c->estimates[i] = diff_estimate_of(d, &d->rows[i], c->metric);
    if (d->options->n_traces[DIFF_BEFORE] > 1)
        move_variances(c);
    for (size_t i = 0; i < d->n_rows; i++)
        diff_judge(&c->estimates[i], &d->rows[i].results[c->metric]);
}

/* ---- many tests ---- */

static bool is_partial(const struct diff *d, const struct diff_row *row, size_t metric)
{
    for (int side = DIFF_BEFORE; side < DIFF_SIDES; side++)
        for (size_t i = 0; i < d->options->n_traces[side]; i++)
            if (diff_value_of(row, (enum diff_side)side, i, metric)->is_partial)
                return true;
    return false;
}

/* Of the process or a part of the JVM. */
static unsigned group_of_other(const struct diff *d, const struct diff_row *row, const struct diff_metric *metric)
{
    if (metric->role == DIFF_RATE)
        return metric->is_asked ? DIFF_GROUP_ASKED : DIFF_GROUP_REST;
    if (metric->role != DIFF_TIME)
        return DIFF_GROUPS;
    if (is_whole(row))
        return DIFF_GROUP_WHOLE;
    return larger(d, row, DIFF_SHARE) < d->options->min_share ? DIFF_GROUPS : DIFF_GROUP_SELF;
}

/* What mmprof takes is no change of the program; nor is what no thread is charged for. */
static bool is_apart(const struct diff_row *row)
{
    return strcmp(row->kind, "mmprof") == 0 || strcmp(row->kind, "kernel") == 0;
}

/* Which group a row's test is in; DIFF_GROUPS: it is not tested. */
static unsigned group_of(const struct diff *d, const struct diff_row *row, const struct diff_metric *metric)
{
    if (isnan(row->results[metric - d->metrics].p) || is_apart(row))
        return DIFF_GROUPS;
    if (!is_method(row))
        return group_of_other(d, row, metric);
    switch (metric->role) {
    case DIFF_TIME:
        return diff_is_leaf(d, row) ? DIFF_GROUPS : DIFF_GROUP_TIME;
    case DIFF_SELF:
        return diff_has_own_time(d, row) ? DIFF_GROUP_SELF : DIFF_GROUPS;
    case DIFF_ADJUSTED:
        return diff_has_own_time(d, row) ? DIFF_GROUP_ADJUSTED : DIFF_GROUPS;
    case DIFF_SHARE:
    case DIFF_PER_CALL:
        if (is_partial(d, row, DIFF_TIME)) /* they stand in for that */
            return DIFF_GROUP_TIME;
        break;
    default:
        break;
    }
    return metric->is_asked ? DIFF_GROUP_ASKED : DIFF_GROUP_REST;
}

static bool is_small(const struct diff *d, const struct diff_result *result)
{
    return fabs(result->change) < d->options->least;
}

/*
 * A row's part of its group: few large phases are looked at before many small ones, which nobody waits for.  The share
 * is that of both sides together, so it tells little of how they differ.  What has nearly all time is the whole, which
 * has a test of its own.
 */
static double weight_of(const struct diff *d, const struct diff_row *row)
{
    double share = mean_of(d, row, DIFF_BEFORE, DIFF_SHARE) + mean_of(d, row, DIFF_AFTER, DIFF_SHARE);
    bool is_phase_of_it = share / 2 > WEIGHT_LEAST && share / 2 < NEARLY_WHOLE;
    return is_method(row) && is_phase_of_it ? share / 2 : WEIGHT_LEAST;
}

/* A change of no interest is none, whatever its p: a test that can only find less. */
static size_t list_tests(const struct diff *d, struct diff_test *tests, double sums[DIFF_GROUPS])
{
    size_t n = 0;
    for (size_t i = 0; i < d->n_rows; i++)
        for (size_t m = 0; m < d->n_metrics; m++) {
            unsigned group = group_of(d, &d->rows[i], &d->metrics[m]);
            const struct diff_result *result = &d->rows[i].results[m];
            if (group == DIFF_GROUPS)
                continue;
            tests[n] = (struct diff_test){ is_small(d, result) ? 1 : result->p, group, weight_of(d, &d->rows[i]) };
            sums[group] += tests[n++].weight;
        }
    return n;
}

/* Where own time is all, they are one. */
static void copy_leaf(const struct diff *d, struct diff_row *row)
{
    if (is_method(row) && diff_is_leaf(d, row))
        row->results[DIFF_TIME] = row->results[DIFF_SELF];
}

static void take_tests(const struct comparing *c, const struct diff_test *tests, const double sums[DIFF_GROUPS])
{
    const struct diff *d = c->diff;
    for (size_t i = 0; i < d->n_rows; i++) {
        struct diff_row *row = &d->rows[i];
        for (size_t m = 0; m < d->n_metrics; m++) {
            unsigned group = group_of(d, row, &d->metrics[m]);
            if (group == DIFF_GROUPS)
                continue;
            double least =
                diff_detectable(&c->estimates[m * d->n_rows + i], DIFF_SIGNIFICANCE * diff_part(sums, tests));
            row->results[m].detectable = fmax(least, d->options->least);
            row->results[m].p_corrected = (tests++)->p;
        }
        copy_leaf(d, row);
    }
}

static void correct(const struct comparing *c)
{
    const struct diff *d = c->diff;
    struct diff_test *tests = xreallocarray(NULL, d->n_rows * d->n_metrics + 1, sizeof *tests);
    double sums[DIFF_GROUPS] = { 0 };
    diff_correct(tests, list_tests(d, tests, sums));
    take_tests(c, tests, sums);
    free(tests);
}

/* ---- verdicts ---- */

/* The row has no time on a side.  Where no sample of one run met a method without probes, it may have some. */
static bool is_absent(const struct diff *d, const struct diff_row *row, enum diff_side side)
{
    bool may_be_unseen = d->options->n_traces[side] == 1 && d->sampled[side] != 0 && row->measured[side] == 0;
    return !(row->results[DIFF_TIME].mean[side] > 0) && !may_be_unseen;
}

/* Of something that one side does not have. */
static enum diff_verdict one_sided(const struct diff *d, const struct diff_row *row, const struct diff_result *result)
{
    bool has_before = !isnan(result->mean[DIFF_BEFORE]);
    if (result->is_partial || is_apart(row))
        return DIFF_UNKNOWN;
    if (is_method(row) && row->measured[has_before ? DIFF_AFTER : DIFF_BEFORE] == 0)
        return has_before ? DIFF_NOT_MEASURED_AFTER : DIFF_NOT_MEASURED_BEFORE;
    if (!is_absent(d, row, has_before ? DIFF_AFTER : DIFF_BEFORE))
        return DIFF_UNKNOWN;
    return has_before ? DIFF_GONE : DIFF_NEW;
}

static enum diff_verdict verdict_of(const struct diff *d, const struct diff_row *row, size_t metric)
{
    const struct diff_result *r = &row->results[metric];
    double before = r->mean[DIFF_BEFORE], after = r->mean[DIFF_AFTER];
    if (isnan(before) != isnan(after))
        return one_sided(d, row, r);
    if (is_method(row) && (before == 0) != (after == 0) && is_absent(d, row, before == 0 ? DIFF_BEFORE : DIFF_AFTER))
        return before == 0 ? DIFF_NEW : DIFF_GONE;
    if (isnan(r->p_corrected))
        return DIFF_UNKNOWN;
    if (r->p_corrected < DIFF_SIGNIFICANCE)
        return after > before ? DIFF_HIGHER : DIFF_LOWER;
    bool is_within = r->low > -d->options->least * before && r->high < d->options->least * before;
    return is_small(d, r) && (r->p < DIFF_SIGNIFICANCE || is_within) ? DIFF_SMALL : DIFF_NOT_SHOWN;
}

static void set_verdicts(const struct diff *d)
{
    for (size_t i = 0; i < d->n_rows; i++)
        for (size_t m = 0; m < d->n_metrics; m++) {
            d->rows[i].results[m].is_partial = is_partial(d, &d->rows[i], m);
            d->rows[i].results[m].verdict = verdict_of(d, &d->rows[i], m);
        }
}

/* ---- the whole ---- */

static void compare(struct diff *d)
{
    struct comparing c;
    begin_comparing(&c, d);
    struct diff_estimate *all = c.estimates;
    for (size_t m = 0; m < d->n_metrics; m++) {
        c.metric = m;
        c.estimates = all + m * d->n_rows;
        compare_metric(&c);
    }
    c.estimates = all;
    correct(&c);
    set_verdicts(d);
    end_comparing(&c);
}

void diff_compare(struct diff *d)
{
    diff_hide_self(d);
    keep_rows(d);
    label_rows(d);
    if (d->options->n_traces[DIFF_AFTER] == 0)
        return;
    diff_adjust(d);
    diff_pair_runs(d);
    for (size_t i = 0; i < d->n_rows; i++)
        d->rows[i].results = arena_alloc(d->arena, DIFF_METRICS_MAX * sizeof *d->rows[i].results);
    compare(d);
    diff_fold(d);
}
