/*
 * Stack samples that the agent takes by polling, at safepoints, as samples like those from outside
 * (core/recorder/stack_sampler.h): they go the same way from here on.
 */
#ifndef CORE_RECORDER_POLL_SAMPLER_H
#define CORE_RECORDER_POLL_SAMPLER_H

#include "core/recorder/stack_sampler.h"
#include "core/wire/poll_log.h"

struct poll_sampler;

/* Of this JVM.  Returns 0 and *sampler, or -1 with *err set. */
int poll_sampler_open(struct poll_sampler **sampler, pid_t pid, struct err *err);
void poll_sampler_close(struct poll_sampler *sampler); /* NULL is fine */

/* The memory file to which the agent is to append them; the sampler's. */
int poll_sampler_fd(const struct poll_sampler *sampler);

/* Hand out what was sampled by now.  Returns 0, or -1 with *err set: the log is damaged, no memory, or fn has failed.
 */
int poll_sampler_drain(struct poll_sampler *sampler, stack_sample_fn *fn, void *context, struct err *err);

/* What the agent says of it, so far. */
void poll_sampler_state(const struct poll_sampler *sampler, struct poll_state *state);

#endif
