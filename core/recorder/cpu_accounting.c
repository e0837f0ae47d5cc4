#include "core/recorder/cpu_accounting.h"

#include "core/perf/perf_rings.h"

#define PERIOD_NS   10000000u
#define SPARING_NS  100000000u
#define LOOKS_MAX   64     /* at threads, for one to read */
#define READ_MAX_NS 100000 /* a reading takes 5 us; one that took longer is of no certain moment */
#define READ_TRIES  3
#define TICK_NS     UINT64_C(10000000) /* the longest between two timer ticks: 100 Hz */
#define STALE_PARTS UINT64_C(100)      /* a reading may be one of these parts of the thread's time too old */

/*
 * The kernel counts what a thread runs when it loses its CPU and at each timer tick: what was read of a thread on a CPU
 * is up to a tick old.  That is left out while it would be more than a hundredth of the thread's time.
 */
static bool is_exact_enough(const struct thread_run_slices *slices, bool was_on)
{
    uint64_t stale_ns = (was_on ? TICK_NS : 0) + (slices->base_is_stale ? TICK_NS : 0);
    return slices->read_ns >= slices->base_cpu_ns && slices->read_ns - slices->base_cpu_ns >= stale_ns * STALE_PARTS;
}

/* What was read is of a moment at or before until_ns, and all events up to it have been followed. */
static void settle(struct recorder_thread *thread, uint64_t until_ns, bool was_on)
{
    struct thread_run_slices *slices = &thread->slices;
    if (slices->read_at_ns == 0 || slices->read_at_ns > until_ns)
        return;
    uint64_t ns = slices->ns;
    if (was_on)
        ns += slices->read_at_ns - slices->on_since_ns;
    if (!was_on && slices->base_is_stale && !thread->info.cpu_time.is_known) {
        slices->base_cpu_ns = slices->read_ns;
        slices->base_ns = ns;
        slices->base_n = slices->n;
        slices->base_is_stale = false;
    } else if (is_exact_enough(slices, was_on)) {
        thread->info.cpu_time = (struct trace_cpu_time){ true, slices->read_ns - slices->base_cpu_ns,
                                                         ns - slices->base_ns, slices->n - slices->base_n };
    }
    slices->read_at_ns = 0;
}

/* It was there, or is born: from now on its run slices are counted. */
static void begin(struct recorder_thread *thread, const struct kernel_event *event)
{
    bool is_born = event->kind == KERNEL_THREAD_START;
    thread->found_cpu_ns = is_born ? 0 : event->count;
    thread->slices = (struct thread_run_slices){ .is_followed = thread->found_cpu_ns != KERNEL_UNKNOWN,
                                                 .is_seen = is_born,
                                                 .on_since_ns = event->time_ns,
                                                 .base_cpu_ns = thread->found_cpu_ns };
}

static void get_cpu(struct recorder_thread *thread, uint64_t now_ns)
{
    struct thread_run_slices *slices = &thread->slices;
    settle(thread, now_ns, slices->is_on);
    slices->is_seen = true;
    slices->n++;
    if (!slices->is_on)
        slices->on_since_ns = now_ns;
    slices->is_on = true;
}

/* A first event that takes a CPU away means that the thread had it before. */
static void lose_cpu(struct recorder_thread *thread, uint64_t now_ns)
{
    struct thread_run_slices *slices = &thread->slices;
    bool was_on = slices->is_on || !slices->is_seen;
    slices->base_is_stale = slices->base_is_stale || !slices->is_seen;
    settle(thread, now_ns, was_on);
    slices->is_seen = true;
    if (was_on)
        slices->ns += now_ns - slices->on_since_ns;
    slices->is_on = false;
}

void cpu_accounting_follow(struct recorder_thread *thread, const struct kernel_event *event)
{
    if (event->kind == KERNEL_THREAD_FOUND || event->kind == KERNEL_THREAD_START)
        begin(thread, event);
    if (!thread->slices.is_followed)
        return;
    if (event->kind == KERNEL_CPU_IN)
        get_cpu(thread, event->time_ns);
    else if (event->kind == KERNEL_CPU_OUT || event->kind == KERNEL_CPU_PREEMPTED || event->kind == KERNEL_THREAD_END)
        lose_cpu(thread, event->time_ns);
}

/* It has run since it was read, and an earlier reading is settled: all its events are long there. */
static bool is_due(struct recorder_thread *thread)
{
    const struct thread_run_slices *slices = &thread->slices;
    if (!slices->is_followed || !slices->is_seen || thread->info.end_ticks != TRACE_UNKNOWN)
        return false;
    settle(thread, UINT64_MAX, slices->is_on);
    return slices->is_on || !thread->info.cpu_time.is_known ||
           thread->info.cpu_time.n_slices + slices->base_n != slices->n;
}

/* Returns whether there was anything to read. */
static bool read_thread(struct recorder_thread *thread, pid_t pid)
{
    struct thread_run_slices *slices = &thread->slices;
    for (int i = 0; i < READ_TRIES; i++) {
        uint64_t cpu_ns, before_ns = kernel_now_ns();
        if (kernel_thread_cpu_ns(pid, thread->info.tid, &cpu_ns) < 0)
            return false;
        uint64_t after_ns = kernel_now_ns();
        if (after_ns - before_ns > READ_MAX_NS)
            continue;
        slices->read_at_ns = before_ns + (after_ns - before_ns) / 2;
        slices->read_ns = cpu_ns;
        return true;
    }
    return true;
}

void cpu_accounting_take(struct cpu_accounting *accounting, pid_t pid)
{
    const struct threads *threads = accounting->threads;
    uint64_t now_ns = kernel_now_ns();
    if (pid == 0 || threads->n == 0 || now_ns - accounting->read_ns < (accounting->is_sparing ? SPARING_NS : PERIOD_NS))
        return;
    accounting->read_ns = now_ns;
    for (uint32_t i = 0; i < LOOKS_MAX && i < threads->n; i++) {
        struct recorder_thread *thread = threads->all[accounting->next++ % threads->n];
        if (is_due(thread) && read_thread(thread, pid))
            return;
    }
}

void cpu_accounting_take_all(struct cpu_accounting *accounting, pid_t pid)
{
    for (uint32_t i = 0; pid != 0 && i < accounting->threads->n; i++)
        if (is_due(accounting->threads->all[i]))
            read_thread(accounting->threads->all[i], pid);
}

/* In a file of a thread that has ended, or has slept since the file before, there is nothing new. */
static bool has_news(const struct recorder_thread *thread)
{
    const struct trace_cpu_time *now = &thread->info.cpu_time, *written = &thread->written;
    return now->is_known && (!written->is_known || now->accounted_ns != written->accounted_ns ||
                             now->slices_ns != written->slices_ns || now->n_slices != written->n_slices);
}

void cpu_accounting_finish(struct cpu_accounting *accounting)
{
    for (uint32_t i = 0; i < accounting->threads->n; i++) {
        struct recorder_thread *thread = accounting->threads->all[i];
        if (thread->slices.is_seen && thread->info.end_ticks == TRACE_UNKNOWN)
            settle(thread, UINT64_MAX, thread->slices.is_on);
        thread->changed = thread->changed || has_news(thread);
    }
}
