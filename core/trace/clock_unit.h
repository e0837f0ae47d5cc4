/*
 * In what steps a timestamp counter goes on: found from timestamps.
 */
#ifndef CORE_TRACE_CLOCK_UNIT_H
#define CORE_TRACE_CLOCK_UNIT_H

#include "core/base/std.h"

#define CLOCK_UNIT_SAMPLES 64 /* timestamps that it takes */

/*
 * Quarters of a tick, 0..3, to be added to the first of n timestamps, so that as many as possible of the next ones are
 * whole units after it; *n_fit of them are, itself included.
 */
uint32_t clock_unit_phase(const uint64_t *ticks, size_t n, uint32_t unit, size_t *n_fit);

/* The largest unit, in quarters of a tick, that fits all n timestamps, which do not go back; UNIT_TICK: no other. */
uint32_t clock_unit_find(const uint64_t *ticks, size_t n);

#endif
