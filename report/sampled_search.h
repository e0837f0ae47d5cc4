/*
 * Where samples saw a method in the calls of another one.
 */
#ifndef REPORT_SAMPLED_SEARCH_H
#define REPORT_SAMPLED_SEARCH_H

#include "phases/tree/calltree.h"
#include "report/trace_samples.h"

struct sampled_seen {
    const uint64_t *n; /* by node: samples in it and in what it calls; the arena's */
    uint32_t n_nodes;  /* later ones have none */
    double per_tick;   /* of the roots' time */
};

/*
 * tree      its nodes only; parents stand before what they call
 * measured  whose roots have the time of all samples
 * leaf      by kept sample: its node; CALLTREE_NONE: it is in none
 */
void sampled_seen_count(const struct calltree *tree, const struct calltree *measured,
                        const struct trace_samples *samples, const uint32_t *leaf, struct arena *arena,
                        struct sampled_seen *seen);

/* The outermost context of a method below another one in which most samples were; 0: none. */
uint32_t sampled_seen_below(const struct sampled_seen *seen, const struct calltree *tree, uint32_t top,
                            uint32_t method);

#endif
