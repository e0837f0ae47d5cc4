/* One round of a recording: what has come since the one before, into the trace; and where the recording is then. */
#include "core/recorder/recorder_state.h"

#include "core/recorder/metadata.h"

#define ASKING_NS        200000000u /* a question wakes the agent, and its answer the recorder */
#define CLOCK_PERIOD_NS  100000000u
#define FLUSH_PERIOD_NS  500000000u
#define CLOCK_AND_CPU_NS 50000
#define PACE_AFTER_NS    1000000000u
#define PACE_NS          1000000000u
#define PACE_STEP        2
#define PACE_MOST        4
#define ROUNDS_LEAST     (1 / 3.0)
#define PACE_ROUND_MS    500 /* an observer that wants them more often has something to decide */

/* ---- where a recording is ---- */

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

void recorder_find_groups(struct recorder *r)
{
    pid_t pid = r->now.target != 0 ? r->now.target : r->now.plan->pid;
    pressure_open(&r->pressure, "", pid, clock_ns(CLOCK_MONOTONIC), ticks_now());
}

void recorder_look_at_groups(struct recorder *r, bool always)
{
    pressure_look(&r->pressure, clock_ns(CLOCK_MONOTONIC), ticks_now(), always);
}

uint64_t recorder_own_cpu_ns(void)
{
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t recorder_process_cpu_ns(const struct recorder *r)
{
    const struct rusage *usage = &r->child.usage;
    if (r->child.has_usage && r->now.target != 0)
        return (uint64_t)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000000u +
               (uint64_t)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * 1000u;
    return r->now.cpu_ns == 0 ? TRACE_UNKNOWN : r->now.cpu_ns - r->now.cpu_start_ns;
}

struct recorder_status recorder_status_of(const struct recorder *r)
{
    const struct segment *segment = r->session.segment;
    struct recorder_status status = { .ticks = r->now.latest.ticks,
                                      .monotonic_ns = r->now.latest.monotonic_ns,
                                      .start_ticks = r->now.first.ticks,
                                      .start_ns = r->now.first.monotonic_ns,
                                      .process_cpu_ns = r->now.cpu_ns - r->now.cpu_start_ns,
                                      .own_cpu_ns = recorder_own_cpu_ns() - r->costs.own_cpu_start_ns,
                                      .ip_samples_cpu_ns = r->ip_samples.n * r->costs.ip_sample_ns +
                                                           r->ip_samples.code.spent_ns + r->link.code_ns,
                                      .n_records = trace_writer_records(r->now.writer),
                                      .n_lost = drain_n_lost(&r->drain),
                                      .n_columns = r->session.n_counters,
                                      .pid = r->now.target,
                                      .n_classes = pauses_classes(&r->pauses),
                                      .polls_stacks = r->stacks.polled != NULL,
                                      .polling_cpu_ns = recorder_polling_ns(&r->stacks),
                                      .allocations_cpu_ns = recorder_allocations_ns(&r->allocations),
                                      .jvm_cpu_ns = r->now.cpu_ns,
                                      .archive = r->archive[0] == '\0' ? NULL : r->archive };
    if (r->now.latest.monotonic_ns > r->now.first.monotonic_ns)
        status.ns_per_tick = (double)(r->now.latest.monotonic_ns - r->now.first.monotonic_ns) /
                             (double)(r->now.latest.ticks - r->now.first.ticks);
    if (atomic_load(&segment->is_calibrated)) {
        status.inside_ticks = (double)atomic_load(&segment->inside_cost_ticks_x16) / 16;
        status.outside_ticks = (double)atomic_load(&segment->outside_cost_ticks_x16) / 16;
    }
    return status;
}

/* ---- a round ---- */

void recorder_name_threads(struct recorder *r)
{
    pid_t tids[4096];
    int n = r->now.target == 0 || r->kernel.rings != NULL ? 0 : jvm_process_threads(r->now.target, tids, 4096);
    for (int i = 0; i < n && i < 4096; i++) {
        char comm[16];
        struct recorder_thread *thread = threads_get(r->now.threads, tids[i], TRACE_UNKNOWN);
        if (jvm_thread_comm(r->now.target, tids[i], comm) == 0)
            threads_set_comm(thread, comm);
    }
}

static int write_clock(struct recorder *r, struct err *err)
{
    if (r->now.latest.monotonic_ns - r->rounds.clock_written_ns < CLOCK_PERIOD_NS)
        return 0;
    r->rounds.clock_written_ns = r->now.latest.monotonic_ns;
    recorder_name_threads(r);
    return trace_write_clock(r->now.writer, r->now.latest.ticks, r->now.latest.monotonic_ns, r->now.latest.realtime_ns,
                             err);
}

static int flush(struct recorder *r, struct err *err)
{
    if (r->now.latest.monotonic_ns - r->rounds.flushed_ns < FLUSH_PERIOD_NS)
        return 0;
    r->rounds.flushed_ns = r->now.latest.monotonic_ns;
    return trace_writer_flush(r->now.writer, err);
}

/* Calibrated before anything is instrumented. */
static int write_costs(struct recorder *r, struct err *err)
{
    if (r->rounds.costs_written || !atomic_load(&r->session.segment->is_calibrated))
        return 0;
    r->rounds.costs_written = true;
    return metadata_write_costs(r->now.writer, r->now.plan, &r->session, err);
}

/* The observer hears what the trace got. */
static void tell_kernel(const struct recorder *r)
{
    const struct recorder_observer *observer = r->now.plan->observer;
    if (observer != NULL && observer->kernel != NULL && r->kernel.n_events > 0)
        observer->kernel(observer->context, r->kernel.events, r->kernel.n_events);
}

int recorder_write_ip_samples(struct recorder *r, bool is_last, struct err *err)
{
    uint64_t until_ns = r->now.latest.monotonic_ns - IP_SAMPLES_WAIT_NS;
    uint64_t until_ticks = r->now.latest.monotonic_ns - r->now.first.monotonic_ns < IP_SAMPLES_WAIT_NS
                               ? 0
                               : clock_ticks(until_ns, &r->now.latest, &r->now.first, &r->now.latest);
    /* Those of the JVM's start wait for the agent, which tells what code was there. */
    bool may_know = r->ready && r->now.latest.monotonic_ns - r->ready_ns > IP_SAMPLES_WAIT_NS;
    const struct recorder_simulation *s = r->now.plan->simulation;
    if (s != NULL && s->write_log(s->context, r->now.writer, r->now.latest.monotonic_ns, may_know ? until_ticks : 0,
                                  is_last, err) < 0)
        return -1;
    return ip_samples_write(&r->ip_samples, r->now.writer, r->now.latest.monotonic_ns, until_ticks, is_last, err);
}

/* What code IP samples are in, where the agent tells only of that. */
static void ask_for_code(struct recorder *r)
{
    uint64_t addresses[LINK_ADDRESSES];
    if (!metadata_asks_for_code(r->now.plan) || r->now.plan->ip_samples_hz == 0 || !link_may_ask(&r->link) ||
        (!r->rounds.asks_much &&
         (double)(r->now.latest.monotonic_ns - r->rounds.asked_ns) < ASKING_NS * r->now.stretch))
        return;
    size_t n = ip_samples_ask(&r->ip_samples, addresses, LINK_ADDRESSES);
    r->rounds.asks_much = n >= LINK_ADDRESSES / 4;
    r->rounds.asked_ns = r->now.latest.monotonic_ns;
    link_where(&r->link, addresses, n);
}

double recorder_rounds_may_ns(const struct rounds_account *account)
{
    double share_ns = account->part * account->passed_cpu_ns, left_ns = account->duration_ns - account->elapsed_ns;
    if (account->duration_ns <= 0 || account->elapsed_ns <= 0)
        return share_ns;
    double whole_ns = account->part * account->cpu_ns * (left_ns > 0 ? account->duration_ns / account->elapsed_ns : 1);
    double ns = (whole_ns - account->own_ns) * account->passed_ns / (account->passed_ns + (left_ns > 0 ? left_ns : 0));
    return ns > ROUNDS_LEAST * share_ns ? ns : ROUNDS_LEAST * share_ns;
}

static double may_ns_since(const struct recorder *r, uint64_t now_ns)
{
    const struct rounds_account account = { .duration_ns = r->now.plan->duration_s * 1e9,
                                            .elapsed_ns = (double)(now_ns - r->now.first.monotonic_ns),
                                            .passed_ns = (double)(now_ns - r->rounds.compared_ns),
                                            .part = r->now.plan->rounds_part,
                                            .cpu_ns = (double)(r->now.cpu_ns - r->now.cpu_start_ns),
                                            .passed_cpu_ns = (double)(r->now.cpu_ns - r->rounds.cpu_ns),
                                            .own_ns = (double)(r->rounds.own_cpu_ns - r->costs.own_cpu_start_ns) };
    return recorder_rounds_may_ns(&account);
}

/*
 * A JVM that uses little CPU time affords few rounds.  What they have cost is compared now and then with what they may,
 * and they come as much less often; the first ones, at which all is new, always come.
 */
static void pace(struct recorder *r)
{
    struct recorder_rounds *rounds = &r->rounds;
    uint64_t now_ns = r->now.latest.monotonic_ns, own_ns = recorder_own_cpu_ns();
    bool is_start = !r->ready || now_ns - r->ready_ns < PACE_AFTER_NS;
    if (r->now.plan->rounds_part <= 0 || (!is_start && now_ns - rounds->compared_ns < PACE_NS))
        return;
    double may_ns = may_ns_since(r, now_ns), took_ns = (double)(own_ns - rounds->own_cpu_ns);
    double times = may_ns > 0 ? took_ns / may_ns : PACE_STEP;
    times = times > PACE_STEP ? PACE_STEP : times < 1 / PACE_STEP ? 1 / PACE_STEP : times;
    double stretch = is_start || r->link.round_ms < PACE_ROUND_MS ? 1 : r->now.stretch * times;
    r->now.stretch = stretch < 1 ? 1 : stretch > PACE_MOST ? PACE_MOST : stretch;
    if (is_start)
        rounds->start_cpu_ns = own_ns - r->costs.own_cpu_start_ns;
    rounds->compared_ns = now_ns;
    rounds->own_cpu_ns = own_ns;
    rounds->cpu_ns = r->now.cpu_ns;
}

int recorder_write_round(struct recorder *r, uint64_t *n_words, struct err *err)
{
    readings_take(&r->readings, clock_ns(CLOCK_MONOTONIC_RAW));
    cpu_accounting_take(&r->cpu_accounting, r->kernel.pid);
    recorder_look_at_groups(r, false);
    *n_words = drain_snapshot(&r->drain);
    r->now.latest = recorder_clock_and_cpu(r->now.target, &r->now.cpu_ns);
    pace(r);
    if (write_clock(r, err) < 0 || write_costs(r, err) < 0 ||
        kernel_write(&r->kernel, r->now.writer, r->now.latest.monotonic_ns, &r->now.first, &r->now.latest, err) < 0 ||
        recorder_write_stacks(&r->stacks, r->readings.is_last || r->files.is_turning, err) < 0 ||
        recorder_write_allocations(&r->allocations, r->files.is_turning, err) < 0 ||
        recorder_write_ip_samples(r, false, err) < 0)
        return -1;
    tell_kernel(r);
    drain_threads(&r->drain);
    ask_for_code(r);
    readings_follow(&r->readings);
    if (threads_write(r->now.threads, r->now.writer, err) < 0 || readings_write(&r->readings, r->now.writer, err) < 0 ||
        collections_write(&r->collections, &r->pauses.data, r->now.writer, &r->now.first, &r->now.latest, err) < 0 ||
        pressure_write(&r->pressure, r->now.writer, err) < 0 || drain_methods(&r->drain, r->now.writer, err) < 0 ||
        drain_records(&r->drain, r->now.writer, ticks_now(), err) < 0)
        return -1;
    return flush(r, err);
}
