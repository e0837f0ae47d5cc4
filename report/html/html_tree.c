/*
 * The page's call tree.
 */
#include "report/export/export_tree.h"
#include "report/html/html_stacks.h"
#include "report/tree_view.h"

#include <math.h>
#include <string.h>

#define FIRST_SHARE 0.0001
#define N_TIMES     3 /* the first values: calls, wall, CPU */

struct drawn {
    const struct report_source *source;
    struct export_tree tree;
    struct export_value values[EXPORT_VALUES_MAX];
    size_t n_values;
    enum vm_part *part_of; /* by node; the arena's */
    uint32_t *index;       /* by node: its index among those drawn; the arena's */
    uint32_t *name_of;     /* by method: its index among the names, from 1 on; 0: none yet; the arena's */
    double share;          /* contexts with less are left out */
    struct tree_view view; /* where there are samples: intervals, what probes measured */
};

static uint64_t ticks_of(const struct report_source *source, uint32_t node)
{
    const struct calltree *tree = source->tree;
    return source->clock == PHASES_CPU ? tree->total_cpu_ticks[node] : tree->total_wall_ticks[node];
}

/* A share that leaves room for all that have as much. */
static double find_share(const struct report_source *source)
{
    const struct calltree *tree = source->tree;
    double all = 0, share = FIRST_SHARE;
    for (uint32_t i = 0; i < tree->n_roots; i++)
        all += (double)ticks_of(source, tree->roots[i].node);
    for (; share < 1; share *= 2) {
        size_t n = 0;
        for (uint32_t i = 1; i < tree->n_nodes; i++)
            n += (double)ticks_of(source, i) >= share * all;
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

static bool find_indexes(struct drawn *drawn)
{
    const struct calltree *tree = drawn->source->tree;
    struct arena *arena = drawn->source->arena;
    uint32_t n = 0;
    drawn->part_of = arena_alloc(arena, ((size_t)tree->n_nodes + 1) * sizeof *drawn->part_of);
    drawn->index = arena_alloc(arena, ((size_t)tree->n_nodes + 1) * sizeof *drawn->index);
    drawn->name_of = arena_alloc(arena, ((size_t)tree->n_methods + 1) * sizeof *drawn->name_of);
    if (drawn->part_of == NULL || drawn->index == NULL || drawn->name_of == NULL)
        return false;
    for (uint32_t i = 0; i < tree->n_roots; i++)
        drawn->part_of[tree->roots[i].node] = tree->roots[i].part;
    for (uint32_t i = 1; i < tree->n_nodes; i++) {
        drawn->part_of[i] = tree->nodes[i].parent == i ? drawn->part_of[i] : drawn->part_of[tree->nodes[i].parent];
        drawn->index[i] = is_drawn(drawn, i) ? n++ : n;
    }
    return true;
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

/* A method's name and, for who looks for it in the table, what the class file calls it. */
static bool put_name(const struct drawn *drawn, cJSON *const lists[3], uint32_t node)
{
    struct arena *arena = drawn->source->arena;
    uint32_t method = drawn->source->tree->nodes[node].method;
    const char *key = "";
    if (method < drawn->source->tree->n_methods) {
        struct method_name name = report_name(drawn->source, method);
        key = name.method == NULL ? NULL : method_name_text(arena, &name);
    }
    return key != NULL && html_put(lists[0], NULL, html_text(arena, export_name(&drawn->tree, node))) &&
           html_put(lists[1], NULL, html_text(arena, key)) &&
           html_put(lists[2], NULL, cJSON_CreateString(kind_of(drawn, node)));
}

/* Each name once. */
static bool put_names(struct drawn *drawn, cJSON *json)
{
    const struct calltree *tree = drawn->source->tree;
    cJSON *lists[] = { cJSON_AddArrayToObject(json, "names"), cJSON_AddArrayToObject(json, "keys"),
                       cJSON_AddArrayToObject(json, "kinds") },
          *of = cJSON_AddArrayToObject(json, "name");
    uint32_t n = 0;
    bool ok = of != NULL;
    for (uint32_t i = 1; ok && i < tree->n_nodes; i++) {
        uint32_t method = tree->nodes[i].method;
        uint32_t known = method < tree->n_methods ? drawn->name_of[method] : 0;
        if (!is_drawn(drawn, i))
            continue;
        if (known == 0) {
            ok = put_name(drawn, lists, i);
            known = ++n;
        }
        if (method < tree->n_methods)
            drawn->name_of[method] = known;
        ok = ok && html_put(of, NULL, cJSON_CreateNumber(known - 1));
    }
    return ok;
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
    double uncounted = (double)tree->total_metrics[node * tree->n_metrics + CALLTREE_UNCOUNTED];
    if (cpu > 0 && uncounted > 0.1 * cpu)
        return false;
    return drawn->part_of[node] == VM_PART_APPLICATION || export_inclusive(&drawn->tree, node, value) > 0;
}

static bool put_value(const struct drawn *drawn, cJSON *values, const struct export_value *value)
{
    cJSON *json = cJSON_CreateObject();
    bool ok = html_put(values, NULL, json) && html_put(json, "name", html_text(drawn->source->arena, value->name)) &&
              html_put(json, "unit", html_text(drawn->source->arena, value->unit));
    cJSON *own = cJSON_AddArrayToObject(json, "own"), *all = cJSON_AddArrayToObject(json, "all");
    ok = ok && own != NULL && all != NULL;
    for (uint32_t i = 1; ok && i < drawn->source->tree->n_nodes; i++) {
        if (!is_drawn(drawn, i))
            continue;
        bool known = is_known(drawn, i, value);
        ok = html_put(own, NULL, html_number(known ? export_own(&drawn->tree, i, value) : -1)) &&
             html_put(all, NULL, html_number(known ? export_inclusive(&drawn->tree, i, value) : -1));
    }
    return ok;
}

static bool put_nodes(const struct drawn *drawn, cJSON *json)
{
    const struct calltree *tree = drawn->source->tree;
    cJSON *parents = cJSON_AddArrayToObject(json, "parent"), *values = cJSON_AddArrayToObject(json, "values");
    bool ok = parents != NULL && values != NULL;
    for (uint32_t i = 1; ok && i < tree->n_nodes; i++)
        if (is_drawn(drawn, i)) {
            uint32_t parent = tree->nodes[i].parent;
            ok = html_put(parents, NULL, cJSON_CreateNumber(parent == i ? -1 : (double)drawn->index[parent]));
        }
    for (size_t i = 0; ok && i < drawn->n_values && i < HTML_VALUES_MAX; i++)
        ok = put_value(drawn, values, &drawn->values[i]);
    return ok;
}

/* Of contexts, what probes measured, in ns, how each is known, and half of the share's interval. */
static bool put_known(struct drawn *drawn, cJSON *json)
{
    const struct report_source *source = drawn->source;
    double all_ticks;
    struct err err;
    if (source->sampled == NULL)
        return true;
    cJSON *probes = cJSON_AddArrayToObject(json, "probe_ns"), *known = cJSON_AddArrayToObject(json, "known_by"),
          *errors = cJSON_AddArrayToObject(json, "share_error");
    bool ok = probes != NULL && known != NULL && errors != NULL && tree_view_all(source, &all_ticks, &err) == 0 &&
              tree_view_make(source, TREE_VIEW_ALL, 0, 0, all_ticks, &drawn->view, &err) == 0;
    for (uint32_t i = 1; ok && i < source->tree->n_nodes; i++) {
        const struct tree_line *line = &drawn->view.lines[drawn->view.line_of[i]];
        if (is_drawn(drawn, i))
            ok = html_put(probes, NULL, html_number(line->probe_ticks * source->tree->ns_per_tick)) &&
                 html_put(known, NULL, html_text(source->arena, tree_view_known_by(&drawn->view, line))) &&
                 html_put(errors, NULL, isnan(line->share_error) ? cJSON_CreateNull() : html_number(line->share_error));
    }
    tree_view_free(&drawn->view);
    return ok;
}

/* Where steps of the time line are those of the tree's clock. */
static bool put_steps(const struct drawn *drawn, const struct timeline_read *line, cJSON *json)
{
    const struct report_source *source = drawn->source;
    uint32_t *of = arena_alloc(source->arena, ((size_t)source->tree->n_nodes + 1) * sizeof *of);
    bool is_of_clock = source->clock == PHASES_CPU || source->tree->cpu_is_wall ||
                       (source->sampled != NULL && source->sampled->kept_ticks != NULL);
    if (line == NULL || !is_of_clock || trace_samples_are_all(source->reader))
        return true;
    for (uint32_t i = 1; of != NULL && i < source->tree->n_nodes; i++)
        of[i] = drawn->tree.owner[i] == CALLTREE_NONE    ? 0
                : !is_drawn(drawn, drawn->tree.owner[i]) ? CALLTREE_NONE
                                                         : drawn->index[drawn->tree.owner[i]];
    return of != NULL && html_put(json, "steps", html_steps(source, line, of));
}

cJSON *html_tree(const struct report_source *source, bool times_only, const struct timeline_read *line)
{
    struct drawn *drawn = arena_alloc(source->arena, sizeof *drawn);
    struct err err;
    if (drawn == NULL)
        return NULL;
    drawn->source = source;
    drawn->share = find_share(source);
    if (export_tree_open(&drawn->tree, source, drawn->share, &err) < 0)
        return NULL;
    drawn->n_values = export_values(source, false, drawn->values);
    if (times_only && drawn->n_values > N_TIMES)
        drawn->n_values = N_TIMES;
    cJSON *json = cJSON_CreateObject();
    bool ok = json != NULL && find_indexes(drawn) && put_names(drawn, json) && put_nodes(drawn, json) &&
              put_known(drawn, json) && put_steps(drawn, line, json) &&
              html_put(json, "clock", cJSON_CreateString(report_clock_key(source->clock))) &&
              html_put(json, "least_share", html_number(drawn->share)) &&
              html_put(json, "sampled", cJSON_CreateBool(source->sampled != NULL)) &&
              html_put(json, "contexts", html_number(source->tree->n_nodes - 1.0));
    export_tree_close(&drawn->tree);
    if (ok)
        return json;
    cJSON_Delete(json);
    return NULL;
}
