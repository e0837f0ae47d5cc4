#include "report/export/export_tree.h"

#include "core/base/xalloc.h"

struct call {
    uint32_t method;
    bool is_found;
    uint64_t start_ticks;
};

enum cpu_state { CPU_UNSEEN, CPU_ON, CPU_OFF };

struct slices_thread {
    bool is_known;
    enum vm_part part;
    struct call *calls; /* open ones; owned */
    uint32_t n_calls, calls_room;
    uint32_t n_carrier;   /* of them, while a virtual thread is here */
    enum cpu_state state; /* of a VM's thread */
    bool has_slice;       /* one that has ended, but may go on after a short pause */
    uint64_t slice_start, slice_end;
};

struct slicing {
    const struct trace_reader *named;
    uint64_t gap_ticks;
    void (*take)(void *context, const struct slice *slice);
    void *context;
    struct slices_thread *threads; /* owned */
    uint32_t n_threads;
    uint64_t start_ticks;
};

static struct slices_thread *find_thread(struct slicing *s, uint32_t index)
{
    xgrow_zeroed(s->threads, s->n_threads, (size_t)index + 1);
    struct slices_thread *t = &s->threads[index];
    if (!t->is_known) {
        const struct trace_thread *about = s->named == NULL ? NULL : trace_thread(s->named, index);
        t->is_known = true;
        t->part = vm_part_of(about == NULL || about->comm == NULL ? "" : about->comm);
    }
    return t;
}

static void hand_over(const struct slicing *s, uint32_t thread, const struct call *call, uint64_t end)
{
    struct slice slice = { thread, call->method, s->threads[thread].part, call->is_found, call->start_ticks, end };
    if (end >= call->start_ticks)
        s->take(s->context, &slice);
}

/* ---- calls ---- */

static void enter(struct slices_thread *t, const struct trace_event *event)
{
    xgrow(t->calls, t->calls_room, t->n_calls + 1);
    t->calls[t->n_calls++] = (struct call){ event->method, event->kind == TRACE_OPEN, event->ticks };
}

static void leave_to(const struct slicing *s, uint32_t thread, uint32_t depth, uint64_t ticks)
{
    struct slices_thread *t = &s->threads[thread];
    while (t->n_calls > depth)
        hand_over(s, thread, &t->calls[--t->n_calls], ticks);
}

/* The exit of a caller closes calls whose own are missing; one without an entry is ignored. */
static void leave(const struct slicing *s, uint32_t thread, uint32_t method, uint64_t ticks)
{
    const struct slices_thread *t = &s->threads[thread];
    uint32_t depth = t->n_calls;
    while (depth > t->n_carrier && t->calls[depth - 1].method != method)
        depth--;
    if (depth > t->n_carrier)
        leave_to(s, thread, depth - 1, ticks);
}

/*
 * A virtual thread's call has a slice for each time that it is on a carrier, above those of the carrier's calls, which
 * go on.
 */
static void take_virtual(const struct slicing *s, const struct trace_event *event)
{
    struct slices_thread *t = &s->threads[event->thread];
    if (event->kind == TRACE_RESUME) {
        enter(t, event);
        return;
    }
    if (event->kind == TRACE_UNMOUNT)
        leave_to(s, event->thread, t->n_carrier, event->ticks);
    t->n_carrier = event->kind == TRACE_MOUNT ? t->n_calls : 0;
}

/* ---- the VM's threads ---- */

static void end_slice(const struct slicing *s, uint32_t thread)
{
    struct slices_thread *t = &s->threads[thread];
    if (t->has_slice)
        hand_over(s, thread, &(struct call){ SLICE_ON_CPU, false, t->slice_start }, t->slice_end);
    t->has_slice = false;
}

static void come(const struct slicing *s, uint32_t thread, uint64_t ticks)
{
    struct slices_thread *t = &s->threads[thread];
    if (t->state == CPU_ON)
        return;
    t->state = CPU_ON;
    if (t->has_slice && ticks - t->slice_end < s->gap_ticks)
        return;
    end_slice(s, thread);
    t->slice_start = ticks;
}

static void go(const struct slicing *s, uint32_t thread, uint64_t ticks)
{
    struct slices_thread *t = &s->threads[thread];
    if (t->state == CPU_OFF)
        return;
    if (t->state == CPU_UNSEEN) /* it had a CPU when the recording began */
        t->slice_start = s->start_ticks;
    t->state = CPU_OFF;
    t->slice_end = ticks;
    t->has_slice = true;
}

/* While names are not known yet, a thread without records may be the VM's. */
static bool is_own(const struct slicing *s, const struct slices_thread *t)
{
    return s->named == NULL ? t->calls_room > 0 : t->part == VM_PART_APPLICATION || t->part == VM_PART_MMPROF;
}

static void take_kernel(const struct slicing *s, const struct trace_event *event)
{
    const struct slices_thread *t = &s->threads[event->thread];
    if (is_own(s, t))
        return;
    if (event->kind == TRACE_CPU_IN)
        come(s, event->thread, event->ticks);
    else if (event->kind == TRACE_CPU_OUT || event->kind == TRACE_CPU_PREEMPTED ||
             (event->kind == TRACE_THREAD_END && t->state == CPU_ON))
        go(s, event->thread, event->ticks);
}

/* ---- the whole ---- */

static void take_event(struct slicing *s, const struct trace_event *event)
{
    if (event->kind > TRACE_THREAD_END)
        return;
    struct slices_thread *t = find_thread(s, event->thread);
    if (event->kind == TRACE_ENTER || event->kind == TRACE_OPEN) {
        enter(t, event);
        return;
    }
    if (event->kind >= TRACE_RESUME && event->kind < TRACE_GAP) {
        take_virtual(s, event);
        return;
    }
    if (event->kind == TRACE_EXIT || event->kind == TRACE_UNWIND)
        leave(s, event->thread, event->method, event->ticks);
    else if (event->kind != TRACE_GAP)
        take_kernel(s, event);
}

static void finish(const struct slicing *s, const struct trace_reader *reader)
{
    uint64_t end_ticks = trace_end_ticks(reader);
    for (uint32_t i = 0; i < s->n_threads; i++) {
        const struct trace_thread *about = trace_thread(reader, i);
        uint64_t end = about != NULL && about->end_ticks < end_ticks ? about->end_ticks : end_ticks;
        leave_to(s, i, 0, end);
        if (s->threads[i].state == CPU_ON)
            go(s, i, end);
        end_slice(s, i);
    }
}

int slices_read(struct trace_reader *reader, const struct trace_reader *named, uint64_t gap_ticks,
                void (*take)(void *context, const struct slice *slice), void *context, struct err *err)
{
    struct slicing s = { .named = named, .gap_ticks = gap_ticks, .take = take, .context = context };
    struct trace_event event;
    int rc;
    s.start_ticks = named == NULL ? 0 : trace_start_ticks(named);
    while ((rc = trace_next(reader, &event, err)) > 0)
        take_event(&s, &event);
    if (rc == 0)
        finish(&s, reader);
    for (uint32_t i = 0; i < s.n_threads; i++)
        free(s.threads[i].calls);
    free(s.threads);
    return rc < 0 ? -1 : 0;
}
