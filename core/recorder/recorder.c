#include "core/recorder/recorder_state.h"

#include "core/base/xalloc.h"
#include "core/jvm/jvm_memory.h"
#include "core/recorder/metadata.h"
#include "core/trace/recording_info.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

/*
 * One thread can write 50 million records a second: a ring of 8 MB lasts 20 ms, and a thread may start to do so at any
 * time.  It wakes the recorder then; once that has seen many records, it waits no longer for the next ones.  The kernel
 * wakes it when its rings fill.  Otherwise a round, which takes 0.2 to 0.4 ms of CPU time, may wait for what else is to
 * be done: readings of counters from outside, or code that is to be asked for before it is gone.  Collections are
 * looked at meanwhile.
 */
#define ROUND_BUSY_MS   1
#define ROUND_SHORT_MS  5
#define ROUND_ASKING_MS 250
#define ROUND_LONG_MS   500
#define LOOK_LONG_MS    100
#define LOOK_SPARING_MS 125
#define COUNT_MS        500
#define STOP_TIMEOUT_NS 60000000000u
#define STOP_SHORT_NS   1000000000u

/* ---- rounds ---- */

/* What a time limit counts from: all of a live recording is to be over then, and a command's start is its own affair.
 */
static uint64_t counted_from_ns(const struct recorder *r)
{
    return r->now.plan->pid != 0 ? r->now.first.monotonic_ns : r->ready_ns;
}

static double left_s(const struct recorder *r)
{
    return r->ready && r->now.plan->duration_s > 0
               ? r->now.plan->duration_s - (double)(int64_t)(r->now.latest.monotonic_ns - counted_from_ns(r)) / 1e9
               : -1;
}

/* What there is none of is not told. */
static void tell_progress(struct recorder *r, double elapsed_s, const char *of)
{
    uint64_t n_records = trace_writer_records(r->now.writer), n_lost = drain_n_lost(&r->drain);
    char records[48] = "", lost[48] = "";
    if (n_records > 0)
        snprintf(records, sizeof records, ", %.1f M records", (double)n_records / 1e6);
    if (n_lost > 0)
        snprintf(lost, sizeof lost, ", %" PRIu64 " calls lost", n_lost);
    progress_line(&r->progress, "%.1f%s s, %.1f MB%s%s", elapsed_s, of,
                  (double)trace_writer_all_bytes(r->now.writer) / 1e6, records, lost);
}

/* Instructions; 0: there is no simulation. */
static uint64_t count_simulated(const struct recorder *r)
{
    const struct recorder_simulation *s = r->now.plan->simulation;
    return s == NULL ? 0 : s->n_instructions(s->context);
}

/* Not where a started command writes its own lines. */
static void report_progress(struct recorder *r)
{
    if (!r->progress.is_terminal || !progress_is_due(&r->progress) || (r->now.plan->pid == 0 && isatty(STDOUT_FILENO)))
        return;
    double elapsed_s = (double)(r->now.latest.monotonic_ns - r->now.first.monotonic_ns) / 1e9;
    char of[32] = "";
    if (r->now.plan->duration_s > 0)
        snprintf(of, sizeof of, " of %.0f", r->now.plan->duration_s);
    if (r->now.plan->simulation != NULL)
        simulation_progress(&(struct simulation_state){ count_simulated(r),
                                                        (double)(r->now.cpu_ns - r->now.cpu_start_ns) / 1e9,
                                                        r->now.plan->alone_cpu_s, elapsed_s, left_s(r) },
                            &r->progress);
    else
        tell_progress(r, elapsed_s, of);
}

static bool time_is_up(const struct recorder *r)
{
    return r->ready && r->now.plan->duration_s > 0 && r->now.latest.monotonic_ns > counted_from_ns(r) &&
           (double)(r->now.latest.monotonic_ns - counted_from_ns(r)) / 1e9 >= r->now.plan->duration_s;
}

static bool is_too_large(const struct recorder *r)
{
    return r->now.plan->max_bytes > 0 && r->now.plan->files == NULL &&
           trace_writer_bytes(r->now.writer) >= r->now.plan->max_bytes;
}

/* The observer's turn. */
static int observe(struct recorder *r, struct err *err)
{
    struct recorder_status status = recorder_status_of(r);
    return link_round(&r->link, &status, err);
}

static int idle_ms(const struct recorder *r)
{
    int ms = r->link.round_ms >= ROUND_LONG_MS   ? (int)(r->link.round_ms * r->now.stretch)
             : r->link.round_ms != 0             ? (int)r->link.round_ms
             : readings_are_active(&r->readings) ? ROUND_SHORT_MS
                                                 : ROUND_LONG_MS;
    return r->rounds.asks_much && ms > ROUND_ASKING_MS ? ROUND_ASKING_MS : ms;
}

/* How long to wait: with records on their way, not long. */
static int round_ms(const struct recorder *r, uint64_t n_words)
{
    int ms = idle_ms(r), file_ms = recorder_rotation_left_ms(r->now.plan);
    double left_ms = left_s(r) * 1e3;
    if (n_words > r->session.ring_words / 16)
        return ROUND_BUSY_MS;
    ms = file_ms < ms ? file_ms : ms;
    return r->ready && r->now.plan->duration_s > 0 && left_ms < ms ? (left_ms > 1 ? (int)left_ms : 1) : ms;
}

/* For so long at most; threads that wait are visited meanwhile. */
static enum woken_by wait_and_visit(struct recorder *r, int ms)
{
    uint64_t start_ns = clock_ns(CLOCK_MONOTONIC);
    for (int left_ms = ms;; left_ms = ms - (int)((clock_ns(CLOCK_MONOTONIC) - start_ns) / 1000000u)) {
        int visit_ms = recorder_visit_waits(&r->stacks);
        bool is_last = visit_ms >= left_ms;
        enum woken_by by = recorder_wait_for(r, !is_last ? visit_ms : left_ms > 0 ? left_ms : 0);
        if (is_last || by != WOKEN_BY_TIME || r->gone || r->signals.interrupted)
            return by;
    }
}

/* For so long at most.  An observer keeps a budget, and looks are system calls: where collections are rare, looks are.
 */
static enum woken_by wait_and_look(struct recorder *r, int ms)
{
    uint64_t start_ns = clock_ns(CLOCK_MONOTONIC);
    bool is_observed = r->link.round_ms != 0;
    for (int left_ms = ms, look_ms;; left_ms = ms - (int)((clock_ns(CLOCK_MONOTONIC) - start_ns) / 1000000u)) {
        look_ms = (int)(is_observed ? collections_wait_ms(&r->collections, LOOK_SPARING_MS, ROUND_LONG_MS)
                                    : collections_wait_ms(&r->collections, ROUND_SHORT_MS, LOOK_LONG_MS));
        if (look_ms >= left_ms)
            return wait_and_visit(r, left_ms);
        enum woken_by by = wait_and_visit(r, look_ms);
        recorder_look_at_groups(r, false);
        if (by != WOKEN_BY_TIME || r->gone || r->signals.interrupted ||
            !collections_look(&r->collections, &r->pauses.data))
            return by;
    }
}

/* Threads whose rings fill wake it all the time, also while it looks. */
static enum woken_by wait_for_round(struct recorder *r, int ms)
{
    atomic_store(&r->session.segment->is_waiting, 1);
    enum woken_by by = wait_and_look(r, ms);
    atomic_store(&r->session.segment->is_waiting, 0);
    return by;
}

static int record(struct recorder *r, struct err *err)
{
    bool stopped = false, has_news;
    uint64_t n_words = 0;
    r->link.writer = r->now.writer;
    r->collections.tells_heap = r->now.plan->simulation == NULL;
    progress_begin(&r->progress, r->now.plan->progress);
    while (!r->gone && !r->signals.interrupted && !r->link.is_over && !time_is_up(r) && !is_too_large(r) &&
           !recorder_room_is_low(&r->room, r->now.target != 0 ? r->now.target : r->now.plan->pid, r->session.segment)) {
        enum woken_by by = wait_for_round(r, round_ms(r, n_words));
        if (recorder_hear(r, &stopped, &has_news, err) < 0)
            return -1;
        if (by == WOKEN_BY_AGENT && !has_news && !r->gone)
            continue;
        if (recorder_write_round(r, &n_words, err) < 0 || observe(r, err) < 0 || recorder_look_at_file(r, err) < 0)
            return -1;
        if (stopped && !r->gone)
            poll(NULL, 0, ROUND_SHORT_MS); /* its socket is readable for good now */
        report_progress(r);
    }
    if (!r->connected && (r->gone || r->signals.interrupted)) {
        err_set(err, r->gone ? "'%s' ended before a JVM of it loaded the agent" : "no JVM of '%s' has loaded the agent",
                r->now.plan->argv != NULL ? r->now.plan->argv[0] : "the JVM");
        return err_next(err, "give a command that starts a JVM (HotSpot), with options that it accepts; one "
                             "that writes a class archive does not start with an agent");
    }
    return 0;
}

/* ---- the end ---- */

/* Whoever has pressed Ctrl-C, or said how long it may take, does not wait for long: flags are off at once. */
static uint64_t stop_timeout_ns(const struct recorder *r)
{
    bool is_short = r->is_cut || (r->now.plan->is_live && r->now.plan->pid != 0 && r->now.plan->duration_s > 0);
    return is_short ? STOP_SHORT_NS : STOP_TIMEOUT_NS;
}

/* Let the agent clean up, and wait until it has.  A second signal does not wait: the agent goes on by itself. */
static void stop_agent(struct recorder *r, struct recorder_summary *summary)
{
    struct err ignored;
    bool stopped = !r->connected || r->gone, has_news;
    r->is_stopped = true;
    r->link.observer = NULL;
    r->link.writer = NULL;
    r->link.n_pauses = 0;
    r->link.pauses_ms = r->link.longest_pause_ms = 0;
    uint64_t start = clock_ns(CLOCK_MONOTONIC_RAW);
    progress_end(&r->progress);
    progress_begin(&r->progress, r->now.plan->progress);
    session_send(&r->session, WIRE_STOP);
    r->signals.interrupted = false;
    while (!stopped && !r->gone && !r->signals.interrupted) {
        if (clock_ns(CLOCK_MONOTONIC_RAW) - start > stop_timeout_ns(r)) {
            snprintf(summary->warning, sizeof summary->warning,
                     "JVM %d is still removing its probes, which are disabled", (int)r->now.target);
            return;
        }
        recorder_wait_for(r, ROUND_SHORT_MS);
        recorder_hear(r, &stopped, &has_news, &ignored);
        if (progress_is_due(&r->progress))
            progress_line(&r->progress, "removing the probes; Ctrl-C leaves that to the agent");
    }
}

/* Of a JVM that has just answered, and that was attached to: SIGQUIT makes others print their threads.  One that does
 * not say it is no trouble. */
static int write_code_cache(struct recorder *r, const struct recorder_summary *summary, struct err *err)
{
    struct jvm_code_cache cache;
    struct err ignored;
    if (r->now.plan->pid == 0 || !r->connected || r->gone || r->signals.interrupted || summary->warning[0] != '\0' ||
        jvm_code_cache_ask(&r->process, &r->session.guest, &cache, &ignored) < 0)
        return 0;
    const struct info_code_cache told = { jvm_code_cache_is_full(&cache) ? INFO_CODE_CACHE_FULL : "room",
                                          cache.size_bytes, cache.most_bytes, cache.n_stopped };
    return info_write(r->now.writer, INFO_CODE_CACHE, 0, &told, INFO_ALL_FIELDS, err);
}

/* The last round, the final metadata, the END chunk. */
static int finish_trace(struct recorder *r, struct recorder_summary *summary, struct err *err)
{
    uint64_t n_words;
    r->readings.is_last = true;
    cpu_accounting_take_all(&r->cpu_accounting, r->gone ? 0 : r->kernel.pid);
    if (recorder_write_round(r, &n_words, err) < 0)
        return -1;
    cpu_accounting_finish(&r->cpu_accounting);
    summary->end = r->gone                  ? RECORDER_ENDED_WITH_TARGET
                   : time_is_up(r)          ? RECORDER_ENDED_BY_TIME
                   : is_too_large(r)        ? RECORDER_ENDED_BY_SIZE
                   : r->room.why[0] != '\0' ? RECORDER_ENDED_BY_MEMORY
                                            : RECORDER_ENDED_BY_SIGNAL;
    struct recorder_status status = recorder_status_of(r);
    if (recorder_end_file(r, &status, true, err) < 0)
        return -1;
    stop_agent(r, summary);
    if (metadata_write_removal(r->now.writer, &r->link, err) < 0 || write_code_cache(r, summary, err) < 0 ||
        recorder_end_allocations(&r->allocations, err) < 0)
        return -1;
    return trace_write_clock(r->now.writer, r->now.latest.ticks, r->now.latest.monotonic_ns, r->now.latest.realtime_ns,
                             err);
}

static void see_command(struct recorder *r, struct recorder_summary *summary)
{
    recorder_reap(r);
    summary->command = r->child.pid > 0 && r->child.go < 0 && !r->child.is_over ? r->child.pid : 0;
    summary->command_status = r->child.is_over ? launch_status(r->child.wait_status) : 0;
    summary->jvms = r->jvms.all;
    summary->follows_jvms = r->attaching.follows_jvms;
    snprintf(summary->program, sizeof summary->program, "%s", r->jvms.program);
}

bool recorder_wait(struct recorder_summary *summary, int timeout_ms)
{
    int status;
    bool is_over = summary->command == 0;
    for (int left_ms = timeout_ms; !is_over; left_ms -= timeout_ms < 0 ? 0 : COUNT_MS) {
        bool is_last = timeout_ms >= 0 && left_ms <= COUNT_MS;
        is_over = launch_wait(summary->command, is_last ? left_ms : COUNT_MS, &status);
        if (summary->follows_jvms)
            jvm_started_add(&summary->jvms, getpid());
        if (!is_over && is_last)
            return false;
    }
    if (summary->command == 0)
        return true;
    summary->command = 0;
    summary->command_status = status;
    return true;
}

/* What came while it was stopping has been heard: it would end this program before it has told anything. */
static void forget_signals(const struct recorder *r)
{
    struct signalfd_siginfo info;
    while (read(r->signals.fd, &info, sizeof info) == (ssize_t)sizeof info)
        continue;
}

static void summarize(const struct recorder *r, struct recorder_summary *summary)
{
    const struct segment *segment = r->session.segment;
    summary->pid = r->now.target;
    summary->seconds = (double)(r->now.latest.monotonic_ns - r->now.first.monotonic_ns) / 1e9;
    uint64_t cpu_ns = recorder_process_cpu_ns(r);
    summary->cpu_s = cpu_ns == TRACE_UNKNOWN ? 0 : (double)cpu_ns / 1e9;
    summary->n_instructions = count_simulated(r);
    summary->n_records = trace_writer_records(r->now.writer);
    summary->n_bytes = trace_writer_all_bytes(r->now.writer);
    summary->n_lost = drain_n_lost(&r->drain);
    summary->n_values = r->drain.n_told_values;
    summary->n_kernel_lost = kernel_n_lost(&r->kernel);
    summary->n_classes = atomic_load(&segment->counts[SEGMENT_CLASSES]);
    summary->n_methods = atomic_load(&segment->counts[SEGMENT_METHODS]);
    summary->n_skipped = atomic_load(&segment->counts[SEGMENT_TOO_LARGE]) +
                         atomic_load(&segment->counts[SEGMENT_LIMITS]) + atomic_load(&segment->counts[SEGMENT_UNUSUAL]);
    summary->n_failed_classes = atomic_load(&segment->counts[SEGMENT_FAILED]);
    summary->n_left_classes = atomic_load(&segment->counts[SEGMENT_LEFT_NATIVES]);
    summary->n_no_room_classes = atomic_load(&segment->counts[SEGMENT_LEFT_METASPACE]);
    summary->n_event_classes = atomic_load(&segment->counts[SEGMENT_LEFT_EVENTS]);
    summary->n_late_classes = atomic_load(&segment->counts[SEGMENT_LEFT_LATE]);
    summary->n_loader_classes = atomic_load(&segment->counts[SEGMENT_LEFT_LOADERS]);
    summary->n_breakpoint_classes = atomic_load(&segment->counts[SEGMENT_LEFT_BREAKPOINTS]);
    summary->n_kept_classes = atomic_load(&segment->counts[SEGMENT_KEPT_BREAKPOINTS]);
    summary->n_kept_for_memory = atomic_load(&segment->counts[SEGMENT_KEPT_MEMORY]);
    summary->n_unsure_classes = atomic_load(&segment->counts[SEGMENT_UNSURE]);
    summary->n_refused_classes = atomic_load(&segment->counts[SEGMENT_REFUSED]);
    metadata_reason(&segment->unsure, summary->unsure, sizeof summary->unsure);
    metadata_reason(&segment->refused, summary->refused, sizeof summary->refused);
    summary->instrument_ms = r->costs.instrument_ms;
    summary->longest_pause_ms = r->costs.longest_pause_ms;
    summary->n_readings = r->readings.n_read;
    summary->readings_ns = r->readings.spent_ns;
    summary->n_without_readings = r->readings.n_without;
    snprintf(summary->readings_why, sizeof summary->readings_why, "%s", r->readings.why);
    struct perf_rings_state rings = { .why_no_ip_samples = NULL };
    if (recorder_ring_ip_samples_hz(&r->stacks) > 0 && r->kernel.rings != NULL)
        perf_rings_state(r->kernel.rings, &rings);
    const char *no_events = rings.why_no_ip_events;
    if (no_events != NULL && rings.why_no_ip_samples == NULL)
        rings.why_no_ip_samples = no_events;
    snprintf(summary->no_ip_samples, sizeof summary->no_ip_samples, "%.480s",
             rings.why_no_ip_samples == NULL ? "" : rings.why_no_ip_samples);
    snprintf(summary->perf_map_why, sizeof summary->perf_map_why, "%s", r->perf_map_why);
    snprintf(summary->offcpu, sizeof summary->offcpu, "%s", r->offcpu);
    summary->is_group_full = r->room.is_less;
    snprintf(summary->no_memory, sizeof summary->no_memory, "%s", r->room.why);
    bool all;
    if (r->ready && !r->now.plan->is_live)
        recorder_includes_nothing(r->now.plan, r->session.segment, &all, &summary->unmatched);
    struct err why;
    if (metadata_refusal(r->now.plan, segment, false, &why))
        snprintf(summary->warning, sizeof summary->warning, "hardware events were not counted: %.400s", why.text);
}

static void close_all(struct recorder *r)
{
    progress_end(&r->progress);
    launch_end(&r->child);
    if (r->signals.hurries) /* the next recording's program would inherit it */
        setpriority(PRIO_PROCESS, 0, r->signals.niceness);
    kernel_close(&r->kernel);
    recorder_close_stacks(&r->stacks);
    recorder_close_allocations(&r->allocations);
    ip_samples_free(&r->ip_samples);
    pauses_close(&r->pauses);
    pressure_close(&r->pressure);
    readings_close(&r->readings);
    if (r->now.plan->simulation != NULL)
        r->now.plan->simulation->close(r->now.plan->simulation->context);
    drain_free(&r->drain);
    link_free(&r->link);
    session_close(&r->session);
    threads_free(r->now.threads);
    if (r->pidfd >= 0)
        close(r->pidfd);
    if (r->signals.fd >= 0) {
        forget_signals(r);
        close(r->signals.fd);
        sigprocmask(SIG_SETMASK, &r->signals.old_mask, NULL);
        signal(SIGPIPE, r->signals.old_pipe);
        signal(SIGXFSZ, r->signals.old_size);
    }
    arena_free(&r->arena);
}

static void connect_parts(struct recorder *r, const struct recorder_plan *plan)
{
    r->now = (struct recorder_now){ .plan = plan, .threads = &r->threads, .stretch = 1 };
    r->stacks.now = r->allocations.now = &r->now;
    r->stacks.link = r->allocations.link = &r->link;
    r->stacks.ip_samples = &r->ip_samples;
    r->allocations.log = &r->stacks.log;
    r->attaching.plan = plan;
    r->attaching.session = &r->session;
    r->attaching.process = &r->process;
    r->attaching.room = &r->room;
}

int recorder_run(const struct recorder_plan *plan, struct recorder_summary *summary, struct err *err)
{
    struct recorder *r = xcalloc(1, sizeof *r);
    int rc = -1;
    connect_parts(r, plan);
    r->child = (struct launch)LAUNCH_NONE;
    r->signals.fd = r->pidfd = -1;
    session_init(&r->session);
    memset(summary, 0, sizeof *summary);
    /* To get ready is a good part of what a short recording costs. */
    r->costs.own_cpu_start_ns = plan->own_start_ns > 0 ? plan->own_start_ns : recorder_own_cpu_ns();
    if (recorder_prepare(r, err) < 0 || record(r, err) < 0 || finish_trace(r, summary, err) < 0)
        goto out;
    summarize(r, summary);
    rc = 0;
out:
    recorder_room_close();
    if (r->now.writer != NULL) {
        struct err why;
        bool is_whole = trace_writer_close(r->now.writer, r->now.latest.ticks, &why) == 0;
        r->now.writer = NULL;
        recorder_rotation_end(&r->files, r->now.plan, is_whole ? NULL : &why);
        if (rc == 0 && !is_whole && plan->files == NULL) {
            *err = why;
            rc = -1;
        }
    }
    if (r->connected && !r->is_stopped)
        stop_agent(r, summary);
    see_command(r, summary);
    close_all(r);
    free(r);
    return rc;
}
