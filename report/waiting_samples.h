/*
 * Stack samples on the wall clock: those of threads on a CPU, and what visits found of threads that waited.
 *
 * A sample on a CPU stands for more than its CPU time where the thread had to wait for that: it is ready to run where
 * it runs.
 */
#ifndef REPORT_WAITING_SAMPLES_H
#define REPORT_WAITING_SAMPLES_H

#include "report/trace_samples.h"
#include "report/wait_sites.h"

/*
 * samples  of a live recording; borrowed, read to its end
 * waits    n of them, of the same trace
 * sites    of the same trace
 *
 * Returns them with 'kept' and 'waits' of the wall clock, in the arena, not to be closed.
 */
struct trace_samples *waiting_samples(const struct trace_samples *samples, const struct trace_wait *waits, size_t n,
                                      struct wait_sites *sites, struct arena *arena);

#endif
