/* Own times, adjusted for what all of them have in common in a run: how fast the machine was. */
#include "core/base/xalloc.h"
#include "report/diff/diff_internal.h"

#define ROWS_MIN 5 /* the median of fewer is one of those that may have changed */
#define RUNS_MIN 5 /* on both sides: a slope takes one of their degrees of freedom */

/* Rows take one time the common factor, give or take this: memory-bound ones less, or more. */
#define SLOPE_DEVIATION 0.5

/* The mean of a side's own times as shares of the process' time; NAN: not known. */
static double self_share(const struct diff *d, const struct diff_row *row, enum diff_side side)
{
    double sum = 0, n = 0;
    for (size_t i = 0; i < d->options->n_traces[side]; i++) {
        double self = diff_value_of(row, side, i, DIFF_SELF)->value,
               time = diff_value_of(row, side, i, DIFF_TIME)->value;
        double share = self == 0 ? 0 : diff_value_of(row, side, i, DIFF_SHARE)->value * self / time;
        if (isnan(share))
            continue;
        sum += share;
        n++;
    }
    return sum / n;
}

bool diff_has_own_time(const struct diff *d, const struct diff_row *row)
{
    double larger = fmax(self_share(d, row, DIFF_BEFORE), self_share(d, row, DIFF_AFTER)); /* not NAN if one is not */
    return strcmp(row->kind, "phase") == 0 && larger >= d->options->min_share;
}

bool diff_is_leaf(const struct diff *d, const struct diff_row *row)
{
    for (int side = DIFF_BEFORE; side < DIFF_SIDES; side++)
        for (size_t i = 0; i < d->options->n_traces[side]; i++) {
            const struct diff_value *time = diff_value_of(row, (enum diff_side)side, i, DIFF_TIME);
            const struct diff_value *self = diff_value_of(row, (enum diff_side)side, i, DIFF_SELF);
            bool both_unknown = isnan(time->value) && isnan(self->value);
            if (!both_unknown && !(time->value == self->value))
                return false;
        }
    return true;
}

/* ---- medians ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t n)
{
    qsort(values, n, sizeof *values, by_value);
    return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

/* The logarithm of each own time: by run, those before first.  False: some is not known or 0. */
static bool read_logs(const struct diff *d, const struct diff_row *row, double *logs)
{
    if (!diff_has_own_time(d, row))
        return false;
    for (int side = DIFF_BEFORE; side < DIFF_SIDES; side++)
        for (size_t i = 0; i < d->options->n_traces[side]; i++) {
            double value = diff_value_of(row, (enum diff_side)side, i, DIFF_SELF)->value;
            if (!(value > 0))
                return false;
            *logs++ = log(value);
        }
    return true;
}

static double mean(const double *values, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return sum / (double)n;
}

static void subtract_mean(double *values, size_t n)
{
    double middle = mean(values, n);
    for (size_t i = 0; i < n; i++)
        values[i] -= middle;
}

/* ---- slopes ---- */

/* What was read of all rows: logarithms of own times less their row's mean, by row and run. */
struct adjusting {
    struct diff *diff;
    size_t n_runs, n_before, n_rows;
    double *logs;
    size_t *rows;             /* indexes */
    double *factors, *column; /* by run: the median of the others; scratch: a run's rows */
};

/* The median of the other rows in each run. */
static void find_factors(const struct adjusting *a, size_t row)
{
    for (size_t run = 0; run < a->n_runs; run++) {
        size_t n = 0;
        for (size_t k = 0; k < a->n_rows; k++)
            if (k != row)
                a->column[n++] = a->logs[k * a->n_runs + run];
        a->factors[run] = median(a->column, n);
    }
}

/* Sums of products of two series, each less its mean on the same side. */
static double sum_within(const struct adjusting *a, const double *x, const double *y)
{
    double sum = 0;
    size_t first = 0, n = a->n_before;
    for (int side = DIFF_BEFORE; side < DIFF_SIDES; side++, first = n, n = a->n_runs) {
        double mean_x = mean(x + first, n - first), mean_y = mean(y + first, n - first);
        for (size_t i = first; i < n; i++)
            sum += (x[i] - mean_x) * (y[i] - mean_y);
    }
    return sum;
}

/*
 * How much of the common factor a row takes: b = (S(factor, row) + k) / (S(factor, factor) + k), where k stands for
 * what is expected before: one, give or take SLOPE_DEVIATION.  *spread is S(factor, factor) + k.
 */
static double find_slope(const struct adjusting *a, const double *logs, double *spread)
{
    double ff = sum_within(a, a->factors, a->factors), fy = sum_within(a, a->factors, logs);
    double rest = sum_within(a, logs, logs) - 2 * fy + ff; /* squares where the slope is one */
    double k = rest / (double)(a->n_runs - 2) / (SLOPE_DEVIATION * SLOPE_DEVIATION);
    *spread = ff + k;
    return *spread > 0 ? (fy + k) / *spread : 1;
}

/* Set a row's adjusted values: own times over e to slope times factor. */
static void adjust_row(const struct adjusting *a, size_t k)
{
    const struct diff *d = a->diff;
    struct diff_row *row = &d->rows[a->rows[k]];
    double spread, slope;
    find_factors(a, k);
    slope = find_slope(a, a->logs + k * a->n_runs, &spread);
    for (size_t run = 0; run < a->n_runs; run++) {
        enum diff_side side = run < a->n_before ? DIFF_BEFORE : DIFF_AFTER;
        size_t i = side == DIFF_BEFORE ? run : run - a->n_before;
        diff_value_of(row, side, i, DIFF_ADJUSTED)->value =
            diff_value_of(row, side, i, DIFF_SELF)->value * exp(-slope * a->factors[run]);
    }
    double shift = mean(a->factors + a->n_before, a->n_runs - a->n_before) - mean(a->factors, a->n_before);
    row->slope_error = spread > 0 ? shift * shift / spread : 0;
}

/* ---- the whole ---- */

static void begin(struct adjusting *a, struct diff *d)
{
    size_t n = d->n_rows + 1;
    *a = (struct adjusting){ .diff = d, .n_before = d->options->n_traces[DIFF_BEFORE] };
    a->n_runs = a->n_before + d->options->n_traces[DIFF_AFTER];
    a->logs = xcalloc(n * a->n_runs, sizeof *a->logs);
    a->column = xcalloc(n, sizeof *a->column);
    a->factors = xcalloc(a->n_runs, sizeof *a->factors);
    a->rows = xcalloc(n, sizeof *a->rows);
}

static void end(struct adjusting *a)
{
    free(a->logs);
    free(a->column);
    free(a->factors);
    free(a->rows);
}

static void adjust(struct adjusting *a)
{
    for (size_t i = 0; i < a->diff->n_rows; i++) {
        double *logs = &a->logs[a->n_rows * a->n_runs];
        if (!read_logs(a->diff, &a->diff->rows[i], logs))
            continue;
        subtract_mean(logs, a->n_runs);
        a->rows[a->n_rows++] = i;
    }
    if (a->n_rows < ROWS_MIN)
        return;
    for (size_t k = 0; k < a->n_rows; k++)
        adjust_row(a, k);
    find_factors(a, SIZE_MAX);
    a->diff->common = expm1(mean(a->factors + a->n_before, a->n_runs - a->n_before) - mean(a->factors, a->n_before));
}

void diff_adjust(struct diff *d)
{
    struct adjusting a;
    begin(&a, d);
    d->common = NAN;
    if (a.n_before > 1 && a.n_runs >= RUNS_MIN)
        adjust(&a);
    end(&a);
}
