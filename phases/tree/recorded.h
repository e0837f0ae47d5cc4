/*
 * When the probes of a method recorded, and how much of the process ran meanwhile.
 *
 * A live recording gives methods probes while it runs, and switches some off.  So what stands in the rows of two
 * methods may be of different times; whoever compares them divides by what ran while each was recorded.
 */
#ifndef PHASES_TREE_RECORDED_H
#define PHASES_TREE_RECORDED_H

#include "phases/tree/calltree.h"

struct recorded {
    uint64_t ticks; /* for how long */
    double share;   /* 0..1: what ran then, of what ran in the whole recording */
};

/*
 * Of a method, from when it got probes (or a call of it that was under way then was found) until they were switched
 * off or removed, as often as that happened.
 *
 * kind  of what ran: what the method's time is to be divided by.
 */
struct recorded recorded_of(const struct calltree *tree, uint32_t method, enum activity_kind kind);

/* Did the method's probes record at that moment? */
bool recorded_at(const struct calltree *tree, uint32_t method, uint64_t ticks);

/* The method's own time was in its windows, which begin and end within steps: so no less ran there, of all_ticks. */
static inline void recorded_hold(struct recorded *recorded, double ticks, double all_ticks)
{
    if (recorded->share * all_ticks < ticks && ticks <= all_ticks)
        recorded->share = ticks / all_ticks;
}

/* The application's part, 0..1, on that clock, of its time that had passed when the first method got probes. */
double recorded_before_probes(const struct calltree *tree, bool is_wall);

#endif
