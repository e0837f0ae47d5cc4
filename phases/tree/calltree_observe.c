/* Tells an observer of each record what passed since the one before, and when what is given to the nodes has passed. */
#include "phases/tree/calltree_internal.h"

#include "core/base/xalloc.h"

/* Readings from outside have come since the record before, not just with this one. */
static void take_counters(struct thread_counters *counters, uint64_t *passed)
{
    passed[CALLTREE_UNCOUNTED] = counters->uncounted - counters->told_uncounted;
    counters->told_uncounted = counters->uncounted;
    for (size_t i = 0; i < counters->n; i++) {
        passed[CALLTREE_COUNTERS + i] = counters->sums[i] - counters->told[i];
        counters->told[i] = counters->sums[i];
    }
}

void observe_after(struct builder *b, const struct thread *t, const struct trace_event *event)
{
    size_t n = b->store.n_metrics;
    if (n > 0 && b->passed == NULL)
        b->passed = xcalloc(n, sizeof *b->passed);
    for (size_t i = 0; i < n; i++)
        b->passed[i] = i < CALLTREE_UNCOUNTED ? t->n_told[i] - b->n_told[i] : 0;
    if (t->counters != NULL && n > 0)
        take_counters(t->counters, b->passed);
    struct calltree_step step = { .kind = event->kind,
                                  .thread = event->thread,
                                  .method = event->method,
                                  .value = event->value,
                                  .ticket = event->count,
                                  .part = t->known.part,
                                  .ticks = event->ticks,
                                  .cpu_ticks = t->known.cpu_ticks - t->known.probe_ticks,
                                  .wall_ticks = t->known.wall_ticks - t->known.probe_ticks,
                                  .passed = b->passed,
                                  .n_metrics = n };
    b->observer->step(b->observer->context, &step);
}

void observe_run(struct builder *b, const struct thread *t, const struct trace_records *records, size_t i, size_t n)
{
    struct calltree_run run = { .thread = records->thread,
                                .part = t->known.part,
                                .records = records->all + i,
                                .n = n,
                                .cpu_ticks = thread_cpu(t),
                                .wall_ticks = thread_wall(t),
                                .passed = b->run_passed };
    b->observer->run(b->observer->context, &run);
}

/* ---- time that passes ---- */

static void tell(struct builder *b, const struct thread *t, struct calltree_flow *flow)
{
    flow->thread = (uint32_t)(t - b->threads);
    flow->is_placed = t->is_placed;
    flow->part = t->known.part;
    b->flow->flow(b->flow->context, flow);
}

void flow_passed(struct builder *b, const struct thread *t, uint64_t cpu, uint64_t wall)
{
    const struct thread_clock *clock = &t->clock;
    if (clock->wall == wall)
        return;
    struct calltree_flow flow = { .kind = CALLTREE_PASSED,
                                  .is_on = clock->cpu != cpu,
                                  .from_ticks = clock->now - (clock->wall - wall),
                                  .ticks = clock->now };
    tell(b, t, &flow);
}

void flow_kernel(struct builder *b, const struct thread *t, uint64_t cpu, uint64_t wall,
                 const struct clock_event *event)
{
    bool is_switch = event->kind == TRACE_CPU_OUT || event->kind == TRACE_CPU_PREEMPTED;
    flow_passed(b, t, cpu, wall);
    if (!is_switch && event->kind != TRACE_PAGE_FAULT)
        return;
    struct calltree_flow flow = { .kind = is_switch ? CALLTREE_SWITCHED : CALLTREE_FAULTED,
                                  .is_on = event->kind == TRACE_CPU_PREEMPTED,
                                  .ticks = event->ticks,
                                  .n_faults = b->fault_period };
    tell(b, t, &flow);
}

void flow_settled(struct builder *b, const struct thread *t, uint64_t ticks)
{
    const struct settled *settled = &b->settled;
    struct calltree_flow flow = { .kind = CALLTREE_SETTLED,
                                  .is_wall = settled->is_wall,
                                  .ticks = ticks,
                                  .cpu_ticks = settled->cpu_ticks,
                                  .probe_ticks = settled->probe_ticks,
                                  .uncounted_ticks = settled->uncounted_ticks,
                                  .counters = settled->is_counted ? t->counters->passed : NULL,
                                  .n_counters = b->n_columns,
                                  .node = t->node,
                                  .nodes = b->store.nodes };
    tell(b, t, &flow);
}

void flow_placed(struct builder *b, const struct thread *t, bool is_dropped)
{
    struct calltree_flow flow = { .kind = CALLTREE_PLACED, .is_wall = is_dropped };
    tell(b, t, &flow);
}
