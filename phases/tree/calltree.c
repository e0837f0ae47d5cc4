#include "phases/tree/calltree_internal.h"

#include "core/wire/ring.h"
#include "core/trace/recording_info.h"

#include <stdlib.h>
#include <string.h>

/* Kernel events that a thread may be ahead of its records; beyond it the oldest are applied early. */
#define PENDING_MAX          (UINT32_C(1) << 20)
#define PENDING_MAX_DISABLED (UINT32_C(1) << 12)

#define NODES_MAX (UINT32_C(1) << 28)

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

/* Give the time since the record before to the current node, less the probe's cost.  Returns it, in ticks on the CPU.
 */
static inline uint64_t settle(struct builder *b, struct thread *t, uint64_t cost)
{
    struct calltree_node *node = &b->store.nodes[t->node];
    uint64_t wall = t->clock.wall, cpu = b->tree->cpu_is_wall ? wall : t->clock.cpu;
    uint64_t probe = cost_take(cost, &t->fraction, cpu);
    node->cpu_ticks += cpu - probe;
    node->wall_ticks += wall - probe;
    t->known.cpu_ticks += cpu;
    t->known.wall_ticks += wall;
    t->known.probe_ticks += probe;
    t->clock.cpu = t->clock.wall = 0;
    if (b->flow != NULL)
        b->settled = (struct settled){ cpu, probe, 0, b->tree->cpu_is_wall, false };
    return cpu - probe;
}

/* The same of a thread that has no node yet. */
static uint64_t settle_early(struct builder *b, struct thread *t)
{
    uint64_t cpu = t->clock.cpu;
    b->settled = (struct settled){ cpu, 0, 0, false, false };
    t->counters->early_cpu += cpu;
    t->counters->early_wall += t->clock.wall;
    t->clock.cpu = t->clock.wall = 0;
    return cpu;
}

/*
 * Give the current node what its thread's counters say; where they do not, its ticks on the CPU were not counted.
 * costs: of the probe that read them; NULL: nobody's.
 */
static int count(struct builder *b, struct thread *t, const struct counts *counts, const struct probe_costs *costs,
                 enum step now, uint64_t ticks, struct err *err)
{
    if (need_metrics(b, err) < 0)
        return -1;
    if (t->counters == NULL && (t->counters = thread_counters_new(b->n_columns)) == NULL)
        return err_set(err, "out of memory for the counters of a thread");
    uint64_t *metrics = b->store.metrics + t->node * b->store.n_metrics;
    uint64_t *own = t->is_placed ? metrics + CALLTREE_COUNTERS : t->counters->early,
             *uncounted = t->is_placed ? metrics + CALLTREE_UNCOUNTED : &t->counters->early_uncounted;
    int rc = counters_take(t->counters, counts, costs, t->step, now, own, b->tree->probe_counts);
    if (rc <= 0) {
        *uncounted += ticks;
        t->counters->uncounted += ticks;
        b->settled.uncounted_ticks = ticks;
    }
    b->settled.is_counted = rc > 0;
    b->tree->n_stray += rc < 0;
    return b->take_turns && rc > 0 ? spans_count(b, t, err) : 0;
}

/*
 * The recorder's clock and the probe's may be apart by a microsecond or two: a reading that was made before the record
 * that stands before it, or after the one that stands behind, says nothing that the records do not.
 */
static bool is_out_of_order(const struct builder *b, const struct thread_counters *before, const struct counts *counts)
{
    const uint64_t *next = counts->series == SERIES_OF_RECORDS ? b->next_values : NULL;
    bool continues = before->are_known && before->series == counts->series;
    return (continues && counts_run_backwards(counts->values, before->values, b->n_columns)) ||
           (next != NULL && counts_are_read(next, b->n_columns) &&
            counts_run_backwards(next, counts->values, b->n_columns));
}

static int apply_reading(struct builder *b, struct thread *t, struct err *err)
{
    struct counts counts = counts_pop(t->counters);
    if (is_out_of_order(b, t->counters, &counts))
        return 0;
    const struct trace_thread *about = trace_thread(b->reader, (uint32_t)(t - b->threads));
    if (!t->is_placed && about != NULL)
        t->known.part = vm_part_of(about->comm); /* for its batches; its last name counts for all else */
    if (b->take_turns && t->spans.n == 0 && spans_follow(b, t, CALLTREE_NONE, err) < 0)
        return -1;
    uint64_t ticks = t->is_placed ? settle(b, t, 0) : settle_early(b, t);
    if (count(b, t, &counts, NULL, STEP_NONE, ticks, err) < 0)
        return -1;
    return b->flow == NULL ? 0 : flow_settled(b, t, t->clock.now, err);
}

static void note_waiting(struct thread *t, const struct clock_event *event)
{
    if (event->kind == TRACE_CPU_IN && t->preempted_since != 0 && event->ticks > t->preempted_since)
        t->known.wait_ticks += event->ticks - t->preempted_since;
    if (event->kind == TRACE_CPU_IN || event->kind == TRACE_CPU_OUT)
        t->preempted_since = 0;
    else if (event->kind == TRACE_CPU_PREEMPTED)
        t->preempted_since = event->ticks;
}

static int apply_kernel(struct builder *b, struct thread *t, uint64_t ticks, uint32_t n_max, struct err *err)
{
    struct clock_event event;
    for (; n_max > 0; n_max--) {
        uint64_t cpu = t->clock.cpu, wall = t->clock.wall;
        bool was_seen = t->clock.state != CLOCK_UNSEEN;
        if (!clock_apply(&t->clock, ticks, &event))
            return 0;
        if (runs_switch(b, t, was_seen, &event, err) < 0)
            return -1;
        bool is_fault = event.kind == TRACE_PAGE_FAULT;
        uint64_t n = is_fault ? control_faults(b) : 1;
        if (b->flow != NULL && flow_kernel(b, t, cpu, wall, &event, err) < 0)
            return -1;
        t->known.n_slices += event.kind == TRACE_CPU_IN;
        note_waiting(t, &event);
        if (event.kind == TRACE_COUNTS && apply_reading(b, t, err) < 0)
            return -1;
        if (!is_fault && event.kind != TRACE_CPU_OUT && event.kind != TRACE_CPU_PREEMPTED)
            continue;
        if (!t->is_placed) {
            *(is_fault ? &t->n_faults : &t->n_switches) += n;
            continue;
        }
        if (need_metrics(b, err) < 0)
            return -1;
        b->store.metrics[t->node * b->store.n_metrics + (is_fault ? CALLTREE_FAULTS : CALLTREE_SWITCHES)] += n;
    }
    return 0;
}

static int push_reading(struct builder *b, struct thread *t, const struct trace_event *event, struct err *err)
{
    struct counts counts = { event->count, event->counters };
    if (learn_groups(b, err) < 0)
        return -1;
    if (t->counters == NULL)
        t->counters = thread_counters_new(b->n_columns);
    if (t->counters == NULL || !counts_push(t->counters, &counts))
        return err_set(err, "out of memory for the counters of a thread");
    return 0;
}

/*
 * The kernel's events of a round stand before the threads' records of that round: they wait in the thread's queue
 * until a record that is not earlier.  Records may stop a little short of the kernel's events and go on in the next
 * round, so what a thread without records has waiting is applied one round later still.  So it is with readings.
 */
static int on_kernel(struct builder *b, const struct trace_event *event, struct err *err)
{
    if (b->in_records)
        b->round++;
    b->in_records = false;
    if (event->kind == TRACE_KERNEL_LOST) {
        b->tree->n_kernel_lost += event->count;
        return 0;
    }
    struct thread *t;
    int found = find_thread(b, event->thread, &t, err);
    if (found <= 0) {
        b->tree->n_stray++;
        return found;
    }
    if (event->kind == TRACE_CPU_IN || event->kind == TRACE_CPU_OUT || event->kind == TRACE_CPU_PREEMPTED)
        b->has_switches = true;
    uint32_t n_max = t->known.has_records ? PENDING_MAX : PENDING_MAX_DISABLED;
    if (t->clock.round != b->round) {
        if (apply_kernel(b, t, TRACE_UNKNOWN, t->clock.n_older, err) < 0)
            return -1;
        t->clock.n_older = t->clock.n_pending;
        t->clock.round = b->round;
    }
    if (t->clock.n_pending >= n_max && apply_kernel(b, t, TRACE_UNKNOWN, 1, err) < 0)
        return -1;
    if (event->kind == TRACE_COUNTS && push_reading(b, t, event, err) < 0)
        return -1;
    return clock_push(&t->clock, &(struct clock_event){ event->ticks, event->kind }, err);
}

/* Go to a call's node. */
static inline int descend(struct builder *b, struct thread *t, uint32_t method, struct err *err)
{
    struct calltree_node *nodes = b->store.nodes, *caller = &nodes[t->node];
    uint32_t before = caller->last_child, child = before;
    if (nodes[child].method != method) {
        child = nodes[before].follower;
        if (child != 0 && nodes[child].method == method)
            caller->last_child = child;
        else if (node_store_child(&b->store, t->node, method, &child, err) < 0)
            return -1;
    }
    if (child == CALLTREE_NONE && stack_fold(b, t, method, err) < 0)
        return -1;
    if (child != CALLTREE_NONE)
        t->node = child;
    t->depth++;
    return 0;
}

static inline int enter(struct builder *b, struct thread *t, uint32_t method, struct err *err)
{
    if (descend(b, t, method, err) < 0)
        return -1;
    b->tree->n_calls++;
    b->store.nodes[t->node].calls++;
    return 0;
}

static inline void leave(struct builder *b, struct thread *t, uint32_t method, bool is_unwind)
{
    struct calltree_node *node = &b->store.nodes[t->node];
    if (node->method != method || t->n_folds > 0 || t->depth == 0) {
        stack_leave(b, t, method, is_unwind);
        return;
    }
    node->unwinds += is_unwind;
    t->node = node->parent;
    t->depth--;
}

/* A record that is no entry and no exit. */
static int take_other(struct builder *b, struct thread *t, const struct trace_event *event, struct err *err)
{
    if (event->kind == TRACE_MOUNT)
        return virtual_mount(b, t, event->count, err);
    if (event->kind == TRACE_UNMOUNT)
        return virtual_unmount(b, t, event->count, err);
    if (event->kind == TRACE_GAP) {
        stack_gap(b, t, event->count);
        return 0;
    }
    bool is_found = event->kind == TRACE_OPEN;
    if (is_found && control_found(b, event->method, event->ticks, err) < 0)
        return -1;
    b->tree->n_under_way += is_found;
    if (is_found ? enter(b, t, event->method, err) < 0 : descend(b, t, event->method, err) < 0)
        return -1;
    return b->take_turns ? spans_follow(b, t, event->method, err) : 0;
}

static inline int on_record(struct builder *b, const struct trace_event *event, struct err *err)
{
    static const enum step steps[] = {
        [TRACE_ENTER] = STEP_ENTER, [TRACE_EXIT] = STEP_EXIT, [TRACE_UNWIND] = STEP_EXIT, [TRACE_RESUME] = STEP_GAP,
        [TRACE_OPEN] = STEP_GAP,    [TRACE_MOUNT] = STEP_GAP, [TRACE_UNMOUNT] = STEP_GAP, [TRACE_GAP] = STEP_GAP,
    };
    struct thread *t;
    b->in_records = true;
    int found = find_thread(b, event->thread, &t, err);
    if (found <= 0 || event->method > RING_METHOD_MAX) {
        b->tree->n_stray++;
        return found < 0 ? -1 : 0;
    }
    if (!t->known.has_records && (b->first_record == 0 || event->ticks < b->first_record))
        b->first_record = event->ticks;
    t->known.has_records = true;
    if (!t->is_placed && place_thread(b, t, event->thread, err) < 0)
        return -1;
    if (b->observer != NULL)
        observe_before(b, t);
    b->next_values = event->counters;
    if (t->clock.n_pending > 0 && apply_kernel(b, t, event->ticks, UINT32_MAX, err) < 0)
        return -1;
    b->next_values = NULL;
    uint64_t cpu = t->clock.cpu, wall = t->clock.wall;
    if (t->clock.state == CLOCK_ON)
        clock_advance(&t->clock, event->ticks);
    else {
        clock_record(&t->clock, event->ticks);
        if (t->on_since == NOT_ON && t->clock.state == CLOCK_ON)
            t->on_since = event->ticks;
    }
    if (b->flow != NULL && flow_passed(b, t, cpu, wall, err) < 0)
        return -1;
    enum step step = steps[event->kind];
    uint64_t ticks = settle(b, t, b->costs.ticks.of[t->step][step]);
    struct counts counts = { SERIES_OF_RECORDS, event->counters };
    if ((event->counters != NULL || b->n_columns > 0) && count(b, t, &counts, &b->costs, step, ticks, err) < 0)
        return -1;
    if (b->flow != NULL && flow_settled(b, t, event->ticks, err) < 0)
        return -1;
    if (b->observer != NULL && observe_after(b, t, event, err) < 0)
        return -1;
    t->step = step;
    if (event->kind > TRACE_UNWIND)
        return take_other(b, t, event, err);
    b->tree->n_records++;
    bool is_entry = event->kind == TRACE_ENTER;
    if (!is_entry) {
        leave(b, t, event->method, event->kind == TRACE_UNWIND);
        control_left(b, event->method, event->ticks);
    } else if (enter(b, t, event->method, err) < 0)
        return -1;
    return b->take_turns ? spans_follow(b, t, is_entry ? event->method : CALLTREE_NONE, err) : 0;
}

/* Up to the end of the recording, or of the thread. */
static int finish_time(struct builder *b, struct thread *t, const struct trace_thread *about, struct err *err)
{
    if (t->clock.state == CLOCK_UNSEEN) /* it slept all the time */
        t->clock.state = CLOCK_OFF;
    uint64_t end = trace_end_ticks(b->reader), cpu = t->clock.cpu, wall = t->clock.wall;
    clock_advance(&t->clock, about != NULL && about->end_ticks < end ? about->end_ticks : end);
    if (b->flow != NULL && flow_passed(b, t, cpu, wall, err) < 0)
        return -1;
    if (b->tree->cpu_is_wall && !t->known.has_records)
        t->clock.wall = 0;
    runs_end(b, t, about);
    uint64_t ticks = settle(b, t, 0);
    if (!t->known.has_records) /* it may have waited all the time, and nobody knows for what */
        b->store.nodes[t->node].wall_ticks -= t->known.wall_ticks;
    if (b->n_columns > 0) {
        if (need_metrics(b, err) < 0)
            return -1;
        b->store.metrics[t->node * b->store.n_metrics + CALLTREE_UNCOUNTED] += ticks;
        b->settled.uncounted_ticks = ticks;
    }
    return b->flow == NULL ? 0 : flow_settled(b, t, t->clock.now, err);
}

static int finish_thread(struct builder *b, uint32_t index, struct err *err)
{
    struct thread *t;
    const struct trace_thread *about = trace_thread(b->reader, index);
    if (about == NULL && (index >= b->n_threads || !b->threads[index].known.is_known))
        return 0;
    if (find_thread(b, index, &t, err) < 0 || (!t->is_placed && place_thread(b, t, index, err) < 0) ||
        apply_kernel(b, t, TRACE_UNKNOWN, UINT32_MAX, err) < 0)
        return -1;
    if (finish_time(b, t, about, err) < 0)
        return -1;
    stack_close(b, t);
    if (spans_end(b, t, err) < 0)
        return -1;
    if (about != NULL && about->n_lost > t->known.n_lost)
        t->known.n_lost = about->n_lost;
    b->tree->n_lost += t->known.n_lost;
    b->tree->cpu_ticks += t->known.cpu_ticks;
    b->tree->probe_ticks += t->known.probe_ticks;
    return 0;
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
        if (finish_thread(b, i, err) < 0)
            return -1;
    virtual_end(b);
    tree->threads = calloc((size_t)b->n_threads + 1, sizeof *tree->threads);
    if (tree->threads == NULL)
        return err_set(err, "out of memory for %u threads", n);
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
    struct trace_event event;
    int rc;
    while ((rc = trace_next(b->reader, &event, err)) > 0) {
        if (!b->is_begun && event.kind <= TRACE_GAP && begin(b, err) < 0)
            return -1;
        rc = event.kind <= TRACE_GAP      ? on_record(b, &event, err)
             : event.kind < TRACE_ENABLED ? on_kernel(b, &event, err)
                                          : control_take(b, &event, err);
        if (rc < 0)
            return -1;
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
        thread_counters_free(b->threads[i].counters);
        spans_free(&b->threads[i].spans);
    }
    free(b->threads);
    free(b->unmounted);
    free(b->before);
    free(b->flagged);
    free(b->store.slots);
    b->tree->nodes = b->store.nodes;
    b->tree->n_nodes = b->store.n_nodes;
    b->tree->n_mapped = b->store.n_mapped;
    b->tree->metrics = b->store.metrics;
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
    if (node_store_open(&b.store, max_nodes < NODES_MAX ? max_nodes : NODES_MAX, err) < 0)
        return -1;
    int rc = activity_open(&tree->activity, 0, err) < 0 ? -1 : build(&b, err);
    hand_over(&b);
    if (rc < 0 || calltree_sum_up(tree, err) < 0) {
        calltree_free(tree);
        return -1;
    }
    return 0;
}

void calltree_free(struct calltree *tree)
{
    struct node_store store = { .nodes = tree->nodes, .n_mapped = tree->n_mapped, .metrics = tree->metrics };
    node_store_close(&store);
    free(tree->roots);
    free(tree->threads);
    free(tree->total_cpu_ticks);
    free(tree->total_wall_ticks);
    free(tree->total_metrics);
    free(tree->flags);
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
