/*
 * What is rare on a thread's stack: calls that found no room for a node of their own, exits of other calls than the
 * innermost one.
 */
#include "phases/tree/calltree_internal.h"

#include "core/base/vec.h"

#include <stdlib.h>

int stack_fold(struct builder *b, struct thread *t, uint32_t method, struct err *err)
{
    const struct calltree_node *nodes = b->store.nodes;
    uint32_t target = t->node, root = b->tree->roots[t->known.root].node;
    while (target != root && nodes[target].method != method)
        target = nodes[target].parent;
    if (target == root && node_store_folded_child(&b->store, root, &target, err) < 0)
        return -1;
    if (vec_reserve(t->folds, t->folds_room, t->n_folds + 1) < 0)
        return err_set(err, "out of memory for a stack of %u calls", t->folds_room);
    t->folds[t->n_folds++] = (struct fold){ t->depth + 1, t->node, method };
    t->node = target;
    b->tree->n_folded++;
    return 0;
}

void stack_leave(struct builder *b, struct thread *t, uint32_t method, bool is_unwind)
{
    struct frame f = { t->node, t->depth, t->n_folds };
    uint64_t n_missing = 0;
    for (; f.depth > 0 && frame_method(b, t, &f) != method; n_missing++)
        frame_up(b, t, &f);
    if (f.depth == 0) {
        b->tree->n_unmatched_exits++;
        return;
    }
    b->tree->n_missing_exits += n_missing;
    if (is_unwind)
        b->store.nodes[f.node].unwinds++;
    frame_up(b, t, &f);
    t->node = f.node;
    t->depth = f.depth;
    t->n_folds = f.n_folds;
}

void stack_close(struct builder *b, const struct thread *t)
{
    struct frame f = { t->node, t->depth, t->n_folds };
    b->tree->n_open += f.depth;
    for (; f.depth > 0; frame_up(b, t, &f)) {
        b->store.nodes[f.node].n_open++;
        control_left(b, frame_method(b, t, &f), t->clock.now);
    }
    if (t->is_mounted)
        count_open(b, t->carrier.node, t->carrier.depth);
}

void stack_gap(struct builder *b, struct thread *t, uint64_t n)
{
    uint32_t *n_lost = &b->store.nodes[t->node].n_lost;
    *n_lost = n > UINT32_MAX - *n_lost ? UINT32_MAX : *n_lost + (uint32_t)n;
    t->known.n_lost += n;
}
