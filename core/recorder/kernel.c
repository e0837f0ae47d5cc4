#include "core/recorder/kernel.h"

#include "core/base/xalloc.h"
#include "core/recorder/cpu_accounting.h"

int kernel_open(struct kernel *kernel, struct threads *threads, struct ip_samples *ip_samples, pid_t pid,
                const struct perf_rings_options *options, struct err *err)
{
    memset(kernel, 0, sizeof *kernel);
    kernel->threads = threads;
    kernel->ip_samples = ip_samples;
    return perf_rings_open(&kernel->rings, pid, options, err);
}

void kernel_close(struct kernel *kernel)
{
    perf_rings_close(kernel->rings);
    free(kernel->events);
    kernel->rings = NULL;
    kernel->events = NULL;
}

/* Room for one more event of this round, or NULL. */
static struct trace_event *new_event(struct kernel *kernel)
{
    xgrow(kernel->events, kernel->room, kernel->n_events + 1);
    struct trace_event *event = &kernel->events[kernel->n_events++];
    memset(event, 0, sizeof *event);
    return event;
}

static const enum trace_kind kinds[] = {
    [KERNEL_CPU_IN] = TRACE_CPU_IN,
    [KERNEL_CPU_OUT] = TRACE_CPU_OUT,
    [KERNEL_CPU_PREEMPTED] = TRACE_CPU_PREEMPTED,
    [KERNEL_PAGE_FAULT] = TRACE_PAGE_FAULT,
    [KERNEL_THREAD_START] = TRACE_THREAD_START,
    [KERNEL_THREAD_END] = TRACE_THREAD_END,
    [KERNEL_LOST] = TRACE_KERNEL_LOST,
};

/* Later than the one before: the rate that times are converted with is known a little better in each round. */
static uint64_t ticks_of(struct kernel *kernel, const struct kernel_event *event)
{
    uint64_t ticks = clock_ticks(event->time_ns, kernel->last, kernel->first, kernel->last);
    if (ticks < kernel->latest_ticks)
        ticks = kernel->latest_ticks;
    kernel->latest_ticks = ticks;
    return ticks;
}

/* A new thread has its parent's name until it gets its own. */
static struct recorder_thread *start_thread(struct kernel *kernel, const struct kernel_event *event, uint64_t ticks)
{
    const struct recorder_thread *parent = threads_find(kernel->threads, event->by_tid);
    struct recorder_thread *thread = threads_add(kernel->threads, event->tid, ticks);
    if (parent != NULL)
        threads_set_comm(thread, parent->comm);
    return thread;
}

/*
 * Of a process that begins another program all threads have ended but the one that asked for it, which has the first
 * one's id from then on.
 */
static struct recorder_thread *exec_thread(struct kernel *kernel, const struct kernel_event *event)
{
    struct recorder_thread *first = threads_find(kernel->threads, event->tid), *left = NULL;
    if (first == NULL || first->info.end_ticks == TRACE_UNKNOWN)
        return first;
    for (uint32_t i = 0; i < kernel->threads->n; i++)
        if (kernel->threads->all[i]->info.end_ticks == TRACE_UNKNOWN)
            left = kernel->threads->all[i];
    if (left != NULL)
        threads_rename(kernel->threads, left, event->tid);
    return left;
}

static struct recorder_thread *thread_of(struct kernel *kernel, const struct kernel_event *event, uint64_t ticks)
{
    if (event->kind == KERNEL_THREAD_START)
        return start_thread(kernel, event, ticks);
    struct recorder_thread *thread =
        event->kind == KERNEL_EXEC ? exec_thread(kernel, event) : threads_find(kernel->threads, event->tid);
    return thread != NULL ? thread : threads_add(kernel->threads, event->tid, TRACE_UNKNOWN);
}

static void note(const struct kernel *kernel, struct recorder_thread *thread, const struct kernel_event *event,
                 uint64_t ticks)
{
    cpu_accounting_follow(thread, event);
    switch (event->kind) {
    case KERNEL_THREAD_FOUND:
    case KERNEL_COMM:
    case KERNEL_EXEC:
        if (event->kind != KERNEL_EXEC)
            threads_hear_name(kernel->threads, thread, event->name, false);
        threads_set_comm(thread, event->name);
        break;
    case KERNEL_THREAD_END:
        thread->info.end_ticks = ticks;
        thread->changed = true;
        break;
    case KERNEL_CPU_IN:
    case KERNEL_CPU_OUT:
    case KERNEL_CPU_PREEMPTED:
        thread->switched = thread->has_run = true;
        thread->is_off = event->kind != KERNEL_CPU_IN;
        break;
    case KERNEL_THREAD_START:
    case KERNEL_PAGE_FAULT:
    case KERNEL_IP_SAMPLE:
    case KERNEL_LOST:
        break;
    }
}

static int take_kernel_event(const struct kernel_event *in, void *context)
{
    struct kernel *kernel = context;
    struct recorder_thread *thread = NULL;
    if (in->kind != KERNEL_LOST && in->pid != kernel->pid)
        return 0;
    uint64_t ticks = ticks_of(kernel, in);
    if (in->kind != KERNEL_LOST) {
        thread = thread_of(kernel, in, ticks);
        note(kernel, thread, in, ticks);
    }
    if (in->kind == KERNEL_IP_SAMPLE && in->ip_event > 0) {
        ip_samples_add_event(kernel->ip_samples, thread->info.index, ticks, in);
        return 0;
    }
    if (in->kind == KERNEL_IP_SAMPLE) {
        ip_samples_add(kernel->ip_samples, thread->info.index, ticks, in->count, in->in_kernel);
        return 0;
    }
    if (in->kind == KERNEL_THREAD_FOUND || in->kind == KERNEL_COMM || in->kind == KERNEL_EXEC)
        return 0;
    struct trace_event *out = new_event(kernel);
    out->kind = kinds[in->kind];
    out->thread = thread == NULL ? 0 : thread->info.index;
    out->ticks = ticks;
    out->count = in->count;
    return 0;
}

int kernel_write(struct kernel *kernel, struct trace_writer *writer, uint64_t until_ns, const struct clock_point *first,
                 const struct clock_point *last, struct err *err)
{
    if (kernel->rings == NULL || kernel->pid == 0)
        return 0;
    kernel->first = first;
    kernel->last = last;
    kernel->n_events = 0;
    perf_rings_drain(kernel->rings, until_ns, take_kernel_event, kernel);
    if (threads_write(kernel->threads, writer, err) < 0)
        return -1;
    return kernel->n_events == 0 ? 0 : trace_write_kernel(writer, kernel->events, kernel->n_events, err);
}

int kernel_write_last(struct kernel *kernel, struct trace_writer *writer, const struct clock_point *first,
                      const struct clock_point *last, struct err *err)
{
    if (kernel->rings == NULL || kernel->pid == 0)
        return 0;
    uint64_t window_ns = last->monotonic_ns - first->monotonic_ns, cpu_ns;
    kernel->n_events = 0;
    for (uint32_t i = 0; i < kernel->threads->n; i++) {
        const struct recorder_thread *thread = kernel->threads->all[i];
        if (thread->switched || thread->info.end_ticks != TRACE_UNKNOWN || thread->found_cpu_ns == KERNEL_UNKNOWN ||
            kernel_thread_cpu_ns(kernel->pid, thread->info.tid, &cpu_ns) < 0 ||
            cpu_ns - thread->found_cpu_ns < window_ns / 2)
            continue;
        struct trace_event *event = new_event(kernel);
        event->kind = TRACE_CPU_PREEMPTED;
        event->thread = thread->info.index;
        event->ticks = last->ticks > kernel->latest_ticks ? last->ticks : kernel->latest_ticks;
    }
    return kernel->n_events == 0 ? 0 : trace_write_kernel(writer, kernel->events, kernel->n_events, err);
}

int kernel_fd(const struct kernel *kernel)
{
    return kernel->rings == NULL ? -1 : perf_rings_fd(kernel->rings);
}

uint64_t kernel_n_lost(const struct kernel *kernel)
{
    struct perf_rings_state state;
    if (kernel->rings == NULL)
        return 0;
    perf_rings_state(kernel->rings, &state);
    return state.n_lost + state.n_bad;
}
