/*
 * The distributions that tests of significance need: Student's t and Fisher's F, by way of the incomplete beta
 * function; the studentised range; and what it takes to fit a distribution to variances.
 */
#ifndef PHASES_SAMPLES_DISTRIBUTION_H
#define PHASES_SAMPLES_DISTRIBUTION_H

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

#endif
