#include "report/view/timeline_table.h"

/* A sample in a step: the row that was measured then, and the row that it was in. */
struct line_sample {
    uint32_t step, measured, row;
    uint64_t weight;
};

struct dividing {
    const struct report_source *source;
    const struct timeline_read *read;
    const uint32_t *row_of; /* by method of the source's tree */
    uint32_t *measured_of;  /* by node of the measured tree: its row; the arena's, as all of these */
    uint32_t *pool_of;      /* by row: the first of those that are divided together; itself, if it is none of them */
    uint64_t *had;          /* by step, then row: ticks before */
    struct line_sample *samples;
    size_t n_samples;
};

uint64_t timeline_since(const struct report_source *source, const struct trace_kept_sample *sample)
{
    double ns_per_tick = source->tree->ns_per_tick;
    double ns = (double)(sample->is_waiting ? sample->weight_ns : sample->ready_ns),
           ticks = ns_per_tick > 0 ? ns / ns_per_tick : 0;
    return (double)sample->ticks > ticks ? sample->ticks - (uint64_t)ticks : 0;
}

static int by_pool_and_step(const void *a, const void *b)
{
    const struct line_sample *x = a, *y = b;
    if (x->measured != y->measured)
        return x->measured < y->measured ? -1 : 1;
    return (x->step > y->step) - (x->step < y->step);
}

/* As timeline_rows does it: that of the method, or else of its caller. */
static void find_measured(const struct dividing *d)
{
    const struct calltree *tree = d->source->sampled->measured;
    uint32_t n_rows = (uint32_t)d->read->n_rows;
    for (uint32_t i = 0; i < tree->n_nodes; i++) {
        const struct calltree_node *node = &tree->nodes[i];
        bool is_root = i == 0 || node->parent == i;
        uint32_t own = is_root || node->method >= d->source->tree->n_methods ? n_rows : d->row_of[node->method];
        d->measured_of[i] = is_root ? n_rows : own < n_rows ? own : d->measured_of[node->parent];
    }
}

/* Contexts whose time is another one, since samples tell the end of calls. */
static void find_pool(const struct dividing *d)
{
    const struct calltree *measured = d->source->sampled->measured, *ended = d->source->sampled->ended;
    uint32_t first = CALLTREE_NONE;
    for (uint32_t row = 0; row <= d->read->n_rows; row++)
        d->pool_of[row] = row;
    for (uint32_t i = 1; i < measured->n_nodes; i++)
        if (measured->nodes[i].cpu_ticks != ended->nodes[i].cpu_ticks && d->measured_of[i] < first)
            first = d->measured_of[i];
    for (uint32_t i = 1; i < measured->n_nodes; i++)
        if (measured->nodes[i].cpu_ticks != ended->nodes[i].cpu_ticks)
            d->pool_of[d->measured_of[i]] = first;
}

/* The row of the innermost call that has one; CALLTREE_NONE: it is in no thread of the application. */
static uint32_t row_of_leaf(const struct dividing *d, uint32_t node)
{
    const struct calltree *tree = d->source->tree;
    uint32_t row = CALLTREE_NONE;
    for (; tree->nodes[node].parent != node; node = tree->nodes[node].parent)
        if (row == CALLTREE_NONE && tree->nodes[node].method < tree->n_methods)
            row = d->row_of[tree->nodes[node].method];
    for (uint32_t i = 0; i < tree->n_roots; i++)
        if (tree->roots[i].node == node && tree->roots[i].part == VM_PART_APPLICATION)
            return row == CALLTREE_NONE ? (uint32_t)d->read->n_rows : row;
    return CALLTREE_NONE;
}

static void find_samples(struct dividing *d)
{
    const struct sampled_tree *sampled = d->source->sampled;
    for (size_t i = 0; i < sampled->samples->n_kept; i++) {
        const struct trace_kept_sample *sample = &sampled->samples->kept[i];
        if (sample->ticks == TRACE_UNKNOWN || sampled->leaf[i] == CALLTREE_NONE || sample->weight_ns == 0)
            continue;
        uint32_t row = row_of_leaf(d, sampled->leaf[i]);
        if (row != CALLTREE_NONE)
            d->samples[d->n_samples++] =
                (struct line_sample){ timeline_step_at(d->read->timeline, sample->ticks),
                                      d->pool_of[d->measured_of[sampled->anchor[i]]], row, sample->weight_ns };
    }
    qsort(d->samples, d->n_samples, sizeof *d->samples, by_pool_and_step);
}

static void add_ticks(const struct dividing *d, uint32_t row, uint32_t step, uint64_t ticks)
{
    timeline_set_row_ticks(d->read->timeline, row, step, timeline_row_ticks(d->read->timeline, row, step) + ticks);
}

/* Take a pool's ticks of a step from its rows. */
static uint64_t take_pool(const struct dividing *d, uint32_t pool, uint32_t step)
{
    uint64_t whole = 0;
    for (uint32_t row = 0; row <= d->read->n_rows; row++) {
        uint64_t had = d->pool_of[row] == pool ? d->had[step * (d->read->n_rows + 1) + row] : 0;
        whole += had;
        add_ticks(d, row, step, -had);
    }
    return whole;
}

/* Samples of one pool divide its time in a step: whole ticks, whose sum it is. */
static void divide(const struct dividing *d, const struct line_sample *samples, size_t n, uint32_t step)
{
    uint64_t whole = take_pool(d, samples->measured, step), given = 0;
    double weight = 0, seen = 0;
    for (size_t i = 0; i < n; i++)
        weight += (double)samples[i].weight;
    for (size_t i = 0; i < n && whole > 0; i++) {
        seen += (double)samples[i].weight;
        uint64_t end = i + 1 == n ? whole : (uint64_t)((double)whole * (seen / weight));
        end = end < given ? given : end > whole ? whole : end;
        add_ticks(d, samples[i].row, step, end - given);
        given = end;
    }
}

/* How many samples from the first one on are of its step. */
static size_t of_one_step(const struct line_sample *samples, size_t n)
{
    size_t i = 1;
    while (i < n && samples[i].step == samples->step)
        i++;
    return i;
}

/* A step in which no sample met the pool is like the nearest one. */
static void divide_pool(const struct dividing *d, const struct line_sample *samples, size_t n)
{
    uint32_t step = 0, n_steps = timeline_n_steps(d->read->timeline);
    for (size_t i = 0, n_here, n_left; i < n; i += n_here) {
        n_here = of_one_step(samples + i, n - i);
        n_left = n - i - n_here;
        uint32_t end = n_left == 0 ? n_steps : (samples[i].step + samples[i + n_here].step) / 2 + 1;
        for (; step < end; step++)
            divide(d, samples + i, n_here, step);
    }
}

static void make_room(struct dividing *d)
{
    struct arena *arena = d->source->arena;
    size_t n_rows = d->read->n_rows + 1, n_words = timeline_n_steps(d->read->timeline) * n_rows;
    d->measured_of = arena_alloc(arena, ((size_t)d->source->sampled->measured->n_nodes + 1) * sizeof *d->measured_of);
    d->pool_of = arena_alloc(arena, n_rows * sizeof *d->pool_of);
    d->had = arena_alloc(arena, n_words * sizeof *d->had);
    d->samples = arena_alloc(arena, (d->source->sampled->samples->n_kept + 1) * sizeof *d->samples);
    for (size_t i = 0; i < n_words; i++)
        d->had[i] = timeline_row_ticks(d->read->timeline, (uint32_t)(i % n_rows), (uint32_t)(i / n_rows));
}

/* ---- on the wall clock ---- */

/* Who is given parts of a sample's time. */
struct wall_row {
    const struct dividing *d;
    uint32_t row;
};

static bool give_row(void *context, uint32_t step, uint64_t ticks)
{
    const struct wall_row *to = context;
    add_ticks(to->d, to->row, step, ticks);
    return true;
}

static void give_samples(const struct dividing *d)
{
    const struct sampled_tree *sampled = d->source->sampled;
    for (uint32_t step = 0; step < timeline_n_steps(d->read->timeline); step++)
        for (uint32_t row = 0; row <= d->read->n_rows; row++)
            timeline_set_row_ticks(d->read->timeline, row, step, 0);
    for (size_t i = 0; i < sampled->samples->n_kept; i++) {
        const struct trace_kept_sample *sample = &sampled->samples->kept[i];
        struct wall_row to = { .d = d };
        if (sample->ticks == TRACE_UNKNOWN || sampled->leaf[i] == CALLTREE_NONE || sample->is_idle)
            continue;
        to.row = row_of_leaf(d, sampled->leaf[i]);
        if (to.row != CALLTREE_NONE)
            timeline_spread(d->read->timeline, timeline_since(d->source, sample), sample->ticks, sampled->kept_ticks[i],
                            give_row, &to);
    }
}

void timeline_divide(const struct report_source *source, const uint32_t *row_of, struct timeline_read *read)
{
    struct dividing d = { .source = source, .read = read, .row_of = row_of };
    if (source->sampled->kept_ticks != NULL) {
        give_samples(&d);
        return;
    }
    make_room(&d);
    find_measured(&d);
    find_pool(&d);
    find_samples(&d);
    for (size_t i = 0, end; i < d.n_samples; i = end) {
        for (end = i + 1; end < d.n_samples && d.samples[end].measured == d.samples[i].measured;)
            end++;
        divide_pool(&d, d.samples + i, end - i);
    }
}
