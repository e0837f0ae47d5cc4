/*
 * Who called the methods of groups, where stack samples are all that a trace has: they tell no calls, but who made
 * them.
 *
 * Of a recursive method the outermost call counts, as in the time of its row; so the callers' times add up to that.
 */
#include "report/view/groups_internal.h"

#include "report/sample_rows.h"

/* The row of a method that calls that of a row; without a name it has no Java caller. */
static uint32_t caller_row(struct groups_making *making, uint32_t row, const struct method_name *name)
{
    static const struct method_name nobody;
    struct arena *arena = making->source->arena;
    const char *label = name == NULL ? "" : java_names_display(arena, name, JAVA_NAMES_SHORT),
               *text = name == NULL ? "" : method_name_text(arena, name);
    uint32_t number =
        groups_row_of_key(making, arena_printf(arena, "%u\n%s", row, text),
                          name == NULL ? "  from no other method" : arena_printf(arena, "  from %s", label),
                          name == NULL ? &nobody : name);
    making->rows[number].caller_of = row;
    return number;
}

/* By node of the tree: the caller's row of an outermost call. */
static void add_times(struct groups_making *making, uint32_t *of_node)
{
    const struct report_source *source = making->source;
    const struct calltree *tree = source->tree;
    for (uint32_t i = 1; i < tree->n_nodes; i++) {
        uint32_t method = tree->nodes[i].method, parent = tree->nodes[i].parent;
        uint32_t row = method < tree->n_methods ? making->of_method[method] : GROUPS_NONE;
        of_node[i] = GROUPS_NONE;
        if (row == GROUPS_NONE || groups_is_inside(making, i, row))
            continue;
        bool is_called = tree->nodes[parent].method < tree->n_methods;
        struct method_name name =
            is_called ? report_name(source, tree->nodes[parent].method) : (struct method_name){ 0 };
        of_node[i] = caller_row(making, row, is_called ? &name : NULL);
        making->rows[of_node[i]].all.ticks += (double)report_total_ticks(source, i);
    }
}

static void add_sample(const struct groups_making *making, const uint32_t *of_node, size_t i,
                       struct sample_profile *profile)
{
    const struct calltree *tree = making->source->tree;
    uint32_t leaf = making->source->sampled->leaf[i], n = 0;
    uint32_t *rows = making->stack;
    for (uint32_t node = leaf == CALLTREE_NONE ? 0 : leaf; node != 0 && tree->nodes[node].parent != node;
         node = tree->nodes[node].parent)
        if (of_node[node] < making->n && n < making->n && (n == 0 || rows[n - 1] != of_node[node]))
            rows[n++] = of_node[node];
    sample_rows_add(making->source, i, rows, n, profile);
}

void groups_errors_of_nodes(struct groups_making *making, const uint32_t *of_node)
{
    const struct trace_samples *samples = making->source->sampled->samples;
    struct sample_profile profile;
    making->stack = arena_alloc(making->source->arena, ((size_t)making->n + 1) * sizeof *making->stack);
    sample_rows_open(making->source, &profile);
    for (size_t i = 0; i < samples->n_kept; i++)
        if (!samples->kept[i].is_idle)
            add_sample(making, of_node, i, &profile);
    for (uint32_t i = 0; i < making->n; i++) {
        struct groups_row *row = &making->rows[i];
        struct sample_share total = sample_profile_total(&profile, i);
        if (total.n_samples == 0)
            continue;
        row->n_samples = (double)total.n_samples;
        row->time_error = sample_rows_error(&total, row->all.ticks, making->found->total.ticks);
    }
    sample_profile_free(&profile);
}

/* Contexts of the trace, which waits have: the same. */
static void find_contexts(struct groups_making *making)
{
    const struct trace_reader *reader = making->source->reader;
    for (uint32_t i = 1; i <= trace_n_contexts(reader); i++) {
        const struct trace_context *of = trace_context(reader, i);
        uint32_t row = making->of_sampled[of->method], above = of->parent;
        while (above != 0 && making->of_sampled[trace_context(reader, above)->method] != row)
            above = trace_context(reader, above)->parent;
        making->caller_of_context[i] = GROUPS_NONE;
        if (row != GROUPS_NONE && above == 0)
            making->caller_of_context[i] = caller_row(
                making, row,
                of->parent == 0 ? NULL
                                : &trace_sampled_method(reader, trace_context(reader, of->parent)->method)->names);
    }
}

void groups_add_callers(struct groups_making *making)
{
    struct arena *arena = making->source->arena;
    uint32_t *of_node = arena_alloc(arena, ((size_t)making->source->tree->n_nodes + 1) * sizeof *of_node);
    making->caller_of_context =
        arena_alloc(arena, ((size_t)trace_n_contexts(making->source->reader) + 1) * sizeof *of_node);
    add_times(making, of_node);
    find_contexts(making);
    groups_errors_of_nodes(making, of_node);
}
