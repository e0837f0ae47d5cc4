/*
 * The budget: what a recording may cost, what it has cost, and what is left.
 *
 * Cost is what the probes take, this program's own CPU time, samples, and changed classes with the compilation that
 * follows.  A credit grows with the target's CPU time and shrinks with the cost of probes and of their records: when it
 * is used up, probes are to be switched off.
 */
#ifndef PHASES_LIVE_LIVE_BUDGET_H
#define PHASES_LIVE_LIVE_BUDGET_H

#include "phases/live/live.h"

struct live_budget {
    const struct live_options *options;    /* borrowed */
    const struct live_status *first, *now; /* borrowed: the first state with the agent ready, and the present one */
    double credit_ns, probes_ns;           /* probes: of all records so far */
    double priced_ns;                      /* what the classes that changed cost, in all batches so far */
    bool knows_price;                      /* of one of these */
    uint32_t n_batches;
    uint64_t records_seen;
    /* Costs are compared over the time since the older mark, [0]: 0.5 to 1 times what the whole credit is for. */
    uint64_t mark_ns[2], mark_cpu_ns[2], mark_own_ns[2], mark_records[2];
    uint64_t charged_cpu_ns, charged_own_ns;
};

/* What a round has come to. */
struct live_charged {
    bool is_over; /* the credit is used up, and by probes, not by this program's own rounds only */
    bool is_mark; /* it is time for live_budget_mark */
};

/* With options, first and now set. */
void live_budget_begin(struct live_budget *b);

/* Charge what this round cost; records: of all rounds. */
struct live_charged live_budget_charge(struct live_budget *b, uint64_t records);
void live_budget_mark(struct live_budget *b, uint64_t records);

/* All of the budget, in ns of CPU time: by the end of the recording, or of the first minute where that comes before. */
double live_budget_whole_ns(const struct live_budget *b);

/*
 * What is left of the budget, in ns of CPU time; less than 0: it was not enough.  Where it is known how long the
 * recording will be, of all its time (of LIVE_AHEAD_S at most), less what it will go on to cost.
 */
double live_budget_left_ns(const struct live_budget *b);

/* The part of the budget that probes, and what writes their records, may have, 0..1. */
double live_budget_probes_part(const struct live_budget *b);

/* What one call of an enabled method costs, in ns: at most; and by what writing has cost of late. */
double live_budget_call_ns(const struct live_budget *b);
double live_budget_late_call_ns(const struct live_budget *b, uint64_t records);

/* Have batches stopped the application for no longer than the budget allows by now?  And has it paid for all so far? */
bool live_budget_may_stop(const struct live_budget *b);
bool live_budget_may_pause(const struct live_budget *b);

#endif
