#include "phases/select/select.h"

/* The thresholds that are tried. */
#define LOWEST  1e-6
#define HIGHEST 0.5

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

/*
 * Whether the estimated time is at most limit (a fraction); where it is not known, the thesis' estimate decides.  That
 * one would leave out half of a program's time where it has few calls: each is many per cent of all.
 */
static bool budget_keeps(const struct budget_estimates *estimates, double limit)
{
    return (estimates->time_ratio >= 0 ? estimates->time_ratio : estimates->invocations_ratio) <= limit;
}

/* ---- the sweep ---- */

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

/* A method's shares of the program's time: in all its calls, and per call on the average. */
static double weight_of(const struct calltree_total *total, uint64_t all_ticks, enum phases_clock clock)
{
    return (double)phases_total_ticks(total, clock) / (double)all_ticks;
}

static double grain_of(const struct calltree_total *total, uint64_t all_ticks, enum phases_clock clock)
{
    return total->calls == 0 ? 0 : weight_of(total, all_ticks, clock) / (double)total->calls;
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

void sweep_compute(struct sweep *sweep, const struct calltree_total *totals, size_t n_totals, uint64_t all_ticks,
                   enum phases_clock clock, struct arena *arena)
{
    size_t n_cells = sweep->n_weights * sweep->n_grains;
    sweep->cells = arena_alloc(arena, (n_cells + 1) * sizeof *sweep->cells);
    /* Count each method in the highest cell that it reaches. */
    for (size_t i = 0; i < n_totals; i++) {
        size_t w = n_reached(sweep->weights, sweep->n_weights, weight_of(&totals[i], all_ticks, clock));
        size_t g = n_reached(sweep->grains, sweep->n_grains, grain_of(&totals[i], all_ticks, clock));
        if (w == 0 || g == 0)
            continue;
        struct sweep_cell *cell = &sweep->cells[(w - 1) * sweep->n_grains + g - 1];
        cell->n_methods++;
        cell->n_calls += totals[i].calls;
        cell->self_ticks += phases_self_ticks(&totals[i], clock);
    }
    sum_up(sweep);
}

/* ---- the choice ---- */

static size_t fill_thresholds(double *thresholds, double given)
{
    if (given < 0)
        return sweep_thresholds(LOWEST, HIGHEST, 1, thresholds);
    thresholds[0] = given;
    return 1;
}

/* many: more methods than a person reads. */
struct judged {
    const struct sweep_cell *cell;
    bool keeps, many; /* the budget */
};

static bool is_better(const struct judged *a, const struct judged *b)
{
    const struct sweep_cell *cell = a->cell, *best = b->cell;
    if (a->keeps != b->keeps)
        return a->keeps;
    if (a->keeps && a->many != b->many)
        return b->many;
    if (a->keeps && a->many && cell->n_methods != best->n_methods)
        return cell->n_methods < best->n_methods;
    if (a->keeps && cell->self_ticks != best->self_ticks)
        return cell->self_ticks > best->self_ticks;
    if (a->keeps && cell->n_methods != best->n_methods)
        return cell->n_methods > best->n_methods;
    if (cell->n_calls != best->n_calls)
        return cell->n_calls < best->n_calls;
    return cell->n_methods > best->n_methods;
}

static void search(const struct sweep *grid, const struct budget_base *base, double budget,
                   struct phases_choice *choice)
{
    bool is_free = grid->n_weights > 1 && grid->n_grains > 1;
    struct judged best = { NULL, false, false };
    size_t best_w = 0, best_g = 0;
    for (size_t w = 0; w < grid->n_weights; w++) {
        for (size_t g = 0; g < grid->n_grains; g++) {
            const struct sweep_cell *cell = sweep_at(grid, w, g);
            struct budget_estimates estimates = budget_estimate(base, cell->n_calls);
            struct judged now = { cell, budget_keeps(&estimates, budget), is_free && cell->n_methods > PHASES_MANY };
            if (cell->n_methods == 0 || (best.cell != NULL && !is_better(&now, &best)))
                continue;
            best = now;
            best_w = w;
            best_g = g;
        }
    }
    choice->weight = grid->weights[best_w];
    choice->grain = grid->grains[best_g];
    choice->over_budget = !best.keeps;
}

/* Where both thresholds were given, over_budget stays false: the user has decided. */
static void choose_thresholds(const struct calltree_total *totals, size_t n_totals, uint64_t all_ticks,
                              const struct budget_base *base, const struct phases_criteria *criteria,
                              struct arena *arena, struct phases_choice *choice)
{
    struct sweep grid = { .n_weights = 0 };
    grid.n_weights = fill_thresholds(grid.weights, criteria->weight);
    grid.n_grains = fill_thresholds(grid.grains, criteria->grain);
    sweep_compute(&grid, totals, n_totals, all_ticks, criteria->clock, arena);
    search(&grid, base, criteria->budget, choice);
    choice->weight_given = criteria->weight >= 0;
    choice->grain_given = criteria->grain >= 0;
    if (choice->weight_given && choice->grain_given)
        choice->over_budget = false;
}

int phases_select(const struct calltree_total *totals, size_t n_totals, uint64_t all_ticks,
                  const struct budget_base *base, const struct phases_criteria *criteria, struct arena *arena,
                  struct phases_choice *choice, struct err *err)
{
    *choice = (struct phases_choice){ .weight = 0 };
    if (n_totals == 0) {
        err_set(err, "the trace has no calls of the application's methods");
        return err_next(err, "record longer, or more methods ('mmprof record --all-methods --min-bytecodes 0')");
    }
    if (all_ticks == 0) {
        err_set(err, "the application's threads spent no time on this clock");
        return err_next(err, "choose the other one with --clock cpu or --clock wall");
    }
    choose_thresholds(totals, n_totals, all_ticks, base, criteria, arena, choice);
    choice->is_chosen = arena_alloc(arena, n_totals * sizeof *choice->is_chosen);
    for (size_t i = 0; i < n_totals; i++) {
        if (weight_of(&totals[i], all_ticks, criteria->clock) < choice->weight ||
            grain_of(&totals[i], all_ticks, criteria->clock) < choice->grain)
            continue;
        choice->is_chosen[i] = true;
        choice->n_chosen++;
        choice->n_calls += totals[i].calls;
    }
    choice->estimates = budget_estimate(base, choice->n_calls);
    return 0;
}
