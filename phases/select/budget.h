/*
 * What it will cost to record a set of methods: two estimates.
 */
#ifndef PHASES_SELECT_BUDGET_H
#define PHASES_SELECT_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

/* What both estimates need to know of the recording. */
struct budget_base {
    uint64_t n_invocations; /* all recorded calls, and those lost; 0: not known (only selected methods were recorded) */
    double total_ns;        /* the program's time, 100 % */
    double pair_ns;         /* the calibrated cost of an entry and exit; 0: not known */
};

/* Fractions 0..; negative: not known. */
struct budget_estimates {
    double time_ratio;        /* calls times the pair's cost, over total time */
    double invocations_ratio; /* the thesis': profiled invocations over all invocations */
};

/* Source: thesis §3.3.1 (the second; it calls it naive: a call's cost does not depend on how many others there are). */
struct budget_estimates budget_estimate(const struct budget_base *base, uint64_t n_profiled_calls);

/*
 * Whether the estimate in time is at most limit (a fraction); where it is not known, the thesis' stands in.  That one
 * would leave out half of a program's time where it has few calls: each is many per cent of all.
 */
bool budget_keeps(const struct budget_estimates *estimates, double limit);

#endif
