#include "phases/samples/distribution.h"

#include <math.h>
#include <stdbool.h>

#define TINY         1e-300
#define EPSILON      1e-15
#define MAX_STEPS    200000 /* about the square root of the larger parameter is needed */
#define MAX_HALVINGS 200
#define LOG_T_MAX    690
#define CLOSE        1e-13
#define ASYMPTOTIC   10 /* from here on six terms of the expansions give 1e-13 */

/* Lentz' method moves one step along the fraction. */
static double lentz_step(double numerator, double *c, double *d)
{
    *d = 1 + numerator * *d;
    *c = 1 + numerator / *c;
    if (fabs(*d) < TINY)
        *d = TINY;
    if (fabs(*c) < TINY)
        *c = TINY;
    *d = 1 / *d;
    return *c * *d;
}

static double beta_fraction(double a, double b, double x)
{
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < TINY ? TINY : d);
    double value = d;
    for (int i = 1; i <= MAX_STEPS; i++) {
        double even = i * (b - i) * x / ((a + 2 * i - 1) * (a + 2 * i));
        double odd = -(a + i) * (a + b + i) * x / ((a + 2 * i) * (a + 2 * i + 1));
        value *= lentz_step(even, &c, &d);
        double factor = lentz_step(odd, &c, &d);
        value *= factor;
        if (fabs(factor - 1) < EPSILON)
            break;
    }
    return value;
}

/* lgamma() writes a global; its results for positive numbers need no sign. */
static double log_gamma(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}

double distribution_incomplete_beta(double a, double b, double x)
{
    if (!(a > 0) || !(b > 0) || !(x >= 0) || !(x <= 1))
        return NAN;
    if (x == 0 || x == 1)
        return x;
    double front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
    /* The fraction converges fast below the mean; above it the function's mirror image is taken. */
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double distribution_f_tail(double f, double df1, double df2)
{
    if (!(f >= 0) || !(df1 > 0) || !(df2 > 0))
        return NAN;
    return isinf(f) ? 0 : distribution_incomplete_beta(df2 / 2, df1 / 2, df2 / (df2 + df1 * f));
}

double distribution_t_tails(double t, double df)
{
    if (isnan(t) || !(df > 0))
        return NAN;
    return isinf(t) ? 0 : distribution_incomplete_beta(df / 2, 0.5, df / (df + t * t));
}

/* How far a t's tails are from what is asked for, on scales on which that is nearly a straight line. */
static double tails_beyond(double log_t, double tails, double df)
{
    return log(distribution_t_tails(exp(log_t), df) / tails);
}

/* The Illinois method: a secant between two bounds; a bound that stays twice counts half. */
double distribution_t_limit(double tails, double df)
{
    if (!(tails > 0) || !(tails < 1) || !(df > 0))
        return NAN;
    double low = -1, high = 1, below = tails_beyond(low, tails, df), above = tails_beyond(high, tails, df), t = NAN;
    for (; below < 0; below = tails_beyond(low, tails, df))
        low *= 2;
    for (; above > 0 && high < LOG_T_MAX; above = tails_beyond(high, tails, df))
        high *= 2;
    for (int i = 0, side = 0; i < MAX_HALVINGS; i++) {
        double next = high - above * (high - low) / (above - below), beyond = tails_beyond(next, tails, df);
        bool is_done = fabs(next - t) < CLOSE || !(next > low) || !(next < high);
        t = next;
        if (is_done)
            break;
        *(beyond > 0 ? &low : &high) = next;
        *(beyond > 0 ? &below : &above) = beyond;
        if (beyond > 0 ? side > 0 : side < 0)
            *(beyond > 0 ? &above : &below) /= 2;
        side = beyond > 0 ? 1 : -1;
    }
    return exp(t);
}

double distribution_digamma(double x)
{
    double shift = 0;
    if (!(x > 0))
        return NAN;
    for (; x < ASYMPTOTIC; x++)
        shift -= 1 / x;
    double y = 1 / (x * x);
    double series =
        y * (1. / 12 - y * (1. / 120 - y * (1. / 252 - y * (1. / 240 - y * (1. / 132 - y * 691. / 32760)))));
    return shift + log(x) - 1 / (2 * x) - series;
}

double distribution_trigamma(double x)
{
    double shift = 0;
    if (!(x > 0))
        return NAN;
    for (; x < ASYMPTOTIC; x++)
        shift += 1 / (x * x);
    double y = 1 / (x * x);
    double series = y * (1. / 6 - y * (1. / 30 - y * (1. / 42 - y * (1. / 30 - y * (5. / 66 - y * 691. / 2730)))));
    return shift + 1 / x + y / 2 + series / x;
}

/* By halving on a logarithmic scale: trigamma falls from infinity to 0. */
double distribution_trigamma_inverse(double y)
{
    double low = log(1e-8), high = log(1e8);
    if (!(y > 0))
        return NAN;
    for (int i = 0; i < MAX_HALVINGS; i++) {
        double middle = low + (high - low) / 2;
        *(distribution_trigamma(exp(middle)) > y ? &low : &high) = middle;
    }
    return exp(low);
}
