#include "report/tree_view.h"

#include "core/base/pattern.h"
#include "core/base/text.h"
#include "core/base/xalloc.h"
#include "report/sample_rows.h"
#include "report/shares.h"

#define ALIKE_MOST   4u /* so many letters differ, or more: it is not alike */
#define NO_ALIKE     (2 * ALIKE_MOST + 2)
#define DEPTH_MOST   4096u
#define FROM_SAMPLES 0.01 /* of a line's time: with less from samples it was measured */

/* ---- which methods ---- */

/* How far a method is from what was asked for, half a letter more where its class is another one. */
static uint32_t distance_of(const struct report_source *source, const char *names, const struct method_name *name)
{
    const char *end = strchr(names, '('), *at = end == NULL ? names + strlen(names) : end;
    struct pattern pattern;
    while (at > names && at[-1] != '.' && at[-1] != '#')
        at--;
    const char *text = arena_printf(source->arena, "*#%.*s", (int)strcspn(at, "("), at);
    const char *as_named = arena_printf(source->arena, "%.*s%s", (int)(at - names), names, name->method);
    if (pattern_parse(&pattern, text) < 0)
        return NO_ALIKE;
    uint32_t distance = pattern_method_distance(&pattern, name->method, strlen(name->method), ALIKE_MOST);
    return distance >= ALIKE_MOST ? NO_ALIKE : 2 * distance + !java_names_is(source->arena, name, as_named);
}

/* The method, as it is written, that is named most nearly like that; NULL: none is. */
static const char *find_alike(const struct report_source *source, const char *names)
{
    const struct calltree *tree = source->tree;
    bool *is_known = arena_alloc(source->arena, (size_t)tree->n_methods + 1);
    uint32_t least = NO_ALIKE, best = 0;
    for (uint32_t i = 1; i < tree->n_nodes; i++) {
        uint32_t method = tree->nodes[i].method;
        if (method >= tree->n_methods || is_known[method])
            continue;
        struct method_name name = report_name(source, method);
        uint32_t distance = distance_of(source, names, &name);
        is_known[method] = true;
        best = distance < least ? i : best;
        least = distance < least ? distance : least;
    }
    if (best == 0)
        return NULL;
    struct method_name name = report_name(source, tree->nodes[best].method);
    return java_names_display(source->arena, &name, JAVA_NAMES_SHORT);
}

struct found {
    double ticks;
    uint32_t method;
};

static int largest_first(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    if (x->ticks != y->ticks)
        return x->ticks < y->ticks ? 1 : -1;
    return (x->method > y->method) - (x->method < y->method);
}

static int is_none(const struct report_source *source, const char *names, struct err *err)
{
    const char *alike = find_alike(source, names);
    err_set(err, "the call tree has no method '%s'", names);
    return alike == NULL ? err_next(err, "run 'mmprof report --all' for all methods; a name is Class.method")
                         : err_next(err, "did you mean '%s'?  'mmprof report --all' prints all methods", alike);
}

int tree_view_find(const struct report_source *source, const char *names, uint32_t **methods, size_t *n,
                   struct err *err)
{
    const struct calltree *tree = source->tree;
    size_t *index_of =
        arena_alloc(source->arena, ((size_t)tree->n_methods + 1) * sizeof *index_of); /* SIZE_MAX: not named */
    struct found *found = arena_alloc(source->arena, ((size_t)tree->n_methods + 1) * sizeof *found);
    *methods = arena_alloc(source->arena, ((size_t)tree->n_methods + 1) * sizeof **methods);
    *n = 0;
    for (uint32_t i = 1; i < tree->n_nodes; i++) {
        uint32_t method = tree->nodes[i].method;
        if (method >= tree->n_methods || index_of[method] == SIZE_MAX)
            continue;
        struct method_name name = report_name(source, method);
        if (index_of[method] == 0 && java_names_is(source->arena, &name, names)) {
            found[*n].method = method;
            index_of[method] = ++*n;
        } else if (index_of[method] == 0) {
            index_of[method] = SIZE_MAX;
            continue;
        }
        found[index_of[method] - 1].ticks += (double)report_total_ticks(source, i);
    }
    qsort(found, *n, sizeof *found, largest_first);
    for (size_t i = 0; i < *n; i++)
        (*methods)[i] = found[i].method;
    return *n > 0 ? 0 : is_none(source, names, err);
}

/* ---- lines ---- */

static uint32_t line_of(struct tree_view *view, uint32_t parent, uint32_t method)
{
    const uint64_t call = (uint64_t)parent << 32 | method;
    const uint32_t *known = method == CALLTREE_ROOT ? NULL : hash_find(&view->by_call, call);
    if (known != NULL)
        return *known;
    xgrow(view->lines, view->room, view->n_lines + 1);
    if (method != CALLTREE_ROOT)
        xhash_store(&view->by_call, call, view->n_lines);
    uint32_t line = view->n_lines++;
    view->lines[line] = (struct tree_line){ .parent = parent,
                                            .next = view->lines[parent].first_child,
                                            .method = method,
                                            .depth = parent == 0 ? 0 : view->lines[parent].depth + 1,
                                            .share_error = NAN,
                                            .self_error = NAN };
    view->lines[parent].first_child = line;
    return line;
}

/* has_time: it is in no other context of the method that its time is added to. */
static void add_tree_row(struct tree_view *view, uint32_t line, uint32_t node, bool has_time)
{
    const struct report_source *source = view->source;
    uint32_t method = source->tree->nodes[node].method;
    struct tree_line *to = &view->lines[line];
    bool has_samples = source->sampled != NULL;
    uint64_t calls = calltree_calls(source->tree, node);
    to->calls += (double)calls;
    to->n_open += (double)calltree_row(source->tree, node)[ROW_OPEN];
    to->is_ended = to->is_ended ||
                   (has_samples && calls > 0 && method < source->tree->n_methods && source->sampled->is_ended[method]);
    to->self_ticks += (double)report_own_ticks(source, node);
    to->n_samples += has_samples && has_time ? (double)source->sampled->n_samples[node] : 0;
    to->is_recursive = to->is_recursive || (!has_time && calls > 0);
    if (!has_time)
        return;
    struct calltree_partial partial = calltree_partial_at(source->tree, node);
    to->partial_ticks += (double)(source->clock == PHASES_CPU ? partial.cpu_ticks : partial.wall_ticks);
    to->ticks += (double)report_total_ticks(source, node);
    to->probe_ticks +=
        has_samples ? (double)source->sampled->probe_ticks[node] : (double)report_total_ticks(source, node);
}

static void add_all(struct tree_view *view, double least)
{
    const struct calltree *tree = view->source->tree;
    for (uint32_t i = 0; i < tree->n_roots; i++) {
        uint32_t node = tree->roots[i].node, line = line_of(view, 0, CALLTREE_ROOT);
        view->lines[line].root = i;
        view->line_of[node] = line;
        add_tree_row(view, line, node, true);
    }
    for (uint32_t i = 1; i < tree->n_nodes; i++) {
        uint32_t parent = tree->nodes[i].parent;
        if (parent == i || view->line_of[parent] == 0)
            continue;
        view->line_of[i] = view->line_of[parent];
        view->is_small[i] =
            (double)report_total_ticks(view->source, i) < least || tree->nodes[i].method >= tree->n_methods;
        if (view->is_small[i])
            continue;
        view->line_of[i] = line_of(view, view->line_of[parent], tree->nodes[i].method);
        add_tree_row(view, view->line_of[i], i, true);
    }
}

/* Contexts of the asked method, and what they call. */
static void add_callees(struct tree_view *view)
{
    const struct calltree *tree = view->source->tree;
    for (uint32_t i = 1; i < tree->n_nodes; i++) {
        const struct calltree_node *node = &tree->nodes[i];
        uint32_t above = node->parent == i ? 0 : view->line_of[node->parent];
        if (node->method >= tree->n_methods || (above == 0 && node->method != view->method))
            continue;
        view->line_of[i] = line_of(view, above, node->method);
        add_tree_row(view, view->line_of[i], i, true);
    }
}

/* Is a context in another one of the same method? */
static bool is_recursive(const struct calltree *tree, uint32_t node)
{
    uint32_t method = tree->nodes[node].method;
    while (tree->nodes[node].parent != node) {
        node = tree->nodes[node].parent;
        if (tree->nodes[node].method == method)
            return true;
    }
    return false;
}

static void add_path(struct tree_view *view, uint32_t node)
{
    const struct calltree *tree = view->source->tree;
    bool has_time = !is_recursive(tree, node);
    uint32_t at = node, line = 0;
    do {
        line = line_of(view, line, tree->nodes[at].method);
        add_tree_row(view, line, node, has_time);
        at = tree->nodes[at].parent;
    } while (tree->nodes[at].method < tree->n_methods && (has_time || view->lines[line].depth == 0));
    view->line_of[node] = line;
}

static void add_callers(struct tree_view *view)
{
    const struct calltree *tree = view->source->tree;
    for (uint32_t i = 1; i < tree->n_nodes; i++) {
        uint32_t method = tree->nodes[i].method, parent = tree->nodes[i].parent;
        if (method == view->method) {
            add_path(view, i);
            if (!is_recursive(tree, i))
                continue;
        }
        view->line_of[i] = parent == i ? 0 : view->line_of[parent];
    }
}

/* ---- intervals ---- */

/* A sample is in the line of its context and in those above it. */
static void add_sample(const struct tree_view *view, size_t i, struct sample_profile *profile)
{
    const struct sampled_tree *sampled = view->source->sampled;
    const struct trace_kept_sample *sample = &sampled->samples->kept[i];
    uint32_t path[DEPTH_MOST], n = 0, leaf = sampled->leaf[i] == CALLTREE_NONE ? 0 : sampled->leaf[i];
    uint32_t line = view->line_of[leaf];
    if (view->is_small[leaf])
        path[n++] = 0;
    for (; line != 0 && n < DEPTH_MOST; line = view->lines[line].parent)
        path[n++] = line;
    sample_profile_add(profile, &(struct profile_sample){ .time_ns = sample->ticks == TRACE_UNKNOWN ? 0 : sample->ticks,
                                                          .ns = sample->weight_ns + sample->ready_ns,
                                                          .n = n,
                                                          .methods = path });
}

static void find_errors(struct tree_view *view)
{
    const struct sampled_tree *sampled = view->source->sampled;
    struct sample_profile profile;
    sample_rows_open(view->source, &profile);
    for (size_t i = 0; i < sampled->samples->n_kept; i++)
        if (!sampled->samples->kept[i].is_idle)
            add_sample(view, i, &profile);
    for (uint32_t i = 1; i < view->n_lines; i++) {
        struct tree_line *line = &view->lines[i];
        struct sample_share total = sample_profile_total(&profile, i), self = sample_profile_self(&profile, i);
        double estimated = line->ticks - (line->is_ended ? 0 : sampled_measured(view->source, line->probe_ticks));
        if (line->method != CALLTREE_ROOT && estimated > FROM_SAMPLES * line->ticks)
            line->share_error = sample_rows_error(&total, estimated, view->all_ticks);
        if (view->kind != TREE_VIEW_CALLERS && line->self_ticks > 0)
            line->self_error = sample_rows_error(&self, line->self_ticks, view->all_ticks);
    }
    sample_profile_free(&profile);
}

/* ---- how a line is known ---- */

const char *tree_view_known_by(const struct tree_view *view, const struct tree_line *line)
{
    struct arena *arena = view->source->arena;
    const char *samples = arena_printf(arena, "%.0f sample%s", line->n_samples, text_plural((uint64_t)line->n_samples));
    if (line->method == CALLTREE_ROOT)
        return trace_samples_are_all(view->source->reader) ? "samples" : "kernel";
    if (line->calls == 0)
        return samples;
    if (line->is_ended)
        return "probes, end by samples";
    return line->n_samples > 0 && !isnan(line->share_error) ? arena_printf(arena, "probes, %s", samples) : "probes";
}

/* ---- the whole ---- */

void tree_view_all(const struct report_source *source, double *all_ticks)
{
    struct shares shares;
    uint32_t *row_of = arena_alloc(source->arena, ((size_t)source->tree->n_methods + 1) * sizeof *row_of);
    *all_ticks = 0;
    shares_compute(source, row_of, 0, &shares);
    *all_ticks = (double)shares.all_ticks;
}

void tree_view_free(struct tree_view *view)
{
    free(view->lines);
    free(view->line_of);
    free(view->is_small);
    hash_free(&view->by_call);
    view->lines = NULL;
    view->is_small = NULL;
    view->line_of = NULL;
}

void tree_view_make(const struct report_source *source, enum tree_view_kind kind, uint32_t method, double min_share,
                    double all_ticks, struct tree_view *view)
{
    *view = (struct tree_view){
        .source = source, .kind = kind, .method = method, .n_lines = 1, .room = 1024, .all_ticks = all_ticks
    };
    view->lines = xcalloc(view->room, sizeof *view->lines);
    view->line_of = xcalloc((size_t)source->tree->n_nodes + 1, sizeof *view->line_of);
    view->is_small = xcalloc((size_t)source->tree->n_nodes + 1, sizeof *view->is_small);
    if (kind == TREE_VIEW_ALL)
        add_all(view, min_share * all_ticks);
    else if (kind == TREE_VIEW_CALLEES)
        add_callees(view);
    else
        add_callers(view);
    if (source->sampled != NULL)
        find_errors(view);
}
