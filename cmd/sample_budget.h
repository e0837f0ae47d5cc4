/*
 * What steers a run of mmprof sample from without: a limit on its cost, for which it samples more seldom, and a signal
 * that lets it rest (PEBSI §5.1.3, §5.1.4).
 */
#ifndef CMD_SAMPLE_BUDGET_H
#define CMD_SAMPLE_BUDGET_H

#include "core/recorder/stack_sampler.h"
#include "report/format/table.h"

struct sample_budget {
    double share;         /* limit: our CPU time by the JVM's, 0..1; 0: none */
    double stretch, most; /* periods are now so many times as long as those asked for; and were at most; 0: not yet */
    uint64_t own_ns, jvm_ns; /* CPU times when the cost was looked at last; 0: not since the beginning, or a pause */
    uint64_t own_sum_ns, jvm_sum_ns; /* between looks, without pauses */
    bool is_paused;
    uint64_t paused_ns, since_ns; /* in all, but for the pause since since_ns (CLOCK_MONOTONIC) */
    uint32_t n_pauses;
};

/* After a drain: look at the cost from time to time, and take samples more seldom, or as often as asked again. */
void sample_budget_round(struct sample_budget *budget, struct stack_sampler *sampler);

/* Rest, or go on, and say so. */
void sample_budget_pause(struct sample_budget *budget, struct stack_sampler *sampler);

/* What is to be known of both. */
void sample_budget_tell(const struct sample_budget *budget, struct table *table);

#endif
