#include "phases/distribution.h"

#include <math.h>

#define TINY         1e-300
#define EPSILON      1e-15
#define MAX_STEPS    200000 /* about the square root of the larger parameter is needed */
#define MAX_HALVINGS 200

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

double distribution_t_limit(double tails, double df)
{
    if (!(tails > 0) || !(tails < 1) || !(df > 0))
        return NAN;
    double low = 0, high = 1;
    while (high < 1e300 && distribution_t_tails(high, df) > tails)
        high *= 2;
    for (int i = 0; i < MAX_HALVINGS && low < high; i++) {
        double middle = low + (high - low) / 2;
        if (middle == low || middle == high)
            break;
        *(distribution_t_tails(middle, df) > tails ? &low : &high) = middle;
    }
    return high;
}
