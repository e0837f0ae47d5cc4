/*
 * The sampled tree on the wall clock: what threads have, and which contexts it is divided among.
 *
 * A thread that ran probes has the wall time that these measured; another one its CPU time as the kernel accounts it,
 * and what its samples say that it waited; the JVM's own threads have their CPU time.
 */
#ifndef REPORT_SAMPLED_WALL_H
#define REPORT_SAMPLED_WALL_H

#include "report/sampled_tree.h"

/*
 * Set the nodes' own wall time.
 *
 * source      as it is without samples
 * leaf        by kept sample: its node in tree, or CALLTREE_NONE
 * idle_ticks  waiting for work, which is no node's
 *
 * Returns by kept sample what its node was given, or what is idle of it, in the arena; NULL: no memory.
 */
uint64_t *sampled_wall_divide(const struct report_source *source, const struct trace_samples *samples,
                              const uint32_t *leaf, struct calltree *tree, uint64_t *idle_ticks);

/* Set thread_ticks and other_ticks; of a tree with its totals. */
void sampled_wall_threads(const struct report_source *source, const struct calltree *tree,
                          const struct trace_samples *samples, struct sampled_tree *sampled);

#endif
