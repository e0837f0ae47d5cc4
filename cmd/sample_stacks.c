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

#include "cmd/sample_polled.h"
#include "cmd/sample_run.h"
#include "core/jvm/memory_room.h"
#include "core/base/stop_signals.h"
#include "core/perf/perf_rings.h"
#include "core/trace/recording_info.h"
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
#define COUNT_MS  500

/* ---- events ---- */

static int open_trace(struct sample_run *run, struct err *err)
{
    char events[1024] = "cpu-clock";
    for (size_t i = 0, used = 0; i < run->events.n && used < sizeof events; i++)
        used +=
            (size_t)snprintf(events + used, sizeof events - used, "%s%s", i > 0 ? " " : "", run->events.specs[i].name);
    return sample_trace_open(&run->trace, run->options->output, events, sample_run_period_ns(run), err);
}

/* ---- sampling ---- */

/* The process' first thread waits for the others, where the launcher has started the JVM in one of them. */
static enum vm_part part_of(const struct sample_run *run, const struct stack_sample *sample)
{
    enum vm_part part = vm_part_of(sample->thread_name);
    bool is_launcher = sample->is_waiting && sample->n == 0 && sample->tid == stack_sampler_pid(run->sampler);
    return part == VM_PART_APPLICATION && is_launcher ? VM_PART_OTHER : part;
}

/* The sampler may be gone when the table is made. */
static int keep_names(struct sample_run *run, const struct stack_sample *sample, struct err *err)
{
    if (sample->n_known == run->n_names)
        return 0;
    struct method_name *names = realloc(run->names, sample->n_known * sizeof *names);
    if (names == NULL)
        return err_set(err, "out of memory for the names of %" PRIu32 " methods", sample->n_known);
    run->names = names;
    for (; run->n_names < sample->n_known; run->n_names++) {
        const struct sampled_method *known = &sample->known[run->n_names];
        const struct method_name name = {
            arena_text(&run->arena, known->names.class_name, strlen(known->names.class_name)),
            arena_text(&run->arena, known->names.method, strlen(known->names.method)),
            arena_text(&run->arena, known->names.descriptor, strlen(known->names.descriptor))
        };
        if (name.class_name == NULL || name.method == NULL || name.descriptor == NULL)
            return err_set(err, "out of memory for the names of methods");
        names[run->n_names] = name;
    }
    return 0;
}

static int add_to_profile(struct sample_run *run, const struct stack_sample *sample, struct err *err)
{
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
    if (keep_names(run, sample, err) < 0)
        return -1;
    if (sample_profile_add(&run->profile, &add) < 0)
        return err_set(err, "out of memory for the calling contexts");
    if (bytecode_kinds_add(&run->kinds, sample->known, sample, &add) < 0)
        return err_set(err, "out of memory for the kinds of bytecode");
    return 0;
}

static int on_sample(const struct stack_sample *sample, void *context, struct err *err)
{
    struct sample_run *run = context;
    return add_to_profile(run, sample, err) < 0 ? -1 : sample_trace_add(&run->trace, sample, err);
}

static int on_visit(const struct stack_wait *wait, void *context, struct err *err)
{
    struct sample_run *run = context;
    if (wait->sample.is_waiting && add_to_profile(run, &wait->sample, err) < 0)
        return -1;
    bool is_launcher = wait->sample.is_waiting && part_of(run, &wait->sample) == VM_PART_OTHER;
    return is_launcher ? sample_trace_add(&run->trace, &wait->sample, err)
                       : sample_trace_add_wait(&run->trace, wait, err);
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
    if (run->end < 0)
        run->end = (int)syscall(SYS_pidfd_open, pid, 0);
    return sample_trace_target(&run->trace, pid, run->options->command, err);
}

/* Of the agent's: the moments of a trace come before its samples. */
static int on_polled(const struct stack_sample *sample, void *context, struct err *err)
{
    struct sample_run *run = context;
    run->state.has_kernel = true;
    run->state.n_samples++;
    run->state.n_by_end[sample->end]++;
    if (sample->time_ns > run->trace.latest.monotonic_ns && sample_trace_round(&run->trace, err) < 0)
        return -1;
    return on_sample(sample, context, err);
}

static int on_polled_round(void *context, pid_t pid, struct err *err)
{
    struct sample_run *run = context;
    struct err ignored;
    uint64_t cpu_ns;
    if (pid != 0 && jvm_process_cpu_ns(pid, &cpu_ns) == 0) {
        if (run->process.pid == 0 && run->options->command == NULL)
            run->first_cpu_ns = cpu_ns;
        run->state.cpu_ns = cpu_ns - run->first_cpu_ns;
    }
    if (run->process.pid != 0 || pid == 0)
        return 0;
    jvm_process_inspect(pid, &run->process, &ignored);
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
    wakes[1].fd = stack_sampler_fd(run->sampler);
    wakes[2].fd = run->end;
    ppoll(wakes, 3, &timeout, NULL);
}

/* Not while one is waited for, which is looked for more often. */
static void count_jvms(struct sample_run *run, bool is_due)
{
    if (is_due && run->command != 0 && !launch_is_java(run->options->command[0], NULL))
        jvm_started_add(&run->jvms, getpid());
}

static int drain(struct sample_run *run, struct err *err)
{
    if (sample_trace_round(&run->trace, err) < 0 || stack_sampler_drain(run->sampler, on_sample, run, err) < 0)
        return -1;
    sample_budget_round(&run->budget, run->sampler);
    count_jvms(run, run->process.pid != 0);
    pid_t pid = run->process.pid == 0 ? stack_sampler_pid(run->sampler) : 0;
    return pid == 0 ? 0 : meet(run, pid, err);
}

/* Returns whether one of them ends it; others let it rest or go on. */
static bool take_signals(struct sample_run *run)
{
    struct signalfd_siginfo one;
    bool is_over = false;
    while (read(run->signals, &one, sizeof one) == (ssize_t)sizeof one)
        if (one.ssi_signo == SIGUSR1)
            sample_budget_pause(&run->budget, run->sampler);
        else
            is_over = true;
    return is_over;
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
        bool is_over = now >= due.end_ns || wakes[2].revents != 0;
        is_over |= wakes[0].revents != 0 && take_signals(run);
        is_over |= run->end < 0 && !launch_look(&run->launch);
        if (now >= due.visit_ns) {
            plan_visit(run, &due, now);
            if (!run->budget.is_paused && stack_sampler_visit(run->sampler, on_visit, run, err) < 0)
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
    sigaddset(&wanted, SIGUSR1);
    sigprocmask(SIG_BLOCK, &wanted, &run->old_signals);
    stop_signals_watch(STOP_SIGNALS_MS);
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
    /* First: what the descriptor is of cannot change after the look. */
    run->end = (int)syscall(SYS_pidfd_open, pid, 0);
    /* It need not answer: that it lets nobody attach to it is no obstacle. */
    if (jvm_process_inspect(pid, &run->process, err) < 0 && !run->process.attach_disabled)
        return -1;
    memory_room_yield();
    if (jvm_process_check_start(&run->process, run->options->target.start_ticks, err) < 0 ||
        sample_trace_target(&run->trace, pid, NULL, err) < 0)
        return -1;
    return stack_sampler_open(&run->sampler, pid, how, err);
}

static int launch(struct sample_run *run, struct stack_sampler_options *how, struct err *err)
{
    char *const *argv = run->options->command;
    how->is_starting = true;
    how->with_children = !launch_is_java(argv[0], NULL);
    how->name = run->options->target.among;
    if (launch_fork(&run->launch, &(struct launch_plan){ .argv = argv }, err) < 0)
        return -1;
    memory_room_yield();
    if (!how->with_children)
        run->end = (int)syscall(SYS_pidfd_open, run->launch.pid, 0);
    if (stack_sampler_open(&run->sampler, run->launch.pid, how, err) < 0 || launch_go(&run->launch, argv[0], err) < 0)
        return -1;
    run->command = run->launch.pid;
    return 0;
}

/* Sampling is over, or has failed for a reason.  Returns the command's status. */
static int wait_for_command(struct sample_run *run, const struct err *why)
{
    int status = 0;
    launch_look(&run->launch);
    if (run->launch.is_over)
        status = launch_status(run->launch.wait_status);
    else if (!launch_wait(run->command, ENDING_MS, &status)) {
        fprintf(stderr, "mmprof: %.*s; the command goes on as process %d: waiting for its end\n",
                why == NULL ? INT32_MAX : (int)strcspn(why->text, "\n"), why == NULL ? "sampling has ended" : why->text,
                (int)run->command);
        while (!launch_wait(run->command, COUNT_MS, &status))
            count_jvms(run, true);
    }
    if (status != 0)
        fprintf(stderr, "mmprof: the command ended with status %d\n", status);
    target_argument_tell_others(run->jvms.n, run->process.pid, run->process.command, "sampled");
    return status;
}

/* What the sampler says of itself, for the trace. */
static int write_totals(struct sample_run *run, struct err *err)
{
    const struct stack_sampler_state *state = &run->state;
    if (run->options->is_polled && sample_trace_words(&run->trace, INFO_SAMPLE_MECHANISM, "polling", err) < 0)
        return -1;
    return sample_trace_metadata(&run->trace, INFO_SAMPLE_LOST, state->n_lost, err) < 0 ||
                   sample_trace_metadata(&run->trace, INFO_SAMPLE_CPU_NS, state->cpu_ns, err) < 0 ||
                   sample_trace_metadata(&run->trace, INFO_SAMPLE_KERNEL, state->has_kernel, err) < 0 ||
                   sample_trace_metadata(&run->trace, INFO_SAMPLE_OUTSIDE, run->trace.log.n_outside, err) < 0
               ? -1
               : 0;
}

static int refuse_no_jvm(struct sample_run *run, struct err *err)
{
    if (run->options->command == NULL) {
        err_set(err, "JVM %d had not started when sampling ended", (int)run->options->pid);
        return err_next(err, "sample for longer (-d), or run 'mmprof doctor %d' to check the JVM",
                        (int)run->options->pid);
    }
    if (!launch_look(&run->launch)) {
        err_set(err, "'%s' started no JVM", run->options->command[0]);
        return err_next(err, "give a command that starts java, or java itself");
    }
    err_set(err, "'%s' had started no JVM when sampling ended", run->options->command[0]);
    return err_next(err, "sample for longer (-d)");
}

static int sample_outside(struct sample_run *run, struct stack_sampler_options *how, struct err *err)
{
    if (block_signals(run, err) < 0 ||
        (run->options->command != NULL ? launch(run, how, err) : attach(run, how, err)) < 0 || sample(run, err) < 0)
        return -1;
    stack_sampler_state(run->sampler, &run->state);
    return stack_sampler_pid(run->sampler) == 0 ? refuse_no_jvm(run, err) : 0;
}

static int sample_polled(struct sample_run *run, int *status, struct err *err)
{
    const struct sample_polled to = { on_polled, on_polled_round, run };
    return sample_polled_run(run->options, &to, status, err);
}

/* The JVM's layout is not known, as *err says: its agent takes the stacks. */
static int sample_instead(struct sample_run *run, struct sample_options *options, int *status, struct err *err)
{
    const struct sample_polled to = { on_polled, on_polled_round, run };
    struct sample_options of_pid = *options;
    if (run->command != 0)
        of_pid.pid = (uint64_t)run->command;
    of_pid.command = NULL;
    options->is_polled = true;
    fprintf(stderr, "mmprof sample: %.*s; stacks are sampled at safepoints instead (--mechanism polling)\n",
            (int)strcspn(err->text, "\n"), err->text);
    stack_sampler_close(run->sampler);
    run->sampler = NULL;
    unblock_signals(run);
    jvm_process_cpu_ns((pid_t)of_pid.pid, &run->first_cpu_ns);
    return sample_polled_run(&of_pid, &to, status, err);
}

/* Of a command that is not java itself, the JVM is not known yet. */
static bool may_sample_instead(const struct sample_run *run)
{
    return sample_options_may_poll(run->options) &&
           (run->options->command == NULL || launch_is_java(run->options->command[0], NULL));
}

static enum bytecode_kinds_by table_of(const struct sample_options *options)
{
    return options->fields == NULL ? BYTECODES_BY_KIND : options->by_class ? BYTECODES_BY_CLASS : BYTECODES_BY_FIELD;
}

/* What is sampled, and where that goes. */
static int prepare(struct sample_run *run, struct stack_sampler_options *how, struct err *err)
{
    const struct sample_options *o = run->options;
    how->hz = (uint32_t)o->frequency;
    how->is_wall = o->is_wall;
    how->stack_bytes = (uint32_t)o->stack_bytes;
    run->budget.share = o->budget;
    if (sample_profile_open(&run->profile, BLOCK_NS, o->tree_bytes, err) < 0 ||
        bytecode_kinds_open(&run->kinds, table_of(o), BLOCK_NS, &run->arena, err) < 0)
        return -1;
    run->profile.half_life_ns = run->kinds.profile.half_life_ns = (uint64_t)(o->decay_s * 1e9);
    if (o->events != NULL && trigger_choose(o->events, o->period, &run->arena, &run->events, &how->trigger, err) < 0)
        return -1;
    sample_budget_begin(&run->budget, how);
    return o->output == NULL ? 0 : open_trace(run, err);
}

static void free_run(struct sample_run *run)
{
    launch_end(&run->launch);
    if (run->end >= 0)
        close(run->end);
    sample_profile_free(&run->profile);
    bytecode_kinds_free(&run->kinds);
    free(run->names);
    arena_free(&run->arena);
}

int command_sample(int argc, char **argv, struct err *err)
{
    struct sample_options options;
    struct sample_run run = { .options = &options, .launch = LAUNCH_NONE, .signals = -1, .end = -1 };
    struct err ignored;
    bool done = false, is_refused = false;
    struct stack_sampler_options how = { .tells_loaders = true, .is_refused = &is_refused };
    int rc = sample_options_parse(&options, argc, argv, &done, err), status = 0;
    if (rc < 0 || done)
        return rc;
    rc = prepare(&run, &how, err);
    if (rc == 0)
        rc = options.is_polled ? sample_polled(&run, &status, err) : sample_outside(&run, &how, err);
    if (rc < 0 && is_refused && may_sample_instead(&run))
        rc = sample_instead(&run, &options, &status, err);
    if (rc == 0)
        rc = write_totals(&run, err);
    if (sample_trace_close(&run.trace, rc == 0 ? err : &ignored) < 0)
        rc = -1;
    if (rc == 0)
        rc = sample_print(&run, err);
    fflush(stdout);
    stack_sampler_close(run.sampler);
    unblock_signals(&run);
    if (run.command != 0)
        status = wait_for_command(&run, rc < 0 ? err : NULL);
    free_run(&run);
    return rc < 0 ? -1 : status;
}
