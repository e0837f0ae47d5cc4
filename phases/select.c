#include "phases/select.h"

#include <stdlib.h>

/* The thresholds that are tried, lowest first: ten a decade, as people round them. */
static const double steps[] = { 1, 1.25, 1.6, 2, 2.5, 3.2, 4, 5, 6.3, 8 };
#define N_STEPS (sizeof steps / sizeof steps[0])
#define N_GRID  58 /* 1e-6 .. 0.5 */
#define LOWEST  1e-6

/* What a pair of thresholds selects. */
struct cell {
    uint64_t n_methods, n_calls;
};

struct grid {
    double weights[N_GRID], grains[N_GRID];
    size_t n_weights, n_grains;
    struct cell cells[N_GRID][N_GRID]; /* by weight, then grain */
};

uint64_t phases_total_ticks(const struct calltree_total *total, enum phases_clock clock)
{
    return clock == PHASES_CPU ? total->total_cpu_ticks : total->total_wall_ticks;
}

uint64_t phases_self_ticks(const struct calltree_total *total, enum phases_clock clock)
{
    return clock == PHASES_CPU ? total->cpu_ticks : total->wall_ticks;
}

uint64_t phases_all_ticks(const struct calltree *tree, enum phases_clock clock)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < tree->n_threads; i++) {
        const struct calltree_thread *thread = &tree->threads[i];
        if (!thread->is_known || thread->part != VM_PART_APPLICATION)
            continue;
        if (clock == PHASES_CPU)
            all += thread->cpu_ticks - thread->probe_ticks;
        else if (thread->has_records)
            all += thread->wall_ticks - thread->probe_ticks;
    }
    return all;
}

struct budget_base phases_budget_base(const struct calltree *tree, uint64_t all_ticks, bool knows_invocations)
{
    return (struct budget_base){ .n_invocations = knows_invocations ? tree->n_calls + tree->n_lost : 0,
                                 .total_ns = (double)all_ticks * tree->ns_per_tick,
                                 .pair_ns = calltree_pair_ns(tree) };
}

static size_t fill_thresholds(double *thresholds, double given)
{
    if (given >= 0) {
        thresholds[0] = given;
        return 1;
    }
    double decade = LOWEST;
    for (size_t i = 0; i < N_GRID; i++) {
        thresholds[i] = steps[i % N_STEPS] * decade;
        if (i % N_STEPS == N_STEPS - 1)
            decade *= 10;
    }
    return N_GRID;
}

/* How many thresholds a share reaches. */
static size_t n_reached(const double *thresholds, size_t n, double share)
{
    size_t i = 0;
    while (i < n && share >= thresholds[i])
        i++;
    return i;
}

/* Shares of the total time; both sides of each comparison are computed in one way only, here. */
static double weight_of(const struct calltree_total *total, double all_ticks, enum phases_clock clock)
{
    return (double)phases_total_ticks(total, clock) / all_ticks;
}

static double grain_of(const struct calltree_total *total, double all_ticks, enum phases_clock clock)
{
    return total->calls == 0 ? 0 : weight_of(total, all_ticks, clock) / (double)total->calls;
}

/* Count each method in the highest cell that it reaches, then sum up towards the lower ones. */
static void fill_cells(struct grid *grid, const struct calltree_total *totals, size_t n, double all_ticks,
                       enum phases_clock clock)
{
    for (size_t i = 0; i < n; i++) {
        size_t w = n_reached(grid->weights, grid->n_weights, weight_of(&totals[i], all_ticks, clock));
        size_t g = n_reached(grid->grains, grid->n_grains, grain_of(&totals[i], all_ticks, clock));
        if (w == 0 || g == 0)
            continue;
        grid->cells[w - 1][g - 1].n_methods++;
        grid->cells[w - 1][g - 1].n_calls += totals[i].calls;
    }
    for (size_t w = grid->n_weights; w-- > 0;) {
        struct cell row = { 0, 0 };
        for (size_t g = grid->n_grains; g-- > 0;) {
            struct cell *cell = &grid->cells[w][g];
            row.n_methods += cell->n_methods;
            row.n_calls += cell->n_calls;
            *cell = row;
            if (w + 1 < grid->n_weights) {
                cell->n_methods += grid->cells[w + 1][g].n_methods;
                cell->n_calls += grid->cells[w + 1][g].n_calls;
            }
        }
    }
}

static bool is_better(const struct cell *cell, bool keeps, const struct cell *best, bool best_keeps)
{
    if (keeps != best_keeps)
        return keeps;
    if (keeps && cell->n_methods != best->n_methods)
        return cell->n_methods > best->n_methods;
    if (cell->n_calls != best->n_calls)
        return cell->n_calls < best->n_calls;
    return cell->n_methods > best->n_methods;
}

static void search(const struct grid *grid, const struct budget_base *base, double budget, struct phases_choice *choice)
{
    const struct cell *best = NULL;
    bool best_keeps = false;
    size_t best_w = 0, best_g = 0;
    for (size_t w = 0; w < grid->n_weights; w++) {
        for (size_t g = 0; g < grid->n_grains; g++) {
            const struct cell *cell = &grid->cells[w][g];
            struct budget_estimates estimates = budget_estimate(base, cell->n_calls);
            bool keeps = budget_keeps(&estimates, budget);
            if (cell->n_methods == 0 || (best != NULL && !is_better(cell, keeps, best, best_keeps)))
                continue;
            best = cell;
            best_keeps = keeps;
            best_w = w;
            best_g = g;
        }
    }
    choice->weight = grid->weights[best_w];
    choice->grain = grid->grains[best_g];
    choice->over_budget = !best_keeps;
}

/* Where both thresholds were given, over_budget stays false: the user has decided. */
static int choose_thresholds(const struct calltree_total *totals, size_t n_totals, double all_ticks,
                             const struct budget_base *base, const struct phases_wish *wish,
                             struct phases_choice *choice, struct err *err)
{
    struct grid *grid = calloc(1, sizeof *grid);
    if (grid == NULL)
        return err_set(err, "out of memory for the search of thresholds");
    grid->n_weights = fill_thresholds(grid->weights, wish->weight);
    grid->n_grains = fill_thresholds(grid->grains, wish->grain);
    fill_cells(grid, totals, n_totals, all_ticks, wish->clock);
    search(grid, base, wish->budget, choice);
    choice->weight_given = wish->weight >= 0;
    choice->grain_given = wish->grain >= 0;
    if (choice->weight_given && choice->grain_given)
        choice->over_budget = false;
    free(grid);
    return 0;
}

int phases_select(const struct calltree_total *totals, size_t n_totals, uint64_t all_ticks,
                  const struct budget_base *base, const struct phases_wish *wish, struct arena *arena,
                  struct phases_choice *choice, struct err *err)
{
    *choice = (struct phases_choice){ .weight = 0 };
    if (n_totals == 0) {
        err_set(err, "the trace has no calls of the application's methods");
        return err_next(err, "record longer, or more methods ('mmprof record --min-bytecodes 0')");
    }
    if (all_ticks == 0) {
        err_set(err, "the application's threads spent no time on this clock");
        return err_next(err, "choose the other one with --clock cpu or --clock wall");
    }
    double all = (double)all_ticks;
    if (choose_thresholds(totals, n_totals, all, base, wish, choice, err) < 0)
        return -1;
    choice->is_chosen = arena_alloc(arena, n_totals * sizeof *choice->is_chosen);
    if (choice->is_chosen == NULL)
        return err_set(err, "out of memory for %zu methods", n_totals);
    for (size_t i = 0; i < n_totals; i++) {
        if (weight_of(&totals[i], all, wish->clock) < choice->weight ||
            grain_of(&totals[i], all, wish->clock) < choice->grain)
            continue;
        choice->is_chosen[i] = true;
        choice->n_chosen++;
        choice->n_calls += totals[i].calls;
    }
    choice->estimates = budget_estimate(base, choice->n_calls);
    return 0;
}
