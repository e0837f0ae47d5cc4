/* Entries, exits and what else stands in a thread's records. */
#include "phases/tree/calltree_internal.h"

#include "core/base/xalloc.h"

/* ---- what is rare on a stack: calls without a node of their own, exits of other calls than the innermost one ---- */

/* A call that finds no room: its nearest caller of the same method takes it, or the root's folded node. */
static void stack_fold(struct builder *b, struct thread *t, uint32_t method)
{
    const struct calltree_node *nodes = b->store.nodes;
    uint32_t target = t->node, root = b->tree->roots[t->known.root].node;
    while (target != root && nodes[target].method != method)
        target = nodes[target].parent;
    if (target == root)
        target = node_store_folded_child(&b->store, root);
    *xpush(t->folds, t->folds_room, t->n_folds) = (struct fold){ t->depth + 1, t->node, method };
    t->node = target;
    b->tree->n_folded++;
}

/* An exit that may be another call's than the current one's, or of a folded call. */
static void stack_leave(struct builder *b, struct thread *t, uint32_t method, bool is_unwind)
{
    struct frame f = { t->node, t->depth, t->n_folds };
    uint64_t n_missing = 0;
    for (; f.depth > 0 && frame_method(b, t, &f) != method; n_missing++)
        frame_up(b, t, &f);
    if (f.depth == 0) {
        b->tree->n_unmatched_exits++;
        return;
    }
    b->tree->n_missing_exits += n_missing;
    for (struct frame m = { t->node, t->depth, t->n_folds }; m.depth > f.depth; frame_up(b, t, &m))
        partial_leave(b, t, &m, true);
    partial_leave(b, t, &f, false);
    if (is_unwind)
        node_store_row(&b->store, f.node)[ROW_UNWINDS]++;
    frame_up(b, t, &f);
    t->node = f.node;
    t->depth = f.depth;
    t->n_folds = f.n_folds;
}

/* ---- records ---- */

/* The callee that was entered here last, or the one that followed it then.  Returns 0 where it is another one. */
static inline uint32_t likely_callee(struct calltree_node *nodes, struct calltree_node *caller, uint32_t method)
{
    uint32_t child = caller->last_child;
    if (nodes[child].method == method)
        return child;
    child = nodes[child].follower;
    if (child == 0 || nodes[child].method != method)
        return 0;
    caller->last_child = child;
    return child;
}

/* Go to a call's node. */
static inline void descend(struct builder *b, struct thread *t, uint32_t method, enum trace_kind kind)
{
    struct calltree_node *nodes = b->store.nodes, *caller = &nodes[t->node];
    uint32_t child = likely_callee(nodes, caller, method);
    if (child == 0)
        child = node_store_child(&b->store, t->node, method);
    if (child == CALLTREE_NONE)
        stack_fold(b, t, method);
    if (child != CALLTREE_NONE)
        t->node = child;
    t->depth++;
    entries_begin(t, kind);
}

static inline void enter(struct builder *b, struct thread *t, uint32_t method, enum trace_kind kind)
{
    descend(b, t, method, kind);
    b->tree->n_calls++;
    node_store_call(&b->store, t->node);
}

static inline void leave(struct builder *b, struct thread *t, uint32_t method, bool is_unwind)
{
    struct calltree_node *node = &b->store.nodes[t->node];
    if (node->method != method || t->n_folds > 0 || t->depth == 0) {
        stack_leave(b, t, method, is_unwind);
        return;
    }
    if (is_unwind)
        node_store_row(&b->store, t->node)[ROW_UNWINDS]++;
    if (t->entries.all[t->depth - 1].is_found)
        partial_leave(b, t, &(struct frame){ t->node, t->depth, 0 }, false);
    t->node = node->parent;
    t->depth--;
}

/* A record that is no entry and no exit. */
static void take_other(struct builder *b, struct thread *t, const struct trace_event *event)
{
    switch (event->kind) {
    case TRACE_MOUNT:
        virtual_mount(b, t, event->count);
        return;
    case TRACE_UNMOUNT:
        virtual_unmount(b, t, event->count);
        return;
    case TRACE_GAP:
        t->known.n_lost += event->count;
        return;
    case TRACE_OPEN:
        control_found(b, event->method, event->ticks);
        b->tree->n_under_way++;
        enter(b, t, event->method, event->kind);
        break;
    default:
        descend(b, t, event->method, event->kind);
        break;
    }
    if (b->take_turns)
        spans_follow(b, t, event->method);
}

static void take_record(struct builder *b, struct thread *t, const struct trace_event *event)
{
    static const enum step_kind steps[] = {
        [TRACE_ENTER] = STEP_ENTER, [TRACE_EXIT] = STEP_EXIT, [TRACE_UNWIND] = STEP_EXIT, [TRACE_RESUME] = STEP_GAP,
        [TRACE_OPEN] = STEP_GAP,    [TRACE_MOUNT] = STEP_GAP, [TRACE_UNMOUNT] = STEP_GAP, [TRACE_GAP] = STEP_GAP,
    };
    if (!t->known.has_records && (b->first_record == 0 || event->ticks < b->first_record))
        b->first_record = event->ticks;
    t->known.has_records = true;
    if (!t->is_placed)
        place_thread(b, t, event->thread);
    if (b->observer != NULL)
        memcpy(b->n_told, t->n_told, sizeof b->n_told);
    b->next_values = event->counters;
    if (t->clock.n_pending > 0)
        kernel_apply(b, t, event->ticks, UINT32_MAX);
    b->next_values = NULL;
    uint64_t cpu = t->clock.cpu, wall = t->clock.wall;
    if (t->clock.state == CLOCK_ON)
        clock_advance(&t->clock, event->ticks);
    else {
        clock_record(&t->clock, event->ticks);
        if (t->on_since == NOT_ON && t->clock.state == CLOCK_ON)
            t->on_since = event->ticks;
    }
    if (b->flow != NULL)
        flow_passed(b, t, cpu, wall);
    enum step_kind step = steps[event->kind];
    uint64_t ticks = thread_settle(b, t, b->costs.ticks.of[t->step][step]);
    struct counts counts = { SERIES_OF_RECORDS, event->counters };
    if (event->counters != NULL || b->n_columns > 0)
        thread_count(b, t, &counts, &b->costs, step, ticks);
    if (b->flow != NULL)
        flow_settled(b, t, event->ticks);
    if (b->observer != NULL)
        observe_after(b, t, event);
    t->step = step;
    if (event->kind > TRACE_UNWIND) {
        take_other(b, t, event);
        return;
    }
    b->tree->n_records++;
    bool is_entry = event->kind == TRACE_ENTER;
    if (is_entry) {
        enter(b, t, event->method, event->kind);
    } else {
        leave(b, t, event->method, event->kind == TRACE_UNWIND);
        control_left(b, event->method, event->ticks);
    }
    if (b->take_turns)
        spans_follow(b, t, is_entry ? event->method : CALLTREE_NONE);
}

/* ---- many records at once ---- */

/* An observer gets so many: they are still in a core's nearest cache. */
#define OBSERVED_MAX ((size_t)512)

/* Where a thread stands, and what it has passed, while its records are taken in short. */
struct run {
    uint64_t now, limit; /* limit: the moment of the kernel's next event */
    uint64_t cpu, probe;
    uint32_t node, depth, fraction;
    enum step_kind step;
};

/* Nobody looks at single records, and nothing but time is counted. */
static bool is_plain(const struct builder *b, const struct trace_records *records)
{
    bool is_observed = b->flow != NULL || (b->observer != NULL && b->observer->run == NULL);
    return records->counters == NULL && records->values_of == NULL && b->n_columns == 0 && !is_observed;
}

/* And the thread is on a CPU, in calls with nodes of their own. */
static bool can_run(const struct thread *t)
{
    return t->is_placed && t->known.has_records && t->clock.state == CLOCK_ON && t->clock.cpu == 0 &&
           t->clock.wall == 0 && t->n_folds == 0;
}

static struct run run_begin(const struct thread *t)
{
    const struct thread_clock *clock = &t->clock;
    uint64_t limit = clock->n_pending > 0 ? clock->pending[clock->first].ticks : UINT64_MAX;
    return (struct run){ clock->now, limit, 0, 0, t->node, t->depth, t->fraction, t->step };
}

static void run_end(struct thread *t, const struct run *run)
{
    t->clock.now = run->now;
    t->node = run->node;
    t->depth = run->depth;
    t->fraction = run->fraction;
    t->step = run->step;
    t->known.cpu_ticks += run->cpu;
    t->known.wall_ticks += run->cpu;
    t->known.probe_ticks += run->probe;
}

/* As thread_settle; the clock is on. */
static inline void run_settle(const struct builder *b, struct run *run, struct calltree_node *node, uint64_t ticks,
                              enum step_kind step)
{
    uint64_t passed = ticks > run->now ? ticks - run->now : 0;
    uint64_t probe = cost_take(b->costs.ticks.of[run->step][step], &run->fraction, passed);
    run->now += passed;
    run->step = step;
    run->cpu += passed;
    run->probe += probe;
    node->cpu_ticks += passed - probe;
}

/*
 * Take entries and exits from the i-th record on, up to one that is rare or comes after the kernel's next event.
 * Returns its index: i where there is none.  Does what take_record() does, with all of a thread's state in registers.
 */
static size_t run_through(struct builder *b, struct thread *t, const struct trace_records *records, size_t i)
{
    struct calltree_node *nodes = b->store.nodes;
    struct run run = run_begin(t);
    struct call_entry *entries = t->entries.all;
    uint64_t n_calls = 0, cpu = thread_cpu(t), wall = thread_wall(t), *passed = NULL;
    size_t first = i, end = records->n;
    if (b->observer != NULL) {
        end = end - i < OBSERVED_MAX ? end : i + OBSERVED_MAX;
        xgrow(b->run_passed, b->run_room, OBSERVED_MAX);
        passed = b->run_passed;
    }
    for (; i < end; i++) {
        const struct trace_record *record = &records->all[i];
        struct calltree_node *node = &nodes[run.node];
        if (record->ticks >= run.limit)
            break;
        if (record->kind == TRACE_ENTER) {
            uint32_t callee = likely_callee(nodes, node, record->operand);
            if (callee == 0) {
                callee = node_store_child(&b->store, run.node, record->operand);
                if (callee == CALLTREE_NONE)
                    break;
                nodes = b->store.nodes;
                node = &nodes[run.node];
            }
            if (run.depth >= t->entries.room)
                entries = entries_room(t, run.depth + 1);
            run_settle(b, &run, node, record->ticks, STEP_ENTER);
            run.node = callee;
            entries[run.depth++] = (struct call_entry){ cpu + run.cpu - run.probe, wall + run.cpu - run.probe, false };
            node_store_call(&b->store, callee);
            n_calls++;
        } else {
            if (record->kind > TRACE_UNWIND || node->method != record->operand || run.depth == 0 ||
                entries[run.depth - 1].is_found)
                break;
            run_settle(b, &run, node, record->ticks, STEP_EXIT);
            if (record->kind == TRACE_UNWIND)
                node_store_row(&b->store, run.node)[ROW_UNWINDS]++;
            run.node = node->parent;
            run.depth--;
            control_left(b, record->operand, record->ticks);
        }
        if (passed != NULL)
            passed[i - first] = run.cpu - run.probe;
    }
    if (passed != NULL && i > first)
        observe_run(b, t, records, first, i - first);
    run_end(t, &run);
    b->tree->n_calls += n_calls;
    b->tree->n_records += i - first;
    return i;
}

void records_take(struct builder *b, const struct trace_records *records)
{
    struct thread *t = find_thread(b, records->thread);
    bool can_be_short = is_plain(b, records);
    b->in_records = true;
    if (t == NULL) {
        b->tree->n_stray += records->n;
        return;
    }
    for (size_t i = 0; i < records->n; i++) {
        const struct trace_event event = trace_record_event(records, i);
        take_record(b, t, &event);
        if (can_be_short && can_run(t))
            i = run_through(b, t, records, i + 1) - 1;
    }
}
