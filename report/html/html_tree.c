/* The page's call tree. */
#include "report/export/export_tree.h"
#include "report/html/html_parts.h"
#include "report/html/html_stacks.h"
#include "report/tree_view.h"

#define FIRST_SHARE 0.0001
#define N_TIMES     3 /* the first values: calls, wall, CPU */

struct drawn {
    const struct report_source *source;
    struct export_tree tree;
    struct export_value values[EXPORT_VALUES_MAX];
    size_t n_values;
    enum vm_part *part_of; /* by node; the arena's */
    uint32_t *index;       /* by node: its index among those drawn; the arena's */
    double share;          /* contexts with less are left out */
};

/* A share that leaves room for all that have as much. */
static double find_share(const struct report_source *source)
{
    const struct calltree *tree = source->tree;
    double all = 0, share = FIRST_SHARE;
    for (uint32_t i = 0; i < tree->n_roots; i++)
        all += (double)report_total_ticks(source, tree->roots[i].node);
    for (; share < 1; share *= 2) {
        size_t n = 0;
        for (uint32_t i = 1; i < tree->n_nodes; i++)
            n += (double)report_total_ticks(source, i) >= share * all;
        if (n + tree->n_roots <= HTML_NODES_MAX)
            break;
    }
    return share;
}

static bool is_drawn(const struct drawn *drawn, uint32_t node)
{
    /* The VM's threads wait on the wall clock, and nothing else is known of them. */
    return drawn->tree.owner[node] == node &&
           (drawn->source->clock == PHASES_CPU || drawn->part_of[node] == VM_PART_APPLICATION);
}

static void find_indexes(struct drawn *drawn)
{
    const struct calltree *tree = drawn->source->tree;
    struct arena *arena = drawn->source->arena;
    uint32_t n = 0;
    drawn->part_of = arena_alloc(arena, ((size_t)tree->n_nodes + 1) * sizeof *drawn->part_of);
    drawn->index = arena_alloc(arena, ((size_t)tree->n_nodes + 1) * sizeof *drawn->index);
    for (uint32_t i = 0; i < tree->n_roots; i++)
        drawn->part_of[tree->roots[i].node] = tree->roots[i].part;
    for (uint32_t i = 1; i < tree->n_nodes; i++) {
        drawn->part_of[i] = tree->nodes[i].parent == i ? drawn->part_of[i] : drawn->part_of[tree->nodes[i].parent];
        drawn->index[i] = is_drawn(drawn, i) ? n++ : n;
    }
}

/* ---- names ---- */

/* What a frame is: "java", "native", or the part of the JVM whose root it is. */
static const char *kind_of(const struct drawn *drawn, uint32_t node)
{
    uint32_t method = drawn->source->tree->nodes[node].method;
    if (method >= drawn->source->tree->n_methods)
        return vm_part_key(drawn->part_of[node]);
    const struct trace_method *of = trace_method(drawn->source->reader, method);
    return html_frame_key(of != NULL && of->code_bytes == 0 ? HTML_FRAME_NATIVE : HTML_FRAME_JAVA);
}

/* What the class file calls the method, for who looks for it in the table. */
static const char *key_of(const struct drawn *drawn, uint32_t node)
{
    uint32_t method = drawn->source->tree->nodes[node].method;
    if (method >= drawn->source->tree->n_methods)
        return "";
    struct method_name name = report_name(drawn->source, method);
    return method_name_text(drawn->source->arena, &name);
}

/* The contexts by whose method or root there is a name, each once; and by context its name. */
struct names {
    uint32_t *first, *of; /* the arena's */
    uint32_t n, n_of;
};

static struct names find_names(const struct drawn *drawn)
{
    const struct calltree *tree = drawn->source->tree;
    struct arena *arena = drawn->source->arena;
    struct names names = { .first = arena_alloc(arena, ((size_t)tree->n_nodes + 1) * sizeof *names.first),
                           .of = arena_alloc(arena, ((size_t)tree->n_nodes + 1) * sizeof *names.of) };
    uint32_t *known = arena_alloc(arena, ((size_t)tree->n_methods + 1) * sizeof *known); /* from 1 on */
    for (uint32_t i = 1; i < tree->n_nodes; i++) {
        uint32_t method = tree->nodes[i].method, number = method < tree->n_methods ? known[method] : 0;
        if (!is_drawn(drawn, i))
            continue;
        if (number == 0) {
            names.first[names.n] = i;
            number = ++names.n;
        }
        if (method < tree->n_methods)
            known[method] = number;
        names.of[names.n_of++] = number - 1;
    }
    return names;
}

static void put_names(struct html_json *json, const struct drawn *drawn)
{
    struct names names = find_names(drawn);
    html_array(json, "names");
    for (uint32_t i = 0; i < names.n; i++)
        html_text(json, NULL, export_name(&drawn->tree, names.first[i]));
    html_close(json, ']');
    html_array(json, "keys");
    for (uint32_t i = 0; i < names.n; i++)
        html_text(json, NULL, key_of(drawn, names.first[i]));
    html_close(json, ']');
    html_array(json, "kinds");
    for (uint32_t i = 0; i < names.n; i++)
        html_text(json, NULL, kind_of(drawn, names.first[i]));
    html_close(json, ']');
    html_array(json, "name");
    for (uint32_t i = 0; i < names.n_of; i++)
        html_exact(json, NULL, names.of[i]);
    html_close(json, ']');
}

/* ---- values ---- */

/* Samples know times only.  A thread of the VM that nobody read the counters of has none, not 0; a context that was
 * hardly counted, too. */
static bool is_known(const struct drawn *drawn, uint32_t node, const struct export_value *value)
{
    const struct calltree *tree = drawn->source->tree;
    bool is_time = value->kind == EXPORT_CPU || (value->kind == EXPORT_WALL && drawn->source->clock == PHASES_WALL);
    if (sampled_is(drawn->source, tree->nodes[node].method) && !is_time)
        return false;
    if (value->kind != EXPORT_METRICS || value->metrics[0] < CALLTREE_COUNTERS)
        return true;
    double cpu = (double)tree->total_cpu_ticks[node];
    double uncounted = (double)calltree_total_metrics(tree, node)[CALLTREE_UNCOUNTED];
    if (cpu > 0 && uncounted > 0.1 * cpu)
        return false;
    return drawn->part_of[node] == VM_PART_APPLICATION || export_inclusive(&drawn->tree, node, value) > 0;
}

typedef double value_of_node(const struct export_tree *tree, uint32_t node, const struct export_value *value);

static void put_numbers(struct html_json *json, const char *key, const struct drawn *drawn,
                        const struct export_value *value, value_of_node *of)
{
    html_array(json, key);
    for (uint32_t i = 1; i < drawn->source->tree->n_nodes; i++)
        if (is_drawn(drawn, i))
            html_number(json, NULL, is_known(drawn, i, value) ? of(&drawn->tree, i, value) : -1);
    html_close(json, ']');
}

static void put_nodes(struct html_json *json, const struct drawn *drawn)
{
    const struct calltree *tree = drawn->source->tree;
    html_array(json, "parent");
    for (uint32_t i = 1; i < tree->n_nodes; i++)
        if (is_drawn(drawn, i)) {
            uint32_t parent = tree->nodes[i].parent;
            html_exact(json, NULL, parent == i ? -1 : (double)drawn->index[parent]);
        }
    html_close(json, ']');
    html_array(json, "values");
    for (size_t i = 0; i < drawn->n_values && i < HTML_VALUES_MAX; i++) {
        const struct export_value *value = &drawn->values[i];
        html_object(json, NULL);
        html_text(json, "name", value->name);
        html_text(json, "unit", value->unit);
        put_numbers(json, "own", drawn, value, export_own);
        put_numbers(json, "all", drawn, value, export_inclusive);
        html_close(json, '}');
    }
    html_close(json, ']');
}

/* ---- what is known by samples ---- */

static void put_known_by(struct html_json *json, const struct drawn *drawn, const struct tree_view *view)
{
    const struct report_source *source = drawn->source;
    html_array(json, "probe_ns");
    for (uint32_t i = 1; i < source->tree->n_nodes; i++)
        if (is_drawn(drawn, i))
            html_number(json, NULL, view->lines[view->line_of[i]].probe_ticks * source->tree->ns_per_tick);
    html_close(json, ']');
    html_array(json, "known_by");
    for (uint32_t i = 1; i < source->tree->n_nodes; i++)
        if (is_drawn(drawn, i))
            html_text(json, NULL, tree_view_known_by(view, &view->lines[view->line_of[i]]));
    html_close(json, ']');
    html_array(json, "share_error");
    for (uint32_t i = 1; i < source->tree->n_nodes; i++)
        if (is_drawn(drawn, i))
            html_number(json, NULL, view->lines[view->line_of[i]].share_error);
    html_close(json, ']');
}

/* Of contexts, what probes measured, in ns, how each is known, and half of the share's interval. */
static void put_known(struct html_json *json, const struct drawn *drawn)
{
    struct tree_view view;
    double all_ticks;
    if (drawn->source->sampled == NULL)
        return;
    tree_view_all(drawn->source, &all_ticks);
    tree_view_make(drawn->source, TREE_VIEW_ALL, 0, 0, all_ticks, &view);
    put_known_by(json, drawn, &view);
    tree_view_free(&view);
}

/* Where steps of the time line are those of the tree's clock. */
static void put_steps(struct html_json *json, const struct drawn *drawn, const struct timeline_read *line)
{
    const struct report_source *source = drawn->source;
    bool is_of_clock = source->clock == PHASES_CPU || source->tree->cpu_is_wall ||
                       (source->sampled != NULL && source->sampled->kept_ticks != NULL);
    if (line == NULL || !is_of_clock || trace_samples_are_all(source->reader))
        return;
    uint32_t *of = arena_alloc(source->arena, ((size_t)source->tree->n_nodes + 1) * sizeof *of);
    for (uint32_t i = 1; i < source->tree->n_nodes; i++) {
        uint32_t owner = drawn->tree.owner[i];
        of[i] = owner == CALLTREE_NONE ? 0 : !is_drawn(drawn, owner) ? CALLTREE_NONE : drawn->index[owner];
    }
    html_steps(json, source, line, of);
}

void html_tree(struct html_json *json, const struct report_source *source, bool times_only,
               const struct timeline_read *line)
{
    struct drawn *drawn = arena_alloc(source->arena, sizeof *drawn);
    drawn->source = source;
    drawn->share = find_share(source);
    export_tree_open(&drawn->tree, source, drawn->share);
    drawn->n_values = export_values(source, false, drawn->values);
    if (times_only && drawn->n_values > N_TIMES)
        drawn->n_values = N_TIMES;
    find_indexes(drawn);
    html_object(json, "tree");
    put_names(json, drawn);
    put_nodes(json, drawn);
    put_known(json, drawn);
    put_steps(json, drawn, line);
    html_text(json, "clock", report_clock_key(source->clock));
    html_number(json, "least_share", drawn->share);
    html_bool(json, "sampled", source->sampled != NULL);
    html_number(json, "contexts", source->tree->n_nodes - 1.0);
    html_close(json, '}');
    export_tree_close(&drawn->tree);
}
