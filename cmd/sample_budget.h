/*
 * What steers a run of mmprof sample from without: a limit on its cost, for which it samples more seldom, and a signal
 * that lets it rest (PEBSI §5.1.3, §5.1.4).
 */
#ifndef CMD_SAMPLE_BUDGET_H
#define CMD_SAMPLE_BUDGET_H

#include "core/recorder/stack_sampler.h"
#include "report/format/table.h"

struct sample_budget {
    double share;            /* limit: what samples cost, by the JVM's CPU time, 0..1; 0: none */
    double stretch, most;    /* periods are now so many times as long as those asked for; and were at most */
    uint64_t own_ns, jvm_ns; /* CPU times when the cost was looked at last; 0: not since the beginning, or a pause */
    uint64_t n_samples;      /* then */
    uint64_t own_sum_ns, kernel_sum_ns, jvm_sum_ns; /* between looks, without pauses */
    uint64_t sample_ns;                             /* that a sample costs the thread that it is of, in the kernel */
    bool is_measured;                               /* this, and not what it is usually */
    bool is_paused;
    uint64_t paused_ns, since_ns; /* in all, but for the pause since since_ns (CLOCK_MONOTONIC) */
    uint32_t n_pauses;
};

/*
 * If there is a limit, before the sampler is opened: measure what a sample costs in the kernel, and begin with no more
 * of the clock's than half of the limit allows for that.
 */
void sample_budget_begin(struct sample_budget *budget, struct stack_sampler_options *how);

/* After a drain: look at the cost from time to time, and take samples more seldom, or as often as asked again. */
void sample_budget_round(struct sample_budget *budget, struct stack_sampler *sampler);

/* Rest, or go on, and say so. */
void sample_budget_pause(struct sample_budget *budget, struct stack_sampler *sampler);

/* What is to be known of both. */
void sample_budget_tell(const struct sample_budget *budget, struct table *table);

#endif
