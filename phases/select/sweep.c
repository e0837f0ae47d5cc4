#include "phases/select/sweep.h"

/* Ten a decade, as people round them. */
static const double steps[] = { 1, 1.25, 1.6, 2, 2.5, 3.2, 4, 5, 6.3, 8 };
#define N_STEPS (sizeof steps / sizeof steps[0])

size_t sweep_thresholds(double lowest, double highest, size_t stride, double *thresholds)
{
    size_t n = 0;
    double decade = lowest;
    for (size_t i = 0; n < SWEEP_THRESHOLDS_MAX; i++) {
        double threshold = steps[i % N_STEPS] * decade;
        if (threshold > highest * (1 + 1e-9))
            break;
        if (i % stride == 0)
            thresholds[n++] = threshold;
        if (i % N_STEPS == N_STEPS - 1)
            decade *= 10;
    }
    return n;
}

double sweep_weight(const struct calltree_total *total, uint64_t all_ticks, enum phases_clock clock)
{
    return (double)phases_total_ticks(total, clock) / (double)all_ticks;
}

double sweep_grain(const struct calltree_total *total, uint64_t all_ticks, enum phases_clock clock)
{
    return total->calls == 0 ? 0 : sweep_weight(total, all_ticks, clock) / (double)total->calls;
}

/* How many thresholds a share reaches. */
static size_t n_reached(const double *thresholds, size_t n, double share)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (share >= thresholds[middle])
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* From the highest thresholds to the lowest: what reaches a cell reaches those below it. */
static void sum_up(struct sweep *sweep)
{
    for (size_t w = sweep->n_weights; w-- > 0;) {
        struct sweep_cell row = { 0, 0, 0 };
        for (size_t g = sweep->n_grains; g-- > 0;) {
            struct sweep_cell *cell = &sweep->cells[w * sweep->n_grains + g];
            row.n_methods += cell->n_methods;
            row.n_calls += cell->n_calls;
            row.self_ticks += cell->self_ticks;
            *cell = row;
            if (w + 1 < sweep->n_weights) {
                cell->n_methods += cell[sweep->n_grains].n_methods;
                cell->n_calls += cell[sweep->n_grains].n_calls;
                cell->self_ticks += cell[sweep->n_grains].self_ticks;
            }
        }
    }
}

int sweep_compute(struct sweep *sweep, const struct calltree_total *totals, size_t n_totals, uint64_t all_ticks,
                  enum phases_clock clock, struct arena *arena, struct err *err)
{
    size_t n_cells = sweep->n_weights * sweep->n_grains;
    sweep->cells = arena_alloc(arena, (n_cells + 1) * sizeof *sweep->cells);
    if (sweep->cells == NULL)
        return err_set(err, "out of memory for %zu pairs of thresholds", n_cells);
    /* Count each method in the highest cell that it reaches. */
    for (size_t i = 0; i < n_totals; i++) {
        size_t w = n_reached(sweep->weights, sweep->n_weights, sweep_weight(&totals[i], all_ticks, clock));
        size_t g = n_reached(sweep->grains, sweep->n_grains, sweep_grain(&totals[i], all_ticks, clock));
        if (w == 0 || g == 0)
            continue;
        struct sweep_cell *cell = &sweep->cells[(w - 1) * sweep->n_grains + g - 1];
        cell->n_methods++;
        cell->n_calls += totals[i].calls;
        cell->self_ticks += phases_self_ticks(&totals[i], clock);
    }
    sum_up(sweep);
    return 0;
}
