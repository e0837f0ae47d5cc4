/*
 * Samples on their way into a trace: calling contexts as they are met, and the samples in them.
 *
 * Samplers number methods each in its own way; a method of the same name and code in two of them is one in the trace.
 *
 * A context is a method, the context that calls it, and where in that one's bytecode.  When there are
 * SAMPLE_LOG_CONTEXTS of them, no more are made: samples are then in the nearest one outside of theirs, and counted.
 */
#ifndef CORE_RECORDER_SAMPLE_LOG_H
#define CORE_RECORDER_SAMPLE_LOG_H

#include "core/base/hash.h"
#include "core/recorder/poll_sampler.h"
#include "core/trace/trace.h"

#define SAMPLE_LOG_CONTEXTS (UINT32_C(1) << 19) /* 24 MB here */

enum sample_log_sampler { SAMPLE_LOG_STACKS, SAMPLE_LOG_ALLOCATIONS, SAMPLE_LOG_SAMPLERS };

struct sample_log {
    struct hash_set contexts; /* their numbers in the trace */
    uint32_t n_contexts, n_methods;
    struct hash_set by_name; /* methods: one more than the trace's number; second: whose it was first */
    struct {
        uint32_t *method_of; /* owned; by the sampler's number: one more than the trace's; 0: not named yet */
        uint32_t room;
    } samplers[SAMPLE_LOG_SAMPLERS];
    uint32_t n_classes;            /* that are named: the sampler numbers them as they come */
    uint64_t n_written, n_outside; /* samples; of them those whose context found no room */
    bool is_halved;                /* they are: perf_rings_mark */
};

/*
 * Write a sample of a thread (the trace's index), at a moment in ticks.
 *
 * Returns 0, or -1 with *err set: no memory, or the trace cannot be written.
 */
int sample_log_write(struct sample_log *log, struct trace_writer *writer, const struct stack_sample *sample,
                     uint32_t thread, uint64_t ticks, struct err *err);

/*
 * Where a sample is: its context, which is written if it is new, the index and the frame's kind in it, and how the
 * stack ends; the rest of *out stays.  As above.
 */
int sample_log_locate(struct sample_log *log, struct trace_writer *writer, const struct stack_sample *sample,
                      struct trace_sample *out, struct err *err);

/* The mean distance to a sampled object: the JVM's interval, and the size of the one before (0: none), in bytes. */
uint64_t sample_log_mean_bytes(uint64_t interval_bytes, uint64_t before_bytes);

/* The same of an allocation: its class is named when it comes first. */
int sample_log_write_allocation(struct sample_log *log, struct trace_writer *writer,
                                const struct allocation_sample *sample, uint32_t thread, uint64_t ticks,
                                struct err *err);
void sample_log_free(struct sample_log *log);

#endif
