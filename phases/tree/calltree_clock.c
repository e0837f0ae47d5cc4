#include "phases/tree/calltree_internal.h"

#include "core/base/xalloc.h"

void clock_push(struct thread_clock *clock, const struct clock_event *event)
{
    if (clock->n_pending == clock->n_room) {
        uint32_t n_room = clock->n_room == 0 ? 16 : clock->n_room * 2;
        struct clock_event *pending = xreallocarray(NULL, n_room, sizeof *pending);
        for (uint32_t i = 0; i < clock->n_pending; i++)
            pending[i] = clock->pending[(clock->first + i) & (clock->n_room - 1)];
        free(clock->pending);
        clock->pending = pending;
        clock->first = 0;
        clock->n_room = n_room;
    }
    uint32_t mask = clock->n_room - 1, at = clock->n_pending++;
    /* A round's readings come after its switches. */
    for (; event->kind == TRACE_COUNTS && at > clock->n_older; at--) {
        const struct clock_event *before = &clock->pending[(clock->first + at - 1) & mask];
        if (before->kind == TRACE_COUNTS || before->ticks <= event->ticks)
            break;
        clock->pending[(clock->first + at) & mask] = *before;
    }
    clock->pending[(clock->first + at) & mask] = *event;
}

/* What the state must have been until a thread's first event. */
static enum clock_state state_before(enum trace_kind first)
{
    return first == TRACE_CPU_IN || first == TRACE_THREAD_START ? CLOCK_OFF : CLOCK_ON;
}

static enum clock_state state_after(enum trace_kind kind, enum clock_state state)
{
    switch (kind) {
    case TRACE_CPU_IN:
        return CLOCK_ON;
    case TRACE_CPU_OUT:
    case TRACE_CPU_PREEMPTED:
        return CLOCK_OFF;
    case TRACE_THREAD_END:
        return CLOCK_ENDED;
    default:
        return state;
    }
}

bool clock_apply(struct thread_clock *clock, uint64_t ticks, struct clock_event *event)
{
    if (clock->n_pending == 0)
        return false;
    *event = clock->pending[clock->first];
    if (event->ticks > ticks)
        return false;
    clock->first = (clock->first + 1) & (clock->n_room - 1);
    clock->n_pending--;
    clock->n_older -= clock->n_older > 0;
    if (clock->state == CLOCK_UNSEEN && event->kind == TRACE_COUNTS) /* it does not tell where the thread was */
        return true;
    if (clock->state == CLOCK_UNSEEN && event->kind == TRACE_THREAD_START && event->ticks > clock->now)
        clock->now = event->ticks; /* there was no thread before */
    if (clock->state == CLOCK_UNSEEN) {
        clock->state = state_before(event->kind);
        clock->off_since = clock->now;
    }
    clock_advance(clock, event->ticks);
    if (clock->state != CLOCK_ENDED)
        clock->state = state_after(event->kind, clock->state);
    if (event->kind == TRACE_CPU_OUT || event->kind == TRACE_CPU_PREEMPTED)
        clock->off_since = clock->now;
    return true;
}

void clock_record(struct thread_clock *clock, uint64_t ticks)
{
    if (clock->state == CLOCK_UNSEEN)
        clock->state = CLOCK_ON;
    if (clock->state != CLOCK_OFF) {
        clock_advance(clock, ticks);
        return;
    }
    if (ticks <= clock->off_since) /* it comes late: its event was applied already */
        return;
    const struct clock_event *next = clock->n_pending == 0 ? NULL : &clock->pending[clock->first];
    bool is_back_later = next != NULL && next->kind == TRACE_CPU_IN && next->ticks > ticks;
    if (is_back_later && ticks - clock->off_since <= next->ticks - ticks) {
        /* It has not left yet. */
        clock->state = CLOCK_ON;
        clock_advance(clock, ticks);
        clock->state = CLOCK_OFF;
        clock->off_since = ticks;
        return;
    }
    /* It is back already, or its coming back was lost. */
    clock_advance(clock, ticks);
    clock->state = CLOCK_ON;
}
