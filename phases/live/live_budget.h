/*
 * The budget: what a recording may cost, what it has cost, and what is left.
 *
 * Cost is what the probes take, this program's own CPU time, samples, and changed classes with the compilation that
 * follows.  A credit grows with the target's CPU time and shrinks with the cost of probes and of their records: when it
 * is used up, probes are to be switched off.
 */
#ifndef PHASES_LIVE_LIVE_BUDGET_H
#define PHASES_LIVE_LIVE_BUDGET_H

#include "phases/live/live_status.h"

struct live_budget {
    const struct live_options *options;    /* borrowed */
    const struct live_status *first, *now; /* borrowed: the first state with the agent ready, and the present one */
    double credit_ns, probes_ns;           /* probes: of all records so far */
    double recompilation_ns;               /* of changed classes: as expected, or measured if that was more */
    uint32_t n_batches;
    uint64_t n_records;
    /* Costs are compared over the time since the older mark, [0]: 0.5 to 1 times what the whole credit is for. */
    uint64_t mark_ns[2], mark_cpu_ns[2], mark_records[2];
    uint64_t charged_cpu_ns, charged_own_ns;
};

/* What a round has come to. */
struct live_charged {
    bool is_over; /* the credit is used up, and by probes, not by this program's own rounds only */
    bool is_mark; /* it is time for live_budget_mark */
};

/* With options, first and now set. */
void live_budget_begin(struct live_budget *b);

/* Charge what this round cost; n_records: of all rounds. */
struct live_charged live_budget_charge(struct live_budget *b, uint64_t n_records);
void live_budget_mark(struct live_budget *b);

/* The target's CPU time so far, and per second, in ns. */
double live_budget_cpu_ns(const struct live_budget *b);
double live_budget_cpu_ns_per_s(const struct live_budget *b);

/* All of the budget, in ns of CPU time: by the end of the recording, or of the first minute where that comes before. */
double live_budget_whole_ns(const struct live_budget *b);

/*
 * What is left of the budget, in ns of CPU time; less than 0: it was not enough.  Where it is known how long the
 * recording will be, of all its time (of PLANNED_AHEAD_S at most), less what it will go on to cost.
 */
double live_budget_left_ns(const struct live_budget *b);

/* What recompilation may cost now: of what is left, or in any case a part of the budget so far. */
double live_budget_recompilation_ns(const struct live_budget *b);

/*
 * What compiling all code again may take, in ns of CPU time, where the first batch discards it: of the budget of the
 * whole recording, or where nobody knows its end, of the first minute or of the time so far.
 */
double live_budget_discard_ns(const struct live_budget *b);

/* The share of the target's CPU time that probes, and what writes their records, may have. */
double live_budget_probes_share(const struct live_budget *b);

/* What one call of an enabled method costs, in ns: its pair of probes, and writing two records. */
double live_budget_call_ns(const struct live_budget *b);

/*
 * Is a batch within the budget now: have batches stopped the application for no longer than it allows of the time
 * elapsed, and is there something left of it, where the recording's end is known?
 */
bool live_budget_allows_batch(const struct live_budget *b);

#endif
