#include "phases/tree/calltree_internal.h"

#include "core/base/xalloc.h"
#include "core/wire/ring.h"
#include "core/trace/recording_info.h"

#define NODES_MAX (UINT32_C(1) << 27) /* a slot has 28 bits for a node */

/* The counters stand before the first record and the first reading. */
static int learn_groups(struct builder *b, struct err *err)
{
    struct calltree_groups *groups = &b->tree->groups;
    if (b->knows_groups)
        return 0;
    if (groups_read(b->reader, groups, err) < 0)
        return -1;
    b->knows_groups = true;
    b->n_columns = trace_n_recorded_counters(b->reader);
    node_store_rows(&b->store, b->n_columns);
    b->take_turns = groups->n > 1;
    return 0;
}

/* What the trace says before its first record; the kernel may have told of the JVM's start long before that. */
static int begin(struct builder *b, struct err *err)
{
    b->is_begun = true;
    if (learn_groups(b, err) < 0)
        return -1;
    costs_read(b->reader, &b->tree->groups, &b->costs);
    b->tree->inside_ticks = b->costs.inside_ticks;
    b->tree->outside_ticks = b->costs.outside_ticks;
    const char *how = info_text(b->reader, INFO_OFFCPU);
    b->tree->cpu_is_wall = how != NULL && strncmp(how, "none", 4) == 0;
    b->tree->why_wall = b->tree->cpu_is_wall ? how : NULL;
    return 0;
}

/* Up to the end of the recording, or of the thread. */
static void finish_time(struct builder *b, struct thread *t, const struct trace_thread *about)
{
    if (t->clock.state == CLOCK_UNSEEN) /* it slept all the time */
        t->clock.state = CLOCK_OFF;
    uint64_t end = trace_end_ticks(b->reader), cpu = t->clock.cpu, wall = t->clock.wall;
    clock_advance(&t->clock, about != NULL && about->end_ticks < end ? about->end_ticks : end);
    if (b->flow != NULL)
        flow_passed(b, t, cpu, wall);
    if (b->tree->cpu_is_wall && !t->known.has_records)
        t->clock.wall = 0;
    runs_end(b, t, about);
    uint64_t ticks = thread_settle(b, t, 0);
    if (!t->known.has_records) /* it may have waited all the time, and nobody knows for what */
        node_store_row(&b->store, t->node)[ROW_OFF] -= t->known.wall_ticks;
    if (b->n_columns > 0) {
        need_metrics(b, t)[CALLTREE_UNCOUNTED] += ticks;
        b->settled.uncounted_ticks = ticks;
    }
    if (b->flow != NULL)
        flow_settled(b, t, t->clock.now);
}

/* Close what never returned. */
static void close_stack(struct builder *b, struct thread *t)
{
    struct frame f = { t->node, t->depth, t->n_folds };
    b->tree->n_open += f.depth;
    for (; f.depth > 0; frame_up(b, t, &f)) {
        partial_leave(b, t, &f, true);
        control_left(b, frame_method(b, t, &f), t->clock.now);
    }
    if (t->is_mounted)
        count_open(b, t->carrier.node, t->carrier.depth, &t->carrier.entries);
}

static void finish_thread(struct builder *b, uint32_t index)
{
    const struct trace_thread *about = trace_thread(b->reader, index);
    if (about == NULL && (index >= b->n_threads || !b->threads[index].known.is_known))
        return;
    struct thread *t = find_thread(b, index);
    if (!t->is_placed)
        place_thread(b, t, index);
    kernel_apply(b, t, TRACE_UNKNOWN, UINT32_MAX);
    finish_time(b, t, about);
    close_stack(b, t);
    spans_end(b, t);
    if (about != NULL && about->n_lost > t->known.n_lost)
        t->known.n_lost = about->n_lost;
    b->tree->n_lost += t->known.n_lost;
    b->tree->cpu_ticks += t->known.cpu_ticks;
    b->tree->probe_ticks += t->known.probe_ticks;
}

static int finish(struct builder *b, struct err *err)
{
    struct calltree *tree = b->tree;
    if (!b->is_begun && begin(b, err) < 0)
        return -1;
    if (!tree->cpu_is_wall && !b->has_switches) {
        tree->cpu_is_wall = true;
        tree->why_wall = "the trace has no context switches";
    }
    uint32_t n = trace_n_threads(b->reader);
    for (uint32_t i = 0; i < n; i++)
        finish_thread(b, i);
    virtual_end(b);
    tree->n_partials = calltree_partials_join(tree->partials, tree->n_partials);
    tree->threads = xcalloc((size_t)b->n_threads + 1, sizeof *tree->threads);
    for (uint32_t i = 0; i < b->n_threads; i++)
        tree->threads[i] = b->threads[i].known;
    tree->n_threads = b->n_threads;
    tree->start_ticks = trace_start_ticks(b->reader);
    tree->end_ticks = trace_end_ticks(b->reader);
    tree->ns_per_tick = trace_ns_per_tick(b->reader);
    tree->is_cut = trace_is_cut(b->reader);
    tree->n_damaged_chunks = trace_damaged_chunks(b->reader);
    control_end(b);
    return 0;
}

static int build(struct builder *b, struct err *err)
{
    struct trace_records records;
    struct trace_event event;
    int rc;
    while ((rc = trace_next_records(b->reader, &records, &event, err)) > 0) {
        if (records.n > 0 && !b->is_begun && begin(b, err) < 0)
            return -1;
        if (records.n == 0 && event.kind == TRACE_COUNTS && learn_groups(b, err) < 0)
            return -1;
        if (records.n > 0)
            records_take(b, &records);
        else if (event.kind < TRACE_ENABLED)
            kernel_take(b, &event);
        else
            control_take(b, &event);
    }
    return rc < 0 ? -1 : finish(b, err);
}

/* The tree takes the nodes, the rest of the builder goes. */
static void hand_over(struct builder *b)
{
    for (uint32_t i = 0; i < b->n_threads; i++) {
        free(b->threads[i].clock.pending);
        free(b->threads[i].runs);
        free(b->threads[i].folds);
        free(b->threads[i].carrier.folds);
        free(b->threads[i].entries.all);
        free(b->threads[i].carrier.entries.all);
        thread_counters_free(b->threads[i].counters);
        spans_free(&b->threads[i].spans);
    }
    free(b->threads);
    for (uint32_t i = 0; i < b->n_unmounted; i++)
        free(b->unmounted[i].entries.all);
    free(b->unmounted);
    free(b->passed);
    free(b->run_passed);
    free(b->flagged);
    node_store_free_slots(&b->store);
    node_store_finish(&b->store);
    b->tree->nodes = b->store.nodes;
    b->tree->n_nodes = b->store.n_nodes;
    b->tree->n_mapped = b->store.n_mapped;
    b->tree->rows = b->store.rows;
    b->tree->n_rows = b->store.n_rows;
    b->tree->row_words = b->store.row_words;
    b->tree->n_metrics = b->store.n_metrics;
    b->tree->n_methods = b->store.n_methods;
}

int calltree_build(struct trace_reader *reader, const struct calltree_options *options, struct calltree *tree,
                   struct err *err)
{
    const struct calltree_observer *observer = options->observer;
    struct builder b = { .reader = reader,
                         .tree = tree,
                         .per_thread = options->per_thread,
                         .observer = observer != NULL && observer->step != NULL ? observer : NULL,
                         .flow = observer != NULL && observer->flow != NULL ? observer : NULL };
    memset(tree, 0, sizeof *tree);
    for (size_t i = 0; i < VM_PARTS; i++)
        b.shared_roots[i] = CALLTREE_NONE;
    uint32_t max_nodes = options->max_nodes == 0 ? CALLTREE_MAX_NODES : options->max_nodes;
    node_store_open(&b.store, max_nodes < NODES_MAX ? max_nodes : NODES_MAX);
    activity_open(&tree->activity, 0);
    int rc = build(&b, err);
    hand_over(&b);
    if (rc < 0) {
        calltree_free(tree);
        return -1;
    }
    tree->total_cpu_ticks = xcalloc(tree->n_nodes, sizeof(uint64_t));
    tree->total_rows = xcalloc(tree->n_rows, tree->row_words * sizeof(uint64_t));
    calltree_add_up(tree);
    return 0;
}

void calltree_free(struct calltree *tree)
{
    struct node_store store = { .nodes = tree->nodes, .n_mapped = tree->n_mapped, .rows = tree->rows };
    node_store_close(&store);
    free(tree->roots);
    free(tree->threads);
    free(tree->total_cpu_ticks);
    free(tree->total_rows);
    free(tree->flags);
    free(tree->partials);
    free(tree->unmounted);
    activity_close(&tree->activity);
    for (uint32_t i = 0; i < tree->n_batches; i++)
        calltree_batches_free(tree->batches[i], tree->groups.n);
    free(tree->batches);
    for (size_t i = 0; i < VM_PARTS; i++)
        calltree_batches_free(tree->part_batches[i], tree->groups.n);
    calltree_batches_free(tree->outside_batches, tree->groups.n);
    memset(tree, 0, sizeof *tree);
}
