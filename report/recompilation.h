/*
 * How much slower the program was while the JIT compiled instrumented classes again: the calls of a phase in these
 * times, next to its other ones.
 *
 * That is the one slowdown that a recording can measure: the same method, with the same probes, in code that is not
 * compiled (well) yet, and in code that is.  If the program was warming up by itself, that is in it, too.
 */
#ifndef REPORT_RECOMPILATION_H
#define REPORT_RECOMPILATION_H

#include "report/some_threads.h"
#include "report/source.h"

struct recompilation_reading;

#define RECOMPILED_CALLS_MIN 20 /* of either kind: fewer say nothing */

struct recompilation {
    const char *why;      /* NULL: measured; else why not */
    double windows_ns;    /* how long the recompilation windows took, together; 0: there were none, or nobody looked for
                             them */
    uint32_t method;      /* whose calls were compared */
    uint64_t n_in, n_out; /* its calls in windows, and outside */
    double in_ns, out_ns; /* their mean CPU time */
    double extra_ns;      /* CPU time that those in windows took more, together; negative: less */
};

/*
 * Compare the calls of the method, among those that were recorded to the end, that spent most time in the windows.
 *
 * outline   the trace's (trace_outline); borrowed until recompilation_end.
 * *reading  for recompilation_end, whatever is returned; the arena's.
 * observers  one more, if there is anything to compare.
 */
void recompilation_begin(const struct trace_reader *outline, struct arena *arena,
                         struct recompilation_reading **reading, struct observers *observers);

/* After the pass: source is what came of it.  reading may be NULL. */
void recompilation_end(struct recompilation_reading *reading, const struct report_source *source,
                       struct recompilation *recompilation);

/* What it needed; NULL is fine. */
void recompilation_close(struct recompilation_reading *reading);

/* Whether the JVM's code cache was full at the end of a recording. */

/*
 * "the code cache is full (2.6 of 3.0 MB): ...", in the source's arena.  NULL: it had room, or that is not known
 * (*is_known says which).
 */
const char *report_full_code_cache(const struct report_source *source, bool *is_known);

#endif
