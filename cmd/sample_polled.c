/*
 * The agent takes the stacks, at safepoints.  It needs what a recording needs: the agent in the JVM, its connection,
 * its rings and its methods' names; so this is a recording without probes whose trace nobody keeps.
 */
#include "cmd/sample_run.h"
#include "core/recorder/recorder.h"

#define POLLING_PART 0.05 /* of the JVM's CPU time, at most */

/* Of the agent's: the moments of a trace come before its samples. */
static int hear_stack(void *context, const struct stack_sample *sample, uint32_t thread, struct err *err)
{
    struct sample_run *run = context;
    (void)thread;
    run->state.has_kernel = true;
    run->state.n_samples++;
    run->state.n_by_end[sample->end]++;
    if (sample->time_ns > run->trace.latest.monotonic_ns && sample_trace_round(&run->trace, err) < 0)
        return -1;
    return sample_run_take(sample, context, err);
}

static int hear_round(void *context, struct recorder_link *link, const struct recorder_status *status, struct err *err)
{
    struct sample_run *run = context;
    struct err ignored;
    uint64_t cpu_ns;
    pid_t pid = status->pid;
    (void)link;
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

static int start(struct sample_run *run, struct err *err)
{
    /* The CPU time before this engine took over from another one does not count. */
    pid_t pid = run->command != 0 ? run->command : run->process.pid;
    if (pid != 0)
        jvm_process_cpu_ns(pid, &run->first_cpu_ns);
    return recorder_find_agent(run->agent, sizeof run->agent, err);
}

static int take_polled(struct sample_run *run, struct err *err)
{
    const struct sample_options *options = run->options;
    struct recorder_summary summary = { .command_status = 0 };
    const struct recorder_observer observer = { .context = run, .stack = hear_stack, .round = hear_round };
    const struct recorder_plan plan = { .pid = run->command != 0 ? run->command : (pid_t)options->pid,
                                        .start_ticks = options->target.start_ticks,
                                        .argv = run->command != 0 ? NULL : options->command,
                                        .name = options->target.among,
                                        .duration_s = options->seconds,
                                        .output = "/dev/null",
                                        .agent = run->agent,
                                        .ring_bytes = UINT64_C(1) << 20,
                                        .stacks_hz = (uint32_t)options->frequency,
                                        .polls_stacks = true,
                                        .polling_part = POLLING_PART,
                                        .observer = &observer,
                                        .is_live = true };
    int rc = recorder_run(&plan, &summary, err);
    recorder_wait(&summary, -1);
    run->status = summary.command_status;
    return rc;
}

static void stop(struct sample_run *run)
{
    (void)run;
}

const struct sample_engine sample_polling = { "polling", start, take_polled, stop, true };
