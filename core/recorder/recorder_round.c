/*
 * One round of a recording: what has come since the one before, into the trace.
 */
#include "core/recorder/recorder_state.h"

#include "core/recorder/metadata.h"

#define ASKING_NS       200000000u /* a question wakes the agent, and its answer the recorder */
#define CLOCK_PERIOD_NS 100000000u
#define FLUSH_PERIOD_NS 500000000u

static int write_clock(struct recorder *r, struct err *err)
{
    if (r->latest.monotonic_ns - r->clock_written_ns < CLOCK_PERIOD_NS)
        return 0;
    r->clock_written_ns = r->latest.monotonic_ns;
    if (recorder_name_threads(r, err) < 0)
        return -1;
    return trace_write_clock(r->writer, r->latest.ticks, r->latest.monotonic_ns, r->latest.realtime_ns, err);
}

static int flush(struct recorder *r, struct err *err)
{
    if (r->latest.monotonic_ns - r->flushed_ns < FLUSH_PERIOD_NS)
        return 0;
    r->flushed_ns = r->latest.monotonic_ns;
    return trace_writer_flush(r->writer, err);
}

/* Calibrated before anything is instrumented. */
static int write_costs(struct recorder *r, struct err *err)
{
    if (r->costs_written || !atomic_load(&r->session.segment->is_calibrated))
        return 0;
    r->costs_written = true;
    return metadata_write_costs(r->writer, r->plan, &r->session, err);
}

/* The observer hears what the trace got. */
static int tell_kernel(const struct recorder *r, struct err *err)
{
    const struct recorder_observer *observer = r->plan->observer;
    if (observer == NULL || observer->kernel == NULL || r->kernel.n_events == 0)
        return 0;
    return observer->kernel(observer->context, r->kernel.events, r->kernel.n_events, err);
}

int recorder_write_ip_samples(struct recorder *r, bool is_last, struct err *err)
{
    uint64_t until_ns = r->latest.monotonic_ns - IP_SAMPLES_WAIT_NS;
    uint64_t until_ticks = r->latest.monotonic_ns - r->first.monotonic_ns < IP_SAMPLES_WAIT_NS
                               ? 0
                               : clock_ticks(until_ns, &r->latest, &r->first, &r->latest);
    /* Those of the JVM's start wait for the agent, which tells what code was there. */
    bool may_know = r->ready && r->latest.monotonic_ns - r->ready_ns > IP_SAMPLES_WAIT_NS;
    const struct recorder_simulation *s = r->plan->simulation;
    if (s != NULL &&
        s->write_log(s->context, r->writer, r->latest.monotonic_ns, may_know ? until_ticks : 0, is_last, err) < 0)
        return -1;
    return ip_samples_write(&r->ip_samples, r->writer, r->latest.monotonic_ns, until_ticks, is_last, err);
}

/* What code IP samples are in, where the agent tells only of that. */
static int ask_for_code(struct recorder *r, struct err *err)
{
    uint64_t addresses[LINK_ADDRESSES];
    if (!metadata_asks_for_code(r->plan) || r->plan->ip_samples_hz == 0 || !link_may_ask(&r->link) ||
        (!r->asks_much && r->latest.monotonic_ns - r->asked_ns < ASKING_NS))
        return 0;
    size_t n = ip_samples_ask(&r->ip_samples, addresses, LINK_ADDRESSES);
    r->asks_much = n >= LINK_ADDRESSES / 4;
    r->asked_ns = r->latest.monotonic_ns;
    return link_where(&r->link, addresses, n, err);
}

int recorder_write_round(struct recorder *r, uint64_t *n_words, struct err *err)
{
    readings_take(&r->readings, clock_ns(CLOCK_MONOTONIC_RAW));
    cpu_accounting_take(&r->cpu_accounting, r->kernel.pid);
    recorder_read_quota(r, false);
    *n_words = drain_snapshot(&r->drain);
    r->latest = recorder_clock_and_cpu(r->target, &r->cpu_ns);
    if (write_clock(r, err) < 0 || write_costs(r, err) < 0 ||
        kernel_write(&r->kernel, r->writer, r->latest.monotonic_ns, &r->first, &r->latest, err) < 0 ||
        recorder_write_stacks(r, err) < 0 || recorder_write_allocations(r, err) < 0 ||
        recorder_write_ip_samples(r, false, err) < 0 || ask_for_code(r, err) < 0 || tell_kernel(r, err) < 0 ||
        drain_threads(&r->drain, err) < 0 || readings_follow(&r->readings, err) < 0 ||
        threads_write(&r->threads, r->writer, err) < 0 || readings_write(&r->readings, r->writer, err) < 0 ||
        collections_write(&r->collections, &r->pauses.data, r->writer, &r->first, &r->latest, err) < 0 ||
        drain_methods(&r->drain, r->writer, err) < 0 || drain_records(&r->drain, r->writer, ticks_now(), err) < 0)
        return -1;
    return flush(r, err);
}
