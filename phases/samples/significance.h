/*
 * Do values differ by more than chance?  Distributions, moments, the analysis of variance, pairs of versions, and how
 * many runs that takes.
 */
#ifndef PHASES_SAMPLES_SIGNIFICANCE_H
#define PHASES_SAMPLES_SIGNIFICANCE_H

#include "core/base/std.h"

/* ---- distributions ---- */

/*
 * The regularized incomplete beta function I_x(a, b) for a, b > 0 and x in 0..1; NAN outside.
 *
 * Source: the continued fraction DLMF 8.17.22, evaluated by Lentz' method; 1e-12 where a and b are moderate, 1e-6 where
 * they are as large as 1e8.
 */
double distribution_incomplete_beta(double a, double b, double x);

/* P(F >= f) with df1 and df2 degrees of freedom: the p of an analysis of variance. */
double distribution_f_tail(double f, double df1, double df2);

/* P(|T| >= |t|) with df degrees of freedom: the p of a two-sided test. */
double distribution_t_tails(double t, double df);

/* The t with P(|T| >= t) = tails: half the width of a confidence interval of 1 - tails, in standard errors. */
double distribution_t_limit(double tails, double df);

/*
 * P(Q > q) of the studentised range of k means with df degrees of freedom, k >= 2: the p of Tukey's honestly
 * significant difference; and the q with P(Q > q) = tail.  NAN outside.
 *
 * Checked against Harter, Tables of Range and Studentized Range, Annals of Mathematical Statistics 31, 1960.
 */
double distribution_range_tail(double q, double k, double df);
double distribution_range_limit(double tail, double k, double df);

/*
 * The first and second derivative of log(gamma(x)) for x > 0, and the x whose trigamma is y > 0; NAN outside.
 *
 * Sources: DLMF 5.11.2, 5.5.2, 5.15.8; Smyth 2004, appendix, for the inverse.
 */
double distribution_digamma(double x);
double distribution_trigamma(double x);
double distribution_trigamma_inverse(double y);

/* ---- moments ---- */

struct moments {
    uint64_t n;
    double mean, squares; /* squares: the sum of the squared differences from the mean */
};

void moments_add(struct moments *moments, double value);

/* As if all values of the other one were added (Chan, Golub & LeVeque, 1979). */
void moments_merge(struct moments *moments, const struct moments *other);

/* The sample's variance; NAN below two values. */
double moments_variance(const struct moments *moments);

/* Standard deviation over mean; NAN below two values, or where the mean is not positive. */
double moments_cov(const struct moments *moments);

/* ---- analysis of variance ---- */

struct anova {
    uint32_t n_groups; /* those with at least two values */
    uint64_t n;        /* their values */
    double f, df_between, df_within, p;
    double explained; /* eta squared: the share of the variance that lies between the groups, 0..1 */
    double welch_f, welch_df,
        welch_p; /* without the assumption that all groups vary alike; NAN where one does not vary */
    double within_cov,
        between_cov; /* within: the groups' own, weighted by their values' number; between: of their means */
};

/*
 * One-way analysis of variance.  groups is borrowed; those with fewer than two values are left out.
 *
 * Returns false when fewer than two groups are left, or nothing varies at all.
 * Sources: Fisher; Welch, On the Comparison of Several Mean Values, Biometrika 38, 1951.
 */
bool anova_compute(const struct moments *groups, size_t n_groups, struct anova *anova);

/* ---- pairs of versions ---- */

/*
 * Which of several versions differ from which: all pairs of groups of runs, with intervals that hold for all of them at
 * once.
 *
 * Two groups: Welch's t with Satterthwaite's degrees of freedom; they need not vary alike.  More: an analysis of
 * variance says whether any differ, and Tukey's honestly significant difference which: with M the mean square within
 * the groups, of df degrees of freedom,
 *
 *     y(b) - y(a) +- q(0.05; k, df) sqrt(M / 2 (1/n(a) + 1/n(b)))            (Tukey-Kramer, for groups of unequal size)
 *
 * so that in 95 % of all such experiments all intervals have the true difference in them.
 *
 * Sources: Georges, Buytaert & Eeckhout, Statistically Rigorous Java Performance Evaluation, OOPSLA 2007, §3.2 and 3.3;
 * Kramer, Extension of Multiple Range Tests to Group Means with Unequal Numbers of Replications, Biometrics 12, 1956.
 */
#define PAIRWISE_SIGNIFICANCE 0.05

#define PAIRWISE_LIMITS 127u

/* What groups are compared by. */
struct pairwise {
    size_t n_groups;
    double within, df; /* the mean square within the groups; NAN: one has fewer than two values */
    double limit;      /* of the studentised range */
    struct {
        double df, limit;
    } limits[PAIRWISE_LIMITS]; /* those computed before, by df; 0: none */
};

struct pairwise_difference {
    double difference; /* b less a */
    double error, df;  /* its standard error in terms of the test's distribution */
    double half;       /* of the interval of 95 %; NAN: not known */
    size_t n_groups;
};

/* Prepare: groups are of at least two values each.  *pairwise is zeroed before the first call. */
void pairwise_begin(struct pairwise *pairwise, const struct moments *groups, size_t n_groups);

struct pairwise_difference pairwise_compare(const struct pairwise *pairwise, const struct moments *a,
                                            const struct moments *b);

/* Of a difference; of more than two groups for all pairs at once.  NAN: not known. */
double pairwise_p(const struct pairwise_difference *difference);

/*
 * Whether more runs are needed: until all intervals between versions are narrow enough, or there are too many runs.
 *
 * An interval that is looked at after each run, and taken when it happens to be narrow, is too narrow: of drawn
 * experiments with five runs or more 93.5 % instead of 95 % have the truth in them.  So it must have been narrow twice
 * in a row, which gives 93.6 to 95.5 % (test/unit/pairwise_test.c).
 */
#define RERUN_IN_A_ROW 2

struct rerun {
    size_t n_versions;
    double until; /* half the interval of 95 %, as a fraction of the mean; 0: as many runs as there may be */
    uint64_t runs_least, runs_most; /* of each version; at least 2 */
    /* set by the functions below */
    unsigned n_narrow; /* times in a row */
    bool is_narrow;
    double half; /* half the widest interval, a fraction; NAN: not known yet */
    struct pairwise pairwise;
};

void rerun_begin(struct rerun *rerun);

/* After a run of each: groups are of logarithms, by version, borrowed.  Are more needed? */
bool rerun_again(struct rerun *rerun, const struct moments *groups);

struct steady {
    bool is_reached; /* the coefficient of variation is below the limit; else it is the window that varies least */
    size_t first;    /* iterations before the window */
    double mean, cov;
};

/*
 * From where on a program is warm: the first window of iterations that vary little (thesis A.1).
 *
 * values     of n iterations, in their order; borrowed.
 * window     of how many iterations, two at least.
 *
 * Returns false: there are fewer iterations than that.
 * Source: Georges, Buytaert & Eeckhout, OOPSLA 2007, §4.2: in each invocation of the JVM the k iterations in a row
 * whose coefficient of variation is below 0.01 or 0.02; the observation is their mean.
 */
bool steady_find(const double *values, size_t n, size_t window, double cov_limit, struct steady *steady);

#endif
