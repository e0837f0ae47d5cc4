/*
 * How much the calls of a phase differ from each other, and the phases from each other (thesis §3.2.3).
 *
 * One observation is one call: of a recursive method the outermost one.  Calls that had not returned are none, nor are
 * those that were under way when their methods got probes.
 * Mean and variance of times come from exact sums, those of other metrics from Welford's method, so that memory does
 * not depend on the number of calls: per method and metric 24 bytes, and 32 batches.
 *
 * Calls that follow each other are often alike, and their number says little then.  So the error of a mean comes from
 * batches: 16 to 31 runs of consecutive calls, each as long; when 32 are full, pairs become one.  With y and x the sums
 * of a batch (time and calls, cycles and instructions) and n batches,
 *
 *     R = sum of y / sum of x        V(R) = n / (n - 1) * sum of (y - R x)^2 / (sum of x)^2       n - 1 degrees of
 * freedom
 *
 * Sources: Welford, Technometrics 4, 1962; batch means, Law & Kelton, Simulation Modeling and Analysis, section 9.5;
 * ratios, Cochran, Sampling Techniques, chapter 6.
 */
#ifndef PHASES_SELECT_STATISTICS_H
#define PHASES_SELECT_STATISTICS_H

#include "phases/samples/significance.h"
#include "phases/select/select.h"

#define STATISTICS_METRICS_MAX 32
#define STATISTICS_SUM_MAX     16 /* metrics of the tree that make one value */
#define STATISTICS_BATCHES     32
#define STATISTICS_BATCHES_MIN 5 /* fewer tell no error */

/* ---- how long calls take ---- */

/*
 * Quantiles from a histogram, and the longest call exactly.  Each power of two has 64 steps, so a quantile is at most
 * 0.8 % off; times below 64 ticks are exact.  A histogram takes 256 bytes for each power of two that occurs, 15 KB at
 * most.
 */
#define LATENCY_STEP_BITS 6u
#define LATENCY_STEPS     (1u << LATENCY_STEP_BITS)
#define LATENCY_OCTAVES   59u /* of 64 bits: the first one has the numbers below 64 */

/* All zero: no call yet. */
struct latency {
    uint64_t n, longest;
    uint32_t *octaves[LATENCY_OCTAVES]; /* owned: LATENCY_STEPS counts, or NULL; a count sticks at its highest value */
};

uint32_t *latency_new_octave(struct latency *latency, uint32_t octave);

static inline void latency_add(struct latency *latency, uint64_t ticks)
{
    uint32_t bits = ticks < LATENCY_STEPS ? 0 : 63u - (uint32_t)__builtin_clzll(ticks) - LATENCY_STEP_BITS;
    uint32_t octave = ticks < LATENCY_STEPS ? 0 : bits + 1;
    uint32_t *counts = latency->octaves[octave];
    if (counts == NULL)
        counts = latency_new_octave(latency, octave);
    uint32_t *count = &counts[(ticks >> bits) & (LATENCY_STEPS - 1)];
    *count += *count < UINT32_MAX;
    latency->n++;
    latency->longest = ticks > latency->longest ? ticks : latency->longest;
}

void latency_free(struct latency *latency);

/* What a part of the calls does not exceed, 0.5: the half of them.  In ticks; NAN where there is no call. */
double latency_quantile(const struct latency *latency, double part);

/* ---- calls ---- */

/* What one metric of a call is: its time, or a quotient of sums of the tree's metrics times a factor. */
struct statistics_metric {
    bool is_time; /* of the call, on the clock, in ticks; the rest is not used then */
    uint8_t tops[STATISTICS_SUM_MAX], bottoms[STATISTICS_SUM_MAX]; /* indexes of the tree's metrics */
    size_t n_tops, n_bottoms;
    double factor;
};

/* A call that has ended: from when to when, its time on the clock, and on a CPU. */
struct statistics_call {
    uint32_t thread, method;
    uint32_t value; /* a trace_value's id; 0: not known */
    uint64_t start_ticks, end_ticks;
    uint64_t ticks, cpu_ticks;
};

struct statistics_options {
    enum phases_clock clock;
    struct statistics_metric metrics[STATISTICS_METRICS_MAX];
    size_t n_metrics;
    bool has_quantiles_only; /* of times: there are no moments and no errors */
    /* Told of each observation, but those of virtual threads that were without a carrier meanwhile; or NULL. */
    void (*hear)(void *context, const struct statistics_call *call);
    void *context;
};

struct statistics;

struct statistics *statistics_open(const struct statistics_options *options);
void statistics_close(struct statistics *statistics); /* NULL is fine */

/* For calltree_options; it takes the application's threads.  Lives as long as the statistics. */
struct calltree_observer statistics_observer(struct statistics *statistics);

/* A method's calls; n is 0 where it had none that ended, or none that the metric is known for. */
struct moments statistics_moments(const struct statistics *statistics, uint32_t method, size_t metric);

/* The time of a method's calls, in ticks of the clock: what a part of them does not exceed (0.5: the half of them),
 * known to 0.8 %; and the longest one, exactly.  NAN: there was none, or time is no metric.
 */
double statistics_quantile(const struct statistics *statistics, uint32_t method, double part);
double statistics_longest(const struct statistics *statistics, uint32_t method);

/* How well a method's value of a metric over all its calls is known. */
struct statistics_error {
    double value;    /* R */
    double variance; /* V(R); NAN where there are fewer than STATISTICS_BATCHES_MIN batches */
    double df;
    uint64_t n_calls;
};

struct statistics_error statistics_error_of(const struct statistics *statistics, uint32_t method, size_t metric);

#endif
