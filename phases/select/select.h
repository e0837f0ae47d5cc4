/*
 * The selection of the method-level phases of a program: thresholds, what recording the phases will cost, and what each
 * pair of thresholds selects.
 */
#ifndef PHASES_SELECT_SELECT_H
#define PHASES_SELECT_SELECT_H

#include "phases/tree/calltree.h"

enum phases_clock { PHASES_CPU, PHASES_WALL };

/* Inclusive and exclusive ticks of a method on a clock. */
uint64_t phases_total_ticks(const struct calltree_total *total, enum phases_clock clock);
uint64_t phases_self_ticks(const struct calltree_total *total, enum phases_clock clock);

/*
 * What 100 % is: the time of all threads of the application, inside recorded methods or not; on the wall clock only of
 * those that ran probes (a pool's idle threads spend no time of the program).
 */
uint64_t phases_all_ticks(const struct calltree *tree, enum phases_clock clock);

/* ---- what recording a set of methods will cost: two estimates ---- */

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

/* The tree's calls and losses, and what a pair costs.  all_ticks: phases_all_ticks(). */
struct budget_base phases_budget_base(const struct calltree *tree, uint64_t all_ticks, bool knows_invocations);

struct phases_criteria {
    enum phases_clock clock;
    double weight, grain; /* fractions of the total time, 0..1; negative: search */
    double budget;        /* a fraction: for the search */
};

struct phases_choice {
    double weight, grain;
    bool weight_given, grain_given;
    bool over_budget; /* the search found no thresholds within the budget */
    struct budget_estimates estimates;
    uint64_t n_calls; /* of the chosen methods */
    size_t n_chosen;
    bool *is_chosen; /* by index into totals; the arena's */
};

#define PHASES_MANY 50 /* tens of phases are what a person reads; the thesis' Table 3.3 has 10 to 52 */

/*
 * Select phases by Huang's two thresholds: a method is one if its total time (callees included) is at least weight of
 * the program's total time, and its total time per call at least grain of it.
 *
 * Thresholds that are not given are searched for on a grid: 1, 1.25, 1.6, 2, 2.5, 3.2, 4, 5, 6.3 and 8 times a
 * power of ten, from 1e-6 to 0.5.  The search takes, in this order,
 *   1. a pair of thresholds that selects at least one method and meets the budget;
 *   2. where both thresholds are searched, of these one that selects at most PHASES_MANY methods;
 *   3. of these the one whose methods have the most time of their own (callees not included);
 *   4. of these the one that selects the most methods;
 *   5. of these the one whose methods are called the least (the smaller overhead);
 *   6. of these the lowest weight, then the lowest grain.
 * Where neither estimate is known, any budget is met.  If no pair keeps the budget, the least calls decide, then the
 * most methods, and over_budget says so.  A threshold that is given stays as it is, and the other one is searched.
 *
 * totals     n_totals methods; borrowed.
 * all_ticks  the program's total time on criteria->clock.
 * choice     its array lives in the arena.
 *
 * Returns 0, or -1 with *err set: no method was called, or no time passed.
 * Source: thesis §3.2.2 (after Huang et al., ISCA 2003), §3.3.1 for the budget.
 */
int phases_select(const struct calltree_total *totals, size_t n_totals, uint64_t all_ticks,
                  const struct budget_base *base, const struct phases_criteria *criteria, struct arena *arena,
                  struct phases_choice *choice, struct err *err);

/* ---- the sweep: phases and calls over theta_weight and theta_grain (thesis §3.3.1, Figures 3.4 and 3.5) ---- */

#define SWEEP_THRESHOLDS_MAX 128

struct sweep_cell {
    uint64_t n_methods, n_calls, self_ticks; /* of the methods that reach both thresholds */
};

struct sweep {
    double weights[SWEEP_THRESHOLDS_MAX], grains[SWEEP_THRESHOLDS_MAX]; /* fractions, ascending; the caller's to set */
    size_t n_weights, n_grains;
    struct sweep_cell *cells; /* n_weights * n_grains, by weight, then grain; the arena's */
};

/*
 * Ascending thresholds: 1, 1.25, 1.6, 2, 2.5, 3.2, 4, 5, 6.3 and 8 times powers of ten, from lowest (a power of ten) to
 * highest; stride 2 takes every second of them.  Returns how many.
 */
size_t sweep_thresholds(double lowest, double highest, size_t stride, double *thresholds);

/*
 * Fill in the cells.  Each method is looked at once, however many cells there are.
 *
 * totals, all_ticks   as for phases_select; all_ticks is not 0.
 */
void sweep_compute(struct sweep *sweep, const struct calltree_total *totals, size_t n_totals, uint64_t all_ticks,
                   enum phases_clock clock, struct arena *arena);

static inline const struct sweep_cell *sweep_at(const struct sweep *sweep, size_t weight, size_t grain)
{
    return &sweep->cells[weight * sweep->n_grains + grain];
}

#endif
