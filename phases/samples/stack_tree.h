/*
 * Stacks of samples as a tree of calling contexts: in whose calls a method was seen, and for how long.
 *
 * Methods are numbers from 0, the caller's.  Node 0 is the root, outside of all calls.
 */
#ifndef PHASES_SAMPLES_STACK_TREE_H
#define PHASES_SAMPLES_STACK_TREE_H

#include <stdbool.h>
#include <stdint.h>

struct stack_node {
    uint32_t method, parent, first_child, next; /* nodes; 0: none */
    uint64_t weight_ns, n_samples;              /* of those in it, callees included */
};

struct stack_tree {
    struct stack_node *nodes; /* owned */
    uint32_t n, room;
};

#define STACK_TREE_NONE UINT32_MAX

void stack_tree_free(struct stack_tree *tree);

/* A sample is in a call of a method, in that of the node parent.  Returns its node, or STACK_TREE_NONE: no memory. */
uint32_t stack_tree_step(struct stack_tree *tree, uint32_t parent, uint32_t method, uint64_t weight_ns);

/*
 * The method of those that are wanted (by number, n_methods of them) in whose calls another method was seen, innermost:
 * that with most of its time.  In a recursion it is that of the outermost call.
 *
 * Returns it, with *part of the time of 'method' (0..1), or STACK_TREE_NONE: there is none, or no memory.
 */
uint32_t stack_tree_caller(const struct stack_tree *tree, uint32_t method, const bool *is_wanted, uint32_t n_methods,
                           double *part);

#endif
