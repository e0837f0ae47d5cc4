/*
 * A thread's simulated counters, which a simulator keeps: core/emu/run opens and reads them, where it is linked.
 *
 * An event's code has the type COUNTERS_SIMULATED; config is a set of bits, one for each count of enum sim_count that
 * belongs to it: the event is their sum.  SIMULATED_CYCLES alone is the sum of all costs.
 *
 * With windows there are two groups, whose times are not ns but instructions: the first has all instructions, and
 * counts all the time; the second has the events, and counts in windows.
 */
#ifndef CORE_PMU_SIMULATED_H
#define CORE_PMU_SIMULATED_H

#include "core/pmu/perf_open.h"

#define SIMULATED_CYCLES (UINT64_C(1) << 63)

struct sim_slot;
struct sim_costs;

struct simulated_thread {
    struct sim_slot *slot; /* NULL: not open; shared memory, borrowed */
    const struct sim_costs *cost;
    bool since_base; /* what was counted since the agent began to read */
    bool is_aside;
    _Atomic uint32_t *is_paused; /* in the slot: while it is set, the thread is not counted */
    /* The layout's events, as many as it has. */
    void (*read)(const struct simulated_thread *thread, const struct counter_layout *layout, uint64_t *columns);
    /* By the thread that opened them. */
    void (*close)(struct simulated_thread *thread);
};

#endif
