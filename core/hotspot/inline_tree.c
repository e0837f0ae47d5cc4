#include "core/hotspot/jit_code.h"

#include "core/base/xalloc.h"

static void clear_tree(struct inline_tree *tree)
{
    tree->n_nodes = tree->n_points = 0;
    tree->is_cut = false;
    hash_clear(&tree->by_node);
    hash_clear(&tree->by_point);
}

static uint64_t key_of_node(const struct inline_node *node)
{
    const uint64_t key[2] = { node->method, (uint64_t)node->caller << 32 | (uint32_t)node->index };
    return hash_text(HASH_START, (const char *)key, sizeof key) | 1;
}

static uint64_t key_of_point(uint32_t node, int32_t index)
{
    return hash_address((uint64_t)node << 32 | (uint32_t)index);
}

/* Returns its number. */
static uint32_t put_node(struct inline_tree *tree, const struct inline_node *node)
{
    struct hash_slot *slot = xhash_put(&tree->by_node, key_of_node(node));
    if (slot->value == 0) {
        *xpush(tree->nodes, tree->nodes_room, tree->n_nodes) = *node;
        slot->value = tree->n_nodes;
    }
    return slot->value - 1;
}

static void put_point(struct inline_tree *tree, uint32_t node, int32_t index, unsigned flags)
{
    struct hash_slot *slot = xhash_put(&tree->by_point, key_of_point(node, index));
    if (slot->value == 0) {
        *xpush(tree->points, tree->points_room, tree->n_points) = (struct inline_point){ node, index, 0 };
        slot->value = tree->n_points;
    }
    tree->points[slot->value - 1].flags |= flags;
}

/* The frames of a point, from the outermost on. */
static void put_frames(struct inline_tree *tree, const struct scopes_walk *walk, unsigned flags)
{
    uint32_t node = INLINE_ROOT;
    int32_t index = -1;
    for (uint32_t i = walk->n_frames; i-- > 0;) {
        const struct inline_node frame = { walk->frames[i].method, node, node == INLINE_ROOT ? -1 : index, false };
        node = put_node(tree, &frame);
        index = walk->frames[i].index;
    }
    put_point(tree, node, index, flags);
}

int inline_tree_read(struct inline_tree *tree, const struct scopes *scopes, inline_point_fn *fn, void *context)
{
    struct scopes_walk walk;
    clear_tree(tree);
    scopes_begin(&walk, scopes);
    while (scopes_next(&walk)) {
        if (walk.n_frames == CODE_FRAMES_MAX)
            tree->is_cut = true;
        else if (walk.n_frames > 0)
            put_frames(tree, &walk, fn(context, walk.end));
    }
    return walk.is_bad ? -1 : 0;
}

uint32_t inline_tree_add(struct inline_tree *tree, uint32_t node, int32_t index, uint64_t method)
{
    const struct inline_node added = { method, node, index, true };
    return put_node(tree, &added);
}

bool inline_tree_has_inlined(const struct inline_tree *tree, uint32_t node, int32_t index)
{
    for (uint32_t i = node + 1; i < tree->n_nodes; i++)
        if (tree->nodes[i].caller == node && tree->nodes[i].index == index)
            return true;
    return false;
}

unsigned inline_tree_flags(const struct inline_tree *tree, uint32_t node, int32_t index)
{
    const struct hash_slot *slot = hash_get(&tree->by_point, key_of_point(node, index));
    return slot == NULL ? 0 : tree->points[slot->value - 1].flags;
}

bool inline_tree_is_below(const struct inline_tree *tree, uint32_t node, uint32_t above)
{
    while (node != above && node != INLINE_ROOT)
        node = tree->nodes[node].caller;
    return node == above;
}

void inline_tree_free(struct inline_tree *tree)
{
    free(tree->nodes);
    free(tree->points);
    hash_free(&tree->by_node);
    hash_free(&tree->by_point);
    memset(tree, 0, sizeof *tree);
}
