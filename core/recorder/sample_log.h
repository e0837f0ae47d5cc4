/*
 * Stack samples on their way into a trace: calling contexts as they are met, and the samples in them.
 *
 * A context is a method, the context that calls it, and where in that one's bytecode.  When there are
 * SAMPLE_LOG_CONTEXTS of them, no more are made: samples are then in the nearest one outside of theirs, and counted.
 */
#ifndef CORE_RECORDER_SAMPLE_LOG_H
#define CORE_RECORDER_SAMPLE_LOG_H

#include "core/base/hash.h"
#include "core/recorder/stack_sampler.h"
#include "core/trace/trace.h"

#define SAMPLE_LOG_CONTEXTS (UINT32_C(1) << 19) /* 24 MB here */

struct sample_log {
    struct hash_set contexts; /* their numbers in the trace */
    uint32_t n_contexts, n_methods;
    uint32_t *method_of; /* owned; by the sampler's number: one more than the trace's; 0: not named yet */
    uint32_t room;
    uint64_t n_written, n_outside; /* samples; of them those whose context found no room */
};

/*
 * Write a sample of a thread (the trace's index), at a moment in ticks.
 *
 * Returns 0, or -1 with *err set: no memory, or the trace cannot be written.
 */
int sample_log_write(struct sample_log *log, struct trace_writer *writer, const struct stack_sample *sample,
                     uint32_t thread, uint64_t ticks, struct err *err);
void sample_log_free(struct sample_log *log);

#endif
