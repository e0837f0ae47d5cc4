/*
 * What compilers made of a piece of code: which methods are inlined where, and what is left at a bytecode of each: a
 * call, an allocation, or a trap.  From a copy of its debug information: nothing of the JVM is asked for or changed.
 *
 * A call that was inlined leaves a node where anything in it has debug information (calls, allocations, safepoints,
 * what may throw); one of a method that has nothing of that kind, as a getter, leaves no trace.
 */
#ifndef CORE_HOTSPOT_INLINE_TREE_H
#define CORE_HOTSPOT_INLINE_TREE_H

#include "core/base/hash.h"
#include "core/hotspot/vm_streams.h"

#define INLINE_ROOT UINT32_MAX /* the caller of the root */

/* What the code does at a point: bits. */
enum inline_point_flag {
    INLINE_CALLS = 1,      /* a call of a Java method */
    INLINE_TRAPS = 2,      /* it goes back to the interpreter: not reached when it was compiled */
    INLINE_ALLOCATES = 4,  /* a call of the JVM where the thread's buffer is full: the object is made in the heap */
    INLINE_MAKES_ARRAY = 8 /* the same of an array */
};

struct inline_node {
    uint64_t method;  /* a Method's address */
    uint32_t caller;  /* a node before it, or INLINE_ROOT */
    int32_t index;    /* of the caller's bytecode; -1: not known */
    bool is_left_out; /* no frame of it is in the debug information: inline_tree_add */
};

struct inline_point {
    uint32_t node;
    int32_t index; /* of its bytecode */
    unsigned flags;
};

struct inline_tree {
    struct inline_node *nodes;   /* owned; the first one is the method that was compiled */
    struct inline_point *points; /* owned */
    uint32_t n_nodes, nodes_room, n_points, points_room;
    struct hash_set by_node, by_point;
    bool is_cut; /* frames were left out, which are deeper than CODE_FRAMES_MAX */
};

/* The bits of the point whose debug information is for this offset in the code. */
typedef unsigned inline_point_fn(void *context, uint64_t offset);

/*
 * Read a tree, which is zero at first or was read before.  Returns 0; or -1: the debug information is damaged, or has
 * been changed while it was copied, or there is no memory.
 */
int inline_tree_read(struct inline_tree *tree, const struct scopes *scopes, inline_point_fn *fn, void *context);

/*
 * Add a method that was inlined at a node's bytecode without a trace.  Returns its number, or INLINE_ROOT: there is no
 * memory.
 */
uint32_t inline_tree_add(struct inline_tree *tree, uint32_t node, int32_t index, uint64_t method);

/* Is anything inlined at a node's bytecode? */
bool inline_tree_has_inlined(const struct inline_tree *tree, uint32_t node, int32_t index);

/* The bits of all points at a node's bytecode; 0: there is none. */
unsigned inline_tree_flags(const struct inline_tree *tree, uint32_t node, int32_t index);

/* Is a node, or one that it is inlined in, directly or not, this one? */
bool inline_tree_is_below(const struct inline_tree *tree, uint32_t node, uint32_t above);

void inline_tree_free(struct inline_tree *tree);

#endif
