/*
 * A recording in several files: when the next one begins, and what a file is told at its end.
 *
 * The probes, the rings and all that is known go on; only the file changes, between two rounds.
 */
#include "core/recorder/recorder_state.h"

#include "core/jvm/process.h"
#include "core/recorder/metadata.h"

#include <stdio.h>
#include <string.h>

#define LATE_NS    UINT64_C(10000000000) /* what comes of a thread after its end has come by then */
#define SHORT_PART 10                    /* no file is shorter than one part in so many, or longer by more */

/* ---- the end of a file ---- */

static struct metadata_cpu cpu_times(const struct recorder *r, const struct recorder_status *status)
{
    struct metadata_cpu cpu = { .process_ns = recorder_process_cpu_ns(r),
                                .own_ns = status->own_cpu_ns,
                                .stolen_ns = TRACE_UNKNOWN };
    uint64_t stolen_ns;
    cpu_quota_since(&r->quota.start, &r->quota.latest, &cpu.quota);
    if (r->stolen_start_ns != TRACE_UNKNOWN && jvm_stolen_ns(&stolen_ns) == 0 && stolen_ns >= r->stolen_start_ns)
        cpu.stolen_ns = stolen_ns - r->stolen_start_ns;
    return cpu;
}

static int write_ip_samples_info(const struct recorder *r, struct err *err)
{
    struct perf_rings_state state = { .why_no_ip_samples = r->offcpu + strlen("none: ") };
    if (r->plan->ip_samples_hz == 0)
        return 0;
    if (r->kernel.rings != NULL)
        perf_rings_state(r->kernel.rings, &state);
    const char *no_events = state.why_no_ip_events;
    if (recorder_ring_ip_samples_hz(r) == 0)
        stack_sampler_rings(r->stacks.sampler, &state);
    state.why_no_ip_events = no_events;
    if (r->plan->ip_events_names != NULL &&
        info_write_text(r->writer, INFO_IP_SAMPLES_EVENTS, r->plan->ip_events_names, err) < 0)
        return -1;
    return metadata_write_ip_samples(r->writer, &r->ip_samples, &state, r->plan->ip_samples_hz, r->ip_sample_cost_ns,
                                     r->knows_ip_sample_cost, r->link.code_ns, err);
}

int recorder_end_file(struct recorder *r, struct recorder_status *status, bool is_last, struct err *err)
{
    recorder_read_quota(r, true);
    struct metadata_cpu cpu = cpu_times(r, status);
    trace_writer_ends(r->writer);
    if ((is_last ? link_finish(&r->link, status, err) : link_file(&r->link, status, err)) < 0 ||
        threads_write(&r->threads, r->writer, err) < 0 ||
        kernel_write_last(&r->kernel, r->writer, &r->files.start, &r->latest, err) < 0 ||
        (is_last && recorder_write_ip_samples(r, true, err) < 0) ||
        ip_samples_write_symbols(&r->ip_samples, r->plan->symbols, r->writer, err) < 0 ||
        write_ip_samples_info(r, err) < 0 || recorder_write_stacks_info(r, err) < 0 ||
        pauses_write(&r->pauses, r->writer, err) < 0 ||
        metadata_write_end(r->writer, r->session.segment, &cpu, err) < 0)
        return -1;
    return metadata_write_readings(r->writer, &r->readings, err) < 0 ? -1
           : r->plan->simulation == NULL                             ? 0
                                         : r->plan->simulation->write_end(r->plan->simulation->context, r->writer, err);
}

/* ---- which file ---- */

static uint64_t every_ns(const struct recorder *r)
{
    return (uint64_t)(r->plan->files->every_s * 1e9);
}

/*
 * At whole minutes, or whatever it is, by the clock on the wall: a file is of one of them.  A clock that is set makes
 * one file shorter or longer.
 */
static bool is_over(const struct recorder *r)
{
    uint64_t every = every_ns(r), passed = r->latest.monotonic_ns - r->files.start.monotonic_ns;
    bool is_next = r->latest.realtime_ns / every != r->files.start.realtime_ns / every;
    return (is_next && passed >= every / SHORT_PART) || passed >= every + every / SHORT_PART;
}

void recorder_close_file(struct recorder *r, const struct err *why)
{
    const struct recorder_files *files = r->plan->files;
    if (files != NULL && r->files.names.part[0] != '\0')
        files->ended(files->context, r->files.names.part, r->files.names.whole, why);
    r->files.names.part[0] = '\0';
}

/* ---- threads that have ended ---- */

static void forget_thread(void *context, uint32_t index)
{
    struct recorder *r = context;
    const struct recorder_observer *observer = r->plan->observer;
    trace_writer_forget_thread(r->writer, index);
    wait_log_forget(&r->stacks.waits, index);
    readings_forget(&r->readings, index);
    if (observer != NULL && observer->forget != NULL)
        observer->forget(observer->context, index);
}

static bool is_there(void *context, int32_t tid)
{
    const struct recorder *r = context;
    char comm[16];
    return jvm_thread_comm(r->target, tid, comm) == 0;
}

/* Those that ended before the file did that is closed now: samples and switches of them came in it at the latest. */
static int recycle_threads(struct recorder *r, struct err *err)
{
    uint64_t late_ns = r->latest.monotonic_ns - LATE_NS;
    uint64_t late = clock_ticks(late_ns, &r->latest, &r->first, &r->latest);
    uint64_t before = late < r->files.start.ticks ? late : r->files.start.ticks;
    if (r->latest.monotonic_ns - r->first.monotonic_ns < LATE_NS)
        return 0;
    if (!r->drain.kernel_tells_ends && r->target != 0)
        threads_miss(&r->threads, r->latest.ticks, is_there, r);
    return threads_recycle(&r->threads, before, forget_thread, r) < 0 ? err_set(err, "out of memory for threads") : 0;
}

static int change_file(struct recorder *r, struct err *err)
{
    const uint64_t clock[3] = { r->latest.ticks, r->latest.monotonic_ns, r->latest.realtime_ns };
    struct recorder_file_names next;
    struct err why;
    if (recorder_name_file(r, &next, err) < 0 || trace_writer_rotate(r->writer, next.part, clock, &why, err) < 0)
        return -1;
    recorder_close_file(r, why.text[0] == '\0' ? NULL : &why);
    if (recycle_threads(r, err) < 0)
        return -1;
    r->files.names = next;
    r->files.n++;
    r->files.has_failed = false;
    r->files.start = r->latest;
    r->clock_written_ns = r->flushed_ns = r->latest.monotonic_ns;
    pauses_next(&r->pauses);
    return recorder_write_file_info(r, err);
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
    if (recorder_end_file(r, &status, false, err) < 0 || recorder_tell_allocations(r, err) < 0)
        return -1;
    return change_file(r, err);
}

/* A file that cannot be written is told of once, when that turns out. */
static void tell_failure(struct recorder *r)
{
    const struct recorder_files *files = r->plan->files;
    const struct err *why = trace_writer_failure(r->writer);
    if (why == NULL || r->files.has_failed)
        return;
    r->files.has_failed = true;
    files->fails(files->context, why);
}

int recorder_look_at_file(struct recorder *r, struct err *err)
{
    if (r->plan->files == NULL)
        return 0;
    tell_failure(r);
    bool is_large = r->plan->max_bytes > 0 && trace_writer_bytes(r->writer) >= r->plan->max_bytes;
    bool is_due = is_over(r) || (is_large && !r->files.has_failed);
    return is_due ? rotate(r, err) : 0;
}

int recorder_file_left_ms(const struct recorder *r)
{
    if (r->plan->files == NULL)
        return INT_MAX;
    return (int)((every_ns(r) - clock_ns(CLOCK_REALTIME) % every_ns(r)) / 1000000) + 1;
}
