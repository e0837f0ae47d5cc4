/* Moments in ticks and in CLOCK_MONOTONIC_RAW, and the way from one to the other.  Both run at constant rates. */
#ifndef CORE_RECORDER_CLOCK_H
#define CORE_RECORDER_CLOCK_H

#include "core/base/ticks.h"

struct clock_point {
    uint64_t ticks, monotonic_ns, realtime_ns;
};

/* Read the clocks between two timestamps, and take the closest pair of several. */
static inline struct clock_point clock_point_now(void)
{
    struct clock_point best = { 0, 0, clock_ns(CLOCK_REALTIME) };
    uint64_t best_width = UINT64_MAX;
    for (int i = 0; i < 8; i++) {
        uint64_t before = ticks_now(), ns = clock_ns(CLOCK_MONOTONIC_RAW), after = ticks_now();
        if (after - before < best_width) {
            best_width = after - before;
            best.ticks = before + (after - before) / 2;
            best.monotonic_ns = ns;
        }
    }
    return best;
}

/* The ticks of a moment in ns, seen from a near point; the rate comes from two points that are far apart. */
static inline uint64_t clock_ticks(uint64_t ns, const struct clock_point *near, const struct clock_point *first,
                                   const struct clock_point *last)
{
    if (last->monotonic_ns <= first->monotonic_ns)
        return near->ticks;
    double rate = (double)(last->ticks - first->ticks) / (double)(last->monotonic_ns - first->monotonic_ns);
    double distance = (double)(int64_t)(ns - near->monotonic_ns) * rate;
    return near->ticks + (uint64_t)(int64_t)distance;
}

#endif
