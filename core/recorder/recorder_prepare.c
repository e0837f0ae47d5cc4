#include "core/recorder/recorder_state.h"

#include "core/base/stop_signals.h"
#include "core/perf/perf_rings.h"
#include "core/jvm/flags.h"
#include "core/jvm/memory_room.h"
#include "core/jvm/obstacle.h"
#include "core/recorder/metadata.h"
#include "core/wire/setting.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RECORDER_NICENESS (-10)

/*
 * The recorder works in short bursts, and what it comes too late for is lost: where it may (as root), it goes before
 * the target's threads.
 */
static void boost_priority(struct recorder *r)
{
    errno = 0;
    r->niceness = getpriority(PRIO_PROCESS, 0);
    if (errno == 0 && r->niceness > RECORDER_NICENESS)
        r->hurries = setpriority(PRIO_PROCESS, 0, RECORDER_NICENESS) == 0;
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
    sigprocmask(SIG_BLOCK, &wanted, &r->old_mask);
    stop_signals_watch(STOP_SIGNALS_MS);
    /* A dead pipe and a file that may not grow are write errors with a message. */
    r->old_pipe = signal(SIGPIPE, SIG_IGN);
    r->old_size = signal(SIGXFSZ, SIG_IGN);
    r->signals = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    return r->signals < 0 ? err_set(err, "cannot watch signals: %s", strerror(errno)) : 0;
}

/* Without the kernel's rings the recording goes on: it tells wall-clock time then, and says so. */
static void open_kernel(struct recorder *r)
{
    struct err why = { "" };
    pid_t pid = r->plan->pid != 0 ? r->plan->pid : r->child.pid;
    struct perf_rings_options options = { .fault_period = metadata_fault_period(r->plan),
                                          .ip_samples_hz = recorder_ring_ip_samples_hz(r),
                                          .ip_events_hz = r->plan->ip_samples_hz,
                                          .with_children = r->follows_jvms };
    options.n_ip_events = r->plan->n_ip_events;
    if (options.n_ip_events > 0)
        memcpy(options.ip_events, r->plan->ip_events, options.n_ip_events * sizeof *options.ip_events);
    if (kernel_open(&r->kernel, &r->threads, &r->ip_samples, pid, &options, &why) == 0)
        snprintf(r->offcpu, sizeof r->offcpu, "perf");
    else
        snprintf(r->offcpu, sizeof r->offcpu, "none: %.480s", why.text);
    struct perf_rings_state state = { .has_ip_samples = false };
    if (r->kernel.rings != NULL)
        perf_rings_state(r->kernel.rings, &state);
    r->ip_sample_cost_ns =
        state.has_ip_samples || r->stacks.sampler != NULL ? kernel_sample_cost_ns(0, &r->knows_ip_sample_cost) : 0;
    r->drain.kernel_tells_ends = r->kernel.rings != NULL;
    r->kernel.pid = r->ip_samples.pid = r->plan->pid;
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
    const struct counter_set *events = r->plan->events;
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
    if (n > 0 && trace_write_counters(r->writer, counters, n, err) < 0)
        return -1;
    if (r->plan->read == RECORDER_READ_NONE)
        trace_write_plain_records(r->writer);
    return 0;
}

_Static_assert(COUNTERS_COLUMNS_MAX == RING_COUNTERS_MAX && COUNTERS_COLUMNS_MAX == TRACE_COLUMNS_MAX &&
                   COUNTERS_COLUMNS_MAX + COUNTERS_EVENTS_MAX <= TRACE_COUNTERS_MAX,
               "all columns have room everywhere");

static int open_session(struct recorder *r, struct err *err)
{
    char *config = metadata_config(r->plan);
    struct session_plan plan = { .process = r->plan->pid != 0 ? &r->process : NULL,
                                 .ring_bytes = r->plan->ring_bytes,
                                 .n_counters =
                                     r->plan->read == RECORDER_READ_NONE ? 0 : counter_layout_columns(r->layout),
                                 .config = config };
    struct readings_plan readings = { r->layout, r->plan->read == RECORDER_READ_NONE, r->plan->simulation };
    if (config == NULL)
        return err_set(err, "out of memory");
    int rc = recorder_room_open(r, &plan.memory, err) < 0 ? -1 : session_open(&r->session, &plan, err);
    free(config);
    if (rc < 0 || drain_init(&r->drain, &r->session, &r->threads, err) < 0)
        return -1;
    r->ip_samples.code.fd = metadata_wants_code(r->plan) ? r->session.code_fd : -1;
    r->ip_samples.maps.is_emulated = r->plan->simulation != NULL;
    if (r->plan->simulation != NULL)
        r->plan->simulation->begin(r->plan->simulation->context, &r->ip_samples, &r->threads);
    link_init(&r->link, &r->session, r->plan->observer);
    r->link.code = &r->ip_samples.code;
    r->drain.observer = r->plan->observer;
    r->drain.link = &r->link;
    return readings_init(&r->readings, &readings, &r->session, &r->threads, err);
}

/* From here on time counts. */
static void start_clock(struct recorder *r)
{
    r->first = r->latest = recorder_clock_and_cpu(r->plan->pid, &r->cpu_start_ns);
    if (r->plan->pid != 0)
        recorder_find_quota(r);
    if (jvm_stolen_ns(&r->stolen_start_ns) < 0)
        r->stolen_start_ns = TRACE_UNKNOWN;
    r->clock_written_ns = r->flushed_ns = r->first.monotonic_ns;
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
    if (recorder_open_file(r, err) < 0 ||
        trace_write_clock(r->writer, r->first.ticks, r->first.monotonic_ns, r->first.realtime_ns, err) < 0 ||
        metadata_write_start(r->writer, r->plan, r->offcpu, err) < 0 ||
        (r->plan->stacks_hz > 0 &&
         metadata_write_sampling(r->writer, "cpu-clock", 1000000000u / r->plan->stacks_hz, err) < 0))
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
    bool is_simulated = r->plan->simulation != NULL;
    const struct setting option = { .kind = is_simulated ? SETTING_SIMULATED : SETTING_RECORDER,
                                    .text = r->session.socket_path };
    char words[SETTING_OPTION_BYTES];
    struct jvm_flags flags;
    jvm_flags_launch(&flags, r->plan->argv, !r->follows_jvms);
    if (!r->plan->is_live && flags.archive[0] != '\0' && !flags.archive_bars_agents)
        return recorder_refuse_archive(0, flags.archive, err);
    setting_encode(&option, words);
    const struct launch_plan launched = { .argv = r->plan->argv,
                                          .agent = r->plan->agent,
                                          .options = words,
                                          .flags = flags_for(r->plan),
                                          .name = r->plan->name,
                                          .emulator = is_simulated ? &r->emulator : NULL };
    return launch_fork(&r->child, &launched, err);
}

static const struct counter_layout no_events;

/*
 * All classes of a running JVM take their time, and a trace that began before them would have fewer calls of the later
 * ones' methods.
 */
static int prepare_changed(struct recorder *r, struct err *err)
{
    boost_priority(r);
    r->first = r->latest = clock_point_now();
    if (recorder_attach(r, err) < 0 || recorder_change_classes(r, err) < 0)
        return -1;
    open_kernel(r);
    start_clock(r);
    pauses_open(&r->pauses, r->plan->pid, r->process.inner_pid, false);
    if (open_trace(r, err) < 0 || recorder_write_target(r, err) < 0 ||
        metadata_write_ready(r->writer, r->instrument_ms, r->longest_pause_ms, err) < 0 ||
        metadata_write_change(r->writer, &r->link, err) < 0)
        return -1;
    r->longest_pause_ms = r->link.longest_pause_ms;
    r->link.n_pauses = 0;
    r->link.pauses_ms = r->link.longest_pause_ms = 0;
    r->ready_ns = r->first.monotonic_ns;
    if (session_send(&r->session, WIRE_BEGIN) < 0)
        return err_set(err, "JVM %d ended before its recording began", (int)r->plan->pid);
    return 0;
}

/* Of a running one: is it a JVM that the agent can be loaded into, as far as files tell? */
static int inspect(struct recorder *r, struct err *err)
{
    struct jvm_flags flags;
    struct jvm_release release;
    pid_t pid = r->plan->pid;
    /* First: what the descriptor is of cannot change after the look. */
    r->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (jvm_process_inspect(pid, &r->process, err) < 0 ||
        jvm_process_check_start(&r->process, r->plan->start_ticks, err) < 0)
        return -1;
    jvm_flags_read(pid, &flags);
    bool has_release = jvm_release_read(pid, &release) == 0;
    return jvm_obstacle_refuse(jvm_obstacle_find(&r->process, &flags, has_release ? &release : NULL), pid, err);
}

int recorder_prepare(struct recorder *r, struct err *err)
{
    const struct recorder_plan *plan = r->plan;
    r->follows_jvms = plan->pid == 0 && !launch_is_java(plan->argv[0], NULL);
    threads_init(&r->threads);
    r->cpu_accounting = (struct cpu_accounting){ .threads = &r->threads, .is_sparing = r->plan->observer != NULL };
    ip_samples_init(&r->ip_samples);
    pauses_init(&r->pauses);
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
    recorder_open_stacks(r);
    open_kernel(r);
    boost_priority(r);
    start_clock(r);
    if (plan->pid != 0)
        pauses_open(&r->pauses, plan->pid, r->process.inner_pid, false);
    if (plan->pid != 0)
        return recorder_attach(r, err) < 0 ? -1 : open_trace(r, err);
    return open_trace(r, err) < 0 ? -1 : launch_go(&r->child, plan->argv[0], err);
}
