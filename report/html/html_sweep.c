/*
 * The page's plots of the selection (thesis Figures 3.4 and 3.5).
 */
#include "phases/select/select.h"
#include "report/html/html_data.h"

#include <string.h>

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

static bool put_thresholds(cJSON *json, const char *key, const double *thresholds, size_t n)
{
    cJSON *array = cJSON_AddArrayToObject(json, key);
    for (size_t i = 0; array != NULL && i < n; i++)
        if (!html_put(array, NULL, html_number(thresholds[i])))
            return false;
    return array != NULL;
}

enum grid_value { METHODS, CALLS, OF_CALLS, OF_TIME };

static double value_of(const struct grid *grid, size_t weight, size_t grain, enum grid_value which)
{
    const struct sweep_cell *cell = sweep_at(&grid->sweep, weight, grain);
    struct budget_estimates estimates = budget_estimate(&grid->base, cell->n_calls);
    switch (which) {
    case METHODS:
        return (double)cell->n_methods;
    case CALLS:
        return (double)cell->n_calls;
    case OF_CALLS:
        return estimates.invocations_ratio;
    default:
        return estimates.time_ratio;
    }
}

/* By weight, then grain. */
static bool put_values(cJSON *json, const char *key, const struct grid *grid, enum grid_value which)
{
    cJSON *rows = cJSON_AddArrayToObject(json, key);
    bool ok = rows != NULL;
    for (size_t w = 0; ok && w < grid->sweep.n_weights; w++) {
        cJSON *row = cJSON_CreateArray();
        ok = html_put(rows, NULL, row);
        for (size_t g = 0; ok && g < grid->sweep.n_grains; g++)
            ok = html_put(row, NULL, html_number(value_of(grid, w, g, which)));
    }
    return ok;
}

/* What 'mmprof phases' takes by itself. */
static bool put_chosen(cJSON *json, const struct grid *grid)
{
    const struct report_trace *trace = grid->trace;
    struct phases_criteria options = { trace->source->clock, -1, -1, BUDGET };
    struct phases_choice choice;
    struct err err;
    if (!grid->is_of_all || phases_select(trace->totals, trace->n_totals, grid->all_ticks, &grid->base, &options,
                                          trace->source->arena, &choice, &err) < 0)
        return html_put(json, "chosen", cJSON_CreateNull());
    cJSON *chosen = cJSON_CreateObject();
    return html_put(json, "chosen", chosen) && html_put(chosen, "weight", html_number(choice.weight)) &&
           html_put(chosen, "grain", html_number(choice.grain)) &&
           html_put(chosen, "methods", html_number((double)choice.n_chosen)) &&
           html_put(chosen, "calls", html_number((double)choice.n_calls)) &&
           html_put(chosen, "of_calls", html_number(choice.estimates.invocations_ratio)) &&
           html_put(chosen, "of_time", html_number(choice.estimates.time_ratio));
}

static bool fill(cJSON *json, const struct grid *grid)
{
    const struct sweep *sweep = &grid->sweep;
    return put_thresholds(json, "weights", sweep->weights, sweep->n_weights) &&
           put_thresholds(json, "grains", sweep->grains, sweep->n_grains) &&
           put_values(json, "methods", grid, METHODS) && put_values(json, "calls", grid, CALLS) &&
           put_values(json, "of_calls", grid, OF_CALLS) && put_values(json, "of_time", grid, OF_TIME) &&
           html_put(json, "budget", html_number(BUDGET)) &&
           html_put(json, "n_methods", html_number((double)grid->trace->n_totals)) &&
           html_put(json, "of_all", cJSON_CreateBool(grid->is_of_all)) &&
           html_put(json, "pair_ns", html_number(grid->base.pair_ns > 0 ? grid->base.pair_ns : -1)) &&
           put_chosen(json, grid);
}

cJSON *html_sweep(const struct report_trace *trace)
{
    const struct report_source *source = trace->source;
    struct grid *grid = arena_alloc(source->arena, sizeof *grid);
    struct err err;
    cJSON *json = cJSON_CreateObject();
    if (grid == NULL || json == NULL) {
        cJSON_Delete(json);
        return NULL;
    }
    grid->trace = trace;
    grid->is_of_all = report_knows_invocations(source->reader);
    grid->all_ticks = phases_all_ticks(source->tree, source->clock);
    grid->base = phases_budget_base(source->tree, grid->all_ticks, grid->is_of_all);
    grid->sweep.n_weights = sweep_thresholds(LOWEST, HIGHEST, STRIDE, grid->sweep.weights);
    grid->sweep.n_grains = sweep_thresholds(LOWEST, HIGHEST, STRIDE, grid->sweep.grains);
    bool ok = grid->all_ticks == 0
                  ? html_put(json, "why", cJSON_CreateString("the application's threads spent no time on this clock"))
                  : sweep_compute(&grid->sweep, trace->totals, trace->n_totals, grid->all_ticks, source->clock,
                                  source->arena, &err) == 0 &&
                        fill(json, grid);
    if (ok)
        return json;
    cJSON_Delete(json);
    return NULL;
}
