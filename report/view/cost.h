/* What the recording cost the program: what was measured, what is estimated, and why the rest is not known. */
#ifndef REPORT_VIEW_COST_H
#define REPORT_VIEW_COST_H

#include "report/recompilation.h"
#include "report/source.h"

/* CPU time, in ns; negative where it is not known. */
struct cost_sums {
    double cpu_ns; /* of the program, within the recording; 0: not known */
    double probes_ns, agent_ns, recorder_ns;
    double ip_samples_ns;  /* of looking where threads are; 0: there was none of it */
    double allocations_ns; /* of allocation samples, in the threads that allocate; 0: there are none */
    double compiling_ns;   /* of the JIT compiler again, as the budget has it */
    double changing_ns;    /* of changed classes, but for the agent's thread in the recording */
    double all_ns;         /* together */
    bool is_whole;         /* that is all; else one of them is not known */
    double budget;         /* that was given, a fraction of cpu_ns; negative: none */
    const char *why_over;  /* what took most of it, and what to do; in the source's arena; NULL: not over the budget */
};

/* What a recording cost altogether: the one place that adds it up. */
void cost_sums(const struct report_source *source, struct cost_sums *sums);

/*
 * A row for each cost: how often and for how long the program stood still, how long the JIT recompiled,
 * what it compiled again, CPU time of probes and of mmprof's threads, slowdown.  A value that is not known is '-', and
 * the reason stands behind it.
 *
 * recompilation  of the same trace (recompilation_measure); borrowed.
 */
void cost_make(const struct report_source *source, const struct recompilation *recompilation, struct table *table);

/* What a live recording cost, and above its budget why, in words: ", cost 0.9 % (budget 1 %)"; "": not known. */
const char *cost_words(const struct report_source *source, struct table *table);

#endif
