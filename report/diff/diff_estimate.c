/* What a row's values before and after say: means, change, how certain that is, and what could have been seen. */
#include "phases/samples/significance.h"
#include "report/diff/diff_internal.h"

/* Where all values on both sides are positive, of their logarithms. */
static bool are_positive(const struct diff *d, const struct diff_row *row, size_t metric)
{
    for (int side = DIFF_BEFORE; side < DIFF_SIDES; side++)
        for (size_t i = 0; i < d->options->n_traces[side]; i++) {
            double value = diff_value_of(row, (enum diff_side)side, i, metric)->value;
            if (!isnan(value) && !(value > 0))
                return false;
        }
    return true;
}

static struct diff_mean over_runs(const struct diff *d, const struct diff_row *row, enum diff_side side, size_t metric,
                                  bool is_log)
{
    struct moments moments = { .n = 0 };
    double last = NAN;
    for (size_t i = 0; i < d->options->n_traces[side]; i++) {
        double value = diff_value_of(row, side, i, metric)->value;
        if (isnan(value))
            continue;
        moments_add(&moments, is_log ? log(value) : value);
        last = value;
    }
    if (moments.n == 0)
        return (struct diff_mean){ NAN, NAN, 0, NAN };
    double n = (double)moments.n, value = is_log ? exp(moments.mean) : moments.mean;
    if (!(moments.squares > 0)) /* the same number as it went in */
        value = last;
    return (struct diff_mean){ moments.mean, moments_variance(&moments) / n, n - 1, value };
}

/* The relative variance of a value is its logarithm's. */
static struct diff_mean over_calls(const struct diff_row *row, enum diff_side side, size_t metric, bool is_log)
{
    const struct diff_value *value = diff_value_of(row, side, 0, metric);
    if (!is_log)
        return (struct diff_mean){ value->value, value->variance, value->df, value->value };
    double variance = value->variance / (value->value * value->value);
    return (struct diff_mean){ log(value->value), variance, value->df, value->value };
}

/* A slope was fitted: that takes a degree of freedom, and is not known exactly. */
static void take_slope(const struct diff *d, const struct diff_row *row, struct diff_estimate *e)
{
    double n_before = (double)d->options->n_traces[DIFF_BEFORE], n_after = (double)d->options->n_traces[DIFF_AFTER];
    double left = (n_before + n_after - 3) / (n_before + n_after - 2);
    e->more = 1 + row->slope_error / (1 / n_before + 1 / n_after);
    e->variance *= e->more / left;
    e->df *= left;
}

struct diff_estimate diff_estimate_of(const struct diff *d, const struct diff_row *row, size_t metric)
{
    struct diff_estimate e = { .is_log = are_positive(d, row, metric), .more = 1 };
    for (int side = DIFF_BEFORE; side < DIFF_SIDES; side++)
        e.means[side] = d->options->n_traces[side] > 1 ? over_runs(d, row, (enum diff_side)side, metric, e.is_log)
                                                       : over_calls(row, (enum diff_side)side, metric, e.is_log);
    double v = e.means[DIFF_BEFORE].variance, w = e.means[DIFF_AFTER].variance;
    e.variance = v + w;
    e.df = e.variance > 0 ? e.variance * e.variance / (v * v / e.means[DIFF_BEFORE].df + w * w / e.means[DIFF_AFTER].df)
                          : NAN;
    if (d->metrics[metric].role == DIFF_ADJUSTED)
        take_slope(d, row, &e);
    else if (d->is_paired && e.is_log)
        diff_pairs_estimate(d, row, metric, &e);
    return e;
}

/* ---- results ---- */

/* A difference of estimates (of logarithms) in the metric's unit. */
static double in_unit(const struct diff_estimate *e, double difference)
{
    return e->is_log ? e->means[DIFF_BEFORE].value * expm1(difference) : difference;
}

void diff_judge(const struct diff_estimate *e, struct diff_result *r)
{
    double difference = e->means[DIFF_AFTER].mean - e->means[DIFF_BEFORE].mean;
    *r = (struct diff_result){ .mean = { e->means[DIFF_BEFORE].value, e->means[DIFF_AFTER].value },
                               .change = NAN,
                               .low = NAN,
                               .high = NAN,
                               .p = NAN,
                               .p_corrected = NAN,
                               .detectable = NAN,
                               .verdict = DIFF_UNKNOWN };
    if (r->mean[DIFF_BEFORE] > 0)
        r->change = e->is_log ? expm1(difference) : difference / r->mean[DIFF_BEFORE];
    if (isnan(difference) || isnan(e->variance))
        return;
    /* Where nothing varies on either side, each difference is one. */
    double error = sqrt(e->variance),
           half = e->variance > 0 ? distribution_t_limit(DIFF_SIGNIFICANCE, e->df) * error : 0;
    r->low = fmax(in_unit(e, difference - half), -r->mean[DIFF_BEFORE]); /* nothing is less than none */
    r->high = in_unit(e, difference + half);
    if (e->variance > 0)
        r->p = distribution_t_tails(difference / error, e->df);
    else
        r->p = difference == 0 ? 1 : 0;
}

/* The t that a test needs, and by which it is exceeded in four of five comparisons. */
double diff_detectable(const struct diff_estimate *e, double significance)
{
    double before = e->means[DIFF_BEFORE].value;
    if (isnan(e->variance) || !(before > 0))
        return NAN;
    if (e->variance == 0)
        return 0;
    double t = distribution_t_limit(significance, e->df) + distribution_t_limit(2 * (1 - DIFF_POWER), e->df);
    return in_unit(e, t * sqrt(e->variance)) / before;
}
