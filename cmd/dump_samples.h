/*
 * What mmprof dump prints of samples: of stacks, of threads that wait, of allocations; and of the contexts that they
 * are in.
 */
#ifndef CMD_DUMP_SAMPLES_H
#define CMD_DUMP_SAMPLES_H

#include "core/trace/trace.h"

/* Each prints one line. */
void dump_samples_method(FILE *out, uint32_t number, const struct trace_sampled_method *method);
void dump_samples_context(FILE *out, uint32_t number, const struct trace_context *node);
void dump_samples_sample(FILE *out, const struct trace_sample *sample);
void dump_samples_wait(FILE *out, const struct trace_wait *wait);
void dump_samples_heap_event(FILE *out, const struct trace_heap_event *event);
void dump_samples_allocation(FILE *out, const struct trace_allocation *allocation);

#endif
