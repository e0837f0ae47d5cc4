/* Runs that were recorded in turns (A B A B, or A B B A): the two of a pair share what the machine did then. */
#include "report/diff/diff_internal.h"

#define PAIRS_MIN 4   /* fewer leave too few degrees of freedom */
#define ALIKE_MIN 0.7 /* correlation within pairs: with less, that they are half as many costs more than they give */

/* A side's traces, earliest first.  Returns false: when one began is not known. */
static bool sort_runs(struct diff *d, enum diff_side side)
{
    const struct diff_load *loads = d->loads[side];
    for (size_t i = 0; i < d->options->n_traces[side]; i++) {
        size_t k = i;
        for (; k > 0 && loads[d->in_turn[side][k - 1]].start_ns > loads[i].start_ns; k--)
            d->in_turn[side][k] = d->in_turn[side][k - 1];
        d->in_turn[side][k] = i;
        if (loads[i].start_ns == 0)
            return false;
    }
    return true;
}

static uint64_t start_of(const struct diff *d, enum diff_side side, size_t pair)
{
    return d->loads[side][d->in_turn[side][pair]].start_ns;
}

static bool are_in_turns(struct diff *d)
{
    size_t n = d->options->n_traces[DIFF_BEFORE];
    if (n < PAIRS_MIN || n != d->options->n_traces[DIFF_AFTER] || !sort_runs(d, DIFF_BEFORE) ||
        !sort_runs(d, DIFF_AFTER))
        return false;
    for (size_t k = 1; k < n; k++)
        for (int side = DIFF_BEFORE; side < DIFF_SIDES; side++)
            if (start_of(d, (enum diff_side)side, k) <= start_of(d, DIFF_BEFORE, k - 1) ||
                start_of(d, (enum diff_side)side, k) <= start_of(d, DIFF_AFTER, k - 1))
                return false;
    return true;
}

/* Logarithms of a row's values, less their mean, in turn.  Returns false: some are not known, or 0. */
static bool read_residuals(const struct diff *d, const struct diff_row *row, size_t metric, enum diff_side side,
                           double *logs)
{
    size_t n = d->options->n_traces[side];
    double sum = 0;
    for (size_t k = 0; k < n; k++) {
        double value = diff_value_of(row, side, d->in_turn[side][k], metric)->value;
        if (!(value > 0))
            return false;
        sum += logs[k] = log(value);
    }
    for (size_t k = 0; k < n; k++)
        logs[k] -= sum / (double)n;
    return true;
}

/* How alike the two runs of a pair are: the correlation of what is left of times, over all rows. */
static double likeness(const struct diff *d)
{
    double before[DIFF_TRACES_MAX], after[DIFF_TRACES_MAX], products = 0, squares[DIFF_SIDES] = { 0 };
    for (size_t i = 0; i < d->n_rows; i++) {
        if (!read_residuals(d, &d->rows[i], DIFF_TIME, DIFF_BEFORE, before) ||
            !read_residuals(d, &d->rows[i], DIFF_TIME, DIFF_AFTER, after))
            continue;
        for (size_t k = 0; k < d->options->n_traces[DIFF_BEFORE]; k++) {
            products += before[k] * after[k];
            squares[DIFF_BEFORE] += before[k] * before[k];
            squares[DIFF_AFTER] += after[k] * after[k];
        }
    }
    double all = sqrt(squares[DIFF_BEFORE] * squares[DIFF_AFTER]);
    return all > 0 ? products / all : 0;
}

void diff_pair_runs(struct diff *d)
{
    d->is_paired = are_in_turns(d) && likeness(d) >= ALIKE_MIN;
}

void diff_pairs_estimate(const struct diff *d, const struct diff_row *row, size_t metric, struct diff_estimate *e)
{
    double before[DIFF_TRACES_MAX], after[DIFF_TRACES_MAX], squares = 0, n = (double)d->options->n_traces[DIFF_BEFORE];
    if (!read_residuals(d, row, metric, DIFF_BEFORE, before) || !read_residuals(d, row, metric, DIFF_AFTER, after))
        return;
    for (size_t k = 0; k < d->options->n_traces[DIFF_BEFORE]; k++)
        squares += (after[k] - before[k]) * (after[k] - before[k]);
    e->variance = squares / (n - 1) / n;
    e->df = n - 1;
}
