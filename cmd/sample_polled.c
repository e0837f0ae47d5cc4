#include "cmd/sample_polled.h"

#include "core/recorder/recorder.h"

#include <limits.h>

#define POLLING_PART 0.05 /* of the JVM's CPU time, at most */

static int hear_stack(void *context, const struct stack_sample *sample, uint32_t thread, struct err *err)
{
    const struct sample_polled *to = context;
    (void)thread;
    return to->sample(sample, to->context, err);
}

static int hear_round(void *context, struct recorder_link *link, const struct recorder_status *status, struct err *err)
{
    const struct sample_polled *to = context;
    (void)link;
    return to->round(to->context, status->pid, err);
}

/* A live recording whose observer gives no method probes; its trace is nobody's. */
int sample_polled_run(const struct sample_options *options, const struct sample_polled *to, int *status,
                      struct err *err)
{
    char agent[PATH_MAX];
    struct recorder_summary summary = { .command_status = 0 };
    const struct recorder_observer observer = { .context = (void *)to, .stack = hear_stack, .round = hear_round };
    const struct recorder_plan plan = { .pid = (pid_t)options->pid,
                                        .start_ticks = options->target.start_ticks,
                                        .argv = options->command,
                                        .name = options->target.among,
                                        .duration_s = options->seconds,
                                        .output = "/dev/null",
                                        .agent = agent,
                                        .ring_bytes = UINT64_C(1) << 20,
                                        .stacks_hz = (uint32_t)options->frequency,
                                        .polls_stacks = true,
                                        .polling_part = POLLING_PART,
                                        .observer = &observer,
                                        .is_live = true };
    int rc = recorder_find_agent(agent, sizeof agent, err);
    if (rc == 0)
        rc = recorder_run(&plan, &summary, err);
    recorder_wait(&summary, -1);
    *status = summary.command_status;
    return rc;
}
