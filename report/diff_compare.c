/*
 * Means, Welch's t, Holm's correction, verdicts, gates.
 */
#include "phases/distribution.h"
#include "phases/statistics.h"
#include "report/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- one row and metric ---- */

/* A mean, how well it is known, and from how much. */
struct estimate {
    double mean, variance, df;
};

/* Over the runs of a side.  A method that a run did not call took no time there, but no CPI either. */
static struct estimate over_runs(const struct diff *d, const struct diff_row *row, enum diff_side side, size_t metric)
{
    struct moments moments = { .n = 0 };
    enum diff_role role = d->metrics[metric].role;
    bool is_zero = row->is_phase && (role == DIFF_TIME || role == DIFF_SHARE || role == DIFF_CALLS);
    size_t n = d->wish->n_traces[side], n_known = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(row->values[side][i * DIFF_METRICS_MAX + metric].value))
            n_known++;
    for (size_t i = 0; i < n && n_known > 0; i++) {
        const struct diff_value *value = &row->values[side][i * DIFF_METRICS_MAX + metric];
        if (!isnan(value->value) || (is_zero && !value->is_partial))
            moments_add(&moments, isnan(value->value) ? 0 : value->value);
    }
    if (moments.n == 0)
        return (struct estimate){ NAN, NAN, 0 };
    return (struct estimate){ moments.mean, moments_variance(&moments) / (double)moments.n, (double)moments.n - 1 };
}

static struct estimate estimate_of(const struct diff *d, const struct diff_row *row, enum diff_side side, size_t metric)
{
    if (d->wish->n_traces[side] > 1)
        return over_runs(d, row, side, metric);
    const struct diff_value *value = &row->values[side][metric];
    return (struct estimate){ value->value, value->variance, value->df };
}

/* Welch's t.  Where nothing varies on either side, each difference is one. */
static void test(const struct estimate *before, const struct estimate *after, struct diff_result *result)
{
    double difference = after->mean - before->mean, variance = before->variance + after->variance;
    if (isnan(difference) || isnan(variance))
        return;
    if (variance == 0) {
        result->low = result->high = difference;
        result->p = difference == 0 ? 1 : 0;
        return;
    }
    double squares = before->variance * before->variance / before->df + after->variance * after->variance / after->df;
    double df = variance * variance / squares, error = sqrt(variance);
    double half = distribution_t_limit(DIFF_SIGNIFICANCE, df) * error;
    result->low = difference - half;
    result->high = difference + half;
    result->p = distribution_t_tails(difference / error, df);
}

static bool is_partial(const struct diff *d, const struct diff_row *row, size_t metric)
{
    for (int side = DIFF_BEFORE; side < DIFF_SIDES; side++)
        for (size_t i = 0; i < d->wish->n_traces[side]; i++)
            if (row->values[side][i * DIFF_METRICS_MAX + metric].is_partial)
                return true;
    return false;
}

static struct diff_result compare(const struct diff *d, const struct diff_row *row, size_t metric)
{
    struct estimate before = estimate_of(d, row, DIFF_BEFORE, metric), after = estimate_of(d, row, DIFF_AFTER, metric);
    struct diff_result result = { { before.mean, after.mean }, NAN,         NAN, NAN, NAN, NAN,
                                  is_partial(d, row, metric),  DIFF_UNKNOWN };
    if (before.mean > 0)
        result.change = (after.mean - before.mean) / before.mean;
    test(&before, &after, &result);
    result.p_corrected = result.p;
    return result;
}

/* ---- correction ---- */

struct ranked {
    double p;
    size_t i;
};

static int by_p(const void *a, const void *b)
{
    double x = ((const struct ranked *)a)->p, y = ((const struct ranked *)b)->p;
    return (x > y) - (x < y);
}

int diff_correct(double *p, size_t n)
{
    struct ranked *order = malloc((n + 1) * sizeof *order);
    size_t n_tests = 0;
    double highest = 0;
    if (order == NULL)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (!isnan(p[i]))
            order[n_tests++] = (struct ranked){ p[i], i };
    qsort(order, n_tests, sizeof *order, by_p);
    for (size_t i = 0; i < n_tests; i++) {
        double corrected = order[i].p * (double)(n_tests - i);
        if (corrected > highest)
            highest = corrected < 1 ? corrected : 1;
        p[order[i].i] = highest;
    }
    free(order);
    return 0;
}

static int correct(struct diff *d, size_t metric)
{
    double *p = malloc((d->n_rows + 1) * sizeof *p);
    if (p == NULL)
        return -1;
    for (size_t i = 0; i < d->n_rows; i++)
        p[i] = d->rows[i].results[metric].p;
    int rc = diff_correct(p, d->n_rows);
    for (size_t i = 0; i < d->n_rows; i++)
        d->rows[i].results[metric].p_corrected = p[i];
    free(p);
    return rc;
}

static enum diff_verdict verdict_of(const struct diff_result *result)
{
    bool has_before = !isnan(result->mean[DIFF_BEFORE]), has_after = !isnan(result->mean[DIFF_AFTER]);
    if (has_before != has_after && result->is_partial)
        return DIFF_UNKNOWN;
    if (has_before != has_after)
        return has_before ? DIFF_GONE : DIFF_NEW;
    if (isnan(result->p_corrected))
        return DIFF_UNKNOWN;
    if (!(result->p_corrected < DIFF_SIGNIFICANCE))
        return DIFF_NONE;
    return result->mean[DIFF_AFTER] > result->mean[DIFF_BEFORE] ? DIFF_HIGHER : DIFF_LOWER;
}

/* ---- rows ---- */

static double larger(const struct diff_result *result)
{
    return fmax(result->mean[DIFF_BEFORE], result->mean[DIFF_AFTER]); /* of a NAN and a number: the number */
}

/* A phase of one side, or a row of the JVM or the process. */
static bool is_kept(const struct diff *d, const struct diff_row *row)
{
    double share = 0;
    for (size_t m = 0; m < d->n_metrics; m++)
        if (d->metrics[m].role == DIFF_SHARE)
            share = larger(&row->results[m]);
    if (strcmp(row->kind, "phase") != 0)
        return true;
    return (row->is_phase || d->wish->all) && !(share < d->wish->min_share); /* one that is not known counts */
}

/* Phases by time, then the others as they came. */
static int by_time(const void *a, const void *b)
{
    const struct diff_row *x = a, *y = b;
    bool x_is_phase = strcmp(x->kind, "phase") == 0, y_is_phase = strcmp(y->kind, "phase") == 0;
    if (x_is_phase != y_is_phase)
        return x_is_phase ? -1 : 1;
    if (!x_is_phase)
        return strcmp(x->kind, "total") == 0   ? 1
               : strcmp(y->kind, "total") == 0 ? -1
                                               : (x->order > y->order) - (x->order < y->order);
    double s = larger(&x->results[0]), t = larger(&y->results[0]);
    s = isnan(s) ? 0 : s;
    t = isnan(t) ? 0 : t;
    return s != t ? (s < t) - (s > t) : strcmp(x->label, y->label);
}

int diff_compare(struct diff *d, struct err *err)
{
    size_t n_kept = 0;
    for (size_t i = 0; i < d->n_rows; i++) {
        struct diff_row *row = &d->rows[i];
        row->results = arena_alloc(d->arena, DIFF_METRICS_MAX * sizeof *row->results);
        if (row->results == NULL)
            return err_set(err, "out of memory for %zu rows", d->n_rows);
        for (size_t m = 0; m < d->n_metrics; m++)
            row->results[m] = compare(d, row, m);
        if (is_kept(d, row))
            d->rows[n_kept++] = *row;
    }
    d->n_rows = n_kept;
    qsort(d->rows, n_kept, sizeof *d->rows, by_time);
    for (size_t m = 0; m < d->n_metrics; m++)
        if (correct(d, m) < 0)
            return err_set(err, "out of memory for %zu rows", d->n_rows);
    for (size_t i = 0; i < d->n_rows; i++)
        for (size_t m = 0; m < d->n_metrics; m++)
            d->rows[i].results[m].verdict = verdict_of(&d->rows[i].results[m]);
    return 0;
}

/* ---- gates ---- */

static int no_metric(const struct diff *d, const char *name, struct err *err)
{
    const char *list = "";
    for (size_t m = 0; m < d->n_metrics && list != NULL; m++)
        list = arena_printf(d->arena, "%s%s%s", list, m == 0 ? "" : ", ", d->metrics[m].name);
    err_set(err, "the traces have no '%s' to fail on", name);
    return err_next(err, "they have %s", list == NULL ? "time" : list);
}

static int malformed(const char *text, struct err *err)
{
    err_set(err, "malformed limit '%s'", text);
    return err_next(err, "name a metric, '>' or '<', and a percentage: --fail-on 'time>5%%'");
}

/* "5%", or "0.05". */
static int parse_change(const char *text, double *change)
{
    char *end;
    *change = strtod(text, &end);
    if (end == text || !isfinite(*change) || *change < 0)
        return -1;
    if (strcmp(end, "%") == 0)
        *change /= 100;
    else if (*end != '\0')
        return -1;
    return 0;
}

int diff_limit_parse(const struct diff *d, const char *text, struct diff_limit *limit, struct err *err)
{
    size_t n = strcspn(text, "<>");
    if (n == 0 || text[n] == '\0')
        return malformed(text, err);
    *limit = (struct diff_limit){ .text = text, .is_below = text[n] == '<' };
    if (parse_change(text + n + 1, &limit->change) < 0)
        return malformed(text, err);
    const char *name = arena_text(d->arena, text, n);
    if (name == NULL)
        return err_set(err, "out of memory for '%s'", text);
    while (limit->metric < d->n_metrics && strcasecmp(d->metrics[limit->metric].name, name) != 0)
        limit->metric++;
    return limit->metric < d->n_metrics ? 0 : no_metric(d, name, err);
}

bool diff_breaks(const struct diff_limit *limit, const struct diff_row *row)
{
    const struct diff_result *result = &row->results[limit->metric];
    if (result->verdict != (limit->is_below ? DIFF_LOWER : DIFF_HIGHER))
        return false;
    /* From nothing to something is more than any percentage. */
    return isnan(result->change) || fabs(result->change) > limit->change;
}
