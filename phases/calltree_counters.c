/*
 * What the probes cost, and what passed between two records on a thread's counters.
 */
#include "phases/calltree_internal.h"

#include <math.h>
#include <stdlib.h>

#define TICKS_LIMIT  1e6
#define EVENTS_LIMIT 1e9

static double limited(double cost, double max)
{
    return isfinite(cost) && cost > 0 && cost < max ? cost : 0;
}

/* The i-th of the numbers, parted by blanks; 0 when there is no such number. */
static double number_at(const char *text, size_t i)
{
    char *end;
    for (; text != NULL; text = end, i--) {
        double value = strtod(text, &end);
        if (end == text)
            return 0;
        if (i == 0)
            return value;
    }
    return 0;
}

static void spread(double inside, double outside, struct step_costs *costs)
{
    double unit = 1 << COST_FRACTION_BITS;
    uint64_t half = (uint64_t)((inside + outside) / 2 * unit);
    costs->of[STEP_ENTER][STEP_ENTER] = half;
    costs->of[STEP_EXIT][STEP_EXIT] = half;
    costs->of[STEP_ENTER][STEP_EXIT] = (uint64_t)(inside * unit);
    costs->of[STEP_EXIT][STEP_ENTER] = (uint64_t)(outside * unit);
    /* A gap is written right before the entry that found room again. */
    costs->of[STEP_ENTER][STEP_GAP] = costs->of[STEP_ENTER][STEP_ENTER];
    costs->of[STEP_EXIT][STEP_GAP] = costs->of[STEP_EXIT][STEP_ENTER];
}

void costs_read(const struct trace_reader *reader, struct probe_costs *costs)
{
    costs->inside_ticks = limited(number_at(trace_info(reader, "probe.inside_ticks"), 0), TICKS_LIMIT);
    costs->outside_ticks = limited(number_at(trace_info(reader, "probe.outside_ticks"), 0), TICKS_LIMIT);
    spread(costs->inside_ticks, costs->outside_ticks, &costs->ticks);
    for (size_t i = 0; i < TRACE_COUNTERS_MAX; i++)
        spread(limited(number_at(trace_info(reader, "probe.inside_counters"), i), EVENTS_LIMIT),
               limited(number_at(trace_info(reader, "probe.outside_counters"), i), EVENTS_LIMIT), &costs->counters[i]);
}

static bool are_read(const uint64_t *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (values[i] == TRACE_NOT_COUNTED)
            return false;
    return true;
}

/* Opened anew, they start again. */
static bool ran_backwards(const struct thread_counters *counters, const uint64_t *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((values[i] - counters->values[i]) >> 63 != 0)
            return true;
    return false;
}

int counters_take(struct thread_counters *counters, const uint64_t *values, size_t n, const struct probe_costs *costs,
                  enum step before, enum step now, uint64_t *own)
{
    bool were_known = counters->are_known;
    counters->are_known = are_read(values, n);
    if (!counters->are_known)
        return 0;
    int rc = !were_known ? 0 : ran_backwards(counters, values, n) ? -1 : 1;
    for (size_t i = 0; i < n; i++) {
        uint64_t passed = values[i] - counters->values[i];
        counters->values[i] = values[i];
        if (rc > 0)
            own[i] += passed - cost_take(costs->counters[i].of[before][now], &counters->fractions[i], passed);
    }
    return rc;
}
