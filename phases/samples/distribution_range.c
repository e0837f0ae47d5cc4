/*
 * The studentised range: of k means of a normal distribution, the largest less the smallest, in standard errors that
 * are estimated with df degrees of freedom.
 *
 *     P(Q <= q) = integral over s of f(s) H(q s)          H(w) = k integral over z of phi(z) (Phi(z) - Phi(z -
 * w))^(k-1)
 *
 * with f the density of an estimated standard deviation over the true one.  Both integrands fall to nothing on both
 * sides (the outer one over u = log s), so that the trapezoidal rule converges faster than any power of its step.
 */
#include "phases/samples/distribution.h"

#include <math.h>

#define Z_MOST       8.5 /* phi is 1e-16 there */
#define Z_STEPS      68
#define U_STEPS      256
#define LOG_NOTHING  -40.0
#define DF_INFINITE  1e7 /* the range with so many degrees of freedom is that with all, to seven digits */
#define MAX_HALVINGS 200
#define CLOSE        1e-9
#define FURTHEST     1e6

static double normal_below(double z)
{
    return erfc(-z * M_SQRT1_2) / 2;
}

/* P(the range of k <= w), where the standard error is known. */
static double known_below(double w, double k)
{
    const double step = 2 * Z_MOST / Z_STEPS;
    double sum = 0;
    for (int i = 0; i <= Z_STEPS; i++) {
        double z = -Z_MOST + i * step;
        sum += exp(-z * z / 2) * pow(normal_below(z) - normal_below(z - w), k - 1);
    }
    return fmin(k * sum * step / sqrt(2 * M_PI), 1);
}

/* The logarithm of u's density, 0 where it is largest. */
static double log_density(double u, double df)
{
    return df * (u - expm1(2 * u) / 2);
}

/* Where that falls to nothing, on one side. */
static double edge_of(double df, double direction)
{
    double inside = 0, outside = direction;
    while (log_density(outside, df) > LOG_NOTHING)
        outside *= 2;
    for (int i = 0; i < 40; i++) {
        double middle = (inside + outside) / 2;
        *(log_density(middle, df) > LOG_NOTHING ? &inside : &outside) = middle;
    }
    return outside;
}

double distribution_range_tail(double q, double k, double df)
{
    if (!(q >= 0) || !(k >= 2) || !(df > 0))
        return NAN;
    if (isinf(q))
        return 0;
    if (df >= DF_INFINITE)
        return 1 - known_below(q, k);
    double low = edge_of(df, -1), step = (edge_of(df, 1) - low) / U_STEPS, above = 0, all = 0;
    for (int i = 0; i <= U_STEPS; i++) {
        double u = low + i * step, weight = exp(log_density(u, df));
        above += weight * (1 - known_below(q * exp(u), k));
        all += weight;
    }
    return fmax(above / all, 0);
}

double distribution_range_limit(double tail, double k, double df)
{
    double low = 0, high = 1;
    if (!(tail > 0) || !(tail < 1) || !(k >= 2) || !(df > 0))
        return NAN;
    for (; high < FURTHEST && distribution_range_tail(high, k, df) > tail; high *= 2)
        low = high;
    for (int i = 0; i < MAX_HALVINGS && high - low > CLOSE * high; i++) {
        double middle = low + (high - low) / 2;
        *(distribution_range_tail(middle, k, df) > tail ? &low : &high) = middle;
    }
    return high;
}
