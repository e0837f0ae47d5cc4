/*
 * How long calls take: quantiles from a histogram, the longest one exactly.
 *
 * Each power of two has 64 steps, so that what is said of a quantile is at most 0.8 % off; times below 64 ticks are
 * exact.  A histogram takes 256 bytes for each power of two that there is, 15 KB at most.
 */
#ifndef PHASES_SELECT_LATENCY_H
#define PHASES_SELECT_LATENCY_H

#include <stdint.h>

#define LATENCY_STEPS   64u
#define LATENCY_OCTAVES 59u /* of 64 bits: the first one has the numbers below 64 */

/* All zero: no call yet. */
struct latency {
    uint64_t n, longest;
    uint32_t *octaves[LATENCY_OCTAVES]; /* owned: LATENCY_STEPS counts, or NULL; a count sticks at its highest value */
};

/* Returns 0, or -1: no memory. */
int latency_add(struct latency *latency, uint64_t ticks);
void latency_free(struct latency *latency);

/* What a part of the calls does not exceed, 0.5: the half of them.  In ticks; NAN where there is no call. */
double latency_quantile(const struct latency *latency, double part);

#endif
