/*
 * Where calls that were under way when their class got probes have ended, by what samples say.
 *
 * Such a call's frame runs the code of before, without probes: it ends, for the records, with the thread's next one.
 * That may be seconds later, and what ran in between has no time then, though samples saw it.
 */
#ifndef REPORT_SAMPLED_ENDS_H
#define REPORT_SAMPLED_ENDS_H

#include "phases/tree/calltree.h"

/* A recorded context's own time, and the samples in it that were in no other one that it calls. */
struct own_time {
    uint64_t ticks, n_samples;
    double weight;
};

/*
 * Divide the own time of such calls and their callers as their samples are, where these contradict it.
 *
 * own       by node of the tree
 * is_ended  by method, false before; set where calls ended before the records say so: when is known to what the samples
 *           tell, and of their waiting, switches, faults and counts it is not known what was before it.  None of them
 *           is open.
 *
 * Returns a copy of the tree, or the tree itself where no sample contradicts it; NULL: no memory.  The arena's.
 */
const struct calltree *sampled_ends(const struct calltree *tree, const struct own_time *own, bool *is_ended,
                                    struct arena *arena);

#endif
