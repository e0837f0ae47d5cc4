#include "report/sampled_tree.h"

#include "core/base/map.h"
#include "report/trace_samples.h"

#include <string.h>

#define OWN_CLASSES "java/lang/Mmprof" /* the probes' own frames are no one's calls */

struct grafting {
    const struct report_source *source;
    struct calltree *tree; /* the copy */
    uint32_t root;         /* the application's */
    uint32_t n_stacks;
    uint32_t first;      /* number of the first method that is added: behind all that the trace has */
    uint32_t n_methods;  /* of the stacks: so many are added */
    uint32_t *same_as;   /* by the stacks' method: the first one with its name; classes that changed have several */
    uint32_t *recorded;  /* by the stacks' method: the tree's, or CALLTREE_NONE; the arena's, as all of these */
    uint32_t *anchor;    /* by stack: the recorded context that it is in, or that it is; CALLTREE_NONE: of no one */
    uint32_t *node;      /* by stack: its context in that one's calls; 0: none */
    double *ns, *all_ns; /* by stack: what is to be given to it, and with its callees; only ratios count */
    uint64_t *own_ns, *n_own; /* by recorded context: of the stacks in it */
    struct java_name *names;  /* of the methods that are added */
};

/* ---- which contexts ---- */

static const char *key_of(struct arena *arena, const char *class_name, const char *name, const char *descriptor)
{
    return arena_printf(arena, "%s;%s;%s", class_name, name, descriptor);
}

static int know_methods(const struct report_source *source, struct map *known)
{
    const struct calltree *tree = source->tree;
    for (uint32_t i = 1; i < tree->n_nodes; i++) {
        if (tree->nodes[i].method >= tree->n_methods)
            continue;
        struct java_name name = report_name(source, tree->nodes[i].method);
        const char *key = key_of(source->arena, name.class_name, name.method, name.descriptor);
        if (key == NULL || map_put(known, key, strlen(key), tree->nodes[i].method) < 0)
            return -1;
    }
    return 0;
}

static int find_methods(struct grafting *g)
{
    struct map known = { g->source->arena, NULL, 0, 0 }, seen = { g->source->arena, NULL, 0, 0 };
    uint32_t n = 0;
    int rc = know_methods(g->source, &known);
    for (uint32_t i = 1; rc == 0 && i <= g->n_stacks; i++) {
        const struct trace_context *stack = trace_context(g->source->reader, i);
        if (stack->method < n)
            continue;
        const struct trace_sampled_method *of = trace_sampled_method(g->source->reader, stack->method);
        const char *key = key_of(g->source->arena, of->class_name, of->name, of->descriptor);
        const uint32_t *method = key == NULL ? NULL : map_get(&known, key, strlen(key));
        const uint32_t *same = key == NULL ? NULL : map_get(&seen, key, strlen(key));
        rc = key == NULL || (same == NULL && map_put(&seen, key, strlen(key), n) < 0) ? -1 : 0;
        g->same_as[n] = same == NULL ? n : *same;
        g->names[n] = (struct java_name){ of->class_name, of->name, of->descriptor };
        g->recorded[n++] = method == NULL ? CALLTREE_NONE : *method;
    }
    map_free(&known);
    map_free(&seen);
    return rc;
}

/* The recorded context of a method in another one's calls, or CALLTREE_NONE. */
static uint32_t callee(const struct calltree *tree, uint32_t node, uint32_t method)
{
    uint32_t child = method == CALLTREE_NONE ? 0 : tree->nodes[node].first_child;
    while (child != 0 && tree->nodes[child].method != method)
        child = tree->nodes[child].next_sibling;
    return child == 0 ? CALLTREE_NONE : child;
}

static bool is_own(const struct grafting *g, uint32_t method)
{
    return strncmp(g->names[method].class_name, OWN_CLASSES, strlen(OWN_CLASSES)) == 0;
}

static void find_anchors(struct grafting *g)
{
    g->anchor[0] = g->root;
    for (uint32_t i = 1; i <= g->n_stacks; i++) {
        const struct trace_context *stack = trace_context(g->source->reader, i);
        uint32_t outside = g->anchor[stack->parent];
        g->anchor[i] = CALLTREE_NONE;
        if (outside == CALLTREE_NONE || is_own(g, stack->method))
            continue;
        uint32_t own = callee(g->source->tree, outside, g->recorded[stack->method]);
        g->node[i] = own == CALLTREE_NONE ? 0 : own;
        g->anchor[i] = own == CALLTREE_NONE ? outside : own;
        g->own_ns[g->anchor[i]] += stack->own_ns;
        g->n_own[g->anchor[i]] += stack->n_own;
    }
}

/* ---- the copy ---- */

static void *copied(struct arena *arena, const void *from, size_t n, size_t n_more, size_t element_bytes)
{
    void *copy = from == NULL ? NULL : arena_alloc(arena, (n + n_more) * element_bytes);
    return copy == NULL ? NULL : memcpy(copy, from, n * element_bytes);
}

static bool copy_tree(struct grafting *g, uint32_t n_more)
{
    const struct calltree *from = g->source->tree;
    struct arena *arena = g->source->arena;
    struct calltree *tree = copied(arena, from, 1, 0, sizeof *from);
    g->tree = tree;
    if (tree == NULL)
        return false;
    tree->nodes = copied(arena, from->nodes, from->n_nodes, n_more, sizeof *from->nodes);
    tree->total_cpu_ticks = copied(arena, from->total_cpu_ticks, from->n_nodes, n_more, sizeof(uint64_t));
    tree->total_wall_ticks = copied(arena, from->total_wall_ticks, from->n_nodes, n_more, sizeof(uint64_t));
    size_t metric_bytes = from->n_metrics * sizeof(uint64_t);
    tree->metrics = copied(arena, from->metrics, from->n_nodes, n_more, metric_bytes);
    tree->total_metrics = copied(arena, from->total_metrics, from->n_nodes, n_more, metric_bytes);
    tree->n_methods = g->first + g->n_methods;
    return tree->nodes != NULL && tree->total_cpu_ticks != NULL && tree->total_wall_ticks != NULL &&
           (from->n_metrics == 0 || (tree->metrics != NULL && tree->total_metrics != NULL));
}

/* Of a method in the calls of a node: call sites are one here. */
static uint32_t node_of(struct calltree *tree, uint32_t parent, uint32_t method)
{
    uint32_t known = callee(tree, parent, method);
    if (known != CALLTREE_NONE)
        return known;
    uint32_t node = tree->n_nodes++;
    tree->nodes[node] =
        (struct calltree_node){ .parent = parent, .method = method, .next_sibling = tree->nodes[parent].first_child };
    tree->nodes[parent].first_child = node;
    return node;
}

/* A part of a recorded context's own time is another one's. */
static void give(struct grafting *g, uint32_t from, uint32_t to, double part)
{
    struct calltree_node *nodes = g->tree->nodes;
    uint64_t ticks = (uint64_t)(part * (double)g->source->tree->nodes[from].cpu_ticks);
    if (ticks > nodes[from].cpu_ticks)
        ticks = nodes[from].cpu_ticks;
    nodes[from].cpu_ticks -= ticks;
    nodes[to].cpu_ticks += ticks;
    g->tree->total_cpu_ticks[to] += ticks;
}

/* In the calls of recorded contexts. */
static void graft_inside(struct grafting *g)
{
    for (uint32_t i = 1; i <= g->n_stacks; i++) {
        const struct trace_context *stack = trace_context(g->source->reader, i);
        uint32_t anchor = g->anchor[i], parent = g->node[stack->parent];
        if (g->node[i] != 0 || anchor == CALLTREE_NONE || anchor == g->root || g->n_own[anchor] < SAMPLED_LEAST ||
            g->own_ns[anchor] == 0)
            continue;
        g->node[i] = node_of(g->tree, parent == 0 ? anchor : parent, g->first + g->same_as[stack->method]);
        give(g, anchor, g->node[i], (double)stack->own_ns / (double)g->own_ns[anchor]);
    }
}

/*
 * Outside of them: what all of a recorded context's samples stand for and it has not, was before its method got probes.
 * Returns the sum of what is to be given.
 */
static double find_missing(struct grafting *g)
{
    const struct calltree *tree = g->source->tree;
    double all_ns = 0;
    memset(g->all_ns, 0, ((size_t)g->n_stacks + 1) * sizeof *g->all_ns);
    for (uint32_t i = 1; i <= g->n_stacks; i++)
        all_ns += g->anchor[i] == CALLTREE_NONE ? 0 : (double)trace_context(g->source->reader, i)->own_ns;
    for (uint32_t i = g->n_stacks; i > 0; i--) {
        const struct trace_context *stack = trace_context(g->source->reader, i);
        uint32_t anchor = g->anchor[i];
        double ticks = anchor == CALLTREE_NONE || all_ns <= 0
                           ? 0
                           : (double)g->own_ns[anchor] / all_ns * (double)tree->total_cpu_ticks[g->root];
        double missing =
            anchor == g->root || anchor == CALLTREE_NONE ? ticks : ticks - (double)tree->nodes[anchor].cpu_ticks;
        g->ns[i] = missing <= 0 ? 0 : missing * (double)stack->own_ns / (double)g->own_ns[anchor];
        g->all_ns[i] += g->ns[i];
        g->all_ns[stack->parent] += g->all_ns[i];
    }
    return g->all_ns[0];
}

static void graft_outside(struct grafting *g)
{
    double all = find_missing(g);
    uint64_t n = 0;
    memset(g->node, 0, ((size_t)g->n_stacks + 1) * sizeof *g->node);
    for (uint32_t i = 1; i <= g->n_stacks; i++)
        n += trace_context(g->source->reader, i)->n_own;
    for (uint32_t i = 1; n >= SAMPLED_LEAST && all > 0 && i <= g->n_stacks; i++) {
        const struct trace_context *stack = trace_context(g->source->reader, i);
        uint32_t parent = g->node[stack->parent];
        if (g->all_ns[i] <= 0)
            continue;
        g->node[i] = node_of(g->tree, parent == 0 ? g->root : parent, g->first + g->same_as[stack->method]);
        give(g, g->root, g->node[i], g->ns[i] / all);
    }
}

static void sum_up(struct calltree *tree, uint32_t n_recorded)
{
    for (uint32_t i = tree->n_nodes; i-- > n_recorded;)
        if (tree->nodes[i].parent >= n_recorded)
            tree->total_cpu_ticks[tree->nodes[i].parent] += tree->total_cpu_ticks[i];
}

/* ---- a trace of samples alone ---- */

/* The whole tree: a root, and all contexts with their samples' time. */
static bool plant(struct grafting *g)
{
    struct calltree *tree = g->tree;
    double ns_per_tick = tree->ns_per_tick > 0 ? tree->ns_per_tick : 1;
    struct calltree_root *root = arena_alloc(g->source->arena, sizeof *root);
    if (root == NULL)
        return false;
    g->root = tree->n_nodes++;
    *root = (struct calltree_root){ g->root, VM_PART_APPLICATION, CALLTREE_NONE };
    tree->roots = root;
    tree->n_roots = 1;
    tree->nodes[g->root] = (struct calltree_node){ .parent = g->root, .method = CALLTREE_ROOT };
    g->node[0] = g->root;
    for (uint32_t i = 1; i <= g->n_stacks; i++) {
        const struct trace_context *context = trace_context(g->source->reader, i);
        uint64_t ticks = (uint64_t)((double)context->own_ns / ns_per_tick);
        g->node[i] = node_of(tree, g->node[context->parent], g->first + g->same_as[context->method]);
        tree->nodes[g->node[i]].cpu_ticks += ticks;
        tree->total_cpu_ticks[g->node[i]] += ticks;
    }
    for (uint32_t i = tree->n_nodes; --i > g->root;)
        tree->total_cpu_ticks[tree->nodes[i].parent] += tree->total_cpu_ticks[i];
    tree->cpu_is_wall = false;
    return true;
}

/* ---- the whole ---- */

/* The root that the application's threads share, or CALLTREE_NONE. */
static uint32_t find_root(const struct calltree *tree)
{
    for (uint32_t i = 0; i < tree->n_roots; i++)
        if (tree->roots[i].part == VM_PART_APPLICATION && tree->roots[i].thread == CALLTREE_NONE)
            return tree->roots[i].node;
    return CALLTREE_NONE;
}

static bool make_room(struct grafting *g)
{
    struct arena *arena = g->source->arena;
    size_t n_stacks = (size_t)g->n_stacks + 1, n_nodes = (size_t)g->source->tree->n_nodes + 1;
    g->recorded = arena_alloc(arena, ((size_t)g->n_methods + 1) * sizeof *g->recorded);
    g->names = arena_alloc(arena, ((size_t)g->n_methods + 1) * sizeof *g->names);
    g->same_as = arena_alloc(arena, ((size_t)g->n_methods + 1) * sizeof *g->same_as);
    g->anchor = arena_alloc(arena, n_stacks * sizeof *g->anchor);
    g->node = arena_alloc(arena, n_stacks * sizeof *g->node);
    g->ns = arena_alloc(arena, n_stacks * sizeof *g->ns);
    g->all_ns = arena_alloc(arena, n_stacks * sizeof *g->all_ns);
    g->own_ns = arena_alloc(arena, n_nodes * sizeof *g->own_ns);
    g->n_own = arena_alloc(arena, n_nodes * sizeof *g->n_own);
    return g->recorded != NULL && g->names != NULL && g->same_as != NULL && g->anchor != NULL && g->node != NULL &&
           g->ns != NULL && g->all_ns != NULL && g->own_ns != NULL && g->n_own != NULL;
}

int sampled_tree(const struct report_source *source, struct report_source *with, struct err *err)
{
    struct grafting g = { .source = source,
                          .root = find_root(source->tree),
                          .n_stacks = trace_n_contexts(source->reader),
                          .first = trace_n_methods(source->reader) };
    bool are_all = trace_samples_are_all(source->reader);
    *with = *source;
    if (g.n_stacks == 0 || (!are_all && (g.root == CALLTREE_NONE || source->clock != PHASES_CPU)))
        return 0;
    if (g.first < source->tree->n_methods)
        g.first = source->tree->n_methods;
    for (uint32_t i = 1; i <= g.n_stacks; i++)
        if (trace_context(source->reader, i)->method >= g.n_methods)
            g.n_methods = trace_context(source->reader, i)->method + 1;
    if (!make_room(&g) || find_methods(&g) < 0 || !copy_tree(&g, 2 * g.n_stacks + 1))
        return err_set(err, "out of memory for %u stacks of samples", g.n_stacks);
    if (are_all && !plant(&g))
        return err_set(err, "out of memory for %u stacks of samples", g.n_stacks);
    if (are_all) {
        with->clock = PHASES_CPU;
    } else {
        find_anchors(&g);
        graft_inside(&g);
        graft_outside(&g);
        sum_up(g.tree, source->tree->n_nodes);
    }
    with->tree = g.tree;
    with->first_sampled = g.first;
    with->sampled_names = g.names;
    with->n_sampled = g.n_methods;
    return 0;
}
