/*
 * A partial calling context tree of stack samples, in bounded memory: in whose calls, from which call sites, methods
 * were seen, and for how long.
 *
 * A context is a method, called from a bytecode of its caller's context; recursive calls keep their full context.  A
 * sample adds to its innermost context alone, and looks for those of changed frames only: for each thread the tree
 * keeps the path of its last sample.  So its cost is that of the frames that changed, however deep the stack is; totals
 * are summed up when they are asked for.
 *
 * - Siblings are kept sorted by how often a sample had to look for them, most often first.
 * - When the tree is full, cold contexts are purged: whole subtrees with the fewest samples, until a quarter of the
 * room is free.  Their samples stay with their callers, as purged ones.  So at each time, of samples and of ns,
 *
 *       total = own + purged + sum of the callees' totals
 *
 * - A context with many callees has them in an index, so that none is looked for along all others.  It comes on top of
 *   the tree's memory: 48 bytes at most for each of these callees.
 *
 * Methods are numbers from 0, the user's.  Node 0 is the root, outside of all calls.
 *
 * Source: PCCT §5.2 (construction; its edges' weights are 'n_entered' here), §5.3 (one buffer), §5.4 (recursion).
 */
#ifndef PHASES_TREE_CONTEXT_TREE_H
#define PHASES_TREE_CONTEXT_TREE_H

#include "core/base/err.h"
#include "core/base/hash.h"

#define CONTEXT_NONE           UINT32_MAX
#define CONTEXT_TREE_MIN_BYTES (UINT64_C(64) << 10)

struct context_weight {
    uint64_t n_samples, ns;
};

struct context_node {
    uint32_t method;                              /* CONTEXT_NONE: the root, or no node at present */
    int32_t site;                                 /* index of the bytecode in the caller's method; -1: not known */
    uint32_t parent, first_child, next, previous; /* nodes; 0: none */
    uint32_t n_entered;                           /* samples in which this frame was another one than in the last */
    uint32_t n_calls;                             /* the user's: of those that samples prove to be different ones */
    bool is_held;                                 /* not to be purged */
    bool is_wide;                                 /* by_call has all of its callees */
    struct context_weight own, purged;
    struct context_weight total; /* since context_tree_sum */
};

struct context_thread {
    uint32_t *path; /* owned; the node of each frame of its last sample, outermost first */
    uint32_t n, room;
};

struct context_tree {
    struct context_node *nodes; /* owned: mapped for n_max */
    uint32_t n, n_max;          /* nodes[n] and later were never used */
    uint32_t n_nodes;           /* in use, the root included */
    uint32_t first_free;        /* of those below n, by 'next'; 0: none */
    uint64_t n_purges, n_purged;
    struct context_weight purged; /* of all purged nodes */
    struct hash_set by_call;      /* of callees: their node */
    struct hash_set by_tid;
    struct context_thread *threads; /* owned */
    uint32_t n_threads, threads_room;
    size_t path_bytes, path_max_bytes;
};

/*
 * An empty tree of at most 'bytes' bytes (CONTEXT_TREE_MIN_BYTES at least): nodes, and a sixteenth of it for the
 * threads' paths.  Memory is taken as it is used.
 */
void context_tree_open(struct context_tree *tree, uint64_t bytes);
void context_tree_free(struct context_tree *tree);

/*
 * A sample: n frames, the innermost first.
 *
 * methods    by frame; CONTEXT_NONE is no method, and left out
 * bytecodes  by frame, the index of its bytecode: the call site of the next inner one; -1: not known.  NULL: none is
 * tid, n_same  so many of the outermost frames are the same ones, with the same call sites, as in the last sample with
 *            this tid; 0: not known
 *
 * Returns the innermost node (0: no method).
 */
uint32_t context_tree_add(struct context_tree *tree, int32_t tid, uint32_t n_same, const uint32_t *methods,
                          const int32_t *bytecodes, uint32_t n, uint64_t ns);

/* Set all nodes' totals. */
void context_tree_sum(struct context_tree *tree);

/* Calls that samples were in, at least. */
uint32_t context_tree_calls(const struct context_node *node);

/*
 * The same contexts with the call sites of each method in its caller as one (-1), in a tree of its own with its totals.
 * *merged is for context_tree_free.
 */
void context_tree_merge_sites(const struct context_tree *tree, struct context_tree *merged);

/* The next node after this one, callers before callees, from 0 (the root) on; 0: there is none. */
uint32_t context_tree_next(const struct context_tree *tree, uint32_t node);

#endif
