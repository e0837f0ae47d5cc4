/*
 * The stacks that a live recording sampled go into its trace, as a tree: for exports and the page, which show methods
 * without probes by them.
 */
#ifndef PHASES_LIVE_STACKS_H
#define PHASES_LIVE_STACKS_H

#include "core/recorder/link.h"
#include "phases/samples/candidates.h"

/* candidates: borrowed; NULL: nothing was sampled.  Returns 0, or -1 with *err set. */
int live_stacks_write(const struct candidates *candidates, struct recorder_link *link, uint64_t ticks, struct err *err);

#endif
