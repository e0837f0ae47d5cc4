/*
 * The threads of the trace and their roots.
 */
#include "phases/tree/calltree_internal.h"

#include "core/base/vec.h"

#include <stdlib.h>
#include <string.h>

/* Inclusive and exclusive metrics take no more each; beyond it, calls are folded. */
#define METRICS_MAX_BYTES ((size_t)1 << 30)

static int add_root(struct builder *b, enum vm_part part, uint32_t thread, uint32_t *root, struct err *err)
{
    struct calltree *tree = b->tree;
    if (vec_reserve(tree->roots, b->roots_room, tree->n_roots + 1) < 0)
        return err_set(err, "out of memory for %u call trees", b->roots_room);
    uint32_t node = node_store_root(&b->store, err);
    if (node == CALLTREE_NONE)
        return -1;
    tree->roots[tree->n_roots] = (struct calltree_root){ node, part, thread };
    *root = tree->n_roots++;
    return 0;
}

static int thread_root(struct builder *b, struct thread *t, uint32_t index, struct err *err)
{
    if (b->per_thread)
        return add_root(b, t->known.part, index, &t->known.root, err);
    uint32_t *shared = &b->shared_roots[t->known.part];
    if (*shared == CALLTREE_NONE && add_root(b, t->known.part, CALLTREE_NONE, shared, err) < 0)
        return -1;
    t->known.root = *shared;
    return 0;
}

static void meet_thread(struct builder *b, struct thread *t, uint32_t index)
{
    const struct trace_thread *about = trace_thread(b->reader, index);
    uint64_t start = trace_start_ticks(b->reader);
    if (about != NULL && about->start_ticks != TRACE_UNKNOWN && about->start_ticks > start)
        start = about->start_ticks;
    t->clock.now = t->on_since = start; /* until the kernel says otherwise */
    if (b->tree->activity.bins != NULL && b->tree->activity.start_ticks == 0)
        b->tree->activity.start_ticks = trace_start_ticks(b->reader);
    t->known.is_known = true;
}

int find_new_thread(struct builder *b, uint32_t index, struct thread **thread, struct err *err)
{
    if (index >= b->n_threads) {
        uint32_t n = trace_n_threads(b->reader);
        if (index >= n)
            return 0;
        if (vec_reserve_zeroed(b->threads, b->threads_room, n) < 0)
            return err_set(err, "out of memory for %u threads", n);
        b->n_threads = n;
    }
    *thread = &b->threads[index];
    if (!(*thread)->known.is_known)
        meet_thread(b, *thread, index);
    return 1;
}

int need_metrics(struct builder *b, struct err *err)
{
    if (b->store.n_metrics > 0)
        return 0;
    size_t n_metrics = CALLTREE_COUNTERS + b->n_columns, n_nodes = METRICS_MAX_BYTES / (n_metrics * sizeof(uint64_t));
    if (b->store.max_nodes > n_nodes)
        b->store.max_nodes = (uint32_t)n_nodes;
    return node_store_metrics(&b->store, n_metrics, err);
}

/* What was counted before the thread had a node. */
static void place_counts(struct builder *b, struct thread *t)
{
    struct thread_counters *counters = t->counters;
    struct calltree_node *node = &b->store.nodes[t->node];
    uint64_t *own = b->store.metrics + t->node * b->store.n_metrics;
    node->cpu_ticks += counters->early_cpu;
    node->wall_ticks += counters->early_wall;
    t->known.cpu_ticks += counters->early_cpu;
    t->known.wall_ticks += counters->early_wall;
    own[CALLTREE_UNCOUNTED] += counters->early_uncounted;
    for (size_t i = 0; i < b->n_columns; i++)
        own[CALLTREE_COUNTERS + i] += counters->early[i];
}

int place_thread(struct builder *b, struct thread *t, uint32_t index, struct err *err)
{
    const struct trace_thread *about = trace_thread(b->reader, index);
    t->known.part = vm_part_of(about == NULL || about->comm == NULL ? "" : about->comm);
    if (thread_root(b, t, index, err) < 0)
        return -1;
    t->is_placed = true;
    t->node = b->tree->roots[t->known.root].node;
    bool is_dropped = b->tree->cpu_is_wall && !t->known.has_records; /* its CPU time is not known */
    if (b->flow != NULL && flow_placed(b, t, is_dropped, err) < 0)
        return -1;
    if (t->n_faults + t->n_switches == 0 && t->counters == NULL)
        return 0;
    if (need_metrics(b, err) < 0)
        return -1;
    if (t->counters != NULL && !is_dropped)
        place_counts(b, t);
    uint64_t *own = b->store.metrics + t->node * b->store.n_metrics;
    own[CALLTREE_FAULTS] += t->n_faults;
    own[CALLTREE_SWITCHES] += t->n_switches;
    return 0;
}
