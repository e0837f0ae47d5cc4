/* What variances are usual among the rows of a comparison, and what five runs say in the light of that. */
#include "phases/samples/significance.h"
#include "report/diff/diff_internal.h"

#define ROWS_MIN 5    /* fewer tell nothing of what is usual */
#define UNUSUAL  0.05 /* less likely variances are a row's own: moved, they would find what is not there */
#define LARGE_DF 1e6
#define DF_MIN   3 /* nor does it show with fewer which rows vary together */

static bool counts(double variance)
{
    return variance > 0;
}

static double correlation(const double *a, const double *b, size_t n)
{
    double ab = 0, aa = 0, bb = 0;
    for (size_t i = 0; i < n; i++) {
        ab += a[i] * b[i];
        aa += a[i] * a[i];
        bb += b[i] * b[i];
    }
    return aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : 0;
}

/* How many rows that vary on their own tell as much.  The square of the correlation of unrelated ones is 1/df. */
static double count_apart(const double *variances, double df, const double *const *residuals, size_t n, size_t n_runs)
{
    double squares = 0, n_rows = 0, n_pairs = 0;
    for (size_t i = 0; i < n; i++) {
        n_rows += counts(variances[i]);
        for (size_t j = 0; counts(variances[i]) && j < i; j++)
            if (counts(variances[j])) {
                double r = correlation(residuals[i], residuals[j], n_runs);
                squares += r * r;
                n_pairs++;
            }
    }
    double mean = n_pairs > 0 ? squares / n_pairs : 1;
    double alike = df > 1 ? fmax(0, (mean - 1 / df) / (1 - 1 / df)) : 1;
    return n_rows / (1 + (n_rows - 1) * alike);
}

struct diff_prior diff_prior_fit(const double *variances, double df, const double *const *residuals, size_t n,
                                 size_t n_runs)
{
    struct moments logs = { .n = 0 };
    struct diff_prior prior = { NAN, 0, INFINITY };
    for (size_t i = 0; i < n; i++)
        if (counts(variances[i]))
            moments_add(&logs, log(variances[i]) - distribution_digamma(df / 2) + log(df / 2));
    if (logs.n < ROWS_MIN || df < DF_MIN)
        return prior;
    double beyond_chance = moments_variance(&logs) - distribution_trigamma(df / 2);
    prior.df = beyond_chance > 0 ? 2 * distribution_trigamma_inverse(beyond_chance) : INFINITY;
    double bias = isinf(prior.df) ? 0 : distribution_digamma(prior.df / 2) - log(prior.df / 2);
    prior.variance = exp(logs.mean + bias);
    prior.df_max = df * count_apart(variances, df, residuals, n, n_runs);
    return prior;
}

/* It is larger than what is usual makes likely. */
static bool is_unusual(const struct diff_prior *prior, double variance, double df)
{
    double prior_df = fmin(prior->df, LARGE_DF);
    return distribution_f_tail(variance / prior->variance, df, prior_df) < UNUSUAL;
}

double diff_prior_move(const struct diff_prior *prior, double variance, double *df)
{
    if (!(prior->df > 0) || is_unusual(prior, variance, *df))
        return variance;
    double moved =
        isinf(prior->df) ? prior->variance : (prior->df * prior->variance + *df * variance) / (prior->df + *df);
    *df = fmin(prior->df + *df, fmax(prior->df_max, *df));
    return moved;
}
