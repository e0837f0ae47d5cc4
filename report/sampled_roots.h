/*
 * The roots of a trace that has nothing but samples.
 */
#ifndef REPORT_SAMPLED_ROOTS_H
#define REPORT_SAMPLED_ROOTS_H

#include "report/source.h"
#include "report/trace_samples.h"

/* The part of the JVM whose root a sample is below; where it is the application's, its thread's may be. */
enum vm_part sampled_part(const struct trace_reader *reader, const struct trace_kept_sample *sample);

/*
 * A tree as if probes had measured the threads, and no call: the samples' time is the roots' own.
 *
 * per_thread  a root for each thread; else one for each part of the JVM.
 *
 * Returns NULL: no memory.  The arena's.
 */
struct calltree *sampled_roots(const struct report_source *source, const struct trace_samples *samples,
                               bool per_thread);

#endif
