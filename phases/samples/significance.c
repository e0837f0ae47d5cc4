#include "phases/samples/significance.h"

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

/* ---- the studentised range ---- */

/*
 * Of k means of a normal distribution, the largest less the smallest, in standard errors that are estimated with df
 * degrees of freedom.
 *
 *     P(Q <= q) = integral over s of f(s) H(q s)          H(w) = k integral over z of phi(z) (Phi(z) - Phi(z -
 * w))^(k-1)
 *
 * with f the density of an estimated standard deviation over the true one.  Both integrands fall to nothing on both
 * sides (the outer one over u = log s), so that the trapezoidal rule converges faster than any power of its step.
 */
#define Z_MOST      8.5 /* phi is 1e-16 there */
#define Z_STEPS     68
#define U_STEPS     256
#define LOG_NOTHING -40.0
#define DF_INFINITE 1e7 /* the range with so many degrees of freedom is that with all, to seven digits */
#define RANGE_CLOSE 1e-9
#define FURTHEST    1e6

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
    for (int i = 0; i < MAX_HALVINGS && high - low > RANGE_CLOSE * high; i++) {
        double middle = low + (high - low) / 2;
        *(distribution_range_tail(middle, k, df) > tail ? &low : &high) = middle;
    }
    return high;
}

/* ---- moments ---- */

void moments_add(struct moments *moments, double value)
{
    moments->n++;
    double difference = value - moments->mean;
    moments->mean += difference / (double)moments->n;
    moments->squares += difference * (value - moments->mean);
}

void moments_merge(struct moments *moments, const struct moments *other)
{
    double a = (double)moments->n, b = (double)other->n, difference = other->mean - moments->mean;
    if (other->n == 0)
        return;
    moments->n += other->n;
    moments->mean += difference * b / (a + b);
    moments->squares += other->squares + difference * difference * a * b / (a + b);
}

double moments_variance(const struct moments *moments)
{
    return moments->n < 2 ? NAN : moments->squares / (double)(moments->n - 1);
}

double moments_cov(const struct moments *moments)
{
    return moments->mean > 0 ? sqrt(moments_variance(moments)) / moments->mean : NAN;
}

/* What an analysis of variance adds up over its groups. */
struct moments_sums {
    struct moments all, means;
    double within, cov;               /* squares; coefficients of variation, times values */
    uint64_t n_cov;                   /* values of groups that have a coefficient */
    double weights, means_by_weights; /* Welch's: a weight is n over the variance */
    bool all_vary;
};

static struct moments_sums add_up(const struct moments *groups, size_t n_groups, struct anova *anova)
{
    struct moments_sums sums = { .all_vary = true };
    for (size_t i = 0; i < n_groups; i++) {
        const struct moments *group = &groups[i];
        if (group->n < 2)
            continue;
        anova->n_groups++;
        anova->n += group->n;
        moments_merge(&sums.all, group);
        moments_add(&sums.means, group->mean);
        sums.within += group->squares;
        sums.all_vary = sums.all_vary && group->squares > 0;
        double weight = (double)group->n / moments_variance(group);
        sums.weights += weight;
        sums.means_by_weights += weight * group->mean;
        if (group->mean > 0) {
            sums.cov += (double)group->n * moments_cov(group);
            sums.n_cov += group->n;
        }
    }
    return sums;
}

/* Groups that vary much say little of their mean. */
static void welch(const struct moments *groups, size_t n_groups, const struct moments_sums *sums, struct anova *anova)
{
    double k = anova->n_groups, mean = sums->means_by_weights / sums->weights, between = 0, rest = 0;
    anova->welch_f = anova->welch_df = anova->welch_p = NAN;
    if (!sums->all_vary)
        return;
    for (size_t i = 0; i < n_groups; i++) {
        if (groups[i].n < 2)
            continue;
        double n = (double)groups[i].n, weight = n / moments_variance(&groups[i]);
        double difference = groups[i].mean - mean, missing = 1 - weight / sums->weights;
        between += weight * difference * difference;
        rest += missing * missing / (n - 1);
    }
    anova->welch_f = between / (k - 1) / (1 + 2 * (k - 2) / (k * k - 1) * rest);
    anova->welch_df = (k * k - 1) / (3 * rest);
    anova->welch_p = distribution_f_tail(anova->welch_f, k - 1, anova->welch_df);
}

bool anova_compute(const struct moments *groups, size_t n_groups, struct anova *anova)
{
    *anova = (struct anova){ .n_groups = 0 };
    struct moments_sums sums = add_up(groups, n_groups, anova);
    if (anova->n_groups < 2 || !(sums.all.squares > 0))
        return false;
    double between = sums.all.squares - sums.within;
    if (between < 0) /* rounding */
        between = 0;
    anova->df_between = anova->n_groups - 1;
    anova->df_within = (double)(anova->n - anova->n_groups);
    anova->f = sums.within > 0 ? between / anova->df_between / (sums.within / anova->df_within) : INFINITY;
    anova->p = distribution_f_tail(anova->f, anova->df_between, anova->df_within);
    anova->explained = between / sums.all.squares;
    anova->within_cov = sums.n_cov > 0 ? sums.cov / (double)sums.n_cov : NAN;
    anova->between_cov = moments_cov(&sums.means);
    welch(groups, n_groups, &sums, anova);
    return true;
}

/* ---- pairs of versions ---- */

static double find_limit(struct pairwise *p)
{
    size_t slot = (size_t)p->df % PAIRWISE_LIMITS;
    if (p->limits[slot].df != p->df) {
        p->limits[slot].df = p->df;
        p->limits[slot].limit = distribution_range_limit(PAIRWISE_SIGNIFICANCE, (double)p->n_groups, p->df);
    }
    return p->limits[slot].limit;
}

void pairwise_begin(struct pairwise *p, const struct moments *groups, size_t n_groups)
{
    double squares = 0;
    if (p->n_groups != n_groups)
        memset(p->limits, 0, sizeof p->limits);
    p->n_groups = n_groups;
    p->df = 0;
    p->within = NAN;
    for (size_t i = 0; i < n_groups; i++) {
        if (groups[i].n < 2)
            return;
        squares += groups[i].squares;
        p->df += (double)(groups[i].n - 1);
    }
    p->within = squares / p->df;
    p->limit = n_groups > 2 ? find_limit(p) : 0;
}

static struct pairwise_difference compare_two(const struct moments *a, const struct moments *b, double difference)
{
    double v = moments_variance(a) / (double)a->n, w = moments_variance(b) / (double)b->n, error = sqrt(v + w);
    double df = (v + w) * (v + w) / (v * v / (double)(a->n - 1) + w * w / (double)(b->n - 1));
    double half = error > 0 ? distribution_t_limit(PAIRWISE_SIGNIFICANCE, df) * error : 0;
    return (struct pairwise_difference){ difference, error, df, half, 2 };
}

struct pairwise_difference pairwise_compare(const struct pairwise *p, const struct moments *a, const struct moments *b)
{
    double difference = b->mean - a->mean;
    if (isnan(p->within))
        return (struct pairwise_difference){ difference, NAN, NAN, NAN, p->n_groups };
    if (p->n_groups == 2)
        return compare_two(a, b, difference);
    double error = sqrt(p->within / 2 * (1 / (double)a->n + 1 / (double)b->n));
    return (struct pairwise_difference){ difference, error, p->df, p->limit * error, p->n_groups };
}

double pairwise_p(const struct pairwise_difference *d)
{
    if (d->error == 0) /* nothing varies: each difference is one */
        return d->difference == 0 ? 1 : 0;
    if (d->n_groups == 2)
        return distribution_t_tails(d->difference / d->error, d->df);
    return distribution_range_tail(fabs(d->difference) / d->error, (double)d->n_groups, d->df);
}

/* ---- more runs ---- */

void rerun_begin(struct rerun *r)
{
    r->n_narrow = 0;
    r->is_narrow = false;
    r->half = NAN;
}

/* Half the widest interval, upwards as a fraction. */
static double widest(struct rerun *r, const struct moments *groups)
{
    double half = 0;
    pairwise_begin(&r->pairwise, groups, r->n_versions);
    for (size_t a = 0; a < r->n_versions; a++)
        for (size_t b = a + 1; b < r->n_versions; b++)
            half = fmax(half, pairwise_compare(&r->pairwise, &groups[a], &groups[b]).half);
    return expm1(half);
}

bool rerun_again(struct rerun *r, const struct moments *groups)
{
    if (groups[0].n < 2)
        return true;
    r->half = widest(r, groups);
    r->n_narrow = r->half <= r->until ? r->n_narrow + 1 : 0;
    r->is_narrow = r->n_narrow >= RERUN_IN_A_ROW;
    return groups[0].n < r->runs_least || (!r->is_narrow && groups[0].n < r->runs_most);
}

bool steady_find(const double *values, size_t n, size_t window, double cov_limit, struct steady *steady)
{
    *steady = (struct steady){ .is_reached = false };
    if (window < 2 || n < window)
        return false;
    for (size_t first = 0; first + window <= n; first++) {
        struct moments moments = { .n = 0 };
        for (size_t i = 0; i < window; i++)
            moments_add(&moments, values[first + i]);
        double cov = moments_cov(&moments);
        if (first > 0 && !(cov < steady->cov))
            continue;
        *steady = (struct steady){ cov < cov_limit, first, moments.mean, cov };
        if (steady->is_reached)
            return true;
    }
    return true;
}
