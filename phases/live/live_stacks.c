#include "phases/live/live_stacks.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_PART 2000 /* of the time of all samples: a node with less is a part of its caller */

struct writing {
    const struct candidates *candidates;
    const struct stack_tree *tree;
    uint64_t least_ns;
    uint32_t *number_of; /* by node: as the trace has it; 0: part of its caller */
    uint32_t *method_of; /* by method: 1 more than the trace has; 0: not named yet */
    uint32_t n, n_methods;
    uint64_t ticks;
};

static bool is_written(const struct writing *w, uint32_t node)
{
    return w->tree->nodes[node].weight_ns >= w->least_ns && w->tree->nodes[node].weight_ns > 0;
}

/* The callees that are not written are in it. */
static void set_own(const struct writing *w, uint32_t node, struct trace_sample *own)
{
    const struct stack_node *nodes = w->tree->nodes;
    own->weight_ns = nodes[node].weight_ns;
    own->n = nodes[node].n_samples;
    for (uint32_t i = nodes[node].first_child; i != 0; i = nodes[i].next)
        if (is_written(w, i)) {
            own->weight_ns -= nodes[i].weight_ns;
            own->n -= nodes[i].n_samples;
        }
}

static int write_node(struct writing *w, uint32_t node, struct recorder_link *link, struct err *err)
{
    const struct stack_node *at = &w->tree->nodes[node];
    struct trace_context context = { .parent = w->number_of[at->parent], .call_site = -1 };
    struct trace_sample own = { .ticks = w->ticks, .thread = TRACE_NO_THREAD, .index = -1 };
    struct trace_sampled_method named = { .source = "" };
    if (w->method_of[at->method] == 0) {
        struct candidate_caller name;
        candidates_name(w->candidates, at->method, &name);
        named.class_name = name.class_name;
        named.name = name.name;
        named.descriptor = name.descriptor;
        context.named = &named;
        w->method_of[at->method] = ++w->n_methods;
    }
    context.method = w->method_of[at->method] - 1;
    set_own(w, node, &own);
    own.context = w->number_of[node] = ++w->n;
    if (recorder_context(link, &context, err) < 0)
        return -1;
    return own.n == 0 ? 0 : recorder_stack_sample(link, &own, err);
}

/* A caller comes before its callees in the tree, and one that is not written has none that are. */
int live_stacks_write(const struct candidates *candidates, struct recorder_link *link, uint64_t ticks, struct err *err)
{
    struct writing w = { .ticks = ticks,
                         .candidates = candidates,
                         .tree = candidates == NULL ? NULL : candidates_stacks(candidates) };
    uint32_t n_methods = 0;
    uint64_t all_ns = 0;
    int rc = 0;
    if (w.tree == NULL || w.tree->n == 0)
        return 0;
    for (uint32_t i = 1; i < w.tree->n; i++) {
        n_methods = w.tree->nodes[i].method >= n_methods ? w.tree->nodes[i].method + 1 : n_methods;
        all_ns += w.tree->nodes[i].parent == 0 ? w.tree->nodes[i].weight_ns : 0;
    }
    w.least_ns = all_ns / LEAST_PART;
    w.number_of = calloc(w.tree->n, sizeof *w.number_of);
    w.method_of = calloc((size_t)n_methods + 1, sizeof *w.method_of);
    if (w.number_of == NULL || w.method_of == NULL)
        rc = err_set(err, "out of memory");
    for (uint32_t i = 1; rc == 0 && i < w.tree->n && w.n < TRACE_CONTEXTS_MAX; i++)
        if (is_written(&w, i))
            rc = write_node(&w, i, link, err);
    free(w.number_of);
    free(w.method_of);
    return rc;
}
