/* Why methods have no probes, or none any more, as a live recording's trace says it. */
#ifndef REPORT_VIEW_SAMPLED_H
#define REPORT_VIEW_SAMPLED_H

#include "report/source.h"

/* A method that samples saw, and why it has no probes. */
struct sampled {
    struct method_name name;
    const char *why;
};

/* What the recorder named: *all, the arena's.  Returns how many. */
size_t sampled_find(const struct report_source *source, struct sampled **all);

/* Why the probes of a recorded method were off at the end: "switched off: REASON"; NULL: they were not. */
const char *sampled_why_off(const struct report_source *source, uint32_t method);

/* The trace's number of a method of that name that had probes, at whatever time; CALLTREE_NONE: there is none. */
uint32_t sampled_had_probes(const struct report_source *source, const struct method_name *name);

/*
 * Why a method that samples found has no probes, from the word of mmprof.trace(5), and what its class would take the
 * compilers (0: not known): "over budget: recompilation would take 1.27 s".
 */
const char *sampled_why_text(const char *word, double compiling_ns, struct arena *arena);

#endif
