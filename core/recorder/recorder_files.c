/*
 * A recording in several files: when the next one begins, and what a file is told at its end.
 *
 * The probes, the rings and all that is known go on; only the file changes, between two rounds.
 */
#include "core/recorder/recorder_state.h"

#include "core/jvm/process.h"
#include "core/recorder/metadata.h"

#define LATE_NS UINT64_C(10000000000) /* what comes of a thread after its end has come by then */

/* ---- the end of a file ---- */

static struct metadata_cpu cpu_times(const struct recorder *r, const struct recorder_status *status)
{
    struct metadata_cpu cpu = { .process_ns = recorder_process_cpu_ns(r),
                                .own_ns = status->own_cpu_ns,
                                .own_start_ns = r->rounds.start_cpu_ns == 0 ? TRACE_UNKNOWN : r->rounds.start_cpu_ns,
                                .stolen_ns = TRACE_UNKNOWN };
    uint64_t stolen_ns;
    cpu_quota_since(&r->pressure.start, &r->pressure.latest, &cpu.quota);
    if (r->costs.stolen_start_ns != TRACE_UNKNOWN && jvm_stolen_ns(&stolen_ns) == 0 &&
        stolen_ns >= r->costs.stolen_start_ns)
        cpu.stolen_ns = stolen_ns - r->costs.stolen_start_ns;
    return cpu;
}

static int write_ip_samples_info(const struct recorder *r, struct err *err)
{
    struct perf_rings_state state = { .why_no_ip_samples = r->offcpu + strlen("none: ") };
    if (r->now.plan->ip_samples_hz == 0)
        return 0;
    if (r->kernel.rings != NULL)
        perf_rings_state(r->kernel.rings, &state);
    const char *no_events = state.why_no_ip_events;
    if (recorder_ring_ip_samples_hz(&r->stacks) == 0)
        stack_sampler_rings(r->stacks.sampler, &state);
    state.why_no_ip_events = no_events;
    if (r->now.plan->ip_events_names != NULL &&
        info_write_text(r->now.writer, INFO_IP_SAMPLES_EVENTS, r->now.plan->ip_events_names, err) < 0)
        return -1;
    return metadata_write_ip_samples(r->now.writer, &r->ip_samples, &state, r->now.plan->ip_samples_hz,
                                     r->costs.ip_sample_ns, r->costs.knows_ip_sample, r->link.code_ns, err);
}

int recorder_end_file(struct recorder *r, struct recorder_status *status, bool is_last, struct err *err)
{
    recorder_look_at_groups(r, true);
    cpu_quota_read(&r->pressure.latest);
    struct metadata_cpu cpu = cpu_times(r, status);
    if (pressure_write(&r->pressure, r->now.writer, err) < 0)
        return -1;
    trace_writer_ends(r->now.writer);
    if ((is_last ? link_finish(&r->link, status, err) : link_file(&r->link, status, err)) < 0 ||
        threads_write(r->now.threads, r->now.writer, err) < 0 ||
        kernel_write_last(&r->kernel, r->now.writer, &r->files.start, &r->now.latest, err) < 0 ||
        (is_last && recorder_write_ip_samples(r, true, err) < 0) ||
        ip_samples_write_symbols(&r->ip_samples, r->now.plan->symbols, r->now.writer, err) < 0 ||
        write_ip_samples_info(r, err) < 0 || recorder_write_stacks_info(&r->stacks, err) < 0 ||
        pauses_write(&r->pauses, r->now.writer, err) < 0 ||
        metadata_write_end(r->now.writer, r->session.segment, &cpu, err) < 0)
        return -1;
    return metadata_write_readings(r->now.writer, &r->readings, err) < 0 ? -1
           : r->now.plan->simulation == NULL
               ? 0
               : r->now.plan->simulation->write_end(r->now.plan->simulation->context, r->now.writer, err);
}

/* ---- threads that have ended ---- */

static void forget_thread(void *context, uint32_t index)
{
    struct recorder *r = context;
    const struct recorder_observer *observer = r->now.plan->observer;
    trace_writer_forget_thread(r->now.writer, index);
    wait_log_forget(&r->stacks.waits, index);
    readings_forget(&r->readings, index);
    if (observer != NULL && observer->forget != NULL)
        observer->forget(observer->context, index);
}

static bool is_there(void *context, int32_t tid)
{
    const struct recorder *r = context;
    char comm[16];
    return jvm_thread_comm(r->now.target, tid, comm) == 0;
}

/* Those that ended before the file did that is closed now: samples and switches of them came in it at the latest. */
static void recycle_threads(struct recorder *r)
{
    uint64_t late_ns = r->now.latest.monotonic_ns - LATE_NS;
    uint64_t late = clock_ticks(late_ns, &r->now.latest, &r->now.first, &r->now.latest);
    uint64_t before = late < r->files.start.ticks ? late : r->files.start.ticks;
    if (r->now.latest.monotonic_ns - r->now.first.monotonic_ns < LATE_NS)
        return;
    if (!r->drain.kernel_tells_ends && r->now.target != 0)
        threads_miss(r->now.threads, r->now.latest.ticks, is_there, r);
    threads_recycle(r->now.threads, before, forget_thread, r);
}

static int change_file(struct recorder *r, struct err *err)
{
    const uint64_t clock[3] = { r->now.latest.ticks, r->now.latest.monotonic_ns, r->now.latest.realtime_ns };
    struct recorder_file_names next;
    struct err why;
    pid_t pid = r->now.plan->pid != 0 ? r->now.plan->pid : r->child.pid;
    if (recorder_rotation_name(r->now.plan, pid, &next, err) < 0 ||
        trace_writer_rotate(r->now.writer, next.part, clock, &why, err) < 0)
        return -1;
    recorder_rotation_end(&r->files, r->now.plan, why.text[0] == '\0' ? NULL : &why);
    recycle_threads(r);
    r->rounds.clock_written_ns = r->rounds.flushed_ns = r->now.latest.monotonic_ns;
    pauses_next(&r->pauses);
    r->pressure.start = r->pressure.latest;
    return recorder_rotation_begin(&r->files, &r->now, &next, err);
}

static int rotate(struct recorder *r, struct err *err)
{
    uint64_t n_words;
    r->files.is_turning = true;
    cpu_accounting_take_all(&r->cpu_accounting, r->kernel.pid);
    int rc = recorder_write_round(r, &n_words, err);
    r->files.is_turning = false;
    if (rc < 0)
        return -1;
    cpu_accounting_finish(&r->cpu_accounting);
    struct recorder_status status = recorder_status_of(r);
    if (recorder_end_file(r, &status, false, err) < 0 || recorder_tell_allocations(&r->allocations, err) < 0)
        return -1;
    return change_file(r, err);
}

int recorder_look_at_file(struct recorder *r, struct err *err)
{
    return r->now.plan->files != NULL && recorder_rotation_is_due(&r->files, &r->now) ? rotate(r, err) : 0;
}
