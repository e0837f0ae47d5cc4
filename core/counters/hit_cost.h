/*
 * What it costs a thread to be found by the kernel's CPU clock.
 */
#ifndef CORE_COUNTERS_HIT_COST_H
#define CORE_COUNTERS_HIT_COST_H

#include <stdint.h>

/*
 * Ns of its CPU time per hit, measured on this thread in about 15 ms of it: a loop with many hits against the same one
 * without, the quickest of several.  0: not known, the clock cannot be had.
 */
uint64_t kernel_hit_cost_ns(void);

#endif
