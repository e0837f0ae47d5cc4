/*
 * Allocations in a recording: the agent samples them, and each goes into the trace, in the contexts of stack samples.
 *
 * Where the JVM samples none, the recording goes on, and the trace says why.
 */
#include "core/recorder/recorder_parts.h"

#include "core/recorder/link_state.h"
#include "core/trace/recording_info.h"

#define DRAIN_NS UINT64_C(500000000)

static void note_failure(struct recorder_allocations *a, const struct err *why)
{
    snprintf(a->why, sizeof a->why, "%.*s", (int)strcspn(why->text, "\n"), why->text);
}

static int begin(struct recorder_allocations *a, struct err *err)
{
    if (!a->now->plan->samples_allocations || !a->link->ready || a->why[0] != '\0')
        return 0;
    if (poll_sampler_open(&a->sampler, a->now->target, err) < 0) {
        note_failure(a, err);
        return 0;
    }
    uint32_t part_ppm = (uint32_t)(a->now->plan->allocations_part * 1e6);
    return link_allocations(a->link, part_ppm, a->now->plan->tracks_objects, poll_sampler_fd(a->sampler), err);
}

static uint64_t ticks_of(const struct recorder_allocations *a, uint64_t time_ns)
{
    uint64_t first_ns = a->now->first.monotonic_ns, last_ns = a->now->latest.monotonic_ns;
    time_ns = time_ns < first_ns ? first_ns : time_ns > last_ns ? last_ns : time_ns;
    return clock_ticks(time_ns, &a->now->latest, &a->now->first, &a->now->latest);
}

static int take_one(struct recorder_allocations *a, const struct allocation_sample *sample, struct err *err)
{
    uint64_t ticks = ticks_of(a, sample->stack.time_ns);
    struct recorder_thread *thread = threads_get(a->now->threads, sample->stack.tid, ticks);
    if (thread->changed && threads_write(a->now->threads, a->now->writer, err) < 0)
        return -1;
    return sample_log_write_allocation(a->log, a->now->writer, sample, thread->info.index, ticks, err);
}

static int take_allocation(const struct allocation_sample *sample, void *context, struct err *err)
{
    struct recorder_allocations *a = context;
    int rc = take_one(a, sample, err);
    a->is_ours = rc < 0;
    return rc;
}

static int take_heap(const struct poll_heap *heap, void *context, struct err *err)
{
    static const enum trace_heap_kind kinds[POLL_HEAP_KINDS] = { [POLL_HEAP_CHECKED] = TRACE_HEAP_CHECKED,
                                                                 [POLL_HEAP_FREED] = TRACE_HEAP_FREED,
                                                                 [POLL_HEAP_DROPPED] = TRACE_HEAP_DROPPED,
                                                                 [POLL_HEAP_BEFORE] = TRACE_HEAP_BEFORE };
    struct recorder_allocations *a = context;
    const struct trace_heap_event event = { ticks_of(a, heap->time_ns), kinds[heap->kind], heap->number };
    a->is_ours = trace_write_heap_event(a->now->writer, &event, err) < 0;
    return a->is_ours ? -1 : 0;
}

static int drain_log(struct recorder_allocations *a, struct err *err)
{
    if (poll_sampler_drain_allocations(a->sampler, take_allocation, take_heap, a, err) == 0)
        return 0;
    if (a->is_ours)
        return -1;
    note_failure(a, err);
    return 0;
}

int recorder_write_allocations(struct recorder_allocations *a, bool all, struct err *err)
{
    uint64_t now_ns = a->now->latest.monotonic_ns;
    if (a->sampler == NULL)
        return begin(a, err);
    if (a->why[0] != '\0' || (now_ns - a->drained_ns < DRAIN_NS && !all))
        return 0;
    a->drained_ns = now_ns;
    return drain_log(a, err);
}

uint64_t recorder_allocations_ns(const struct recorder_allocations *a)
{
    struct poll_allocated allocated = { 0 };
    if (a->sampler != NULL)
        poll_sampler_allocated(a->sampler, &allocated);
    return allocated.cost_ns + allocated.agent_ns;
}

int recorder_tell_allocations(struct recorder_allocations *a, struct err *err)
{
    struct poll_allocated allocated;
    const char *why = a->link->allocations_refused[0] != '\0' ? a->link->allocations_refused : a->why;
    if (!a->now->plan->samples_allocations)
        return 0;
    if (why[0] != '\0' && info_write_text(a->now->writer, INFO_ALLOCATIONS_FAILED, why, err) < 0)
        return -1;
    if (a->sampler == NULL || a->link->allocations_refused[0] != '\0')
        return 0;
    poll_sampler_allocated(a->sampler, &allocated);
    if (allocated.is_counted &&
        info_write_count(a->now->writer, INFO_ALLOCATIONS_JVM_BYTES, allocated.jvm_bytes, err) < 0)
        return -1;
    if (info_write_count(a->now->writer, INFO_ALLOCATIONS_NS, allocated.ns, err) < 0 ||
        info_write_count(a->now->writer, INFO_ALLOCATIONS_COST_NS, allocated.cost_ns, err) < 0)
        return -1;
    return info_write_count(a->now->writer, INFO_ALLOCATIONS_LOST, allocated.n_lost, err);
}

int recorder_end_allocations(struct recorder_allocations *a, struct err *err)
{
    bool is_there = a->sampler != NULL && a->why[0] == '\0';
    return is_there && drain_log(a, err) < 0 ? -1 : recorder_tell_allocations(a, err);
}

void recorder_close_allocations(struct recorder_allocations *a)
{
    poll_sampler_close(a->sampler);
    a->sampler = NULL;
}
