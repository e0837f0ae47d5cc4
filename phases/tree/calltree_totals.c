/* What is computed after the trace has been read: inclusive values, walks, totals by method. */

#include "phases/tree/calltree_internal.h"
#include "core/base/xalloc.h"

void calltree_add_up(struct calltree *tree)
{
    memcpy(tree->total_rows, tree->rows, tree->n_rows * tree->row_words * sizeof(uint64_t));
    for (uint32_t i = tree->n_nodes; i-- > 1;) {
        uint32_t parent = tree->nodes[i].parent;
        tree->total_cpu_ticks[i] += tree->nodes[i].cpu_ticks;
        if (parent == i)
            continue;
        tree->total_cpu_ticks[parent] += tree->total_cpu_ticks[i];
        for (size_t w = 0; tree->nodes[i].row != 0 && w < tree->row_words; w++)
            calltree_total_row(tree, parent)[w] += calltree_total_row(tree, i)[w];
    }
}

double calltree_pair_ns(const struct calltree *tree)
{
    return (tree->inside_ticks + tree->outside_ticks) * tree->ns_per_tick;
}

struct calltree_walk calltree_walk_from(const struct calltree *tree, uint32_t top)
{
    return (struct calltree_walk){ .tree = tree, .top = top };
}

bool calltree_walk(struct calltree_walk *walk)
{
    const struct calltree_node *nodes = walk->tree->nodes;
    if (!walk->is_begun) {
        walk->is_begun = true;
        walk->node = walk->top;
        return true;
    }
    if (!walk->is_leaving && nodes[walk->node].first_child != 0) {
        walk->node = nodes[walk->node].first_child;
        walk->depth++;
        return true;
    }
    if (!walk->is_leaving) {
        walk->is_leaving = true;
        return true;
    }
    if (walk->node == walk->top)
        return false;
    if (nodes[walk->node].next_sibling != 0) {
        walk->node = nodes[walk->node].next_sibling;
        walk->is_leaving = false;
    } else {
        walk->node = nodes[walk->node].parent;
        walk->depth--;
    }
    return true;
}

struct totals_by_method {
    struct calltree_total *totals; /* by method */
    uint32_t *n_active;            /* contexts of the method around the current one */
    uint64_t *metrics;             /* by method, the arena's */
};

static void add_context(const struct calltree *tree, const struct totals_by_method *by, uint32_t i)
{
    const struct calltree_node *node = &tree->nodes[i];
    const uint64_t *row = calltree_row(tree, i), *total_row = calltree_total_row(tree, i);
    struct calltree_total *total = &by->totals[node->method];
    total->calls += calltree_calls(tree, i);
    total->unwinds += row[ROW_UNWINDS];
    total->n_open += (uint32_t)row[ROW_OPEN];
    total->cpu_ticks += node->cpu_ticks;
    total->wall_ticks += node->cpu_ticks + row[ROW_OFF];
    if (by->n_active[node->method]++ > 0) {
        total->is_recursive = true;
        return;
    }
    struct calltree_partial partial = calltree_partial_at(tree, i);
    total->partial_cpu_ticks += partial.cpu_ticks;
    total->partial_wall_ticks += partial.wall_ticks;
    total->total_cpu_ticks += tree->total_cpu_ticks[i];
    total->total_wall_ticks += tree->total_cpu_ticks[i] + total_row[ROW_OFF];
    for (size_t m = 0; node->row != 0 && m < tree->n_metrics; m++)
        by->metrics[node->method * tree->n_metrics + m] += total_row[ROW_METRICS + m];
}

static void add_tree(const struct calltree *tree, const struct totals_by_method *by, uint32_t root)
{
    struct calltree_walk walk = calltree_walk_from(tree, root);
    while (calltree_walk(&walk)) {
        uint32_t method = tree->nodes[walk.node].method;
        if (method >= tree->n_methods) /* a root, or folded */
            continue;
        if (walk.is_leaving)
            by->n_active[method]--;
        else
            add_context(tree, by, walk.node);
    }
}

/* A method that only samples know has time, and no calls. */
static bool has_any(const struct calltree_total *total)
{
    return total->calls > 0 || total->total_cpu_ticks > 0 || total->total_wall_ticks > 0;
}

static size_t keep_called(const struct calltree *tree, const struct totals_by_method *by)
{
    size_t n_kept = 0;
    for (uint32_t i = 0; i < tree->n_methods; i++) {
        if (!has_any(&by->totals[i]))
            continue;
        struct calltree_total *kept = &by->totals[n_kept++];
        *kept = by->totals[i];
        kept->method = i;
        kept->total_metrics = tree->n_metrics == 0 ? NULL : &by->metrics[i * tree->n_metrics];
    }
    return n_kept;
}

void calltree_totals(const struct calltree *tree, enum vm_part part, struct arena *arena,
                     struct calltree_total **totals, size_t *n_totals)
{
    size_t n = (size_t)tree->n_methods + 1;
    struct totals_by_method by = { arena_alloc(arena, n * sizeof *by.totals), xcalloc(n, sizeof *by.n_active),
                                   arena_alloc(arena, n * (tree->n_metrics + 1) * sizeof *by.metrics) };
    for (uint32_t i = 0; i < tree->n_roots; i++)
        if (tree->roots[i].part == part)
            add_tree(tree, &by, tree->roots[i].node);
    free(by.n_active);
    *n_totals = keep_called(tree, &by);
    *totals = by.totals;
}
