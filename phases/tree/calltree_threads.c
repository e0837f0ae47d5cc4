/* The threads of the trace and their roots. */
#include "phases/tree/calltree_internal.h"

#include "core/base/xalloc.h"

/* Inclusive and exclusive metrics take no more each; beyond it, calls are folded. */
#define METRICS_MAX_BYTES ((size_t)1 << 30)

/* The index of a new root. */
static uint32_t add_root(struct builder *b, enum vm_part part, uint32_t thread)
{
    struct calltree *tree = b->tree;
    *xpush(tree->roots, b->roots_room, tree->n_roots) =
        (struct calltree_root){ node_store_root(&b->store), part, thread };
    return tree->n_roots - 1;
}

static uint32_t thread_root(struct builder *b, const struct thread *t, uint32_t index)
{
    uint32_t *shared = &b->shared_roots[t->known.part];
    if (b->per_thread)
        return add_root(b, t->known.part, index);
    if (*shared == CALLTREE_NONE)
        *shared = add_root(b, t->known.part, CALLTREE_NONE);
    return *shared;
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

struct thread *find_new_thread(struct builder *b, uint32_t index)
{
    if (index >= b->n_threads) {
        uint32_t n = trace_n_threads(b->reader);
        if (index >= n)
            return NULL;
        xgrow_zeroed(b->threads, b->threads_room, n);
        b->n_threads = n;
    }
    struct thread *thread = &b->threads[index];
    if (!thread->known.is_known)
        meet_thread(b, thread, index);
    return thread;
}

uint64_t *need_metrics(struct builder *b, const struct thread *t)
{
    size_t n_nodes = METRICS_MAX_BYTES / (b->store.row_words * sizeof(uint64_t));
    if (b->store.n_metrics == 0 && b->store.max_nodes > n_nodes)
        b->store.max_nodes = (uint32_t)n_nodes;
    b->store.n_metrics = CALLTREE_COUNTERS + b->n_columns;
    return t->is_placed ? node_store_row(&b->store, t->node) + ROW_METRICS : NULL;
}

/* What was counted before the thread had a node. */
static void place_counts(struct builder *b, struct thread *t)
{
    struct thread_counters *counters = t->counters;
    uint64_t *row = node_store_row(&b->store, t->node), *own = row + ROW_METRICS;
    b->store.nodes[t->node].cpu_ticks += counters->early_cpu;
    row[ROW_OFF] += counters->early_wall - counters->early_cpu;
    t->known.cpu_ticks += counters->early_cpu;
    t->known.wall_ticks += counters->early_wall;
    own[CALLTREE_UNCOUNTED] += counters->early_uncounted;
    for (size_t i = 0; i < b->n_columns; i++)
        own[CALLTREE_COUNTERS + i] += counters->early[i];
}

void place_thread(struct builder *b, struct thread *t, uint32_t index)
{
    const struct trace_thread *about = trace_thread(b->reader, index);
    t->known.part = vm_part_of(about == NULL || about->comm == NULL ? "" : about->comm);
    t->known.root = thread_root(b, t, index);
    t->is_placed = true;
    t->node = b->tree->roots[t->known.root].node;
    bool is_dropped = b->tree->cpu_is_wall && !t->known.has_records; /* its CPU time is not known */
    if (b->flow != NULL)
        flow_placed(b, t, is_dropped);
    if (t->n_told[CALLTREE_FAULTS] + t->n_told[CALLTREE_SWITCHES] == 0 && t->counters == NULL)
        return;
    uint64_t *own = need_metrics(b, t);
    if (t->counters != NULL && !is_dropped)
        place_counts(b, t);
    own[CALLTREE_FAULTS] += t->n_told[CALLTREE_FAULTS];
    own[CALLTREE_SWITCHES] += t->n_told[CALLTREE_SWITCHES];
}
