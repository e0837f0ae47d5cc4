/*
 * Sampling from outside: the kernel takes stacks of threads that run (perf), and threads that wait are visited (wall).
 */
#include "cmd/sample_run.h"
#include "core/base/stop_signals.h"
#include "core/base/ticks.h"
#include "core/jvm/cgroup.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>

#define START_MS   2   /* between two looks at the rings while the JVM is starting, */
#define ROUND_MS   500 /* and later: each look asks again what is known of the JVM's code and methods */
#define LEAST_NS   UINT64_C(2000000000) /* with --until: the first intervals may be narrow by chance */
#define VIRTUAL_NS UINT64_C(1000000000) /* between two looks at virtual threads, at least */
#define FIRST_MS   100 /* at first: of a JVM that ends, the stacks since the last look may not be walked to the end */

/* The JVM has been found: what the table is headed with, and whose end counts. */
static int meet(struct sample_run *run, pid_t pid, struct err *err)
{
    struct err ignored;
    jvm_process_inspect(pid, &run->process, &ignored);
    if (run->end < 0)
        run->end = (int)syscall(SYS_pidfd_open, pid, 0);
    return sample_trace_target(&run->trace, pid, run->options->command, err);
}

/* When the rings are looked at next, and threads that wait. */
struct due {
    uint64_t start_ns, end_ns, drain_ns, visit_ns, virtual_ns;
    struct drand48_data random;
};

/* At most a fiftieth of the time so far is missing at the end.  Periods are drawn in rounds: not in step either. */
static uint64_t round_ns(const struct sample_run *run, struct due *due, uint64_t now)
{
    uint64_t ms = (now - due->start_ns) / 50000000;
    double random;
    drand48_r(&due->random, &random);
    if (run->process.pid == 0)
        ms = START_MS;
    else
        ms = ms < FIRST_MS ? FIRST_MS : ms > ROUND_MS ? ROUND_MS : ms;
    return (uint64_t)((double)ms * 1e6 * (0.8 + 0.4 * random));
}

/* Visits are not in step with the program. */
static void plan_visit(struct sample_run *run, struct due *due, uint64_t now)
{
    double random;
    drand48_r(&due->random, &random);
    due->visit_ns = now + (uint64_t)(1e9 / (double)run->options->frequency * (0.875 + random / 4));
}

/* Of virtual threads there may be many: a look at all of them takes a tenth of a CPU's time at most. */
static int visit(struct sample_run *run, struct due *due, uint64_t now, struct err *err)
{
    if (stack_sampler_visit(run->sampler, sample_run_visit, run, err) < 0)
        return -1;
    if (now < due->virtual_ns)
        return 0;
    uint64_t before_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    int rc = stack_sampler_visit_virtual(run->sampler, 0, sample_run_virtual, run, err);
    uint64_t cost_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns;
    due->virtual_ns = now + (10 * cost_ns > VIRTUAL_NS ? 10 * cost_ns : VIRTUAL_NS);
    return rc;
}

static void sleep_until(struct sample_run *run, const struct due *due, struct pollfd wakes[3])
{
    uint64_t until = due->drain_ns < due->visit_ns ? due->drain_ns : due->visit_ns, now = clock_ns(CLOCK_MONOTONIC);
    until = until < due->end_ns ? until : due->end_ns;
    uint64_t left = until > now ? until - now : 0;
    const struct timespec timeout = { (time_t)(left / 1000000000), (long)(left % 1000000000) };
    wakes[1].fd = stack_sampler_fd(run->sampler);
    wakes[2].fd = run->end;
    ppoll(wakes, 3, &timeout, NULL);
}

static int drain(struct sample_run *run, bool is_last, struct err *err)
{
    if (sample_trace_round(&run->trace, err) < 0 || stack_sampler_drain(run->sampler, sample_run_take, run, err) < 0 ||
        sample_trace_code(&run->trace, run->sampler, is_last, err) < 0)
        return -1;
    sample_budget_round(&run->budget, run->sampler);
    sample_run_count_jvms(run, run->process.pid != 0);
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

static int attach(struct sample_run *run, struct err *err)
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
    return stack_sampler_open(&run->sampler, pid, &run->how, err);
}

static int launch(struct sample_run *run, struct err *err)
{
    struct stack_sampler_options *how = &run->how;
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

/* Until the time is over, somebody ends it, or the JVM has ended. */
static int sample(struct sample_run *run, struct err *err)
{
    double seconds = run->options->seconds;
    uint64_t start = clock_ns(CLOCK_MONOTONIC);
    struct due due = { .start_ns = start, .end_ns = seconds > 0 ? start + (uint64_t)(seconds * 1e9) : UINT64_MAX };
    struct pollfd wakes[3] = { { .fd = run->signals, .events = POLLIN },
                               { .fd = stack_sampler_fd(run->sampler), .events = POLLIN },
                               { .fd = run->end, .events = POLLIN } };
    srand48_r((long)clock_ns(CLOCK_MONOTONIC), &due.random);
    due.visit_ns = run->engine == &sample_wall ? 0 : UINT64_MAX;
    for (;;) {
        uint64_t now = clock_ns(CLOCK_MONOTONIC);
        run->duration_ns = now - start;
        bool is_over = now >= due.end_ns || wakes[2].revents != 0;
        is_over |= wakes[0].revents != 0 && take_signals(run);
        is_over |= run->end < 0 && !launch_look(&run->launch);
        if (now >= due.visit_ns) {
            plan_visit(run, &due, now);
            if (!run->budget.is_paused && visit(run, &due, now, err) < 0)
                return -1;
        }
        if (is_over || now >= due.drain_ns || wakes[1].revents != 0) {
            if (drain(run, is_over, err) < 0)
                return -1;
            due.drain_ns = now + round_ns(run, &due, now);
            is_over |= now - start >= LEAST_NS && sample_run_is_narrow(run);
        }
        if (is_over)
            return 0;
        sleep_until(run, &due, wakes);
    }
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

static int start(struct sample_run *run, struct err *err)
{
    return block_signals(run, err) < 0 ? -1 : run->options->command != NULL ? launch(run, err) : attach(run, err);
}

static int take_from_outside(struct sample_run *run, struct err *err)
{
    if (sample(run, err) < 0)
        return -1;
    stack_sampler_state(run->sampler, &run->state);
    return stack_sampler_pid(run->sampler) == 0 ? refuse_no_jvm(run, err) : 0;
}

static void stop(struct sample_run *run)
{
    stack_sampler_close(run->sampler);
    run->sampler = NULL;
    unblock_signals(run);
}

const struct sample_engine sample_perf = { "perf", start, take_from_outside, stop, false };
const struct sample_engine sample_wall = { "wall", start, take_from_outside, stop, false };
