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
 * own  by node of the tree
 *
 * Returns 0, or -1: no memory.
 */
int sampled_ends(const struct calltree *tree, struct own_time *own);

#endif
