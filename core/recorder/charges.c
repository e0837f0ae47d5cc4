#include "core/recorder/charges.h"

#include "core/counters/kernel_rings.h"

#define PERIOD_NS   10000000u
#define SPARING_NS  100000000u
#define LOOKS_MAX   64     /* at threads, for one to read */
#define READ_MAX_NS 100000 /* a reading takes 5 us; one that took longer is of no certain moment */
#define READ_TRIES  3

/* What was read is of a moment at or before until_ns, and all events up to it have been followed. */
static void settle(struct recorder_thread *thread, uint64_t until_ns, bool was_on)
{
    struct thread_stays *stays = &thread->stays;
    if (stays->read_at_ns == 0 || stays->read_at_ns > until_ns)
        return;
    uint64_t ns = stays->ns;
    if (was_on)
        ns += stays->read_at_ns - stays->on_since_ns;
    if (stays->read_ns >= thread->found_cpu_ns)
        thread->info.charge = (struct trace_charge){ true, stays->read_ns - thread->found_cpu_ns, ns, stays->n };
    stays->read_at_ns = 0;
}

/* It was there, or is born: from now on its stays are counted. */
static void begin(struct recorder_thread *thread, const struct kernel_event *event)
{
    bool is_born = event->kind == KERNEL_THREAD_START;
    thread->found_cpu_ns = is_born ? 0 : event->count;
    thread->stays = (struct thread_stays){ .is_followed = thread->found_cpu_ns != KERNEL_UNKNOWN,
                                           .is_seen = is_born,
                                           .on_since_ns = event->time_ns };
}

static void get_cpu(struct recorder_thread *thread, uint64_t now_ns)
{
    struct thread_stays *stays = &thread->stays;
    settle(thread, now_ns, stays->is_on);
    stays->is_seen = true;
    stays->n++;
    if (!stays->is_on)
        stays->on_since_ns = now_ns;
    stays->is_on = true;
}

/* A first event that takes a CPU away means that the thread had it before. */
static void lose_cpu(struct recorder_thread *thread, uint64_t now_ns)
{
    struct thread_stays *stays = &thread->stays;
    bool was_on = stays->is_on || !stays->is_seen;
    settle(thread, now_ns, was_on);
    stays->is_seen = true;
    if (was_on)
        stays->ns += now_ns - stays->on_since_ns;
    stays->is_on = false;
}

void charges_follow(struct recorder_thread *thread, const struct kernel_event *event)
{
    if (event->kind == KERNEL_THREAD_FOUND || event->kind == KERNEL_THREAD_START)
        begin(thread, event);
    if (!thread->stays.is_followed)
        return;
    if (event->kind == KERNEL_CPU_IN)
        get_cpu(thread, event->time_ns);
    else if (event->kind == KERNEL_CPU_OUT || event->kind == KERNEL_CPU_PREEMPTED || event->kind == KERNEL_THREAD_END)
        lose_cpu(thread, event->time_ns);
}

/* It has run since it was read, and an earlier reading is settled: all its events are long there. */
static bool is_due(struct recorder_thread *thread)
{
    const struct thread_stays *stays = &thread->stays;
    if (!stays->is_followed || !stays->is_seen || thread->info.end_ticks != TRACE_UNKNOWN)
        return false;
    settle(thread, UINT64_MAX, stays->is_on);
    return stays->is_on || !thread->info.charge.is_known || thread->info.charge.n_stays != stays->n;
}

/* Returns whether there was anything to read. */
static bool read_thread(struct recorder_thread *thread, pid_t pid)
{
    struct thread_stays *stays = &thread->stays;
    for (int i = 0; i < READ_TRIES; i++) {
        uint64_t cpu_ns, before_ns = kernel_now_ns();
        if (kernel_thread_cpu_ns(pid, thread->info.tid, &cpu_ns) < 0)
            return false;
        uint64_t after_ns = kernel_now_ns();
        if (after_ns - before_ns > READ_MAX_NS)
            continue;
        stays->read_at_ns = before_ns + (after_ns - before_ns) / 2;
        stays->read_ns = cpu_ns;
        return true;
    }
    return true;
}

void charges_take(struct charges *charges, pid_t pid)
{
    const struct threads *threads = charges->threads;
    uint64_t now_ns = kernel_now_ns();
    if (pid == 0 || threads->n == 0 || now_ns - charges->read_ns < (charges->is_sparing ? SPARING_NS : PERIOD_NS))
        return;
    charges->read_ns = now_ns;
    for (uint32_t i = 0; i < LOOKS_MAX && i < threads->n; i++) {
        struct recorder_thread *thread = threads->all[charges->next++ % threads->n];
        if (is_due(thread) && read_thread(thread, pid))
            return;
    }
}

void charges_take_all(struct charges *charges, pid_t pid)
{
    for (uint32_t i = 0; pid != 0 && i < charges->threads->n; i++)
        if (is_due(charges->threads->all[i]))
            read_thread(charges->threads->all[i], pid);
}

void charges_finish(struct charges *charges)
{
    for (uint32_t i = 0; i < charges->threads->n; i++) {
        struct recorder_thread *thread = charges->threads->all[i];
        if (thread->stays.is_seen && thread->info.end_ticks == TRACE_UNKNOWN)
            settle(thread, UINT64_MAX, thread->stays.is_on);
        thread->changed = thread->changed || thread->info.charge.is_known;
    }
}
