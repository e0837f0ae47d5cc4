/*
 * mmprof sample: which methods a JVM spends its CPU time in, from stack samples that are taken from outside.
 *
 *     program  java -jar shop.jar
 *     samples  5921, one for each 10.1 ms of a thread's CPU time: 59.8 s
 *
 *     Method                Time (%)     Self (%)  Samples
 *     ----------------------------------------------------
 *     Shop.main         61.20 ±2.10  0.00 ±0.00    3,660
 *     PriceTable.find   42.71 ±1.93  42.71 ±1.93    2,554
 *     ----------------------------------------------------
 *     garbage collector  9.80 ±1.10   9.80 ±1.10      586
 */
#include "cmd/commands.h"

#include "cmd/output_file.h"
#include "cmd/sample_options.h"
#include "core/perf/trigger.h"
#include "core/jvm/process.h"
#include "core/recorder/launch.h"
#include "core/recorder/sample_trace.h"
#include "core/recorder/stack_sampler.h"
#include "report/view/bytecode_kinds.h"
#include "report/samples_table.h"
#include "symbolize/vm_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BLOCK_NS  UINT64_C(100000000)
#define START_MS  2   /* between two looks at the rings while the JVM is starting, */
#define ROUND_MS  500 /* and later: each look asks again what is known of the JVM's code and methods */
#define FIRST_MS  100 /* at first: of a JVM that ends, the stacks since the last look may not be walked to the end */
#define ENDING_MS 200

struct sample_run {
    const struct sample_options *options;
    struct stack_sampler *sampler;
    struct sample_profile profile;
    struct bytecode_kinds kinds;
    struct sample_trace trace;           /* not written where no -o is given */
    int32_t bytecodes[STACK_FRAMES_MAX]; /* of the sample that is being taken */
    struct counter_set events;
    struct jvm_process process;
    struct launch launch;
    pid_t command; /* that was started; 0: none */
    int signals, end;
    sigset_t old_signals;
    struct arena arena;
};

/* ---- events ---- */

static bool is_clock(const struct sample_run *run)
{
    return run->events.n == 0 || run->events.specs[0].kind == COUNTER_TIME;
}

/* 0: it is no clock. */
static uint64_t period_ns(const struct sample_run *run)
{
    const struct sample_options *o = run->options;
    if (!is_clock(run))
        return 0;
    return o->period != 0 ? o->period : UINT64_C(1000000000) / o->frequency;
}

static int open_trace(struct sample_run *run, struct err *err)
{
    char events[1024] = "cpu-clock";
    for (size_t i = 0, used = 0; i < run->events.n && used < sizeof events; i++)
        used +=
            (size_t)snprintf(events + used, sizeof events - used, "%s%s", i > 0 ? " " : "", run->events.specs[i].name);
    return sample_trace_open(&run->trace, run->options->output, events, period_ns(run), err);
}

/* ---- sampling ---- */

/* The process' first thread waits for the others, where the launcher has started the JVM in one of them. */
static enum vm_part part_of(const struct sample_run *run, const struct stack_sample *sample)
{
    enum vm_part part = vm_part_of(sample->thread_name);
    bool is_launcher = sample->is_waiting && sample->n == 0 && sample->tid == stack_sampler_pid(run->sampler);
    return part == VM_PART_APPLICATION && is_launcher ? VM_PART_OTHER : part;
}

static int on_sample(const struct stack_sample *sample, void *context, struct err *err)
{
    struct sample_run *run = context;
    enum vm_part part = part_of(run, sample);
    for (uint32_t i = 0; i < sample->n; i++)
        run->bytecodes[i] = sample->frames[i].index;
    const struct profile_sample add = { .time_ns = sample->time_ns,
                                        .group = part,
                                        .tid = sample->is_compared ? sample->tid : 0,
                                        .ns = sample->weight,
                                        .is_waiting = sample->is_waiting,
                                        .n = sample->n,
                                        .methods = sample->methods,
                                        .bytecodes = run->bytecodes,
                                        .n_same = sample->change.n_same,
                                        .new_first = sample->change.new_first,
                                        .new_after = sample->change.new_after,
                                        .n_counters = sample->n_counters,
                                        .counters = sample->counters };
    if (sample_profile_add(&run->profile, &add) < 0)
        return err_set(err, "no memory for the calling contexts");
    uint32_t n_methods;
    if (bytecode_kinds_add(&run->kinds, stack_sampler_methods(run->sampler, &n_methods), sample, &add) < 0)
        return err_set(err, "no memory for the kinds of bytecode");
    return sample_trace_add(&run->trace, run->sampler, sample, err);
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* The JVM has been found: what the table is headed with, and whose end counts. */
static int meet(struct sample_run *run, pid_t pid, struct err *err)
{
    struct err ignored;
    jvm_process_inspect(pid, &run->process, &ignored);
    int end = pid == run->command ? -1 : (int)syscall(SYS_pidfd_open, pid, 0);
    if (end >= 0) {
        close(run->end);
        run->end = end;
    }
    return sample_trace_target(&run->trace, pid, run->options->command, err);
}

/* When the rings are looked at next, and threads that wait. */
struct due {
    uint64_t start_ns, end_ns, drain_ns, visit_ns;
    struct drand48_data random;
};

/* At most a fiftieth of the time so far is missing at the end. */
static uint64_t round_ns(const struct sample_run *run, const struct due *due, uint64_t now)
{
    uint64_t ms = (now - due->start_ns) / 50000000;
    if (run->process.pid == 0)
        ms = START_MS;
    else
        ms = ms < FIRST_MS ? FIRST_MS : ms > ROUND_MS ? ROUND_MS : ms;
    return ms * UINT64_C(1000000);
}

/* Visits are not in step with the program. */
static void plan_visit(struct sample_run *run, struct due *due, uint64_t now)
{
    double random;
    drand48_r(&due->random, &random);
    due->visit_ns = now + (uint64_t)(1e9 / (double)run->options->frequency * (0.875 + random / 4));
}

static void sleep_until(struct sample_run *run, const struct due *due, struct pollfd wakes[3])
{
    uint64_t until = due->drain_ns < due->visit_ns ? due->drain_ns : due->visit_ns, now = now_ns();
    until = until < due->end_ns ? until : due->end_ns;
    uint64_t left = until > now ? until - now : 0;
    const struct timespec timeout = { (time_t)(left / 1000000000), (long)(left % 1000000000) };
    wakes[2].fd = run->end;
    ppoll(wakes, 3, &timeout, NULL);
}

static int drain(struct sample_run *run, struct err *err)
{
    if (sample_trace_round(&run->trace, err) < 0 || stack_sampler_drain(run->sampler, on_sample, run, err) < 0)
        return -1;
    pid_t pid = run->process.pid == 0 ? stack_sampler_pid(run->sampler) : 0;
    return pid == 0 ? 0 : meet(run, pid, err);
}

/* Until the time is over, somebody ends it, or the JVM has ended. */
static int sample(struct sample_run *run, struct err *err)
{
    double seconds = run->options->seconds;
    uint64_t start = now_ns();
    struct due due = { .start_ns = start, .end_ns = seconds > 0 ? start + (uint64_t)(seconds * 1e9) : UINT64_MAX };
    struct pollfd wakes[3] = { { .fd = run->signals, .events = POLLIN },
                               { .fd = stack_sampler_fd(run->sampler), .events = POLLIN },
                               { .fd = run->end, .events = POLLIN } };
    srand48_r((long)now_ns(), &due.random);
    due.visit_ns = run->options->is_wall ? 0 : UINT64_MAX;
    for (;;) {
        uint64_t now = now_ns();
        bool is_over = now >= due.end_ns || wakes[0].revents != 0 || wakes[2].revents != 0;
        if (now >= due.visit_ns) {
            plan_visit(run, &due, now);
            if (stack_sampler_visit(run->sampler, on_sample, run, err) < 0)
                return -1;
        }
        if (is_over || now >= due.drain_ns || wakes[1].revents != 0) {
            if (drain(run, err) < 0)
                return -1;
            due.drain_ns = now + round_ns(run, &due, now);
        }
        if (is_over)
            return 0;
        sleep_until(run, &due, wakes);
    }
}

static int block_signals(struct sample_run *run, struct err *err)
{
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGINT);
    sigaddset(&wanted, SIGTERM);
    sigprocmask(SIG_BLOCK, &wanted, &run->old_signals);
    run->signals = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    return run->signals >= 0 ? 0 : err_set(err, "cannot wait for signals: %s", strerror(errno));
}

/* Those that came are done with. */
static void unblock_signals(struct sample_run *run)
{
    struct signalfd_siginfo one;
    if (run->signals < 0)
        return;
    while (read(run->signals, &one, sizeof one) == (ssize_t)sizeof one)
        continue;
    close(run->signals);
    run->signals = -1;
    sigprocmask(SIG_SETMASK, &run->old_signals, NULL);
}

static int attach(struct sample_run *run, struct stack_sampler_options *how, struct err *err)
{
    pid_t pid = (pid_t)run->options->pid;
    /* It need not answer: that it lets nobody attach to it is no obstacle. */
    if (jvm_process_inspect(pid, &run->process, err) < 0 && !run->process.attach_disabled)
        return -1;
    run->end = (int)syscall(SYS_pidfd_open, pid, 0);
    if (sample_trace_target(&run->trace, pid, NULL, err) < 0)
        return -1;
    return stack_sampler_open(&run->sampler, pid, how, err);
}

static int launch(struct sample_run *run, struct stack_sampler_options *how, struct err *err)
{
    char *const *argv = run->options->command;
    how->is_starting = true;
    how->with_children = !launch_is_java(argv[0]);
    if (launch_fork(&run->launch, argv, NULL, NULL, NULL, NULL, err) < 0)
        return -1;
    run->end = (int)syscall(SYS_pidfd_open, run->launch.pid, 0);
    if (stack_sampler_open(&run->sampler, run->launch.pid, how, err) < 0 || launch_go(&run->launch, argv[0], err) < 0)
        return -1;
    run->command = run->launch.pid;
    return 0;
}

/* Sampling is over, or has failed for a reason.  Returns the command's status. */
static int wait_for_command(const struct sample_run *run, const struct err *why)
{
    int status;
    if (!launch_wait(run->command, ENDING_MS, &status)) {
        fprintf(stderr, "mmprof: %.*s; the command goes on as process %d: waiting for its end\n",
                why == NULL ? INT32_MAX : (int)strcspn(why->text, "\n"), why == NULL ? "sampling has ended" : why->text,
                (int)run->command);
        launch_wait(run->command, LAUNCH_FOREVER, &status);
    }
    if (status != 0)
        fprintf(stderr, "mmprof: the command ended with status %d\n", status);
    return status;
}

/* What the sampler says of itself, for the trace. */
static int write_totals(struct sample_run *run, struct err *err)
{
    struct stack_sampler_state state;
    stack_sampler_state(run->sampler, &state);
    return sample_trace_fact(&run->trace, "sample.lost", state.n_lost, err) < 0 ||
                   sample_trace_fact(&run->trace, "sample.kernel", state.has_kernel, err) < 0 ||
                   sample_trace_fact(&run->trace, "sample.outside", run->trace.log.n_outside, err) < 0
               ? -1
               : 0;
}

/* ---- printing ---- */

static int refuse_no_jvm(const struct sample_run *run, struct err *err)
{
    struct pollfd end = { .fd = run->end, .events = POLLIN };
    if (poll(&end, 1, 0) > 0) {
        err_set(err, "no JVM came of '%s'", run->options->command[0]);
        return err_next(err, "give a command that starts java, or java itself");
    }
    err_set(err, "no JVM had come of '%s' when sampling ended", run->options->command[0]);
    return err_next(err, "sample for longer (-d)");
}

static int refuse_empty(const struct sample_run *run, struct err *err)
{
    if (is_clock(run))
        err_set(err, "process %d used no CPU time", (int)run->process.pid);
    else if (run->options->period != 0)
        err_set(err, "process %d had fewer than %" PRIu64 " %s on each CPU", (int)run->process.pid,
                run->options->period, run->events.specs[0].name);
    else
        err_set(err, "process %d had no %s", (int)run->process.pid, run->events.specs[0].name);
    return err_next(err, "sample it while it works, or for longer (-d)%s",
                    run->options->period != 0 ? ", or give a smaller -c" : "");
}

/* What is in no share. */
static void add_wait_notes(const struct sample_run *run, const struct stack_sampler_state *state, struct table *table)
{
    uint64_t idle_ns = 0;
    char idle[64], ready[64];
    for (uint32_t i = 0; i < SAMPLE_GROUPS; i++)
        idle_ns += run->profile.idle_ns[i];
    table_format_ns((double)idle_ns, idle, sizeof idle);
    table_format_ns((double)state->waits.ready_ns, ready, sizeof ready);
    table_fact_number(table, "jvm_waiting_ns", (double)idle_ns, NULL);
    table_fact_number(table, "ready_ns", (double)state->waits.ready_ns, NULL);
    table_note(table, arena_printf(table->arena,
                                   "in no share: the JVM's own threads waited for %s, and all threads were ready to "
                                   "run, but had no CPU, for %s",
                                   idle, ready));
}

static void add_notes(const struct sample_run *run, struct table *table)
{
    struct stack_sampler_state state;
    stack_sampler_state(run->sampler, &state);
    uint64_t n_java = state.n_samples - state.n_by_end[STACK_NO_JAVA];
    table_fact_number(table, "java_stacks", (double)n_java, NULL);
    if (n_java > 0)
        table_fact_number(table, "whole_stacks_share", (double)state.n_by_end[STACK_WHOLE] / (double)n_java, NULL);
    bytecode_kinds_tell(&run->kinds, table);
    for (enum stack_end end = STACK_WHOLE + 1; end < STACK_ENDS; end++)
        if (state.n_by_end[end] > 0 && end != STACK_NO_JAVA)
            table_note(table, arena_printf(table->arena, "of %" PRIu64 " stacks the outer methods are missing: %s",
                                           state.n_by_end[end], stack_end_name(end)));
    if (run->options->is_wall)
        add_wait_notes(run, &state, table);
    if (state.finds_threads_late)
        table_note(table, "samples of threads that started meanwhile begin up to 0.1 s later: before Linux 6.12 the "
                          "kernel reads events with samples only of threads that it was told of; give one event only "
                          "(-e) to have them all");
    const struct context_tree *tree = &run->profile.tree;
    if (tree->n_purged > 0)
        table_note(table, arena_printf(table->arena,
                                       "%" PRIu64 " calling contexts with %" PRIu64 " samples were purged, for the "
                                       "tree was full: their samples are their callers' in --tree and --folded "
                                       "(--tree-size)",
                                       tree->n_purged, tree->purged.n_samples));
    if (!state.has_kernel && is_clock(run))
        table_note(table, "time in the kernel is not sampled, so shares are of time in user space: run "
                          "'sysctl kernel.perf_event_paranoid=1', or this as root");
    if (state.n_lost > 0)
        table_note(table, arena_printf(table->arena,
                                       "%" PRIu64 " samples were lost, for the rings were full: take fewer (%s), or "
                                       "copy less of each stack (--stack-size)",
                                       state.n_lost, run->options->period != 0 ? "a larger -c" : "a smaller -F"));
}

static int write_folded(const struct samples_source *source, struct arena *arena, const char *path, struct err *err)
{
    struct output_file file;
    if (output_file_open(&file, path, "--folded", err) < 0)
        return -1;
    return output_file_close(&file, samples_write_folded(source, arena, file.out, err), err);
}

static int find_ratios(struct sample_run *run, struct sample_ratio_kind *kinds)
{
    const char *names[COUNTERS_GROUP_MAX];
    uint32_t n = run->events.n > 1 ? (uint32_t)run->events.n : 0;
    for (uint32_t i = 0; i < n; i++)
        names[i] = run->events.specs[i].name;
    return sample_ratio_kinds(names, n, &run->arena, kinds);
}

static int print(struct sample_run *run, struct err *err)
{
    const struct sample_options *o = run->options;
    struct sample_ratio_kind kinds[COUNTERS_GROUP_MAX];
    int n_kinds = find_ratios(run, kinds);
    uint32_t n;
    const struct sampled_method *methods = stack_sampler_methods(run->sampler, &n);
    struct java_name *names = arena_alloc(&run->arena, (n + 1) * sizeof *names);
    struct table *table = arena_alloc(&run->arena, sizeof *table);
    if (names == NULL || table == NULL || n_kinds < 0)
        return err_set(err, "no memory for the names of %" PRIu32 " methods", n);
    for (uint32_t i = 0; i < n; i++)
        names[i] = (struct java_name){ methods[i].class_name, methods[i].name, methods[i].descriptor };
    const struct samples_source source = { .profile = &run->profile,
                                           .names = names,
                                           .n_names = n,
                                           .program = run->process.command,
                                           .period_ns = period_ns(run),
                                           .event = o->events == NULL ? NULL : run->events.specs[0].name,
                                           .period = o->period,
                                           .hz = o->frequency,
                                           .is_wall = o->is_wall,
                                           .knows_calls = true,
                                           .ratios = kinds,
                                           .n_ratios = (uint32_t)n_kinds };
    const struct samples_options options = { o->min_share, o->top, o->by_self, o->call_sites };
    if (stack_sampler_pid(run->sampler) == 0)
        return refuse_no_jvm(run, err);
    if (run->profile.n_samples == 0) {
        return refuse_empty(run, err);
    }
    if (o->folded != NULL && write_folded(&source, &run->arena, o->folded, err) < 0)
        return -1;
    if (o->tree)
        return samples_print_tree(&source, &options, &run->arena, stdout, err);
    if ((o->by_bytecode ? bytecode_kinds_table(&run->kinds, &source, &run->arena, table, err)
                        : samples_table_make(&source, &options, &run->arena, table, err)) < 0)
        return -1;
    add_notes(run, table);
    return o->csv    ? table_print_csv(table, stdout, err)
           : o->json ? table_print_json(table, stdout, err)
                     : table_print_text(table, stdout, err);
}

int command_sample(int argc, char **argv, struct err *err)
{
    struct sample_options options;
    struct sample_run run = { .options = &options, .launch = { .go = -1, .turn = -1 }, .signals = -1, .end = -1 };
    struct err ignored;
    bool done = false;
    int rc = sample_options_parse(&options, argc, argv, &done, err), status = 0;
    if (rc < 0 || done)
        return rc;
    struct stack_sampler_options how = { .hz = (uint32_t)options.frequency,
                                         .is_wall = options.is_wall,
                                         .stack_bytes = (uint32_t)options.stack_bytes };
    rc = sample_profile_open(&run.profile, BLOCK_NS, options.tree_bytes, err);
    if (rc == 0)
        rc = bytecode_kinds_open(&run.kinds, BLOCK_NS, err);
    if (rc == 0 && options.events != NULL)
        rc = trigger_choose(options.events, options.period, &run.arena, &run.events, &how.trigger, err);
    if (rc == 0 && options.output != NULL)
        rc = open_trace(&run, err);
    if (rc == 0)
        rc = block_signals(&run, err);
    if (rc == 0)
        rc = options.command != NULL ? launch(&run, &how, err) : attach(&run, &how, err);
    if (rc == 0)
        rc = sample(&run, err);
    if (rc == 0)
        rc = write_totals(&run, err);
    if (sample_trace_close(&run.trace, rc == 0 ? err : &ignored) < 0)
        rc = -1;
    if (rc == 0)
        rc = print(&run, err);
    fflush(stdout);
    stack_sampler_close(run.sampler);
    unblock_signals(&run);
    if (run.command != 0)
        status = wait_for_command(&run, rc < 0 ? err : NULL);
    launch_end(&run.launch);
    if (run.end >= 0)
        close(run.end);
    sample_profile_free(&run.profile);
    bytecode_kinds_free(&run.kinds);
    arena_free(&run.arena);
    return rc < 0 ? -1 : status;
}
