/*
 * Allocations in a recording: the agent samples them, and each goes into the trace, in the contexts of stack samples.
 *
 * Where the JVM samples none, the recording goes on, and the trace says why.
 */
#include "core/recorder/recorder_state.h"

#include "core/trace/recording_info.h"

#include <string.h>

#define DRAIN_NS UINT64_C(500000000)

static void note_failure(struct recorder *r, const struct err *why)
{
    snprintf(r->allocations.why, sizeof r->allocations.why, "%.*s", (int)strcspn(why->text, "\n"), why->text);
}

static int begin(struct recorder *r, struct err *err)
{
    if (!r->plan->samples_allocations || !r->link.ready || r->allocations.why[0] != '\0')
        return 0;
    if (poll_sampler_open(&r->allocations.sampler, r->target, err) < 0) {
        note_failure(r, err);
        return 0;
    }
    uint32_t part_ppm = (uint32_t)(r->plan->allocations_part * 1e6);
    return link_allocations(&r->link, part_ppm, r->plan->tracks_objects, poll_sampler_fd(r->allocations.sampler), err);
}

static uint64_t ticks_of(const struct recorder *r, uint64_t time_ns)
{
    uint64_t first_ns = r->first.monotonic_ns, last_ns = r->latest.monotonic_ns;
    time_ns = time_ns < first_ns ? first_ns : time_ns > last_ns ? last_ns : time_ns;
    return clock_ticks(time_ns, &r->latest, &r->first, &r->latest);
}

static int take_one(struct recorder *r, const struct allocation_sample *sample, struct err *err)
{
    uint64_t ticks = ticks_of(r, sample->stack.time_ns);
    struct recorder_thread *thread = threads_get(&r->threads, sample->stack.tid, ticks);
    if (thread == NULL)
        return err_set(err, "out of memory for threads");
    if (thread->changed && threads_write(&r->threads, r->writer, err) < 0)
        return -1;
    return sample_log_write_allocation(&r->stacks.log, r->writer, sample, thread->info.index, ticks, err);
}

static int take_allocation(const struct allocation_sample *sample, void *context, struct err *err)
{
    struct recorder *r = context;
    int rc = take_one(r, sample, err);
    r->allocations.is_ours = rc < 0;
    return rc;
}

static int take_heap(const struct poll_heap *heap, void *context, struct err *err)
{
    static const enum trace_heap_kind kinds[POLL_HEAP_KINDS] = { [POLL_HEAP_CHECKED] = TRACE_HEAP_CHECKED,
                                                                 [POLL_HEAP_FREED] = TRACE_HEAP_FREED,
                                                                 [POLL_HEAP_DROPPED] = TRACE_HEAP_DROPPED,
                                                                 [POLL_HEAP_BEFORE] = TRACE_HEAP_BEFORE };
    struct recorder *r = context;
    const struct trace_heap_event event = { ticks_of(r, heap->time_ns), kinds[heap->kind], heap->number };
    r->allocations.is_ours = trace_write_heap_event(r->writer, &event, err) < 0;
    return r->allocations.is_ours ? -1 : 0;
}

static int drain_log(struct recorder *r, struct err *err)
{
    if (poll_sampler_drain_allocations(r->allocations.sampler, take_allocation, take_heap, r, err) == 0)
        return 0;
    if (r->allocations.is_ours)
        return -1;
    note_failure(r, err);
    return 0;
}

int recorder_write_allocations(struct recorder *r, struct err *err)
{
    uint64_t now_ns = r->latest.monotonic_ns;
    if (r->allocations.sampler == NULL)
        return begin(r, err);
    if (r->allocations.why[0] != '\0' || (now_ns - r->allocations.drained_ns < DRAIN_NS && !r->files.is_turning))
        return 0;
    r->allocations.drained_ns = now_ns;
    return drain_log(r, err);
}

uint64_t recorder_allocations_ns(const struct recorder *r)
{
    struct poll_allocated allocated = { 0 };
    if (r->allocations.sampler != NULL)
        poll_sampler_allocated(r->allocations.sampler, &allocated);
    return allocated.cost_ns + allocated.agent_ns;
}

int recorder_tell_allocations(struct recorder *r, struct err *err)
{
    struct poll_allocated allocated;
    const char *why = r->link.allocations_refused[0] != '\0' ? r->link.allocations_refused : r->allocations.why;
    if (!r->plan->samples_allocations)
        return 0;
    if (why[0] != '\0' && info_write_text(r->writer, INFO_ALLOCATIONS_FAILED, why, err) < 0)
        return -1;
    if (r->allocations.sampler == NULL || r->link.allocations_refused[0] != '\0')
        return 0;
    poll_sampler_allocated(r->allocations.sampler, &allocated);
    if (allocated.is_counted && info_write_count(r->writer, INFO_ALLOCATIONS_JVM_BYTES, allocated.jvm_bytes, err) < 0)
        return -1;
    if (info_write_count(r->writer, INFO_ALLOCATIONS_NS, allocated.ns, err) < 0 ||
        info_write_count(r->writer, INFO_ALLOCATIONS_COST_NS, allocated.cost_ns, err) < 0)
        return -1;
    return info_write_count(r->writer, INFO_ALLOCATIONS_LOST, allocated.n_lost, err);
}

int recorder_end_allocations(struct recorder *r, struct err *err)
{
    bool is_there = r->allocations.sampler != NULL && r->allocations.why[0] == '\0';
    return is_there && drain_log(r, err) < 0 ? -1 : recorder_tell_allocations(r, err);
}

void recorder_close_allocations(struct recorder *r)
{
    poll_sampler_close(r->allocations.sampler);
    r->allocations.sampler = NULL;
}
