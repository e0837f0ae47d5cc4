/*
 * Stack samples in the time line: methods without probes, step by step.
 */
#include "report/sampled_tree.h"
#include "report/view/timeline_table.h"

#include <stdlib.h>
#include <string.h>

/* A sample in a step: the row that was measured then, and the row that it was in. */
struct line_sample {
    uint32_t step, measured, row;
    double weight;
};

struct dividing {
    const struct report_source *whole;
    struct timeline_read *read;
    uint32_t *row_of;      /* by method of the whole tree; CALLTREE_NONE: it has none; the arena's, as the next two */
    uint32_t *measured_of; /* by node of the measured tree */
    struct line_sample *samples;
    size_t n_samples, n_all; /* n_all: of the rows */
};

static int by_step(const void *a, const void *b)
{
    const struct line_sample *x = a, *y = b;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    return (x->measured > y->measured) - (x->measured < y->measured);
}

/* Methods that only samples know and that have so much of the time, with what they call, that the report has them. */
static int choose_sampled(struct dividing *d, double min_share, struct err *err)
{
    const struct report_source *whole = d->whole;
    const struct calltree *tree = whole->tree;
    struct timeline_read *read = d->read;
    struct calltree_total *totals;
    double all = 0;
    size_t n, n_methods = (size_t)tree->n_methods + 1;
    if (calltree_totals(tree, VM_PART_APPLICATION, whole->arena, &totals, &n, err) < 0)
        return -1;
    uint32_t *methods = arena_alloc(whole->arena, (n + 1) * sizeof *methods);
    d->row_of = arena_alloc(whole->arena, n_methods * sizeof *d->row_of);
    if (methods == NULL || d->row_of == NULL)
        return err_set(err, "out of memory for a time line of %zu methods", n);
    for (uint32_t i = 0; i < tree->n_roots; i++)
        all += (double)tree->total_cpu_ticks[tree->roots[i].node];
    for (size_t i = 0; i < n_methods; i++)
        d->row_of[i] = CALLTREE_NONE;
    for (size_t i = 0; i < read->n_rows; i++)
        d->row_of[read->rows[i]->method] = (uint32_t)i;
    for (size_t i = 0; i < n; i++)
        if (sampled_is(whole, totals[i].method) && (double)totals[i].total_cpu_ticks >= min_share * all) {
            methods[read->n_sampled] = totals[i].method;
            d->row_of[totals[i].method] = (uint32_t)(read->n_rows + 1 + read->n_sampled++);
        }
    read->sampled_labels = report_labels(whole, methods, read->n_sampled);
    return read->sampled_labels == NULL ? err_set(err, "out of memory for the names of %zu methods", n) : 0;
}

/* As timeline_rows does it: that of the method, or else of its caller. */
static bool find_measured(struct dividing *d)
{
    const struct calltree *tree = d->whole->sampled->measured;
    uint32_t n_rows = (uint32_t)d->read->n_rows;
    d->measured_of = arena_alloc(d->whole->arena, ((size_t)tree->n_nodes + 1) * sizeof *d->measured_of);
    for (uint32_t i = 0; d->measured_of != NULL && i < tree->n_nodes; i++) {
        const struct calltree_node *node = &tree->nodes[i];
        bool is_root = i == 0 || node->parent == i;
        uint32_t own = is_root || node->method >= d->whole->tree->n_methods ? n_rows : d->row_of[node->method];
        d->measured_of[i] = is_root ? n_rows : own < n_rows ? own : d->measured_of[node->parent];
    }
    return d->measured_of != NULL;
}

/* The row of the innermost call that has one; CALLTREE_NONE: it is in no thread of the application. */
static uint32_t row_of_leaf(const struct dividing *d, uint32_t node)
{
    const struct calltree *tree = d->whole->tree;
    uint32_t row = CALLTREE_NONE;
    for (; tree->nodes[node].parent != node; node = tree->nodes[node].parent)
        if (row == CALLTREE_NONE && tree->nodes[node].method < tree->n_methods)
            row = d->row_of[tree->nodes[node].method];
    for (uint32_t i = 0; i < tree->n_roots; i++)
        if (tree->roots[i].node == node && tree->roots[i].part == VM_PART_APPLICATION)
            return row == CALLTREE_NONE ? (uint32_t)d->read->n_rows : row;
    return CALLTREE_NONE;
}

static bool find_rows(struct dividing *d)
{
    const struct sampled_tree *sampled = d->whole->sampled;
    const struct trace_samples *from = sampled->samples;
    d->samples = arena_alloc(d->whole->arena, (from->n_kept + 1) * sizeof *d->samples);
    for (size_t i = 0; d->samples != NULL && i < from->n_kept; i++) {
        const struct trace_kept_sample *sample = &from->kept[i];
        if (sample->ticks == TRACE_UNKNOWN || sampled->leaf[i] == CALLTREE_NONE)
            continue;
        uint32_t row = row_of_leaf(d, sampled->leaf[i]);
        if (row != CALLTREE_NONE)
            d->samples[d->n_samples++] =
                (struct line_sample){ timeline_step_at(d->read->timeline, sample->ticks),
                                      d->measured_of[sampled->anchor[i]], row, (double)sample->weight_ns };
    }
    if (d->samples != NULL)
        qsort(d->samples, d->n_samples, sizeof *d->samples, by_step);
    return d->samples != NULL;
}

/* Samples of one step and row divide its time. */
static void divide(const struct dividing *d, const struct line_sample *samples, size_t n)
{
    double *ticks = d->read->divided + samples->step * d->n_all, weight = 0;
    double whole = (double)timeline_row_ticks(d->read->timeline, samples->measured, samples->step);
    for (size_t i = 0; i < n; i++)
        weight += samples[i].weight;
    if (!(weight > 0))
        return;
    ticks[samples->measured] -= whole;
    for (size_t i = 0; i < n; i++)
        ticks[samples[i].row] += whole * (samples[i].weight / weight);
}

int timeline_divide(const struct report_source *whole, double min_share, struct timeline_read *read, struct err *err)
{
    struct dividing d = { .whole = whole, .read = read };
    uint32_t n_steps = timeline_n_steps(read->timeline);
    if (whole->sampled == NULL)
        return 0;
    if (choose_sampled(&d, min_share, err) < 0)
        return -1;
    d.n_all = read->n_rows + 1 + read->n_sampled;
    double *divided = arena_alloc(whole->arena, (n_steps * d.n_all + 1) * sizeof *divided);
    if (divided == NULL || !find_measured(&d) || !find_rows(&d))
        return err_set(err, "out of memory for a time line of %zu methods", d.n_all);
    for (uint32_t step = 0; step < n_steps; step++)
        for (size_t row = 0; row <= read->n_rows; row++)
            divided[step * d.n_all + row] = (double)timeline_row_ticks(read->timeline, (uint32_t)row, step);
    read->divided = divided;
    for (size_t i = 0, end; i < d.n_samples; i = end) {
        for (end = i + 1; end < d.n_samples && by_step(&d.samples[i], &d.samples[end]) == 0;)
            end++;
        divide(&d, d.samples + i, end - i);
    }
    return 0;
}

double timeline_ticks(const struct timeline_read *read, size_t row, uint32_t step)
{
    return read->divided == NULL ? (double)timeline_row_ticks(read->timeline, (uint32_t)row, step)
                                 : read->divided[step * (read->n_rows + 1 + read->n_sampled) + row];
}
