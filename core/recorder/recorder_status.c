/*
 * Where a recording stands: its clock, and who took how much CPU time.
 */
#include "core/recorder/recorder_state.h"

#define QUOTA_NS         1000000000u /* the last reading may be of so long before the group is gone */
#define CLOCK_AND_CPU_NS 50000

struct clock_point recorder_clock_and_cpu(pid_t pid, uint64_t *cpu_ns)
{
    struct clock_point point = clock_point_now();
    for (int tries = 0; pid != 0 && tries < 8; tries++) {
        jvm_process_cpu_ns(pid, cpu_ns);
        if (clock_ns(CLOCK_MONOTONIC_RAW) - point.monotonic_ns < CLOCK_AND_CPU_NS)
            break;
        point = clock_point_now();
    }
    return point;
}

void recorder_find_quota(struct recorder *r)
{
    r->quota.is_there = cpu_quota_find("", r->target != 0 ? r->target : r->plan->pid, &r->quota.start);
    r->quota.latest = r->quota.start;
}

void recorder_read_quota(struct recorder *r, bool is_last)
{
    uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
    if (!r->quota.is_there || (!is_last && now_ns - r->quota.read_ns < QUOTA_NS))
        return;
    r->quota.read_ns = now_ns;
    cpu_quota_read(&r->quota.latest);
}

uint64_t recorder_own_cpu_ns(void)
{
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t recorder_process_cpu_ns(const struct recorder *r)
{
    const struct rusage *usage = &r->child.usage;
    if (r->child.has_usage && r->target != 0)
        return (uint64_t)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000000u +
               (uint64_t)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * 1000u;
    return r->cpu_ns == 0 ? TRACE_UNKNOWN : r->cpu_ns - r->cpu_start_ns;
}

struct recorder_status recorder_status_of(const struct recorder *r)
{
    const struct segment *segment = r->session.segment;
    struct recorder_status status = { .ticks = r->latest.ticks,
                                      .monotonic_ns = r->latest.monotonic_ns,
                                      .start_ticks = r->first.ticks,
                                      .start_ns = r->first.monotonic_ns,
                                      .process_cpu_ns = r->cpu_ns - r->cpu_start_ns,
                                      .own_cpu_ns = recorder_own_cpu_ns() - r->own_cpu_start_ns,
                                      .ip_samples_cpu_ns = r->ip_samples.n * r->ip_sample_cost_ns +
                                                           r->ip_samples.code.spent_ns + r->link.code_ns,
                                      .n_records = trace_writer_records(r->writer),
                                      .n_lost = drain_n_lost(&r->drain),
                                      .n_columns = r->session.n_counters,
                                      .pid = r->target,
                                      .n_classes = pauses_classes(&r->pauses),
                                      .polls_stacks = r->stacks.polled != NULL,
                                      .polling_cpu_ns = recorder_polling_ns(r),
                                      .allocations_cpu_ns = recorder_allocations_ns(r),
                                      .jvm_cpu_ns = r->cpu_ns,
                                      .archive = r->archive[0] == '\0' ? NULL : r->archive };
    if (r->latest.monotonic_ns > r->first.monotonic_ns)
        status.ns_per_tick =
            (double)(r->latest.monotonic_ns - r->first.monotonic_ns) / (double)(r->latest.ticks - r->first.ticks);
    if (atomic_load(&segment->is_calibrated)) {
        status.inside_ticks = (double)atomic_load(&segment->inside_cost_ticks_x16) / 16;
        status.outside_ticks = (double)atomic_load(&segment->outside_cost_ticks_x16) / 16;
    }
    return status;
}
