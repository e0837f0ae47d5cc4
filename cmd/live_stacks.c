#include "cmd/live_stacks.h"

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
};

static bool is_written(const struct writing *w, uint32_t node)
{
    return w->tree->nodes[node].weight_ns >= w->least_ns && w->tree->nodes[node].weight_ns > 0;
}

/* The callees that are not written are in it. */
static void set_own(const struct writing *w, uint32_t node, struct trace_stack *stack)
{
    const struct stack_node *nodes = w->tree->nodes;
    stack->own_ns = nodes[node].weight_ns;
    stack->n_own = nodes[node].n_samples;
    for (uint32_t i = nodes[node].first_child; i != 0; i = nodes[i].next)
        if (is_written(w, i)) {
            stack->own_ns -= nodes[i].weight_ns;
            stack->n_own -= nodes[i].n_samples;
        }
}

static int write_node(struct writing *w, uint32_t node, struct recorder_link *link, struct err *err)
{
    const struct stack_node *at = &w->tree->nodes[node];
    struct trace_stack stack = { .parent = w->number_of[at->parent] };
    if (w->method_of[at->method] == 0) {
        struct candidate_caller name;
        candidates_name(w->candidates, at->method, &name);
        stack.class_name = name.class_name;
        stack.name = name.name;
        stack.descriptor = name.descriptor;
        w->method_of[at->method] = ++w->n_methods;
    }
    stack.method = w->method_of[at->method] - 1;
    set_own(w, node, &stack);
    w->number_of[node] = ++w->n;
    return recorder_stack(link, &stack, err);
}

/* A caller comes before its callees in the tree, and one that is not written has none that are. */
int live_stacks_write(const struct candidates *candidates, struct recorder_link *link, struct err *err)
{
    struct writing w = { .candidates = candidates, .tree = candidates == NULL ? NULL : candidates_stacks(candidates) };
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
    for (uint32_t i = 1; rc == 0 && i < w.tree->n && w.n < TRACE_STACKS_MAX; i++)
        if (is_written(&w, i))
            rc = write_node(&w, i, link, err);
    free(w.number_of);
    free(w.method_of);
    return rc;
}
