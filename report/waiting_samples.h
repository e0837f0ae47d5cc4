/*
 * Stack samples on the wall clock: those of threads on a CPU, and what visits found of threads that waited.
 *
 * A sample on a CPU stands for more than its CPU time where the thread had to wait for that: it is ready to run where
 * it runs.
 */
#ifndef REPORT_WAITING_SAMPLES_H
#define REPORT_WAITING_SAMPLES_H

#include "core/trace/trace.h"
#include "phases/samples/wait_search.h"
#include "report/folding.h"
#include "report/trace_samples.h"

/*
 * samples    of a live recording; borrowed, read to its end
 * waits      n of them, of the same trace
 * libraries  classes that are not the program's own (report/folding.h); NULL: only the JDK's are not
 *
 * Returns them with 'kept' and 'waits' of the wall clock, in the arena, not to be closed.
 */
struct trace_samples *waiting_samples(const struct trace_samples *samples, const struct trace_wait *waits, size_t n,
                                      const struct folding_list *libraries, struct arena *arena);

/* Where in the program a thread waits, by the calling contexts of a trace: phases/samples/wait_search.h. */

/*
 * libraries  classes that are not the program's own (report/folding.h); NULL: only the JDK's are not
 * context    number of a calling context, the innermost call; 0: none
 *
 * The names are the reader's.
 */
struct wait_site wait_site_of(const struct trace_reader *reader, const struct folding_list *libraries,
                              uint32_t context);

#endif
