#include "core/recorder/recorder_state.h"

#include "core/base/stop_signals.h"
#include "core/base/xalloc.h"
#include "core/perf/perf_rings.h"
#include "core/jvm/flags.h"
#include "core/jvm/cgroup.h"
#include "core/jvm/obstacle.h"
#include "core/recorder/metadata.h"
#include "core/wire/setting.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>

#define RECORDER_NICENESS (-10)
#define CHANGE_ROUND_MS   100
#define MB_FOR_CPU_S      20.0 /* of a trace, for a second of the program's CPU time: 8 and 48 in two programs */
#define HEAP_BYTES        ((size_t)1536 * 1024) /* that a recording of 10 s and its report need */
#define WORTH_TELLING     1000                  /* ms: what is over sooner needs no forecast */

/*
 * The recorder works in short bursts, and what it comes too late for is lost: where it may (as root), it goes before
 * the target's threads.
 */
static void boost_priority(struct recorder *r)
{
    errno = 0;
    r->signals.niceness = getpriority(PRIO_PROCESS, 0);
    if (errno == 0 && r->signals.niceness > RECORDER_NICENESS)
        r->signals.hurries = setpriority(PRIO_PROCESS, 0, RECORDER_NICENESS) == 0;
    memory_room_yield();
}

static int open_signals(struct recorder *r, struct err *err)
{
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGINT);
    sigaddset(&wanted, SIGTERM);
    sigaddset(&wanted, SIGHUP);
    sigaddset(&wanted, SIGCHLD);
    sigprocmask(SIG_BLOCK, &wanted, &r->signals.old_mask);
    stop_signals_watch(STOP_SIGNALS_MS);
    /* A dead pipe and a file that may not grow are write errors with a message. */
    r->signals.old_pipe = signal(SIGPIPE, SIG_IGN);
    r->signals.old_size = signal(SIGXFSZ, SIG_IGN);
    r->signals.fd = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    return r->signals.fd < 0 ? err_set(err, "cannot watch signals: %s", strerror(errno)) : 0;
}

/* Without the kernel's rings the recording goes on: it tells wall-clock time then, and says so. */
static void open_kernel(struct recorder *r)
{
    struct err why = { "" };
    pid_t pid = r->now.plan->pid != 0 ? r->now.plan->pid : r->child.pid;
    struct perf_rings_options options = { .fault_period = metadata_fault_period(r->now.plan),
                                          .ip_samples_hz = recorder_ring_ip_samples_hz(&r->stacks),
                                          .ip_events_hz = r->now.plan->ip_samples_hz,
                                          .with_children = r->attaching.follows_jvms };
    options.n_ip_events = r->now.plan->n_ip_events;
    if (options.n_ip_events > 0)
        memcpy(options.ip_events, r->now.plan->ip_events, options.n_ip_events * sizeof *options.ip_events);
    if (kernel_open(&r->kernel, r->now.threads, &r->ip_samples, pid, &options, &why) == 0)
        snprintf(r->offcpu, sizeof r->offcpu, "perf");
    else
        snprintf(r->offcpu, sizeof r->offcpu, "none: %.480s", why.text);
    struct perf_rings_state state = { .has_ip_samples = false };
    if (r->kernel.rings != NULL)
        perf_rings_state(r->kernel.rings, &state);
    r->costs.ip_sample_ns = r->now.plan->sample_ns;
    r->costs.knows_ip_sample = r->now.plan->knows_sample;
    if (r->stacks.sampler == NULL || r->costs.ip_sample_ns == 0)
        r->costs.ip_sample_ns =
            state.has_ip_samples || r->stacks.sampler != NULL ? kernel_sample_cost_ns(0, &r->costs.knows_ip_sample) : 0;
    r->drain.kernel_tells_ends = r->kernel.rings != NULL;
    r->kernel.pid = r->ip_samples.pid = r->now.plan->pid;
}

/* A footnote: the reason alone, without the event's name in front and the next step behind. */
static const char *short_reason(struct recorder *r, const char *why)
{
    const char *colon = strncmp(why, "event '", 7) == 0 ? strstr(why, "': ") : NULL;
    if (colon != NULL)
        why = colon + 3;
    return arena_text(&r->arena, why, strcspn(why, "\n"));
}

/* An event that no group counts: derived, or not usable. */
static struct trace_counter uncounted(struct recorder *r, const struct counter_spec *spec)
{
    struct trace_counter counter = { .name = spec->name, .why = short_reason(r, spec->why) };
    if (!counter_is_read(spec) && r->kernel.rings == NULL)
        counter.why = short_reason(r, r->offcpu + strlen("none: "));
    return counter;
}

static bool is_counted(const struct counter_layout *layout, size_t event)
{
    for (uint32_t slot = 0; slot < layout->n_slots; slot++)
        if (layout->event[slot] == event)
            return true;
    return false;
}

/* The columns in the order of the groups' slots, and in between the other events where the user named them. */
static size_t fill_counters(struct recorder *r, struct trace_counter *counters)
{
    const struct counter_layout *layout = r->layout;
    const struct counter_set *events = r->now.plan->events;
    size_t n = 0, next = 0;
    for (uint32_t g = 0; g < layout->n_groups; g++)
        for (uint32_t slot = layout->first[g]; slot < layout->first[g + 1]; slot++) {
            for (; next < layout->event[slot]; next++)
                if (!is_counted(layout, next))
                    counters[n++] = uncounted(r, &events->specs[next]);
            counters[n++] = (struct trace_counter){
                .name = events->specs[layout->event[slot]].name, .why = "", .in_records = true, .group = g
            };
        }
    for (; events != NULL && next < events->n; next++)
        if (!is_counted(layout, next))
            counters[n++] = uncounted(r, &events->specs[next]);
    for (uint32_t g = 0; g < layout->n_groups && layout->n_groups > 1; g++)
        counters[n++] = (struct trace_counter){ "running_ns", "", true, TRACE_COUNTER_RUNNING_NS, g };
    if (layout->n_groups > 1)
        counters[n++] = (struct trace_counter){ "enabled_ns", "", true, TRACE_COUNTER_ENABLED_NS, 0 };
    return n;
}

static int write_counters(struct recorder *r, struct err *err)
{
    struct trace_counter counters[COUNTERS_COLUMNS_MAX + COUNTERS_EVENTS_MAX];
    size_t n = fill_counters(r, counters);
    if (n > 0 && trace_write_counters(r->now.writer, counters, n, err) < 0)
        return -1;
    if (r->now.plan->read == RECORDER_READ_NONE)
        trace_write_plain_records(r->now.writer);
    return 0;
}

_Static_assert(COUNTERS_COLUMNS_MAX == RING_COUNTERS_MAX && COUNTERS_COLUMNS_MAX == TRACE_COLUMNS_MAX &&
                   COUNTERS_COLUMNS_MAX + COUNTERS_EVENTS_MAX <= TRACE_COUNTERS_MAX,
               "all columns have room everywhere");

static int open_session(struct recorder *r, struct err *err)
{
    char *config = metadata_config(r->now.plan);
    struct session_plan plan = { .process = r->now.plan->pid != 0 ? &r->process : NULL,
                                 .ring_bytes = r->now.plan->ring_bytes,
                                 .n_counters =
                                     r->now.plan->read == RECORDER_READ_NONE ? 0 : counter_layout_columns(r->layout),
                                 .config = config,
                                 .threads = r->now.plan->threads };
    struct readings_plan readings = { r->layout, r->now.plan->read == RECORDER_READ_NONE, r->now.plan->simulation };
    int rc = recorder_room_open(&r->room, r->now.plan->pid, &plan.memory, err) < 0
                 ? -1
                 : session_open(&r->session, &plan, err);
    free(config);
    if (rc < 0)
        return -1;
    xalloc_warm(HEAP_BYTES);
    drain_init(&r->drain, &r->session, r->now.threads);
    r->ip_samples.code.fd = metadata_wants_code(r->now.plan) ? r->session.code_fd : -1;
    r->ip_samples.maps.is_emulated = r->now.plan->simulation != NULL;
    if (r->now.plan->simulation != NULL)
        r->now.plan->simulation->begin(r->now.plan->simulation->context, &r->ip_samples, r->now.threads);
    link_init(&r->link, &r->session, r->now.plan->observer);
    r->link.code = &r->ip_samples.code;
    r->drain.observer = r->now.plan->observer;
    r->drain.link = &r->link;
    readings_init(&r->readings, &readings, &r->session, r->now.threads);
    return 0;
}

/* From here on time counts. */
static void start_clock(struct recorder *r)
{
    r->now.first = r->now.latest = recorder_clock_and_cpu(r->now.plan->pid, &r->now.cpu_start_ns);
    if (r->now.plan->pid != 0)
        recorder_find_groups(r);
    if (jvm_stolen_ns(&r->costs.stolen_start_ns) < 0)
        r->costs.stolen_start_ns = TRACE_UNKNOWN;
    r->rounds.clock_written_ns = r->rounds.flushed_ns = r->now.first.monotonic_ns;
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
    return err_next(err, "choose another path with -o");
}

static int open_trace(struct recorder *r, struct err *err)
{
    if (recorder_rotation_open(&r->files, &r->now, r->now.plan->pid != 0 ? r->now.plan->pid : r->child.pid,
                               &r->now.writer, err) < 0 ||
        trace_write_clock(r->now.writer, r->now.first.ticks, r->now.first.monotonic_ns, r->now.first.realtime_ns, err) <
            0 ||
        metadata_write_start(r->now.writer, r->now.plan, r->offcpu, err) < 0 ||
        (r->now.plan->stacks_hz > 0 &&
         metadata_write_sampling(r->now.writer, "cpu-clock", 1000000000u / r->now.plan->stacks_hz, err) < 0))
        return -1;
    return write_counters(r, err);
}

/*
 * Where the JVM does not report what it compiles (JVMTI), its compilers keep what is inlined where, and lines, at calls
 * and loops only, unless they are asked: then C1 executes 5 % more instructions, and C2 1.3 % (mmprof-figures(7)).
 */
static const char *const *flags_for(const struct recorder_plan *plan)
{
    static const char *const all_points[] = { "-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints", NULL };
    /* WhiteBox prints what it could not compile: not among what the program prints. */
    static const char *const whitebox[] = { "-XX:+UnlockDiagnosticVMOptions", "-XX:+WhiteBoxAPI",
                                            "-XX:+DisplayVMOutputToStderr", NULL };
    if (plan->hands_to_compilers)
        return whitebox;
    return metadata_asks_for_code(plan) && plan->wants_lines ? all_points : NULL;
}

static int fork_command(struct recorder *r, struct err *err)
{
    bool is_simulated = r->now.plan->simulation != NULL;
    const struct setting option = { .kind = is_simulated ? SETTING_SIMULATED : SETTING_RECORDER,
                                    .text = r->session.socket_path };
    char words[SETTING_OPTION_BYTES];
    struct jvm_flags flags;
    jvm_flags_launch(&flags, r->now.plan->argv, !r->attaching.follows_jvms);
    if (!r->now.plan->is_live && flags.archive[0] != '\0' && !flags.archive_bars_agents)
        return recorder_refuse_archive(0, flags.archive, err);
    setting_encode(&option, words);
    const struct launch_plan launched = { .argv = r->now.plan->argv,
                                          .agent = r->now.plan->agent,
                                          .options = words,
                                          .flags = flags_for(r->now.plan),
                                          .name = r->now.plan->name,
                                          .emulator = is_simulated ? &r->emulator : NULL };
    return launch_fork(&r->child, &launched, err);
}

static const struct counter_layout no_events;

/* ---- the classes of a running JVM ---- */

static void tell_forecast(const struct recorder *r, double cpus)
{
    const struct recorder_change *change = &r->change;
    double mb = cpus * MB_FOR_CPU_S, for_s = r->now.plan->duration_s;
    if (r->now.plan->progress == NULL || change->forecast.ms < WORTH_TELLING)
        return;
    fprintf(r->now.plan->progress,
            "mmprof: %" PRIu32 " classes will be instrumented: estimated from the first batch, this takes %.0f s and "
            "pauses the program for %.0f ms at most, %.1f s in total\n",
            change->n_wanted, change->forecast.ms / 1e3, change->forecast.longest_stop_ms,
            change->forecast.stops_ms / 1e3);
    fprintf(r->now.plan->progress, "mmprof: after that the trace grows by about %.0f MB per second", mb);
    if (for_s > 0)
        fprintf(r->now.plan->progress, ", to %.0f MB", mb * for_s);
    fprintf(r->now.plan->progress, " (estimated from the %.1f CPUs that the program uses)\n", cpus);
}

/* The first batches are the small ones: by those alone it would be too long. */
static double left_s(const struct recorder_change *change)
{
    double n_left = (double)change->n_wanted - change->n_changed;
    if (n_left <= 0)
        return 0;
    if (change->n_batches == 1)
        return change->forecast.ms / 1e3;
    return (double)(clock_ns(CLOCK_MONOTONIC_RAW) - change->start_ns) / 1e9 / change->n_changed * n_left;
}

static void report_change(struct recorder *r)
{
    const struct recorder_change *change = &r->change;
    if (!progress_is_due(&r->progress))
        return;
    if (change->n_wanted == 0 || change->n_changed == 0)
        progress_line(&r->progress, "scanning the loaded classes");
    else
        progress_line(&r->progress, "%" PRIu32 " of %" PRIu32 " classes are instrumented, about %.0f s left",
                      change->n_changed, change->n_wanted, left_s(change));
}

/* The CPU time that the program takes a second. */
static double cpus_since(const struct recorder *r, uint64_t cpu_ns, uint64_t since_ns)
{
    uint64_t now_cpu_ns = cpu_ns, passed_ns = clock_ns(CLOCK_MONOTONIC_RAW) - since_ns;
    jvm_process_cpu_ns(r->now.plan->pid, &now_cpu_ns);
    return passed_ns == 0 ? 0 : (double)(now_cpu_ns - cpu_ns) / (double)passed_ns;
}

static int end_early(struct recorder *r, struct err *err)
{
    if (r->gone)
        return err_set(err, "JVM %d ended before its recording began", (int)r->now.plan->pid);
    r->is_cut = true;
    if (r->room.why[0] != '\0') {
        err_set(err, "%s: stopped before the recording began; the JVM removes its probes", r->room.why);
        return err_next(err, "record fewer classes with --include, or give the group more memory");
    }
    err_set(err, "stopped before the recording began: there is no trace, and JVM %d removes its probes",
            (int)r->now.plan->pid);
    return err_next(err, "record without --all-methods, or fewer classes with --include");
}

/*
 * With the agent in a running JVM: wait until the loaded classes have their probes, which record nothing yet.  It says
 * what it will take when the first batch is done, and ends after plan->prepare_limit_s with what there is by then.
 * Returns 0, or -1 with *err set: also after a signal.
 */
static int change_classes(struct recorder *r, struct err *err)
{
    bool stopped = false, has_news, is_told = false;
    uint64_t cpu_ns = 0, start_ns = clock_ns(CLOCK_MONOTONIC_RAW);
    jvm_process_cpu_ns(r->now.plan->pid, &cpu_ns);
    progress_begin(&r->progress, r->now.plan->progress);
    while (!r->ready && !r->gone && !r->signals.interrupted && !stopped &&
           !recorder_room_is_low(&r->room, r->now.plan->pid, r->session.segment)) {
        recorder_wait_for(r, CHANGE_ROUND_MS);
        if (recorder_hear(r, &stopped, &has_news, err) < 0)
            return -1;
        if (!is_told && r->change.n_batches > 0) {
            is_told = true;
            progress_end(&r->progress);
            tell_forecast(r, cpus_since(r, cpu_ns, start_ns));
        }
        if (r->now.plan->prepare_limit_s > 0 &&
            (double)(clock_ns(CLOCK_MONOTONIC_RAW) - start_ns) / 1e9 >= r->now.plan->prepare_limit_s)
            atomic_store(&r->session.segment->changes, SEGMENT_CHANGES_NO_MORE);
        report_change(r);
    }
    progress_end(&r->progress);
    return r->ready ? 0 : end_early(r, err);
}

static int attach(struct recorder *r, struct err *err)
{
    if (recorder_attach(&r->attaching, err) < 0)
        return -1;
    r->now.target = r->now.plan->pid;
    return 0;
}

/*
 * All classes of a running JVM take their time, and a trace that began before them would have fewer calls of the later
 * ones' methods.
 */
static int prepare_changed(struct recorder *r, struct err *err)
{
    boost_priority(r);
    r->now.first = r->now.latest = clock_point_now();
    if (attach(r, err) < 0 || change_classes(r, err) < 0)
        return -1;
    open_kernel(r);
    start_clock(r);
    pauses_open(&r->pauses, r->now.plan->pid, r->process.inner_pid, false);
    if (open_trace(r, err) < 0 || recorder_write_target(r, err) < 0 ||
        metadata_write_ready(r->now.writer, r->costs.instrument_ms, r->costs.longest_pause_ms, err) < 0 ||
        metadata_write_change(r->now.writer, &r->link, err) < 0)
        return -1;
    r->costs.longest_pause_ms = r->link.longest_pause_ms;
    r->link.n_pauses = 0;
    r->link.pauses_ms = r->link.longest_pause_ms = 0;
    r->ready_ns = r->now.first.monotonic_ns;
    if (session_send(&r->session, WIRE_BEGIN) < 0)
        return err_set(err, "JVM %d ended before its recording began", (int)r->now.plan->pid);
    return 0;
}

/* ---- all ---- */

/* Of a running one: is it a JVM that the agent can be loaded into, as far as files tell? */
static int inspect(struct recorder *r, struct err *err)
{
    struct jvm_flags flags;
    struct jvm_release release;
    pid_t pid = r->now.plan->pid;
    /* First: what the descriptor is of cannot change after the look. */
    r->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (jvm_process_inspect(pid, &r->process, err) < 0 ||
        jvm_process_check_start(&r->process, r->now.plan->start_ticks, err) < 0)
        return -1;
    jvm_flags_read(pid, &flags);
    bool has_release = jvm_release_read(pid, &release) == 0;
    return jvm_obstacle_refuse(jvm_obstacle_find(&r->process, &flags, has_release ? &release : NULL), pid, err);
}

int recorder_prepare(struct recorder *r, struct err *err)
{
    const struct recorder_plan *plan = r->now.plan;
    r->attaching.follows_jvms = plan->pid == 0 && !launch_is_java(plan->argv[0], NULL);
    threads_init(r->now.threads);
    r->cpu_accounting =
        (struct cpu_accounting){ .threads = r->now.threads, .is_sparing = r->now.plan->observer != NULL };
    ip_samples_init(&r->ip_samples);
    pauses_init(&r->pauses);
    pressure_init(&r->pressure);
    r->layout = plan->layout != NULL ? plan->layout : &no_events;
    if (plan->pid != 0 && inspect(r, err) < 0)
        return -1;
    if (plan->simulation != NULL && plan->simulation->open(plan->simulation->context, plan, &r->emulator, err) < 0)
        return -1;
    if ((plan->files == NULL && check_output(plan->output, err) < 0) || open_signals(r, err) < 0 ||
        open_session(r, err) < 0)
        return -1;
    r->drain.pid = plan->pid;
    r->drain.inner_pid = plan->pid != 0 ? r->process.inner_pid : 0;
    if (plan->pid == 0 && fork_command(r, err) < 0)
        return -1;
    if (metadata_begins_later(plan))
        return prepare_changed(r, err);
    recorder_open_stacks(&r->stacks, r->child.pid, r->attaching.follows_jvms);
    open_kernel(r);
    boost_priority(r);
    start_clock(r);
    if (plan->pid != 0)
        pauses_open(&r->pauses, plan->pid, r->process.inner_pid, false);
    if (plan->pid != 0)
        return attach(r, err) < 0 ? -1 : open_trace(r, err);
    return open_trace(r, err) < 0 ? -1 : launch_go(&r->child, plan->argv[0], err);
}
