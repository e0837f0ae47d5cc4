/*
 * The call tree with what samples saw: methods without probes stand in the calls of the recorded ones.
 */
#ifndef REPORT_SAMPLED_TREE_H
#define REPORT_SAMPLED_TREE_H

#include "report/source.h"

#define SAMPLED_MARK " [sampled]" /* behind the names of such methods in trees and exports */

/*
 * A copy of the source whose tree has contexts of methods that samples saw, with parts of CPU time that was the own
 * time of others, so that all sums stay what they were.  A recorded context's own time is divided as its samples are.
 * The time outside of recorded contexts is divided as all samples are, less what recorded contexts have of it: of
 * recorded methods that is the time before they got probes.  Calls and all else of them are 0.  What has fewer than
 * SAMPLED_LEAST samples is not divided.
 *
 * The copy is the source itself where the trace has no stacks, on the wall clock, of which samples say nothing, or
 * where each thread has a tree of its own.
 *
 * Returns 0 and *with, whose tree lives in the arena, or -1 with *err set: no memory.
 */
#define SAMPLED_LEAST 5
int sampled_tree(const struct report_source *source, struct report_source *with, struct err *err);

/* Is it a method of those? */
static inline bool sampled_is(const struct report_source *source, uint32_t method)
{
    return method >= source->first_sampled && method - source->first_sampled < source->n_sampled;
}

#endif
