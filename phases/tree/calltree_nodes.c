#include "phases/tree/calltree_internal.h"

#include "core/base/xalloc.h"

#include <sys/mman.h>

#define FIRST_NODES (UINT32_C(16) << 10)

/* A slot is a node and some bits of its key, so that few nodes are looked at in vain. */
#define TAG_BITS      4
#define NODE_BITS     (32 - TAG_BITS)
#define NODE_OF(slot) ((slot) & ((UINT32_C(1) << NODE_BITS) - 1))
#define NEAR          8u /* slots that a node's first children share: they are in one cache line */

static uint64_t key_of(uint32_t parent, uint32_t method)
{
    return ((uint64_t)parent << 32 | method) * UINT64_C(0x9e3779b97f4a7c15);
}

static uint32_t tag_of(uint64_t key)
{
    return (uint32_t)(key >> 60) << NODE_BITS;
}

/* Where the child is, or would be. */
static uint32_t *find_slot(const struct node_store *store, uint32_t parent, uint32_t method)
{
    uint64_t key = key_of(parent, method);
    uint32_t mask = store->n_slots - 1, tag = tag_of(key),
             near = (uint32_t)(key_of(parent, 0) >> 32) & mask & ~(NEAR - 1), far = (uint32_t)(key >> 28) & mask;
    for (uint32_t n = 0;; n++) {
        uint32_t *slot = &store->slots[n < NEAR ? near + (((uint32_t)(key >> 40) + n) & (NEAR - 1)) : (far + n) & mask];
        const struct calltree_node *node = &store->nodes[NODE_OF(*slot)];
        if (*slot == 0 || ((*slot ^ tag) >> NODE_BITS == 0 && node->parent == parent && node->method == method))
            return slot;
    }
}

static void put_slot(struct node_store *store, uint32_t node)
{
    uint32_t parent = store->nodes[node].parent, method = store->nodes[node].method;
    *find_slot(store, parent, method) = tag_of(key_of(parent, method)) | node;
}

/* Pages that come zeroed.  A large tree is touched all over: 1.5 million nodes took 15 % longer with small pages. */
static void *map_pages(size_t n_bytes)
{
    /* -1 is what MAP_ANONYMOUS wants. */
    // cppcheck-suppress invalidFunctionArg
    void *pages = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        out_of_memory();
    madvise(pages, n_bytes, MADV_HUGEPAGE);
    return pages;
}

/* They are moved, not copied. */
static void grow_nodes(struct node_store *store)
{
    uint32_t n_mapped = store->n_mapped * 2;
    size_t n_bytes = n_mapped * sizeof *store->nodes;
    void *nodes = mremap(store->nodes, store->n_mapped * sizeof *store->nodes, n_bytes, MREMAP_MAYMOVE);
    if (nodes == MAP_FAILED || n_mapped < store->n_mapped)
        out_of_memory();
    store->nodes = nodes;
    store->n_mapped = n_mapped;
    madvise(nodes, n_bytes, MADV_HUGEPAGE);
}

static void make_slots(struct node_store *store, uint32_t n_slots)
{
    store->n_slots = n_slots;
    store->slots = map_pages(n_slots * sizeof *store->slots);
}

static void grow_slots(struct node_store *store)
{
    uint32_t n_slots = store->n_slots;
    node_store_free_slots(store);
    make_slots(store, 2 * n_slots);
    for (uint32_t i = 1; i < store->n_nodes; i++)
        if (store->nodes[i].parent != i)
            put_slot(store, i);
}

void node_store_open(struct node_store *store, uint32_t max_nodes)
{
    *store = (struct node_store){ .max_nodes = max_nodes, .n_mapped = FIRST_NODES, .n_nodes = 1 /* 0 is no node */ };
    make_slots(store, 2 * FIRST_NODES);
    store->nodes = map_pages(FIRST_NODES * sizeof *store->nodes);
    store->nodes[0].method = CALLTREE_NONE; /* so that "no last child" is never a hit */
}

void node_store_free_slots(struct node_store *store)
{
    if (store->slots != NULL)
        munmap(store->slots, store->n_slots * sizeof *store->slots);
    store->slots = NULL;
}

void node_store_close(struct node_store *store)
{
    if (store->nodes != NULL)
        munmap(store->nodes, store->n_mapped * sizeof *store->nodes);
    node_store_free_slots(store);
    free(store->rows);
    memset(store, 0, sizeof *store);
}

static uint32_t new_node(struct node_store *store)
{
    if (store->n_nodes == store->n_mapped)
        grow_nodes(store);
    return store->n_nodes++;
}

uint32_t node_store_root(struct node_store *store)
{
    uint32_t root = new_node(store);
    store->nodes[root].parent = root;
    store->nodes[root].method = CALLTREE_ROOT;
    return root;
}

static uint32_t add_child(struct node_store *store, uint32_t parent, uint32_t method)
{
    if (store->n_nodes >= store->n_slots / 2)
        grow_slots(store);
    uint32_t node = new_node(store);
    struct calltree_node *child = &store->nodes[node];
    child->parent = parent;
    child->method = method;
    put_slot(store, node);
    return node;
}

uint32_t node_store_child(struct node_store *store, uint32_t parent, uint32_t method)
{
    uint32_t node = NODE_OF(*find_slot(store, parent, method));
    if (node == 0) {
        if (store->n_nodes > store->max_nodes)
            return CALLTREE_NONE;
        node = add_child(store, parent, method);
        if (method >= store->n_methods)
            store->n_methods = method + 1;
    }
    uint32_t before = store->nodes[parent].last_child;
    if (before != 0)
        store->nodes[before].follower = node;
    store->nodes[parent].last_child = node;
    return node;
}

uint32_t node_store_folded_child(struct node_store *store, uint32_t parent)
{
    uint32_t node = NODE_OF(*find_slot(store, parent, CALLTREE_FOLDED));
    return node != 0 ? node : add_child(store, parent, CALLTREE_FOLDED);
}

/* ---- rows ---- */

static uint32_t new_row(struct node_store *store)
{
    xgrow_zeroed(store->rows, store->rows_room, (store->n_rows + (size_t)1) * store->row_words);
    return store->n_rows++;
}

void node_store_rows(struct node_store *store, size_t n_columns)
{
    store->row_words = ROW_METRICS + CALLTREE_COUNTERS + n_columns;
    new_row(store);
}

uint64_t *node_store_new_row(struct node_store *store, uint32_t node)
{
    uint32_t row = store->nodes[node].row = new_row(store);
    return store->rows + row * store->row_words;
}

void node_store_finish(struct node_store *store)
{
    struct calltree_node *nodes = store->nodes;
    for (uint32_t i = store->n_nodes; i-- > 1;)
        if (nodes[i].row != 0)
            node_store_row(store, nodes[i].parent);
    for (uint32_t i = 1; i < store->n_nodes; i++) {
        struct calltree_node *parent = &nodes[nodes[i].parent];
        bool is_root = parent == &nodes[i];
        nodes[i].first_child = 0;
        nodes[i].next_sibling = is_root ? 0 : parent->first_child;
        if (!is_root)
            parent->first_child = i;
    }
}
