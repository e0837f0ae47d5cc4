#include "phases/tree/calltree_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define FIRST_NODES (UINT32_C(16) << 10)

static int no_room(struct err *err, uint32_t n_nodes)
{
    err_set(err, "out of memory for a call tree of %u nodes", n_nodes);
    return err_next(err, "record fewer methods ('mmprof record --include' or a larger --min-bytecodes)");
}

static uint32_t hash_of(uint32_t parent, uint32_t method)
{
    uint64_t key = ((uint64_t)parent << 32 | method) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(key >> 32);
}

static uint32_t *find_slot(const struct node_store *store, uint32_t parent, uint32_t method)
{
    uint32_t mask = store->n_slots - 1, i = hash_of(parent, method) & mask;
    while (store->slots[i] != 0) {
        const struct calltree_node *node = &store->nodes[store->slots[i]];
        if (node->parent == parent && node->method == method)
            break;
        i = (i + 1) & mask;
    }
    return &store->slots[i];
}

static int grow_metrics(struct node_store *store, uint32_t n_mapped, struct err *err)
{
    if (store->n_metrics == 0)
        return 0;
    size_t row = store->n_metrics * sizeof *store->metrics;
    uint64_t *metrics = realloc(store->metrics, n_mapped * row);
    if (metrics == NULL)
        return no_room(err, n_mapped);
    memset(metrics + (size_t)store->n_mapped * store->n_metrics, 0, (n_mapped - store->n_mapped) * row);
    store->metrics = metrics;
    return 0;
}

/* A large tree is touched all over: 1.5 million nodes took 15 % longer with small pages. */
static void use_large_pages(const struct node_store *store)
{
    madvise(store->nodes, store->n_mapped * sizeof *store->nodes, MADV_HUGEPAGE);
}

/* Pages are moved, not copied, and come zeroed. */
static int grow_nodes(struct node_store *store, struct err *err)
{
    uint32_t n_mapped = store->n_mapped * 2;
    if (n_mapped < store->n_mapped || grow_metrics(store, n_mapped, err) < 0)
        return no_room(err, n_mapped);
    void *nodes =
        mremap(store->nodes, store->n_mapped * sizeof *store->nodes, n_mapped * sizeof *store->nodes, MREMAP_MAYMOVE);
    if (nodes == MAP_FAILED)
        return no_room(err, n_mapped);
    store->nodes = nodes;
    store->n_mapped = n_mapped;
    use_large_pages(store);
    return 0;
}

static int grow_slots(struct node_store *store, struct err *err)
{
    struct node_store larger = *store;
    larger.n_slots = store->n_slots * 2;
    larger.slots = calloc(larger.n_slots, sizeof *larger.slots);
    if (larger.slots == NULL)
        return no_room(err, store->n_nodes);
    for (uint32_t i = 1; i < store->n_nodes; i++)
        if (store->nodes[i].parent != i)
            *find_slot(&larger, store->nodes[i].parent, store->nodes[i].method) = i;
    free(store->slots);
    store->slots = larger.slots;
    store->n_slots = larger.n_slots;
    return 0;
}

int node_store_open(struct node_store *store, uint32_t max_nodes, struct err *err)
{
    memset(store, 0, sizeof *store);
    store->max_nodes = max_nodes;
    store->n_mapped = FIRST_NODES;
    store->n_slots = 2 * FIRST_NODES;
    store->n_nodes = 1; /* 0 is no node */
    store->slots = calloc(store->n_slots, sizeof *store->slots);
    size_t n_bytes = FIRST_NODES * sizeof *store->nodes;
    /* -1 is what MAP_ANONYMOUS wants. */
    // cppcheck-suppress invalidFunctionArg
    void *nodes = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (nodes != MAP_FAILED)
        store->nodes = nodes;
    if (store->slots == NULL || nodes == MAP_FAILED) {
        node_store_close(store);
        return no_room(err, FIRST_NODES);
    }
    store->nodes[0].method = CALLTREE_NONE; /* so that "no last child" is never a hit */
    return 0;
}

void node_store_close(struct node_store *store)
{
    if (store->nodes != NULL)
        munmap(store->nodes, store->n_mapped * sizeof *store->nodes);
    free(store->slots);
    free(store->metrics);
    memset(store, 0, sizeof *store);
}

static uint32_t new_node(struct node_store *store, struct err *err)
{
    if (store->n_nodes == store->n_mapped && grow_nodes(store, err) < 0)
        return CALLTREE_NONE;
    return store->n_nodes++;
}

uint32_t node_store_root(struct node_store *store, struct err *err)
{
    uint32_t root = new_node(store, err);
    if (root != CALLTREE_NONE) {
        store->nodes[root].parent = root;
        store->nodes[root].method = CALLTREE_ROOT;
    }
    return root;
}

static int add_child(struct node_store *store, uint32_t parent, uint32_t method, uint32_t *node, struct err *err)
{
    if (store->n_nodes >= store->n_slots / 2 && grow_slots(store, err) < 0)
        return -1;
    *node = new_node(store, err);
    if (*node == CALLTREE_NONE)
        return -1;
    struct calltree_node *child = &store->nodes[*node];
    child->parent = parent;
    child->method = method;
    child->next_sibling = store->nodes[parent].first_child;
    store->nodes[parent].first_child = *node;
    *find_slot(store, parent, method) = *node;
    return 0;
}

int node_store_child(struct node_store *store, uint32_t parent, uint32_t method, uint32_t *node, struct err *err)
{
    *node = *find_slot(store, parent, method);
    if (*node == 0) {
        *node = CALLTREE_NONE;
        if (store->n_nodes > store->max_nodes)
            return 0;
        if (add_child(store, parent, method, node, err) < 0)
            return -1;
        if (method >= store->n_methods)
            store->n_methods = method + 1;
    }
    uint32_t before = store->nodes[parent].last_child;
    if (before != 0)
        store->nodes[before].follower = *node;
    store->nodes[parent].last_child = *node;
    return 0;
}

int node_store_folded_child(struct node_store *store, uint32_t parent, uint32_t *node, struct err *err)
{
    *node = *find_slot(store, parent, CALLTREE_FOLDED);
    return *node != 0 ? 0 : add_child(store, parent, CALLTREE_FOLDED, node, err);
}

int node_store_metrics(struct node_store *store, size_t n_metrics, struct err *err)
{
    store->metrics = calloc(store->n_mapped, n_metrics * sizeof *store->metrics);
    if (store->metrics == NULL)
        return no_room(err, store->n_mapped);
    store->n_metrics = n_metrics;
    return 0;
}
