/* The page's plots of the selection (thesis Figures 3.4 and 3.5). */
#include "phases/select/select.h"
#include "report/html/html_parts.h"

/* As 'mmprof phases --sweep' has them. */
#define LOWEST  1e-8
#define HIGHEST 1.0
#define STRIDE  2

#define BUDGET 0.01 /* of 'mmprof phases' */

struct grid {
    const struct report_trace *trace;
    struct sweep sweep;
    struct budget_base base;
    uint64_t all_ticks;
    bool is_of_all; /* all methods were recorded, not phases only */
};

static void put_thresholds(struct html_json *json, const char *key, const double *thresholds, size_t n)
{
    html_array(json, key);
    for (size_t i = 0; i < n; i++)
        html_number(json, NULL, thresholds[i]);
    html_close(json, ']');
}

enum grid_value { METHODS, CALLS, OF_CALLS, OF_TIME };

static double value_of(const struct grid *grid, size_t weight, size_t grain, enum grid_value which)
{
    const struct sweep_cell *cell = sweep_at(&grid->sweep, weight, grain);
    struct budget_estimates estimates = budget_estimate(&grid->base, cell->n_calls);
    const double values[] = { [METHODS] = (double)cell->n_methods,
                              [CALLS] = (double)cell->n_calls,
                              [OF_CALLS] = estimates.invocations_ratio,
                              [OF_TIME] = estimates.time_ratio };
    return values[which];
}

/* By weight, then grain. */
static void put_values(struct html_json *json, const char *key, const struct grid *grid, enum grid_value which)
{
    html_array(json, key);
    for (size_t w = 0; w < grid->sweep.n_weights; w++) {
        html_array(json, NULL);
        for (size_t g = 0; g < grid->sweep.n_grains; g++)
            html_number(json, NULL, value_of(grid, w, g, which));
        html_close(json, ']');
    }
    html_close(json, ']');
}

/* What 'mmprof phases' takes by itself. */
static void put_chosen(struct html_json *json, const struct grid *grid)
{
    const struct report_trace *trace = grid->trace;
    struct phases_criteria options = { trace->source->clock, -1, -1, BUDGET };
    struct phases_choice choice;
    struct err err;
    if (!grid->is_of_all || phases_select(trace->totals, trace->n_totals, grid->all_ticks, &grid->base, &options,
                                          trace->source->arena, &choice, &err) < 0) {
        html_text(json, "chosen", NULL);
        return;
    }
    html_object(json, "chosen");
    html_number(json, "weight", choice.weight);
    html_number(json, "grain", choice.grain);
    html_number(json, "methods", (double)choice.n_chosen);
    html_number(json, "calls", (double)choice.n_calls);
    html_number(json, "of_calls", choice.estimates.invocations_ratio);
    html_number(json, "of_time", choice.estimates.time_ratio);
    html_close(json, '}');
}

static void put_grid(struct html_json *json, const struct grid *grid)
{
    const struct sweep *sweep = &grid->sweep;
    html_object(json, "sweep");
    put_thresholds(json, "weights", sweep->weights, sweep->n_weights);
    put_thresholds(json, "grains", sweep->grains, sweep->n_grains);
    put_values(json, "methods", grid, METHODS);
    put_values(json, "calls", grid, CALLS);
    put_values(json, "of_calls", grid, OF_CALLS);
    put_values(json, "of_time", grid, OF_TIME);
    html_number(json, "budget", BUDGET);
    html_number(json, "n_methods", (double)grid->trace->n_totals);
    html_bool(json, "of_all", grid->is_of_all);
    html_number(json, "pair_ns", grid->base.pair_ns > 0 ? grid->base.pair_ns : -1);
    put_chosen(json, grid);
    html_close(json, '}');
}

void html_sweep(struct html_json *json, const struct report_trace *trace)
{
    const struct report_source *source = trace->source;
    struct grid *grid = arena_alloc(source->arena, sizeof *grid);
    grid->trace = trace;
    grid->is_of_all = report_knows_invocations(source->reader);
    grid->all_ticks = phases_all_ticks(source->tree, source->clock);
    grid->base = phases_budget_base(source->tree, grid->all_ticks, grid->is_of_all);
    grid->sweep.n_weights = sweep_thresholds(LOWEST, HIGHEST, STRIDE, grid->sweep.weights);
    grid->sweep.n_grains = sweep_thresholds(LOWEST, HIGHEST, STRIDE, grid->sweep.grains);
    if (grid->all_ticks == 0)
        html_why(json, "sweep", "the application's threads spent no time on this clock");
    if (grid->all_ticks == 0)
        return;
    sweep_compute(&grid->sweep, trace->totals, trace->n_totals, grid->all_ticks, source->clock, source->arena);
    put_grid(json, grid);
}
