/* Clocks of the system. */
#ifndef CORE_AGENT_CLOCK_H
#define CORE_AGENT_CLOCK_H

#include "core/base/std.h"

static inline uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static inline double clock_ms(clockid_t clock)
{
    return (double)clock_ns(clock) / 1e6;
}

#endif
