#include "report/view/sweep_table.h"

#include <string.h>

static struct table_cell estimate(double ratio)
{
    return ratio < 0 ? table_unmeasured() : table_number(ratio);
}

static void add_cell(const struct sweep *sweep, size_t w, size_t g, const struct budget_base *base, struct table *table)
{
    const struct sweep_cell *cell = sweep_at(sweep, w, g);
    struct budget_estimates estimates = budget_estimate(base, cell->n_calls);
    struct table_cell *cells = table_row(table, "thresholds");
    const struct table_cell values[] = { table_number(sweep->weights[w]),       table_number(sweep->grains[g]),
                                         table_number((double)cell->n_methods), table_number((double)cell->n_calls),
                                         estimate(estimates.invocations_ratio), estimate(estimates.time_ratio) };
    if (cells != NULL)
        memcpy(cells, values, sizeof values);
}

int sweep_table(const struct report_source *source, const struct sweep *sweep, const struct budget_base *base,
                struct table *table, struct err *err)
{
    table_begin(table, source->arena);
    report_metadata(source, table);
    table_metadata_number(table, "pair_ns", base->pair_ns, NULL);
    table_column(table, "Weight", "weight", TABLE_RATIO);
    table_column(table, "Grain", "grain", TABLE_RATIO);
    table_column(table, "Phases", "phases", TABLE_COUNT);
    table_column(table, "Calls", "calls", TABLE_COUNT);
    table_column(table, "Of all calls (%)", "estimate_invocations", TABLE_SHARE);
    table_column(table, "Of the time (%)", "estimate_time", TABLE_SHARE);
    for (size_t w = 0; w < sweep->n_weights; w++)
        for (size_t g = 0; g < sweep->n_grains; g++)
            add_cell(sweep, w, g, base, table);
    report_losses(source, table);
    return table->is_broken ? err_set(err, "out of memory for a table of thresholds") : 0;
}
