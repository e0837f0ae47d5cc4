/*
 * Clocks of the plugin, in ns.
 */
#ifndef CORE_EMU_PLUGIN_SIM_CLOCK_H
#define CORE_EMU_PLUGIN_SIM_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t sim_clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static inline uint64_t sim_clock_now_ns(void)
{
    return sim_clock_ns(CLOCK_MONOTONIC);
}

/* What looking up takes is this thread's CPU time, a share of all threads': on a busy machine they wait, too. */
static inline uint64_t sim_clock_own_ns(void)
{
    return sim_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static inline uint64_t sim_clock_cpu_ns(void)
{
    return sim_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

#endif
