#include "phases/tree/context_tree.h"

#include "core/base/xalloc.h"

#include <sys/mman.h>

#define PATHS_PART 16u /* of the tree's memory is for paths: one */
#define FREE_PART  4u  /* of the nodes is free after a purge: one, or more */
#define SHELVES    65u /* nodes by their samples: 0, 1, 2 to 3, 4 to 7, ... */
#define PATH_FIRST 64u
#define WIDE       32u /* callees that are looked through one by one */

/* ---- opening ---- */

void context_tree_open(struct context_tree *tree, uint64_t bytes)
{
    memset(tree, 0, sizeof *tree);
    uint64_t n = (bytes - bytes / PATHS_PART) / sizeof *tree->nodes;
    tree->n_max = n > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)n;
    tree->path_max_bytes = (size_t)(bytes / PATHS_PART);
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    /* cppcheck-suppress invalidFunctionArg; -1 is what MAP_ANONYMOUS wants */
    void *nodes = mmap(NULL, tree->n_max * sizeof *tree->nodes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (nodes == MAP_FAILED)
        out_of_memory();
    tree->nodes = nodes;
    tree->nodes[0] = (struct context_node){ .method = CONTEXT_NONE, .site = -1, .is_held = true };
    tree->n = tree->n_nodes = 1;
}

static void forget_threads(struct context_tree *tree)
{
    for (uint32_t i = 0; i < tree->n_threads; i++)
        free(tree->threads[i].path);
    hash_free(&tree->by_tid);
    tree->n_threads = 0;
    tree->path_bytes = 0;
}

void context_tree_free(struct context_tree *tree)
{
    forget_threads(tree);
    hash_free(&tree->by_call);
    free(tree->threads);
    if (tree->nodes != NULL)
        munmap(tree->nodes, tree->n_max * sizeof *tree->nodes);
    memset(tree, 0, sizeof *tree);
}

/* ---- walking ---- */

uint32_t context_tree_next(const struct context_tree *tree, uint32_t node)
{
    const struct context_node *nodes = tree->nodes;
    if (nodes[node].first_child != 0)
        return nodes[node].first_child;
    while (node != 0 && nodes[node].next == 0)
        node = nodes[node].parent;
    return node == 0 ? 0 : nodes[node].next;
}

static uint32_t innermost_first(const struct context_tree *tree, uint32_t node)
{
    while (tree->nodes[node].first_child != 0)
        node = tree->nodes[node].first_child;
    return node;
}

/* Callees before their callers: from innermost_first(tree, top) to top. */
static uint32_t next_outwards(const struct context_tree *tree, uint32_t node)
{
    uint32_t next = tree->nodes[node].next;
    return next != 0 ? innermost_first(tree, next) : tree->nodes[node].parent;
}

static void add_weight(struct context_weight *sum, const struct context_weight *weight)
{
    sum->n_samples += weight->n_samples;
    sum->ns += weight->ns;
}

void context_tree_sum(struct context_tree *tree)
{
    for (uint32_t node = 1; node < tree->n; node++)
        tree->nodes[node].total = (struct context_weight){ 0, 0 };
    tree->nodes[0].total = (struct context_weight){ 0, 0 };
    for (uint32_t node = innermost_first(tree, 0);; node = next_outwards(tree, node)) {
        struct context_node *at = &tree->nodes[node];
        add_weight(&at->total, &at->own);
        add_weight(&at->total, &at->purged);
        if (node == 0)
            return;
        add_weight(&tree->nodes[at->parent].total, &at->total);
    }
}

/* ---- the index of callees ---- */

static uint64_t call_key(uint32_t parent, uint32_t method, int32_t site)
{
    const uint32_t call[3] = { parent, method, (uint32_t)site };
    return hash_text(HASH_START, (const char *)call, sizeof call);
}

static uint64_t key_of(const struct context_node *node)
{
    return call_key(node->parent, node->method, node->site);
}

/* 0: there is none. */
static uint32_t find_call(const struct context_tree *tree, uint32_t parent, uint32_t method, int32_t site)
{
    const uint32_t *found = hash_find(&tree->by_call, call_key(parent, method, site));
    const struct context_node *node = found == NULL ? NULL : &tree->nodes[*found];
    return node != NULL && node->parent == parent && node->method == method && node->site == site ? *found : 0;
}

static void index_call(struct context_tree *tree, uint32_t node)
{
    xhash_store(&tree->by_call, key_of(&tree->nodes[node]), node);
}

static void make_wide(struct context_tree *tree, uint32_t parent)
{
    for (uint32_t i = tree->nodes[parent].is_wide ? 0 : tree->nodes[parent].first_child; i != 0;
         i = tree->nodes[i].next)
        index_call(tree, i);
    tree->nodes[parent].is_wide = true;
}

/* ---- purging ---- */

static void unlink_node(struct context_tree *tree, uint32_t node)
{
    const struct context_node *at = &tree->nodes[node];
    if (at->previous != 0)
        tree->nodes[at->previous].next = at->next;
    else
        tree->nodes[at->parent].first_child = at->next;
    if (at->next != 0)
        tree->nodes[at->next].previous = at->previous;
}

static void purge_leaf(struct context_tree *tree, uint32_t node)
{
    struct context_node *at = &tree->nodes[node], *parent = &tree->nodes[at->parent];
    add_weight(&parent->purged, &at->own);
    add_weight(&parent->purged, &at->purged);
    add_weight(&tree->purged, &at->own);
    unlink_node(tree, node);
    if (parent->is_wide)
        hash_remove(&tree->by_call, key_of(at));
    *at = (struct context_node){ .method = CONTEXT_NONE, .next = tree->first_free };
    tree->first_free = node;
    tree->n_nodes--;
    tree->n_purged++;
}

static void purge_subtree(struct context_tree *tree, uint32_t top)
{
    for (uint32_t node = innermost_first(tree, top); node != top;) {
        uint32_t next = next_outwards(tree, node);
        purge_leaf(tree, node);
        node = next;
    }
    purge_leaf(tree, top);
}

static unsigned shelf_of(const struct context_node *node)
{
    unsigned shelf = 0;
    for (uint64_t n = node->total.n_samples; n > 0; n /= 2)
        shelf++;
    return shelf;
}

static bool is_purgeable(const struct context_node *node)
{
    return node->method != CONTEXT_NONE && !node->is_held;
}

/* The lowest shelf so that as many nodes as are wanted are on it and below, or the highest one. */
static unsigned choose_shelf(const struct context_tree *tree, uint32_t n_wanted)
{
    uint32_t n_on[SHELVES] = { 0 }, n = 0;
    for (uint32_t node = 1; node < tree->n; node++)
        if (is_purgeable(&tree->nodes[node]))
            n_on[shelf_of(&tree->nodes[node])]++;
    unsigned shelf = 0;
    while (shelf + 1 < SHELVES && (n += n_on[shelf]) < n_wanted)
        shelf++;
    return shelf;
}

static void hold(struct context_tree *tree, uint32_t node, bool is_held)
{
    for (; node != 0; node = tree->nodes[node].parent)
        tree->nodes[node].is_held = is_held;
}

/*
 * Make room, with nothing taken of the path that ends at 'keep'.  What all other threads' last paths were is forgotten.
 * A node's callees have no more samples than it has, so whole subtrees go; the oldest ones first, as far as nodes are
 * in the order in which they were made.
 */
static void purge(struct context_tree *tree, uint32_t keep)
{
    uint32_t n_wanted = tree->n_max / FREE_PART, n_left = tree->n_nodes > n_wanted ? tree->n_nodes - n_wanted : 1;
    context_tree_sum(tree);
    hold(tree, keep, true);
    unsigned shelf = choose_shelf(tree, n_wanted);
    for (uint32_t node = 1; node < tree->n && tree->n_nodes > n_left; node++)
        if (is_purgeable(&tree->nodes[node]) && shelf_of(&tree->nodes[node]) <= shelf)
            purge_subtree(tree, node);
    hold(tree, keep, false);
    tree->n_purges++;
}

/* ---- adding ---- */

static void link_behind(struct context_tree *tree, uint32_t node, uint32_t last)
{
    struct context_node *nodes = tree->nodes, *at = &nodes[node];
    uint32_t *from = last == 0 ? &nodes[at->parent].first_child : &nodes[last].next;
    at->previous = last;
    at->next = *from;
    *from = node;
    if (at->next != 0)
        nodes[at->next].previous = node;
}

/* Before those of its siblings, this one and earlier, that were looked for less often. */
static void move_forward(struct context_tree *tree, uint32_t node, uint32_t before)
{
    const struct context_node *nodes = tree->nodes;
    uint32_t n_entered = nodes[node].n_entered;
    if (before == 0 || before == node || nodes[before].n_entered >= n_entered)
        return;
    unlink_node(tree, node);
    while (before != 0 && nodes[before].n_entered < n_entered)
        before = nodes[before].previous;
    link_behind(tree, node, before);
}

/* A node that is not in use; 0: there is none. */
static uint32_t take_node(struct context_tree *tree)
{
    uint32_t node = tree->first_free;
    if (node != 0)
        tree->first_free = tree->nodes[node].next;
    else if (tree->n < tree->n_max)
        node = tree->n++;
    tree->n_nodes += node != 0;
    return node;
}

/* The node of a call, or 0.  *last: the one that was looked at before it. */
static uint32_t find_callee(struct context_tree *tree, uint32_t parent, uint32_t method, int32_t site, uint32_t *last)
{
    const struct context_node *nodes = tree->nodes;
    uint32_t node = nodes[parent].first_child;
    *last = 0;
    for (uint32_t n = 0; node != 0 && (nodes[node].method != method || nodes[node].site != site); n++) {
        if (n == WIDE) {
            make_wide(tree, parent);
            return find_call(tree, parent, method, site);
        }
        *last = node;
        node = nodes[node].next;
    }
    return node;
}

/* The same, made if need be; 0: there is no room. */
static uint32_t enter(struct context_tree *tree, uint32_t parent, uint32_t method, int32_t site)
{
    struct context_node *nodes = tree->nodes;
    uint32_t last, node = find_callee(tree, parent, method, site, &last);
    if (node == 0) {
        node = take_node(tree);
        if (node == 0)
            return 0;
        nodes[node] = (struct context_node){ .method = method, .site = site, .parent = parent };
        link_behind(tree, node, last);
        if (nodes[parent].is_wide)
            index_call(tree, node);
    }
    nodes[node].n_entered += nodes[node].n_entered < UINT32_MAX;
    move_forward(tree, node, last);
    return node;
}

static struct context_thread *thread_of(struct context_tree *tree, int32_t tid)
{
    struct hash_slot *slot = xhash_put(&tree->by_tid, hash_address((uint64_t)(uint32_t)tid));
    if (slot->second == 0) {
        slot->value = tree->n_threads;
        slot->second = 1;
        *xpush(tree->threads, tree->threads_room, tree->n_threads) = (struct context_thread){ .path = NULL };
    }
    return &tree->threads[slot->value];
}

/* Room for n frames of a thread; all others are forgotten where it would be too much. */
static struct context_thread *thread_with_room(struct context_tree *tree, int32_t tid, uint32_t n)
{
    struct context_thread *thread = thread_of(tree, tid);
    if (thread->room >= n)
        return thread;
    uint32_t room = thread->room == 0 ? PATH_FIRST : thread->room;
    while (room < n)
        room *= 2;
    if (tree->path_bytes + (room - thread->room) * sizeof *thread->path > tree->path_max_bytes) {
        forget_threads(tree);
        thread = thread_of(tree, tid);
    }
    thread->path = xreallocarray(thread->path, room, sizeof *thread->path);
    tree->path_bytes += (room - thread->room) * sizeof *thread->path;
    thread->room = room;
    return thread;
}

/* The same, after a purge if need be: it may take what is on other threads' paths, so these are forgotten. */
static uint32_t enter_in(struct context_tree *tree, const struct context_thread *thread, uint32_t parent,
                         uint32_t method, int32_t site)
{
    uint32_t node = enter(tree, parent, method, site);
    if (node != 0)
        return node;
    for (uint32_t i = 0; i < tree->n_threads; i++)
        if (&tree->threads[i] != thread)
            tree->threads[i].n = 0;
    purge(tree, parent);
    return enter(tree, parent, method, site);
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

uint32_t context_tree_add(struct context_tree *tree, int32_t tid, uint32_t n_same, const uint32_t *methods,
                          const int32_t *bytecodes, uint32_t n, uint64_t ns)
{
    const struct context_weight weight = { 1, ns };
    struct context_thread *thread = thread_with_room(tree, tid, n);
    thread->n = least(least(n_same, thread->n), n);
    uint32_t node = thread->n == 0 ? 0 : thread->path[thread->n - 1];
    for (uint32_t i = n - thread->n; i-- > 0;) {
        bool has_site = bytecodes != NULL && i + 1 < n && methods[i + 1] != CONTEXT_NONE;
        uint32_t inner = node;
        if (methods[i] != CONTEXT_NONE)
            inner = enter_in(tree, thread, node, methods[i], has_site ? bytecodes[i + 1] : -1);
        if (inner == 0 && methods[i] != CONTEXT_NONE) { /* the path alone fills the tree */
            add_weight(&tree->nodes[node].purged, &weight);
            add_weight(&tree->purged, &weight);
            return node;
        }
        thread->path[thread->n++] = node = inner;
    }
    add_weight(&tree->nodes[node].own, &weight);
    return node;
}

/* ---- without call sites ---- */

uint32_t context_tree_calls(const struct context_node *node)
{
    return node->n_calls == 0 ? 1 : node->n_calls;
}

/* Calls from different call sites are different ones. */
void context_tree_merge_sites(const struct context_tree *tree, struct context_tree *merged)
{
    uint32_t *at = xcalloc(tree->n, sizeof *at), node = 0;
    uint64_t bytes = tree->n_max * (uint64_t)sizeof *tree->nodes * PATHS_PART / (PATHS_PART - 1);
    context_tree_open(merged, bytes + CONTEXT_TREE_MIN_BYTES);
    do {
        const struct context_node *from = &tree->nodes[node];
        if (node != 0)
            at[node] = enter(merged, at[from->parent], from->method, -1);
        merged->nodes[at[node]].n_calls += context_tree_calls(from);
        add_weight(&merged->nodes[at[node]].own, &from->own);
        add_weight(&merged->nodes[at[node]].purged, &from->purged);
        node = context_tree_next(tree, node);
    } while (node != 0);
    context_tree_sum(merged);
    free(at);
}
