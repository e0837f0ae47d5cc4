#include "phases/select/budget.h"

struct budget_estimates budget_estimate(const struct budget_base *base, uint64_t n_profiled_calls)
{
    struct budget_estimates estimates = { .time_ratio = -1, .invocations_ratio = -1 };
    double calls = (double)n_profiled_calls;
    if (base->n_invocations > 0)
        estimates.invocations_ratio = calls / (double)base->n_invocations;
    if (base->pair_ns > 0 && base->total_ns > 0)
        estimates.time_ratio = calls * base->pair_ns / base->total_ns;
    return estimates;
}

bool budget_keeps(const struct budget_estimates *estimates, double limit)
{
    return (estimates->time_ratio >= 0 ? estimates->time_ratio : estimates->invocations_ratio) <= limit;
}
