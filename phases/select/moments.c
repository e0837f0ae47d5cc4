/*
 * Mean and variance of a stream, and the analysis of variance.
 */
#include "phases/samples/distribution.h"
#include "phases/select/statistics.h"

#include <math.h>

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
