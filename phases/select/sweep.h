/*
 * What each pair of thresholds selects: the number of phases and of their calls over theta_weight and theta_grain
 * (thesis §3.3.1, Figures 3.4 and 3.5).
 */
#ifndef PHASES_SELECT_SWEEP_H
#define PHASES_SELECT_SWEEP_H

#include "phases/select/select.h"

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

/* A method's shares of the program's time: in all its calls, and per call on the average. */
double sweep_weight(const struct calltree_total *total, uint64_t all_ticks, enum phases_clock clock);
double sweep_grain(const struct calltree_total *total, uint64_t all_ticks, enum phases_clock clock);

/*
 * Fill in the cells.  Each method is looked at once, however many cells there are.
 *
 * totals, all_ticks   as for phases_select; all_ticks is not 0.
 *
 * Returns 0, or -1 with *err set: no memory.
 */
int sweep_compute(struct sweep *sweep, const struct calltree_total *totals, size_t n_totals, uint64_t all_ticks,
                  enum phases_clock clock, struct arena *arena, struct err *err);

static inline const struct sweep_cell *sweep_at(const struct sweep *sweep, size_t weight, size_t grain)
{
    return &sweep->cells[weight * sweep->n_grains + grain];
}

#endif
