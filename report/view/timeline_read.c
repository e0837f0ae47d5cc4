/* The time line of a trace, from the pass over it. */
#include "report/view/timeline_table.h"

int timeline_begin(const struct trace_reader *outline, struct arena *arena, double step_ns, uint32_t steps_max,
                   struct timeline_read *read, struct observers *observers, struct err *err)
{
    struct timeline_options options = timeline_options_of(outline);
    *read = (struct timeline_read){ .timeline = NULL };
    options.step_ns = step_ns;
    options.steps_max = steps_max;
    call_metrics_find(outline, PHASES_CPU, arena, &read->rates);
    if (timeline_open(&read->timeline, &options, err) < 0)
        return -1;
    observers->all[observers->n++] = timeline_observer(read->timeline);
    return 0;
}

static void find_regions(struct timeline_read *read, struct arena *arena)
{
    struct timeline_regions_options options = { .distance = 0 };
    for (size_t i = 0; i < read->rates.options.n_metrics; i++) {
        const struct statistics_metric *metric = &read->rates.options.metrics[i];
        if (strcmp(read->rates.of[i].key, "cpi") == 0)
            options = (struct timeline_regions_options){ metric->tops, metric->bottoms, metric->n_tops,
                                                         metric->n_bottoms, 0 };
    }
    timeline_find_regions(read->timeline, &options, arena, &read->regions);
}

int timeline_end(const struct report_source *source, const struct calltree_total *totals, size_t n_totals,
                 const struct report_row_options *options, struct timeline_read *read, struct err *err)
{
    const struct calltree *tree = source->tree, *measured = source->sampled == NULL ? tree : source->sampled->measured;
    uint32_t *row_of = arena_alloc(source->arena, ((size_t)tree->n_methods + 1) * sizeof *row_of);
    if (report_rows(source, totals, n_totals, options, &read->rows, &read->n_rows, err) < 0)
        return -1;
    for (uint32_t i = 0; i < tree->n_methods; i++)
        row_of[i] = CALLTREE_NONE;
    for (size_t i = 0; i < read->n_rows; i++)
        row_of[read->rows[i].total->method] = (uint32_t)i;
    call_metrics_judge(&read->rates, source->reader, measured);
    if (timeline_rows(read->timeline, measured, row_of, tree->n_methods, (uint32_t)read->n_rows, err) < 0)
        return -1;
    find_regions(read, source->arena);
    if (source->sampled == NULL) /* single steps have too few samples to tell regions by them */
        return 0;
    timeline_divide(source, row_of, read);
    timeline_sum_rows(read->timeline, &read->regions);
    return 0;
}

double timeline_rate_of(const struct timeline_read *read, size_t rate, const uint64_t *metrics, size_t n_metrics)
{
    const struct statistics_metric *metric = &read->rates.options.metrics[rate];
    double top = 0, bottom = 0;
    if (read->rates.of[rate].why != NULL)
        return NAN;
    for (size_t i = 0; i < metric->n_tops; i++)
        top += metric->tops[i] < n_metrics ? (double)metrics[metric->tops[i]] : 0;
    for (size_t i = 0; i < metric->n_bottoms; i++)
        bottom += metric->bottoms[i] < n_metrics ? (double)metrics[metric->bottoms[i]] : 0;
    return bottom > 0 ? top / bottom * metric->factor : NAN;
}

double timeline_rate(const struct timeline_read *read, size_t rate, enum vm_part part, uint32_t step)
{
    struct timeline_cell cell = timeline_cell(read->timeline, part, step);
    return timeline_rate_of(read, rate, cell.metrics, timeline_n_metrics(read->timeline));
}
