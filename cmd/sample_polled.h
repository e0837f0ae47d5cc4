/*
 * mmprof sample --mechanism polling: the agent takes the stacks, at safepoints.
 */
#ifndef CMD_SAMPLE_POLLED_H
#define CMD_SAMPLE_POLLED_H

#include "cmd/sample_options.h"
#include "core/recorder/stack_sampler.h"

struct sample_polled {
    stack_sample_fn *sample;                                 /* gets each sample */
    int (*round)(void *context, pid_t pid, struct err *err); /* then this comes; the JVM's process, 0: not known yet */
    void *context;
};

/*
 * Load the agent into the JVM of the options, or start it with it, and sample until the time is over, somebody ends it,
 * or the JVM ends.  *status: of a command that was started, which has ended.
 *
 * Returns 0, or -1 with *err set.
 */
int sample_polled_run(const struct sample_options *options, const struct sample_polled *to, int *status,
                      struct err *err);

#endif
