#include "phases/samples/heat.h"

#include <math.h>

/* What is left after a time. */
static double left(uint64_t from_ns, uint64_t to_ns, uint64_t half_life_ns)
{
    return exp2(-(double)(to_ns - from_ns) / (double)half_life_ns);
}

void heat_add(struct heat *heat, uint64_t ns, double weight, uint64_t half_life_ns)
{
    if (ns < heat->ns) {
        heat->value += weight * left(ns, heat->ns, half_life_ns);
        return;
    }
    heat->value = heat->value * left(heat->ns, ns, half_life_ns) + weight;
    heat->ns = ns;
}

double heat_share(const struct heat *some, const struct heat *all, uint64_t half_life_ns)
{
    if (all->value <= 0 || some->ns > all->ns)
        return 0;
    return some->value * left(some->ns, all->ns, half_life_ns) / all->value;
}
