/*
 * Samples that the agent takes: of stacks by polling, at safepoints, as samples like those from outside
 * (core/recorder/stack_sampler.h), which go the same way from here on; and of objects that are allocated.
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

/* Hand out what was sampled by now.  Returns 0, or -1 with *err set: the log is damaged, or fn has failed.
 */
int poll_sampler_drain(struct poll_sampler *sampler, stack_sample_fn *fn, void *context, struct err *err);

/* An object that was allocated, and where: the stack has no weight. */
struct allocation_sample {
    struct stack_sample stack;
    uint32_t class_number;                             /* the sampler's */
    const char *class_name;                            /* "java/lang/String", "[B"; the sampler's */
    uint64_t size_bytes, interval_bytes, before_bytes; /* as struct poll_allocation has them */
};

/* Returns 0, or -1 with *err set to end the sampling. */
typedef int allocation_sample_fn(const struct allocation_sample *sample, void *context, struct err *err);

/* What became of an object, or of the heap.  As above. */
typedef int poll_heap_fn(const struct poll_heap *heap, void *context, struct err *err);

/* The same of allocations, and of the heap: a sampler has the ones or the others. */
int poll_sampler_drain_allocations(struct poll_sampler *sampler, allocation_sample_fn *fn, poll_heap_fn *heap_fn,
                                   void *context, struct err *err);
void poll_sampler_allocated(const struct poll_sampler *sampler, struct poll_allocated *allocated);

/* What the agent says of it, so far. */
void poll_sampler_state(const struct poll_sampler *sampler, struct poll_state *state);

#endif
