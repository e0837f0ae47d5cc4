#include "core/perf/perf_rings_internal.h"

#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>

/* ---- reading ---- */

static int by_time(const void *a, const void *b)
{
    const struct kernel_event *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static struct perf_thread *thread_of(const struct perf_rings *rings, int32_t tid)
{
    const uint32_t *index = hash_find(&rings->by_tid, (uint32_t)tid);
    return index == NULL ? NULL : &rings->threads[*index];
}

static struct event_file *file_of(const struct perf_rings *rings, uint64_t event_id)
{
    const uint32_t *index = hash_find(&rings->by_id, event_id);
    return index == NULL ? NULL : &rings->files[*index];
}

/*
 * A thread with events of its own may also have inherited some: its own count once they are complete, until then the
 * inherited ones.
 */
static bool is_double(const struct perf_rings *rings, const struct kernel_event *event)
{
    const struct perf_thread *thread = thread_of(rings, event->by_tid);
    const struct event_file *file = file_of(rings, event->event_id);
    if (thread == NULL || file == NULL)
        return false;
    if (thread->ended)
        return true;
    if (rings->has_cpus)
        return false;
    bool own = thread == &rings->threads[file->owner], covered = event->time_ns >= thread->covered_ns;
    return own != covered;
}

static bool is_wanted(struct perf_rings *rings, const struct kernel_event *event)
{
    if (event->kind == KERNEL_LOST) {
        rings->state.n_lost += event->count;
        return true;
    }
    if (event->kind == KERNEL_THREAD_FOUND)
        return true;
    if (event->pid != rings->pid)
        return false;
    struct perf_thread *thread = thread_of(rings, event->tid);
    if (thread != NULL && event->kind == KERNEL_EXEC) /* another thread's, if the first one has ended */
        thread->ended = false;
    if (is_double(rings, event))
        return false;
    if (thread != NULL && event->kind == KERNEL_THREAD_END)
        thread->ended = true;
    if (thread != NULL && event->kind == KERNEL_THREAD_START && thread->ended)
        *thread = (struct perf_thread){ .tid = event->tid, .covered_ns = KERNEL_UNKNOWN };
    return true;
}

static int hand_out(struct perf_rings *rings, uint64_t until_ns, kernel_event_fn *fn, void *context)
{
    size_t n = 0;
    int rc = 0;
    while (rc == 0 && n < rings->n_pending && rings->pending[n].time_ns <= until_ns) {
        struct kernel_event *event = &rings->pending[n++];
        if (!is_wanted(rings, event))
            continue;
        const struct event_file *file = event->kind == KERNEL_IP_SAMPLE ? file_of(rings, event->event_id) : NULL;
        event->ip_event = file == NULL ? 0 : file->ip_event;
        if (event->time_ns < rings->final_ns) {
            event->time_ns = rings->final_ns;
            rings->state.n_late++;
        }
        rc = fn(event, context);
    }
    rings->n_pending -= n;
    if (n > 0)
        memmove(rings->pending, rings->pending + n, rings->n_pending * sizeof *rings->pending);
    return rc;
}

/* What is copied of a stack is there only now. */
static int take_record(const struct kernel_event *event, void *context)
{
    struct perf_rings *rings = context;
    if (rings->has_cpus && event->pid != rings->pid && event->kind != KERNEL_LOST)
        return 0;
    if (event->kind != KERNEL_IP_SAMPLE || rings->options.stack_bytes == 0) {
        perf_rings_keep(rings, event);
        return 0;
    }
    if (event->pid != rings->pid || is_double(rings, event))
        return 0;
    struct kernel_event whole = *event;
    const struct event_file *file = file_of(rings, event->event_id);
    if (whole.stack.period == 0 && file != NULL)
        whole.stack.period = file->period;
    return rings->options.stack_fn(&whole, rings->options.stack_context);
}

static void look(struct perf_ring *ring)
{
    if (ring->page != NULL)
        ring->head = atomic_load_explicit((_Atomic uint64_t *)&ring->page->data_head, memory_order_acquire);
}

static void read_ring(struct perf_rings *rings, const struct perf_ring *ring)
{
    struct perf_event_mmap_page *page = ring->page;
    if (page == NULL)
        return;
    _Atomic uint64_t *tail_at = (_Atomic uint64_t *)&page->data_tail;
    uint64_t tail = page->data_tail;
    const uint8_t *data = (const uint8_t *)page + sysconf(_SC_PAGESIZE);
    perf_records_walk(data, rings->ring_bytes, rings->format, &tail, ring->head, rings->copy, &rings->state.n_bad,
                      take_record, rings);
    atomic_store_explicit(tail_at, tail, memory_order_release);
}

static int take_name(const struct kernel_event *event, void *context)
{
    struct perf_rings *rings = context;
    return (event->kind == KERNEL_COMM || event->kind == KERNEL_EXEC) && event->pid == rings->pid
               ? rings->options.name_fn(event, rings->options.stack_context)
               : 0;
}

/* What threads are called in the meantime, and from when on: a thread's records are in the rings of several CPUs. */
static void read_names(struct perf_rings *rings)
{
    for (size_t i = 0; rings->options.name_fn != NULL && i < rings->n_rings; i++) {
        const struct perf_ring *ring = &rings->rings[i];
        uint64_t tail = ring->page == NULL ? 0 : ring->page->data_tail, n_bad = 0;
        if (ring->page != NULL)
            perf_records_walk((const uint8_t *)ring->page + sysconf(_SC_PAGESIZE), rings->ring_bytes, KERNEL_NAMES_ONLY,
                              &tail, ring->head, rings->copy, &n_bad, take_name, rings);
    }
}

/*
 * What has woken us is seen to.  A ring whose thread has ended polls as readable for ever: only what is new may wake
 * us, or we run in circles while the target ends, on a CPU that it needs for that.
 */
static void take_wakes(const struct perf_rings *rings)
{
    struct epoll_event wakes[64];
    while (rings->half_full >= 0 && epoll_wait(rings->half_full, wakes, 64, 0) == 64)
        continue;
}

int perf_rings_drain(struct perf_rings *rings, uint64_t until_ns, kernel_event_fn *fn, void *context)
{
    take_wakes(rings);
    uint64_t now_ns = kernel_now_ns();
    for (size_t i = 0; i < rings->n_rings; i++)
        look(&rings->rings[i]);
    read_names(rings);
    for (size_t i = 0; i < rings->n_rings; i++)
        read_ring(rings, &rings->rings[i]);
    if (until_ns != KERNEL_UNKNOWN && until_ns > now_ns)
        until_ns = now_ns;
    if (rings->n_pending > 0)
        qsort(rings->pending, rings->n_pending, sizeof *rings->pending, by_time);
    int rc = hand_out(rings, until_ns, fn, context);
    rings->final_ns = until_ns != KERNEL_UNKNOWN ? until_ns : now_ns;
    struct err ignored; /* the process has ended */
    if (rings->ip_samples_not_inherited && rings->pid != 0)
        perf_rings_scan(rings, &ignored);
    return rc;
}

int32_t perf_rings_set_period(struct perf_rings *rings, uint64_t event_id, uint64_t period)
{
    struct event_file *file = file_of(rings, event_id);
    if (file == NULL)
        return 0;
    file->period = period;
    ioctl(file->fd, PERF_EVENT_IOC_PERIOD, &period); /* that of a thread that has ended fails */
    return file->owner == NO_OWNER ? 0 : rings->threads[file->owner].tid;
}

void perf_rings_pause(struct perf_rings *rings, bool is_paused)
{
    for (size_t i = 0; i < rings->n_files; i++)
        if (rings->files[i].period != 0) /* that of a thread that has ended fails */
            ioctl(rings->files[i].fd, is_paused ? PERF_EVENT_IOC_DISABLE : PERF_EVENT_IOC_ENABLE, 0);
}

void perf_rings_choose(struct perf_rings *rings, pid_t pid)
{
    rings->pid = pid;
}

int perf_rings_fd(const struct perf_rings *rings)
{
    return rings->half_full;
}

bool perf_rings_are_full(const struct perf_rings *rings)
{
    for (size_t i = 0; i < rings->n_rings; i++) {
        struct perf_event_mmap_page *page = rings->rings[i].page;
        if (page != NULL &&
            atomic_load_explicit((_Atomic uint64_t *)&page->data_head, memory_order_acquire) - page->data_tail >=
                rings->ring_bytes / 4)
            return true;
    }
    return false;
}

void perf_rings_state(const struct perf_rings *rings, struct perf_rings_state *state)
{
    *state = rings->state;
    state->n_cpus = (uint32_t)rings->n_rings;
    state->n_files = (uint32_t)rings->n_files;
    state->ring_bytes = rings->ring_bytes;
    state->why_no_ip_samples = rings->no_ip_samples.text[0] == '\0' ? NULL : rings->no_ip_samples.text;
    state->why_no_ip_events = rings->no_ip_events.text[0] == '\0' ? NULL : rings->no_ip_events.text;
    state->has_ip_samples =
        (rings->options.ip_samples_hz > 0 || rings->options.trigger.n > 0) && state->why_no_ip_samples == NULL;
    const struct kernel_trigger *trigger = &rings->options.trigger;
    bool is_for_users = trigger->n > 0 && (trigger->codes[0].exclude & COUNTER_NO_KERNEL) != 0;
    state->has_cpus = rings->has_cpus;
    state->finds_threads_late = rings->ip_samples_not_inherited;
    state->has_kernel_ip_samples = state->has_ip_samples && !rings->user_ip_samples_only && !is_for_users;
}
