#include "phases/samples/stack_tree.h"

#include <stdlib.h>

#define ROOM_FIRST 1024u

void stack_tree_free(struct stack_tree *tree)
{
    free(tree->nodes);
    *tree = (struct stack_tree){ .nodes = NULL };
}

static bool has_room(struct stack_tree *tree)
{
    if (tree->n < tree->room)
        return true;
    uint32_t room = tree->room == 0 ? ROOM_FIRST : tree->room * 2;
    struct stack_node *nodes = room > UINT32_MAX / 2 ? NULL : realloc(tree->nodes, room * sizeof *nodes);
    if (nodes == NULL)
        return false;
    tree->nodes = nodes;
    tree->room = room;
    if (tree->n == 0)
        tree->nodes[tree->n++] = (struct stack_node){ .method = STACK_TREE_NONE };
    return true;
}

uint32_t stack_tree_step(struct stack_tree *tree, uint32_t parent, uint32_t method, uint64_t weight_ns)
{
    uint32_t node = tree->n == 0 ? 0 : tree->nodes[parent].first_child;
    while (node != 0 && tree->nodes[node].method != method)
        node = tree->nodes[node].next;
    if (node == 0) {
        if (!has_room(tree))
            return STACK_TREE_NONE;
        node = tree->n++;
        tree->nodes[node] = (struct stack_node){ method, parent, 0, tree->nodes[parent].first_child, 0, 0 };
        tree->nodes[parent].first_child = node;
    }
    tree->nodes[node].weight_ns += weight_ns;
    tree->nodes[node].n_samples++;
    return node;
}

/* The innermost wanted method outside of a node; STACK_TREE_NONE: none.  is_again: the node's method is outside, too.
 */
static uint32_t caller_of(const struct stack_tree *tree, uint32_t node, const bool *is_wanted, bool *is_again)
{
    uint32_t method = tree->nodes[node].method, caller = STACK_TREE_NONE;
    *is_again = false;
    for (node = tree->nodes[node].parent; node != 0; node = tree->nodes[node].parent) {
        uint32_t outer = tree->nodes[node].method;
        *is_again = *is_again || outer == method;
        if (caller == STACK_TREE_NONE && is_wanted[outer])
            caller = outer;
    }
    return caller;
}

uint32_t stack_tree_caller(const struct stack_tree *tree, uint32_t method, const bool *is_wanted, uint32_t n_methods,
                           double *part)
{
    uint64_t *weights = calloc((size_t)n_methods + 1, sizeof *weights), all = 0;
    uint32_t most = STACK_TREE_NONE;
    for (uint32_t node = 1; weights != NULL && node < tree->n; node++) {
        bool is_again;
        if (tree->nodes[node].method != method)
            continue;
        uint32_t caller = caller_of(tree, node, is_wanted, &is_again);
        if (is_again)
            continue;
        all += tree->nodes[node].weight_ns;
        if (caller == STACK_TREE_NONE)
            continue;
        weights[caller] += tree->nodes[node].weight_ns;
        if (most == STACK_TREE_NONE || weights[caller] > weights[most])
            most = caller;
    }
    if (most != STACK_TREE_NONE)
        *part = all == 0 ? 0 : (double)weights[most] / (double)all;
    free(weights);
    return most;
}
