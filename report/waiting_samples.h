/*
 * Stack samples on the wall clock: those of threads on a CPU, and what visits found of threads that waited.
 *
 * A sample on a CPU stands for more than its CPU time where the thread had to wait for that: it is ready to run where
 * it runs.
 */
#ifndef REPORT_WAITING_SAMPLES_H
#define REPORT_WAITING_SAMPLES_H

#include "report/folding.h"
#include "report/trace_samples.h"

/*
 * samples    of a live recording; borrowed, read to its end
 * waits      n of them, of the same trace
 * libraries  classes that are not the program's own (report/folding.h); NULL: only the JDK's are not
 *
 * Returns them with 'kept' and 'waits' of the wall clock, in the arena, not to be closed; NULL: no memory.
 */
struct trace_samples *waiting_samples(const struct trace_samples *samples, const struct trace_wait *waits, size_t n,
                                      const struct folding_list *libraries, struct arena *arena);

#endif
