#include "report/export/export_tree.h"

#include "core/base/text.h"
#include "core/base/xalloc.h"
#include "core/pmu/event_roles.h"
#include "report/sampled_tree.h"

#include <strings.h>

/* ---- which contexts ---- */

/* By node, 0 for roots; malloc'ed.  Callers come before callees in the array. */
static uint32_t *find_depths(const struct calltree *tree)
{
    uint32_t *depth = xcalloc((size_t)tree->n_nodes + 1, sizeof *depth);
    for (uint32_t i = 1; i < tree->n_nodes; i++)
        if (tree->nodes[i].parent != i)
            depth[i] = depth[tree->nodes[i].parent] + 1;
    return depth;
}

uint32_t export_n_deep(const struct report_source *source)
{
    uint32_t n = 0, *depth = find_depths(source->tree);
    for (uint32_t i = 1; i < source->tree->n_nodes; i++)
        n += depth[i] > EXPORT_DEPTH_MAX;
    free(depth);
    return n;
}

static void divide(struct export_tree *to, const uint32_t *depth, double min_ticks)
{
    const struct calltree *tree = to->source->tree;
    for (uint32_t i = 1; i < tree->n_nodes; i++) {
        uint32_t parent = tree->nodes[i].parent;
        bool is_written = to->owner[parent] == parent && depth[i] <= EXPORT_DEPTH_MAX &&
                          (double)report_total_ticks(to->source, i) >= min_ticks;
        if (parent != i)
            to->owner[i] = is_written ? i : to->owner[parent];
    }
}

static void find_owners(struct export_tree *to, double min_share)
{
    const struct calltree *tree = to->source->tree;
    uint32_t *depth = find_depths(tree);
    double all = 0;
    to->owner = xreallocarray(NULL, (size_t)tree->n_nodes + 1, sizeof *to->owner);
    for (uint32_t i = 0; i < tree->n_nodes; i++)
        to->owner[i] = CALLTREE_NONE;
    for (uint32_t i = 0; i < tree->n_roots; i++) {
        to->owner[tree->roots[i].node] = tree->roots[i].node;
        all += (double)report_total_ticks(to->source, tree->roots[i].node);
        xhash_store(&to->roots, tree->roots[i].node, i);
    }
    divide(to, depth, min_share * all);
    free(depth);
}

/* ---- names ---- */

static const char *full_name(const struct report_source *source, uint32_t method, bool with_parameters)
{
    struct method_name name = report_name(source, method);
    const char *text = java_names_display(source->arena, &name, JAVA_NAMES_FULL);
    const char *parameters = with_parameters ? java_names_parameters(source->arena, name.descriptor) : "";
    return text_clean(source->arena, arena_printf(source->arena, "%s%s%s", text, parameters,
                                                  sampled_is(source, method) ? SAMPLED_MARK : ""));
}

/* Overloaded methods say their parameters. */
static void name_method(const struct export_tree *tree, uint32_t method, struct map *seen)
{
    const char *name = full_name(tree->source, method, false);
    const uint32_t *other = map_get(seen, name, strlen(name));
    tree->names[method] = other == NULL ? name : full_name(tree->source, method, true);
    if (other != NULL)
        tree->names[*other] = full_name(tree->source, *other, true);
    else
        map_put(seen, name, strlen(name), method);
}

static void name_methods(const struct export_tree *tree)
{
    struct map seen = { .arena = tree->source->arena };
    for (uint32_t i = 1; i < tree->source->tree->n_nodes; i++) {
        uint32_t method = tree->source->tree->nodes[i].method;
        if (tree->owner[i] == i && method < tree->source->tree->n_methods && tree->names[method] == NULL)
            name_method(tree, method, &seen);
    }
    map_free(&seen);
}

static void name_roots(const struct export_tree *tree)
{
    const struct report_source *source = tree->source;
    for (uint32_t i = 0; i < source->tree->n_roots; i++) {
        const struct calltree_root *root = &source->tree->roots[i];
        const struct trace_thread *thread =
            root->thread == CALLTREE_NONE ? NULL : trace_thread(source->reader, root->thread);
        const char *name = root->thread == CALLTREE_NONE ? vm_part_name(root->part)
                           : thread == NULL              ? arena_printf(source->arena, "thread %u", root->thread)
                                            : arena_printf(source->arena, "%s (%d)", thread->name, thread->tid);
        tree->root_names[i] = text_clean(source->arena, name);
    }
}

void export_tree_open(struct export_tree *tree, const struct report_source *source, double min_share)
{
    struct arena *arena = source->arena;
    *tree = (struct export_tree){ .source = source };
    tree->names = arena_alloc(arena, ((size_t)source->tree->n_methods + 1) * sizeof *tree->names);
    tree->root_names = arena_alloc(arena, ((size_t)source->tree->n_roots + 1) * sizeof *tree->root_names);
    find_owners(tree, min_share);
    name_methods(tree);
    name_roots(tree);
}

void export_tree_close(struct export_tree *tree)
{
    free(tree->owner);
    free(tree->self);
    hash_free(&tree->roots);
}

/* ---- contexts ---- */

void export_path_find(struct export_path *path, const struct export_tree *tree, uint32_t node)
{
    const struct calltree_node *nodes = tree->source->tree->nodes;
    path->n = 0;
    *xpush(path->nodes, path->room, path->n) = node;
    for (; nodes[node].parent != node; node = nodes[node].parent)
        *xpush(path->nodes, path->room, path->n) = nodes[node].parent;
}

uint64_t export_location(const struct export_tree *tree, uint32_t node)
{
    const struct calltree *t = tree->source->tree;
    uint32_t method = t->nodes[node].method;
    return 1 + (method < t->n_methods ? method : (uint64_t)t->n_methods + export_root(tree, node));
}

uint32_t export_string(struct export_strings *strings, const char *text, const char **fresh)
{
    const char *clean = text_clean(strings->of.arena, text);
    const uint32_t *known = map_get(&strings->of, clean, strlen(clean));
    *fresh = known == NULL ? clean : NULL;
    if (known != NULL)
        return *known;
    map_put(&strings->of, clean, strlen(clean), strings->n);
    return strings->n++;
}

uint32_t export_root(const struct export_tree *tree, uint32_t node)
{
    const uint32_t *root = hash_find(&tree->roots, node);
    return root == NULL ? tree->source->tree->n_roots : *root;
}

const char *export_name(const struct export_tree *tree, uint32_t node)
{
    const struct calltree *t = tree->source->tree;
    uint32_t method = t->nodes[node].method;
    if (method < t->n_methods)
        return tree->names[method];
    uint32_t root = export_root(tree, node);
    return root < t->n_roots ? tree->root_names[root] : EXPORT_FOLDED_NAME;
}

/* ---- values ---- */

static uint64_t roots_metric(const struct calltree *tree, size_t metric)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < tree->n_roots; i++)
        sum += calltree_total_metrics(tree, tree->roots[i].node)[metric];
    return sum;
}

/* The recorded column of a kind, or 0. */
static size_t find_column(const struct trace_reader *reader, enum trace_counter_kind kind, uint32_t group)
{
    size_t column = CALLTREE_COUNTERS;
    for (size_t i = 0; i < trace_n_counters(reader); i++) {
        const struct trace_counter *counter = trace_counter(reader, i);
        if (!counter->in_records)
            continue;
        if (counter->kind == kind && (kind == TRACE_COUNTER_ENABLED_NS || counter->group == group))
            return column;
        column++;
    }
    return 0;
}

/* Add the columns of an event, one in each group that has it; groups that took turns are scaled to all of the time. */
static void add_columns(const struct report_source *source, struct export_value *value)
{
    const struct trace_reader *reader = source->reader;
    const struct calltree *tree = source->tree;
    size_t column = CALLTREE_COUNTERS, enabled = find_column(reader, TRACE_COUNTER_ENABLED_NS, 0);
    double running_ns = 0;
    for (size_t i = 0; i < trace_n_counters(reader); i++) {
        const struct trace_counter *counter = trace_counter(reader, i);
        if (!counter->in_records)
            continue;
        if (counter->kind == TRACE_COUNTER_EVENT && strcmp(counter->name, value->name) == 0 &&
            column < tree->n_metrics && value->n_metrics < EXPORT_GROUPS_MAX) {
            size_t running = find_column(reader, TRACE_COUNTER_RUNNING_NS, counter->group);
            value->metrics[value->n_metrics++] = column;
            running_ns += enabled == 0 || running == 0 ? 0 : (double)roots_metric(tree, running);
        }
        column++;
    }
    if (running_ns > 0)
        value->scale = (double)roots_metric(tree, enabled) / running_ns;
}

static bool is_named(const struct export_value *values, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(values[i].name, name) == 0)
            return true;
    return false;
}

/* An event of the kernel's, or one in the records. */
static void add_event(const struct report_source *source, const struct trace_counter *counter,
                      struct export_value *value)
{
    const char *heading;
    enum event_role role = event_role_of(counter->name, &heading);
    *value = (struct export_value){ .name = counter->name, .unit = "count", .kind = EXPORT_METRICS, .scale = 1 };
    if (counter->in_records) {
        add_columns(source, value);
    } else if (role == EVENT_FAULTS || role == EVENT_SWITCHES) {
        value->metrics[0] = role == EVENT_FAULTS ? CALLTREE_FAULTS : CALLTREE_SWITCHES;
        value->n_metrics = 1;
    }
}

/* How many samples were in each context; those that are in none of the tree are not counted. */
static void count_samples(const struct report_source *source, struct export_value *value)
{
    const struct trace_samples *samples = source->sampled->samples;
    const struct calltree *tree = source->tree;
    uint64_t *own = arena_alloc(source->arena, ((size_t)tree->n_nodes + 1) * sizeof *own);
    uint64_t *total = arena_alloc(source->arena, ((size_t)tree->n_nodes + 1) * sizeof *total);
    for (size_t i = 0; i < samples->n_kept; i++)
        if (source->sampled->leaf[i] != CALLTREE_NONE)
            own[source->sampled->leaf[i]] += samples->kept[i].n;
    for (uint32_t i = tree->n_nodes; --i > 0;) {
        total[i] += own[i];
        if (tree->nodes[i].parent != i)
            total[tree->nodes[i].parent] += total[i];
    }
    *value = (struct export_value){
        .name = "samples", .unit = "count", .kind = EXPORT_SAMPLES, .samples = own, .total_samples = total
    };
}

size_t export_values(const struct report_source *source, bool with_samples, struct export_value *values)
{
    size_t n = 0;
    values[n++] = (struct export_value){ .name = "calls", .unit = "count", .kind = EXPORT_CALLS };
    values[n++] = (struct export_value){ .name = "wall", .unit = "nanoseconds", .kind = EXPORT_WALL };
    values[n++] = (struct export_value){ .name = "cpu", .unit = "nanoseconds", .kind = EXPORT_CPU };
    if (with_samples && source->sampled != NULL)
        count_samples(source, &values[n++]);
    for (size_t i = 0; source->tree->n_metrics > 0 && i < trace_n_counters(source->reader); i++) {
        const struct trace_counter *counter = trace_counter(source->reader, i);
        if (counter->kind != TRACE_COUNTER_EVENT || counter->why[0] != '\0' || is_named(values, n, counter->name))
            continue;
        add_event(source, counter, &values[n]);
        n += values[n].n_metrics > 0;
    }
    return n;
}

/* The one of a name; an event's heading will do. */
static int find_value(const struct report_source *source, const char *name, struct export_value *value, struct err *err)
{
    struct export_value values[EXPORT_VALUES_MAX];
    size_t n = export_values(source, true, values);
    const char *list = "";
    for (size_t i = 0; i < n; i++) {
        const char *heading = values[i].name;
        if (values[i].kind == EXPORT_METRICS)
            event_role_of(values[i].name, &heading);
        *value = values[i];
        if (strcasecmp(name, values[i].name) == 0 || strcasecmp(name, heading) == 0)
            return 0;
        list = arena_printf(source->arena, "%s%s%s", list, i == 0 ? "" : ", ", values[i].name);
    }
    err_set(err, "%s: the trace has no value '%s'", source->path, name);
    return err_next(err, "it has %s", list);
}

static uint64_t value_of(const struct calltree *tree, uint32_t node, const struct export_value *value)
{
    if (value->kind == EXPORT_CALLS)
        return calltree_calls(tree, node);
    if (value->kind == EXPORT_SAMPLES)
        return value->samples[node];
    if (value->kind != EXPORT_METRICS)
        return value->kind == EXPORT_CPU ? tree->nodes[node].cpu_ticks : calltree_wall_ticks(tree, node);
    uint64_t sum = 0;
    for (size_t i = 0; i < value->n_metrics; i++)
        sum += calltree_metrics(tree, node)[value->metrics[i]];
    return sum;
}

static double scale_of(const struct calltree *tree, const struct export_value *value)
{
    bool is_time = value->kind == EXPORT_CPU || value->kind == EXPORT_WALL;
    return is_time ? tree->ns_per_tick : value->kind == EXPORT_METRICS ? value->scale : 1;
}

double export_own(const struct export_tree *tree, uint32_t node, const struct export_value *value)
{
    const struct calltree *t = tree->source->tree;
    return (double)value_of(t, node, value) * scale_of(t, value);
}

double export_inclusive(const struct export_tree *tree, uint32_t node, const struct export_value *value)
{
    const struct calltree *t = tree->source->tree;
    uint64_t sum = 0;
    if (value->kind == EXPORT_CALLS)
        return export_own(tree, node, value);
    if (value->kind == EXPORT_SAMPLES)
        return (double)value->total_samples[node];
    if (value->kind != EXPORT_METRICS)
        sum = value->kind == EXPORT_CPU ? t->total_cpu_ticks[node] : calltree_total_wall_ticks(t, node);
    for (size_t i = 0; i < value->n_metrics; i++)
        sum += calltree_total_metrics(t, node)[value->metrics[i]];
    return (double)sum * scale_of(t, value);
}

uint64_t *export_self(const struct export_tree *tree, const struct export_value *value)
{
    const struct calltree *t = tree->source->tree;
    double scale = scale_of(t, value);
    uint64_t *self = xcalloc((size_t)t->n_nodes + 1, sizeof *self);
    for (uint32_t i = 1; i < t->n_nodes; i++)
        if (tree->owner[i] != CALLTREE_NONE)
            self[tree->owner[i]] += value_of(t, i, value);
    for (uint32_t i = 1; scale != 1 && i < t->n_nodes; i++)
        self[i] = (uint64_t)((double)self[i] * scale + 0.5);
    return self;
}

/* ---- the whole ---- */

int export_stacks(const struct report_source *source, const struct export_tree_options *options, export_format *format,
                  FILE *out, struct err *err)
{
    struct export_value value;
    struct export_tree tree;
    if (find_value(source, options->value, &value, err) < 0)
        return -1;
    export_tree_open(&tree, source, options->min_share);
    tree.options = options;
    tree.value = value;
    tree.self = export_self(&tree, &value);
    int rc = format(&tree, out, err);
    export_tree_close(&tree);
    return rc == 0 && ferror(out) ? err_set(err, "cannot write the profile") : rc;
}
