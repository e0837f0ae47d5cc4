/*
 * When the probes of a method recorded, and how much of the process ran meanwhile.
 *
 * A live recording gives methods probes while it runs, and switches some off.  So what stands in the rows of two
 * methods may be of different times; whoever compares them divides by what ran while each was recorded.
 */
#ifndef PHASES_RECORDED_H
#define PHASES_RECORDED_H

#include "phases/calltree.h"

struct recorded {
    uint64_t ticks; /* for how long */
    double share;   /* 0..1: what ran then, of what ran in the whole recording */
};

/*
 * Of a method, from when it got probes (or a call of it that was under way then was found) until they were switched
 * off or removed, as often as that happened.
 *
 * is_wall  what ran is the wall time of threads that ran probes, else CPU time of all.
 */
struct recorded recorded_of(const struct calltree *tree, uint32_t method, bool is_wall);

/* The same from one moment to another. */
struct recorded recorded_between(const struct calltree *tree, uint64_t from_ticks, uint64_t to_ticks, bool is_wall);

/* The application's part, 0..1, of its time that had passed when the first method got probes. */
double recorded_before_probes(const struct calltree *tree, bool is_wall);

#endif
