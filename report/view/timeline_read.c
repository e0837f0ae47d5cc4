/*
 * Reads a trace once more for its time line.
 */
#include "report/view/timeline_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_cpu_time(const void *a, const void *b)
{
    const struct calltree_total *x = *(const struct calltree_total *const *)a,
                                *y = *(const struct calltree_total *const *)b;
    if (x->total_cpu_ticks != y->total_cpu_ticks)
        return x->total_cpu_ticks < y->total_cpu_ticks ? 1 : -1;
    return (x->method > y->method) - (x->method < y->method);
}

/* The report's phases, those with most time first, and the rows of the methods. */
static int choose_rows(const struct report_source *source, const struct calltree_total *totals, size_t n_totals,
                       const struct report_wish *wish, uint32_t *row_of, struct timeline_read *read, struct err *err)
{
    const struct calltree_total *const *chosen;
    if (report_rows_of(source, totals, n_totals, wish, &chosen, &read->n_rows, err) < 0)
        return -1;
    const struct calltree_total **rows = arena_alloc(source->arena, (read->n_rows + 1) * sizeof *rows);
    uint32_t *methods = arena_alloc(source->arena, (read->n_rows + 1) * sizeof *methods);
    if (rows == NULL || methods == NULL)
        return err_set(err, "out of memory for a time line of %zu phases", read->n_rows);
    for (size_t i = 0; i < read->n_rows; i++)
        rows[i] = chosen[i];
    qsort(rows, read->n_rows, sizeof *rows, by_cpu_time);
    for (uint32_t i = 0; i < source->tree->n_methods; i++)
        row_of[i] = CALLTREE_NONE;
    for (size_t i = 0; i < read->n_rows; i++) {
        methods[i] = rows[i]->method;
        row_of[methods[i]] = (uint32_t)i;
    }
    read->rows = rows;
    read->labels = report_labels(source, methods, read->n_rows);
    return read->labels == NULL ? err_set(err, "out of memory for the names of %zu phases", read->n_rows) : 0;
}

int timeline_end(const struct report_source *source, struct timeline_read *read, struct err *err)
{
    struct timeline_regions_wish wish = { .distance = 0 };
    for (size_t i = 0; i < read->rates.wish.n_metrics; i++) {
        const struct statistics_metric *metric = &read->rates.wish.metrics[i];
        if (strcmp(read->rates.of[i].key, "cpi") == 0)
            wish =
                (struct timeline_regions_wish){ metric->tops, metric->bottoms, metric->n_tops, metric->n_bottoms, 0 };
    }
    return timeline_find_regions(read->timeline, &wish, source->arena, &read->regions, err);
}

int timeline_begin(const struct report_source *source, const struct calltree_total *totals, size_t n_totals,
                   const struct report_wish *report, double step_ns, uint32_t steps_max, bool salvage,
                   struct timeline_read *read, struct second_pass *pass, struct err *err)
{
    const struct calltree *tree = source->tree;
    uint32_t *row_of = arena_alloc(source->arena, ((size_t)tree->n_methods + 1) * sizeof *row_of);
    *read = (struct timeline_read){ .timeline = NULL };
    if (row_of == NULL)
        return err_set(err, "out of memory for a time line of %u methods", tree->n_methods);
    if (choose_rows(source, totals, n_totals, report, row_of, read, err) < 0 ||
        call_metrics_read(source->path, salvage, source->clock, source->arena, &read->rates, err) < 0)
        return -1;
    call_metrics_judge(&read->rates, source->reader, tree);
    struct timeline_wish wish = timeline_wish_of(tree);
    wish.step_ns = step_ns;
    wish.steps_max = steps_max;
    wish.row_of = row_of;
    wish.n_methods = tree->n_methods;
    wish.n_rows = (uint32_t)read->n_rows;
    if (timeline_open(&read->timeline, &wish, err) < 0)
        return -1;
    pass->observers[pass->n_observers++] = timeline_observer(read->timeline);
    return 0;
}

int timeline_read(const struct report_source *source, const struct calltree_total *totals, size_t n_totals,
                  const struct report_wish *report, double step_ns, uint32_t steps_max, bool salvage,
                  struct timeline_read *read, struct err *err)
{
    struct second_pass pass = { .n_observers = 0 };
    if (timeline_begin(source, totals, n_totals, report, step_ns, steps_max, salvage, read, &pass, err) < 0 ||
        second_pass_run(&pass, source, salvage, err) < 0)
        return -1;
    return timeline_end(source, read, err);
}

double timeline_rate_of(const struct timeline_read *read, size_t rate, const uint64_t *metrics, size_t n_metrics)
{
    const struct statistics_metric *metric = &read->rates.wish.metrics[rate];
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
