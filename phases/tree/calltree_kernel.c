/* What the kernel said of threads, and the counters that were read from outside: joined with the records. */
#include "phases/tree/calltree_internal.h"

/* Kernel events that a thread may be ahead of its records; beyond it the oldest are applied early. */
#define PENDING_MAX          (UINT32_C(1) << 20)
#define PENDING_MAX_DISABLED (UINT32_C(1) << 12)

/* What thread_settle does, for a thread that has no node yet. */
static uint64_t settle_early(struct builder *b, struct thread *t)
{
    uint64_t cpu = t->clock.cpu;
    b->settled = (struct settled){ cpu, 0, 0, false, false };
    t->counters->early_cpu += cpu;
    t->counters->early_wall += t->clock.wall;
    t->clock.cpu = t->clock.wall = 0;
    return cpu;
}

void thread_count(struct builder *b, struct thread *t, const struct counts *counts, const struct probe_costs *costs,
                  enum step_kind now, uint64_t ticks)
{
    need_counters(b, t);
    uint64_t *metrics = need_metrics(b, t), *own = metrics != NULL ? metrics + CALLTREE_COUNTERS : t->counters->early,
             *uncounted = metrics != NULL ? metrics + CALLTREE_UNCOUNTED : &t->counters->early_uncounted;
    int rc = counters_take(t->counters, counts, costs, t->step, now, own, b->tree->probe_counts);
    if (rc <= 0) {
        *uncounted += ticks;
        t->counters->uncounted += ticks;
        b->settled.uncounted_ticks = ticks;
    }
    b->settled.is_counted = rc > 0;
    b->tree->n_stray += rc < 0;
    if (b->take_turns && rc > 0)
        spans_count(b, t);
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

static void apply_reading(struct builder *b, struct thread *t)
{
    struct counts counts = counts_pop(t->counters);
    if (is_out_of_order(b, t->counters, &counts))
        return;
    const struct trace_thread *about = trace_thread(b->reader, (uint32_t)(t - b->threads));
    if (!t->is_placed && about != NULL)
        t->known.part = vm_part_of(about->comm); /* for its batches; its last name counts for all else */
    if (b->take_turns && t->spans.n == 0)
        spans_follow(b, t, CALLTREE_NONE);
    uint64_t ticks = t->is_placed ? thread_settle(b, t, 0) : settle_early(b, t);
    thread_count(b, t, &counts, NULL, STEP_NONE, ticks);
    if (b->flow != NULL)
        flow_settled(b, t, t->clock.now);
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

/* At a file's beginning: the thread had a CPU, or had none.  That is no switch. */
static bool tells_state(const struct builder *b, const struct clock_event *event)
{
    return event->ticks == trace_start_ticks(b->reader) && event->kind >= TRACE_CPU_IN &&
           event->kind <= TRACE_CPU_PREEMPTED;
}

void kernel_apply(struct builder *b, struct thread *t, uint64_t ticks, uint32_t n_max)
{
    struct clock_event event;
    for (; n_max > 0; n_max--) {
        uint64_t cpu = t->clock.cpu, wall = t->clock.wall;
        bool was_seen = t->clock.state != CLOCK_UNSEEN;
        if (!clock_apply(&t->clock, ticks, &event))
            return;
        runs_switch(b, t, was_seen, &event);
        bool is_state = !was_seen && tells_state(b, &event);
        bool is_fault = event.kind == TRACE_PAGE_FAULT;
        uint64_t n = is_fault ? control_faults(b) : 1;
        if (b->flow != NULL && !is_state)
            flow_kernel(b, t, cpu, wall, &event);
        t->known.n_slices += event.kind == TRACE_CPU_IN && !is_state;
        note_waiting(t, &event);
        if (event.kind == TRACE_COUNTS)
            apply_reading(b, t);
        if (is_state || (!is_fault && event.kind != TRACE_CPU_OUT && event.kind != TRACE_CPU_PREEMPTED))
            continue;
        enum calltree_metric which = is_fault ? CALLTREE_FAULTS : CALLTREE_SWITCHES;
        t->n_told[which] += n;
        if (t->is_placed)
            need_metrics(b, t)[which] += n;
    }
}

/*
 * The kernel's events of a round stand before the threads' records of that round: they wait in the thread's queue
 * until a record that is not earlier.  Records may stop a little short of the kernel's events and go on in the next
 * round, so what a thread without records has waiting is applied one round later still.  So it is with readings.
 */
void kernel_take(struct builder *b, const struct trace_event *event)
{
    if (b->in_records)
        b->round++;
    b->in_records = false;
    if (event->kind == TRACE_KERNEL_LOST) {
        b->tree->n_kernel_lost += event->count;
        return;
    }
    struct thread *t = find_thread(b, event->thread);
    if (t == NULL) {
        b->tree->n_stray++;
        return;
    }
    if (event->kind == TRACE_CPU_IN || event->kind == TRACE_CPU_OUT || event->kind == TRACE_CPU_PREEMPTED)
        b->has_switches = true;
    uint32_t n_max = t->known.has_records ? PENDING_MAX : PENDING_MAX_DISABLED;
    if (t->clock.round != b->round) {
        kernel_apply(b, t, TRACE_UNKNOWN, t->clock.n_older);
        t->clock.n_older = t->clock.n_pending;
        t->clock.round = b->round;
    }
    if (t->clock.n_pending >= n_max)
        kernel_apply(b, t, TRACE_UNKNOWN, 1);
    if (event->kind == TRACE_COUNTS) {
        need_counters(b, t);
        counts_push(t->counters, &(struct counts){ event->count, event->counters });
    }
    clock_push(&t->clock, &(struct clock_event){ event->ticks, event->kind });
}
