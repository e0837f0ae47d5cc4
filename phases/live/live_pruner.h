/*
 * The pruner: which probes stay enabled.  It switches methods off whose calls are too short, or that the budget does
 * not allow; tries for a moment whether that has changed; and says which disabled probes are worth removing.
 *
 * It reads the budget's state and methods' figures, and sets their states and reasons.
 */
#ifndef PHASES_LIVE_LIVE_PRUNER_H
#define PHASES_LIVE_LIVE_PRUNER_H

#include "phases/live/live_budget.h"
#include "phases/live/live_methods.h"

/* Method ids. */
struct live_ids {
    uint32_t *all; /* owned */
    size_t n, room;
};

struct live_pruner {
    struct live_budget *budget;              /* borrowed: its credit is charged */
    struct live_methods *methods;            /* borrowed */
    struct live_ids enable, disable, remove; /* what it decides in a round */
    uint64_t judged_ns;                      /* when all methods were judged last */
};

void live_pruner_free(struct live_pruner *p);

/*
 * A round begins: charge what it cost, and switch methods off when the credit is used up.  Returns 0, or -1 with *err
 * set: no memory.
 */
int live_pruner_charge(struct live_pruner *p, struct err *err);

/* Judge the methods by their calls, and try those that were switched off.  Returns 0, or -1 with *err set. */
int live_pruner_judge(struct live_pruner *p, struct err *err);

/* Which disabled probes have cost more than a batch that removes them?  batch_ns: of the compilers, for the largest. */
void live_pruner_choose_removals(struct live_pruner *p, double batch_ns);

/* Is one on trial? */
bool live_pruner_tries(const struct live_pruner *p);

#endif
