/*
 * Tells an observer when what is given to the nodes has passed.
 */
#include "phases/tree/calltree_internal.h"

static int tell(struct builder *b, const struct thread *t, struct calltree_flow *flow, struct err *err)
{
    flow->thread = (uint32_t)(t - b->threads);
    flow->is_placed = t->is_placed;
    flow->part = t->known.part;
    return b->flow->flow(b->flow->context, flow, err);
}

int flow_passed(struct builder *b, const struct thread *t, uint64_t cpu, uint64_t wall, struct err *err)
{
    const struct thread_clock *clock = &t->clock;
    if (clock->wall == wall)
        return 0;
    struct calltree_flow flow = { .kind = CALLTREE_PASSED,
                                  .is_on = clock->cpu != cpu,
                                  .from_ticks = clock->now - (clock->wall - wall),
                                  .ticks = clock->now };
    return tell(b, t, &flow, err);
}

int flow_kernel(struct builder *b, const struct thread *t, uint64_t cpu, uint64_t wall, const struct clock_event *event,
                struct err *err)
{
    bool is_switch = event->kind == TRACE_CPU_OUT || event->kind == TRACE_CPU_PREEMPTED;
    if (flow_passed(b, t, cpu, wall, err) < 0)
        return -1;
    if (!is_switch && event->kind != TRACE_PAGE_FAULT)
        return 0;
    struct calltree_flow flow = { .kind = is_switch ? CALLTREE_SWITCHED : CALLTREE_FAULTED,
                                  .is_on = event->kind == TRACE_CPU_PREEMPTED,
                                  .ticks = event->ticks,
                                  .n_faults = b->fault_period };
    return tell(b, t, &flow, err);
}

int flow_settled(struct builder *b, const struct thread *t, uint64_t ticks, struct err *err)
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
    return tell(b, t, &flow, err);
}

int flow_placed(struct builder *b, const struct thread *t, bool is_dropped, struct err *err)
{
    struct calltree_flow flow = { .kind = CALLTREE_PLACED, .is_wall = is_dropped };
    return tell(b, t, &flow, err);
}
