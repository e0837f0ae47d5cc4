#include "core/recorder/recorder.h"

#include "core/jvm/attach.h"
#include "core/recorder/drain.h"
#include "core/recorder/facts.h"
#include "core/recorder/kernel.h"
#include "core/recorder/launch.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * One thread can write 50 million records a second: a ring of 8 MB lasts 20 ms, and a thread may start to do so at any
 * time.  A round without records takes 20 us.
 */
#define ROUND_BUSY_MS    1
#define ROUND_IDLE_MS    5
#define CLOCK_AND_CPU_NS 50000
#define CLOCK_PERIOD_NS  100000000u
#define FLUSH_PERIOD_NS  500000000u
#define STOP_TIMEOUT_NS  60000000000u

#define RECORDER_NICENESS (-10)

struct recorder {
    const struct recorder_plan *plan;
    struct arena arena;
    struct jvm_process process; /* the target, when attaching */
    struct launch child;        /* when starting a command */
    struct session session;
    struct threads threads;
    struct drain drain;
    struct kernel kernel;
    struct trace_writer *writer;
    struct clock_point first, latest;
    pid_t target; /* the JVM; 0 until it is known */
    int signals, pidfd;
    sigset_t old_mask;
    void (*old_pipe)(int);
    bool connected, costs_written, ready, gone, child_reaped, interrupted;
    int child_status;
    struct rusage child_usage;
    uint64_t ready_ns, clock_written_ns, flushed_ns, reported_ns;
    uint64_t cpu_start_ns, cpu_ns; /* of the process */
    double instrument_ms, longest_pause_ms;
    int niceness; /* before it hurried */
    bool hurries;
    char offcpu[512];
};

/* ---- preparations ---- */

/*
 * The recorder works in short bursts, and what it comes too late for is lost: where it may (as root), it goes before
 * the target's threads.
 */
static void hurry(struct recorder *r)
{
    errno = 0;
    r->niceness = getpriority(PRIO_PROCESS, 0);
    if (errno == 0 && r->niceness > RECORDER_NICENESS)
        r->hurries = setpriority(PRIO_PROCESS, 0, RECORDER_NICENESS) == 0;
}

static int open_signals(struct recorder *r, struct err *err)
{
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGINT);
    sigaddset(&wanted, SIGTERM);
    sigaddset(&wanted, SIGHUP);
    sigaddset(&wanted, SIGCHLD);
    sigprocmask(SIG_BLOCK, &wanted, &r->old_mask);
    r->old_pipe = signal(SIGPIPE, SIG_IGN); /* a dead pipe is a write error with a message */
    r->signals = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    return r->signals < 0 ? err_set(err, "cannot watch signals: %s", strerror(errno)) : 0;
}

static bool wants_page_faults(const struct recorder_plan *plan)
{
    for (size_t i = 0; plan->events != NULL && i < plan->events->n; i++)
        if (plan->events->specs[i].kind == COUNTER_PAGE_FAULTS)
            return true;
    return false;
}

/* Without the kernel's rings the recording goes on: it tells wall-clock time then, and says so. */
static void open_kernel(struct recorder *r)
{
    struct err why = { "" };
    pid_t pid = r->plan->pid != 0 ? r->plan->pid : r->child.pid;
    if (kernel_open(&r->kernel, &r->threads, pid, wants_page_faults(r->plan), &why) == 0)
        snprintf(r->offcpu, sizeof r->offcpu, "perf");
    else
        snprintf(r->offcpu, sizeof r->offcpu, "none: %.480s", why.text);
    r->drain.kernel_tells_ends = r->kernel.rings != NULL;
    r->kernel.pid = r->plan->pid;
}

/* A footnote: the reason alone, without the event's name in front and the next step behind. */
static const char *short_reason(struct recorder *r, const char *why)
{
    const char *colon = strncmp(why, "event '", 7) == 0 ? strstr(why, "': ") : NULL;
    if (colon != NULL)
        why = colon + 3;
    const char *text = arena_text(&r->arena, why, strcspn(why, "\n"));
    return text == NULL ? "" : text;
}

static int write_counters(struct recorder *r, struct err *err)
{
    struct trace_counter counters[COUNTERS_MAX];
    const struct counter_set *events = r->plan->events;
    size_t n = events == NULL ? 0 : events->n;
    for (size_t i = 0; i < n; i++) {
        const struct counter_spec *spec = &events->specs[i];
        counters[i].name = spec->name;
        counters[i].why = short_reason(r, spec->why);
        counters[i].in_records = spec->kind == COUNTER_HARDWARE && spec->why[0] == '\0';
        if (spec->kind != COUNTER_HARDWARE && r->kernel.rings == NULL)
            counters[i].why = short_reason(r, r->offcpu + strlen("none: "));
    }
    return n == 0 ? 0 : trace_write_counters(r->writer, counters, n, err);
}

static uint32_t n_recorded_counters(const struct recorder_plan *plan)
{
    uint32_t n = 0;
    for (size_t i = 0; plan->events != NULL && i < plan->events->n; i++)
        n += plan->events->specs[i].kind == COUNTER_HARDWARE && plan->events->specs[i].why[0] == '\0';
    return n;
}

static int open_session(struct recorder *r, struct err *err)
{
    struct session_plan plan = { .process = r->plan->pid != 0 ? &r->process : NULL,
                                 .ring_bytes = r->plan->ring_bytes,
                                 .n_counters = n_recorded_counters(r->plan),
                                 .config = facts_config(r->plan, &r->arena) };
    if (plan.config == NULL)
        return err_set(err, "out of memory");
    if (session_open(&r->session, &plan, err) < 0)
        return -1;
    return drain_init(&r->drain, &r->session, &r->threads, err);
}

/*
 * The clock and a process' CPU time (of pid 0: none) at one moment: again when we lost the CPU in between, which cost
 * 1 % of a recording of 4 s on a busy machine.
 */
static struct clock_point clock_and_cpu(pid_t pid, uint64_t *cpu_ns)
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

/* From here on time counts. */
static void start_clock(struct recorder *r)
{
    r->first = r->latest = clock_and_cpu(r->plan->pid, &r->cpu_start_ns);
    r->clock_written_ns = r->flushed_ns = r->reported_ns = r->first.monotonic_ns;
}

/*
 * Can the trace be written there?  It is opened only when the JVM has accepted the agent: a recording that cannot
 * start must not cost an older trace.
 */
static int check_output(const char *path, struct err *err)
{
    char directory[4096];
    snprintf(directory, sizeof directory, "%s", path);
    char *slash = strrchr(directory, '/');
    if (slash != NULL)
        slash[slash == directory] = '\0';
    if (access(path, W_OK) == 0 || (errno == ENOENT && access(slash == NULL ? "." : directory, W_OK | X_OK) == 0))
        return 0;
    err_set(err, "cannot write '%s': %s", path, strerror(errno));
    return err_next(err, "choose another place with -o");
}

static int open_trace(struct recorder *r, struct err *err)
{
    if (trace_writer_open(&r->writer, r->plan->output, err) < 0 ||
        trace_write_clock(r->writer, r->first.ticks, r->first.monotonic_ns, r->first.realtime_ns, err) < 0 ||
        facts_write_start(r->writer, r->plan, r->offcpu, err) < 0)
        return -1;
    return write_counters(r, err);
}

static int agent_refused(struct recorder *r, int result, struct err *err)
{
    if (result == PROTOCOL_BUSY) {
        err_set(err, "another mmprof is recording JVM %d", (int)r->plan->pid);
        return err_next(err, "wait until it has ended ('pgrep -a mmprof'), then try again");
    }
    if (result == PROTOCOL_NO_JVMTI) {
        err_set(err, "JVM %d does not allow classes to be instrumented", (int)r->plan->pid);
        return err_next(err, "see whether another agent holds the capability; mmprof needs HotSpot 11 or later");
    }
    err_set(err, "the agent in JVM %d cannot reach mmprof (code %d)", (int)r->plan->pid, result);
    return err_next(err, "see that the JVM's user may use its /tmp");
}

static int attach(struct recorder *r, struct err *err)
{
    int result = 0;
    if (jvm_attach_load(&r->process, r->plan->agent, r->session.socket_path, &result, err) < 0)
        return -1;
    if (result != 0)
        return agent_refused(r, result, err);
    r->target = r->plan->pid;
    return 0;
}

static int prepare(struct recorder *r, struct err *err)
{
    const struct recorder_plan *plan = r->plan;
    threads_init(&r->threads);
    if (plan->pid != 0 && jvm_process_inspect(plan->pid, &r->process, err) < 0)
        return -1;
    if (check_output(plan->output, err) < 0 || open_signals(r, err) < 0 || open_session(r, err) < 0)
        return -1;
    r->drain.pid = plan->pid;
    r->drain.inner_pid = plan->pid != 0 ? r->process.inner_pid : 0;
    if (plan->pid == 0 && launch_fork(&r->child, plan->argv, plan->agent, r->session.socket_path, err) < 0)
        return -1;
    r->pidfd = (int)syscall(SYS_pidfd_open, plan->pid != 0 ? plan->pid : r->child.pid, 0);
    open_kernel(r);
    hurry(r);
    start_clock(r);
    if (plan->pid != 0)
        return attach(r, err) < 0 ? -1 : open_trace(r, err);
    return open_trace(r, err) < 0 ? -1 : launch_go(&r->child, plan->argv[0], err);
}

/* ---- rounds ---- */

/* The threads and their names, where the kernel's rings do not tell them. */
static int name_threads(struct recorder *r, struct err *err)
{
    pid_t tids[4096];
    int n = r->target == 0 || r->kernel.rings != NULL ? 0 : jvm_process_threads(r->target, tids, 4096);
    for (int i = 0; i < n && i < 4096; i++) {
        char comm[16];
        struct recorder_thread *thread = threads_get(&r->threads, tids[i], TRACE_UNKNOWN);
        if (thread == NULL)
            return err_set(err, "out of memory");
        if (jvm_thread_comm(r->target, tids[i], comm) == 0)
            threads_set_comm(thread, comm);
    }
    return 0;
}

static int write_clock(struct recorder *r, struct err *err)
{
    if (r->latest.monotonic_ns - r->clock_written_ns < CLOCK_PERIOD_NS)
        return 0;
    r->clock_written_ns = r->latest.monotonic_ns;
    if (name_threads(r, err) < 0)
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
    return facts_write_costs(r->writer, r->plan, r->session.segment, err);
}

/* One round, in the order that the trace promises.  *n_words: how much there was. */
static int write_round(struct recorder *r, uint64_t *n_words, struct err *err)
{
    *n_words = drain_snapshot(&r->drain);
    r->latest = clock_and_cpu(r->target, &r->cpu_ns);
    if (write_clock(r, err) < 0 || write_costs(r, err) < 0 ||
        kernel_write(&r->kernel, r->writer, r->latest.monotonic_ns, &r->first, &r->latest, err) < 0 ||
        drain_threads(&r->drain, err) < 0 || threads_write(&r->threads, r->writer, err) < 0 ||
        drain_methods(&r->drain, r->writer, err) < 0 || drain_records(&r->drain, r->writer, ticks_now(), err) < 0)
        return -1;
    return flush(r, err);
}

static void report_progress(struct recorder *r)
{
    if (r->plan->progress == NULL || r->latest.monotonic_ns - r->reported_ns < FLUSH_PERIOD_NS ||
        !isatty(fileno(r->plan->progress)))
        return;
    r->reported_ns = r->latest.monotonic_ns;
    fprintf(r->plan->progress, "\r%.1f s, %.1f M records, %.1f MB, %" PRIu64 " calls lost ",
            (double)(r->latest.monotonic_ns - r->first.monotonic_ns) / 1e9,
            (double)trace_writer_records(r->writer) / 1e6, (double)trace_writer_bytes(r->writer) / 1e6,
            drain_n_lost(&r->drain));
    fflush(r->plan->progress);
}

/* ---- what happens outside ---- */

static int meet_agent(struct recorder *r, struct err *err)
{
    int rc = session_accept(&r->session, err);
    if (rc <= 0)
        return rc;
    r->connected = true;
    if (r->plan->pid == 0) {
        r->target = r->kernel.pid = r->session.peer_pid;
        r->drain.pid = r->drain.inner_pid = r->target;
    }
    return name_threads(r, err) < 0 ? -1 : facts_write_target(r->writer, r->target, r->plan->argv, err);
}

/* "ready key=value ..." */
static int become_ready(struct recorder *r, const char *packet, struct err *err)
{
    const char *total = strstr(packet, " total_ms="), *longest = strstr(packet, " longest_ms=");
    if (r->ready)
        return 0;
    r->ready = true;
    r->ready_ns = clock_ns(CLOCK_MONOTONIC_RAW);
    r->instrument_ms = total == NULL ? 0 : strtod(total + strlen(" total_ms="), NULL);
    r->longest_pause_ms = longest == NULL ? 0 : strtod(longest + strlen(" longest_ms="), NULL);
    if (r->writer == NULL) /* it comes when the recording is over */
        return 0;
    return facts_write_ready(r->writer, r->instrument_ms, r->longest_pause_ms, err);
}

/* Packets from the agent.  The end of the connection means that the target is ending. */
static int hear_agent(struct recorder *r, bool *stopped, struct err *err)
{
    char packet[PROTOCOL_PACKET_BYTES];
    int rc;
    if (!r->connected)
        return meet_agent(r, err);
    while ((rc = session_receive(&r->session, packet)) > 0) {
        if (strncmp(packet, "failed ", 7) == 0) {
            err_set(err, "the agent cannot work in JVM %d: %s", (int)r->target, packet + 7);
            return err_next(err, "see 'mmprof record --help' for options that change what it does");
        }
        if (strncmp(packet, "ready", 5) == 0 && become_ready(r, packet, err) < 0)
            return -1;
        *stopped = *stopped || strncmp(packet, "stopped", 7) == 0;
    }
    if (rc < 0)
        *stopped = true;
    return 0;
}

static void reap(struct recorder *r)
{
    if (r->child.pid > 0 && !r->child_reaped && wait4(r->child.pid, &r->child_status, WNOHANG, &r->child_usage) > 0)
        r->child_reaped = true;
    struct pollfd exit = { .fd = r->pidfd, .events = POLLIN };
    if (r->child_reaped || (r->pidfd >= 0 && poll(&exit, 1, 0) > 0) ||
        (r->pidfd < 0 && r->target != 0 && kill(r->target, 0) < 0))
        r->gone = true;
}

static void wait_for_something(struct recorder *r, int timeout_ms)
{
    struct signalfd_siginfo info;
    struct pollfd fds[] = { { .fd = r->signals, .events = POLLIN },
                            { .fd = session_fd(&r->session), .events = POLLIN },
                            { .fd = r->gone ? -1 : r->pidfd, .events = POLLIN } };
    poll(fds, 3, timeout_ms);
    while (read(r->signals, &info, sizeof info) == (ssize_t)sizeof info)
        /* A started command gets the terminal's Ctrl-C itself: its end ends the recording. */
        if (info.ssi_signo != SIGCHLD && (r->plan->pid != 0 || info.ssi_code == SI_USER))
            r->interrupted = true;
    reap(r);
}

static bool time_is_up(const struct recorder *r)
{
    return r->ready && r->plan->duration_s > 0 &&
           (double)(r->latest.monotonic_ns - r->ready_ns) / 1e9 >= r->plan->duration_s &&
           r->latest.monotonic_ns > r->ready_ns;
}

static int record(struct recorder *r, struct err *err)
{
    bool stopped = false;
    uint64_t n_words = 0;
    while (!r->gone && !r->interrupted && !time_is_up(r)) {
        wait_for_something(r, n_words > r->session.ring_words / 16 ? ROUND_BUSY_MS : ROUND_IDLE_MS);
        if (hear_agent(r, &stopped, err) < 0 || write_round(r, &n_words, err) < 0)
            return -1;
        if (stopped && !r->gone)
            poll(NULL, 0, ROUND_IDLE_MS); /* its socket is readable for good now */
        report_progress(r);
    }
    if (!r->connected && r->gone) {
        err_set(err, "'%s' ended before a JVM of it loaded the agent",
                r->plan->argv != NULL ? r->plan->argv[0] : "the JVM");
        return err_next(err, "give a command that starts a JVM (HotSpot 11 or later), with options that it accepts");
    }
    return 0;
}

/* ---- the end ---- */

static uint64_t process_cpu_ns(const struct recorder *r)
{
    if (r->child_reaped && r->target == r->child.pid)
        return (uint64_t)(r->child_usage.ru_utime.tv_sec + r->child_usage.ru_stime.tv_sec) * 1000000000u +
               (uint64_t)(r->child_usage.ru_utime.tv_usec + r->child_usage.ru_stime.tv_usec) * 1000u;
    return r->cpu_ns == 0 ? TRACE_UNKNOWN : r->cpu_ns - r->cpu_start_ns;
}

/* The last round, the final facts, the END chunk. */
static int finish_trace(struct recorder *r, struct err *err)
{
    uint64_t n_words;
    if (write_round(r, &n_words, err) < 0 || kernel_write_last(&r->kernel, r->writer, &r->first, &r->latest, err) < 0 ||
        facts_write_end(r->writer, r->session.segment, process_cpu_ns(r), err) < 0)
        return -1;
    return trace_write_clock(r->writer, r->latest.ticks, r->latest.monotonic_ns, r->latest.realtime_ns, err);
}

/* Let the agent clean up, and wait until it has.  A second signal does not wait: the agent goes on by itself. */
static void stop_agent(struct recorder *r, struct recorder_summary *summary)
{
    struct err ignored;
    bool stopped = !r->connected || r->gone;
    uint64_t start = clock_ns(CLOCK_MONOTONIC_RAW);
    session_send(&r->session, "stop");
    r->interrupted = false;
    while (!stopped && !r->gone && !r->interrupted) {
        if (clock_ns(CLOCK_MONOTONIC_RAW) - start > STOP_TIMEOUT_NS) {
            snprintf(summary->warning, sizeof summary->warning,
                     "JVM %d still removes its probes; they are switched off", (int)r->target);
            return;
        }
        wait_for_something(r, ROUND_IDLE_MS);
        hear_agent(r, &stopped, &ignored);
    }
}

static void wait_for_child(struct recorder *r)
{
    if (r->child.pid > 0 && r->child.go < 0 && !r->child_reaped) {
        waitpid(r->child.pid, &r->child_status, 0);
        r->child_reaped = true;
    }
}

static void summarize(const struct recorder *r, struct recorder_summary *summary)
{
    const struct segment *segment = r->session.segment;
    summary->end = r->gone         ? RECORDER_ENDED_WITH_TARGET
                   : time_is_up(r) ? RECORDER_ENDED_BY_TIME
                                   : RECORDER_ENDED_BY_SIGNAL;
    summary->pid = r->target;
    summary->seconds = (double)(r->latest.monotonic_ns - r->first.monotonic_ns) / 1e9;
    summary->n_records = trace_writer_records(r->writer);
    summary->n_bytes = trace_writer_bytes(r->writer);
    summary->n_lost = drain_n_lost(&r->drain);
    summary->n_kernel_lost = kernel_n_lost(&r->kernel);
    summary->n_classes = atomic_load(&segment->n_classes);
    summary->n_methods = atomic_load(&segment->n_methods);
    summary->n_skipped = atomic_load(&segment->n_skipped_too_large) + atomic_load(&segment->n_skipped_limits) +
                         atomic_load(&segment->n_skipped_unusual);
    summary->n_failed_classes = atomic_load(&segment->n_failed_classes);
    summary->instrument_ms = r->instrument_ms;
    summary->longest_pause_ms = r->longest_pause_ms;
    snprintf(summary->offcpu, sizeof summary->offcpu, "%s", r->offcpu);
    struct err why;
    if (facts_refusal(r->plan, segment, false, &why))
        snprintf(summary->warning, sizeof summary->warning, "hardware events were not counted: %.400s", why.text);
}

static void close_all(struct recorder *r)
{
    launch_cancel(&r->child);
    if (r->hurries) /* the next recording's program would inherit it */
        setpriority(PRIO_PROCESS, 0, r->niceness);
    kernel_close(&r->kernel);
    drain_free(&r->drain);
    session_close(&r->session);
    threads_free(&r->threads);
    if (r->pidfd >= 0)
        close(r->pidfd);
    if (r->signals >= 0) {
        close(r->signals);
        sigprocmask(SIG_SETMASK, &r->old_mask, NULL);
        signal(SIGPIPE, r->old_pipe);
    }
    arena_free(&r->arena);
}

int recorder_run(const struct recorder_plan *plan, struct recorder_summary *summary, struct err *err)
{
    struct recorder *r = calloc(1, sizeof *r);
    if (r == NULL)
        return err_set(err, "out of memory");
    int rc = -1;
    r->plan = plan;
    r->signals = r->pidfd = r->child.go = r->child.failed = -1;
    r->session.listener = r->session.peer = -1;
    r->session.segment_fd = r->session.methods_fd = r->session.config_fd = -1;
    memset(summary, 0, sizeof *summary);
    if (prepare(r, err) < 0 || record(r, err) < 0 || finish_trace(r, err) < 0)
        goto out;
    summarize(r, summary);
    rc = 0;
out:
    if (r->writer != NULL) {
        struct err ignored;
        if (trace_writer_close(r->writer, r->latest.ticks, rc == 0 ? err : &ignored) < 0)
            rc = -1;
        r->writer = NULL;
    }
    if (r->connected)
        stop_agent(r, summary);
    wait_for_child(r);
    summary->command_status =
        WIFEXITED(r->child_status) ? WEXITSTATUS(r->child_status) : 128 + WTERMSIG(r->child_status);
    close_all(r);
    free(r);
    return rc;
}
