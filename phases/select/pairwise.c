#include "phases/select/pairwise.h"

#include "phases/samples/distribution.h"

#include <math.h>
#include <string.h>

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

static struct pairwise_difference welch(const struct moments *a, const struct moments *b, double difference)
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
        return welch(a, b, difference);
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
