/*
 * A thread's simulated counters, which a simulator keeps: core/emu/run opens and reads them, where it is linked.
 *
 * An event's code has the type COUNTERS_SIMULATED; config is a set of bits, one for each count of enum sim_count that
 * belongs to it: the event is their sum.  With SIMULATED_CYCLES it is the sum of their costs; alone, that of all.
 *
 * With windows there are two groups, whose times are not ns but instructions: the first has all instructions, and
 * counts all the time; the second has the events, and counts in windows.
 */
#ifndef CORE_PMU_SIMULATED_H
#define CORE_PMU_SIMULATED_H

#include "core/base/arena.h"
#include "core/pmu/events.h"
#include "core/pmu/perf_open.h"

struct sim_slot;
struct sim_costs;

#define SIMULATED_CYCLES (UINT64_C(1) << 63)

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

/* The names of simulated events.  In traces and tables they are "simulated::cycles" and so on. */

#define SIMULATED_PREFIX "simulated::"

/* Names without the prefix; name NULL ends the table. */
struct simulated_event {
    const char *name, *description;
    uint64_t set; /* as in simulated.h */
    bool is_default;
};
extern const struct simulated_event simulated_events[];

/*
 * The events of a list separated by commas, with or without the prefix; task-clock, page-faults and context-switches,
 * too, which are not simulated.  NULL: the default ones.  Their layout is one group.  Returns 0, or -1 with *err set.
 */
int simulated_choose(const char *list, struct arena *arena, struct counter_set *set, struct counter_layout *layout,
                     struct err *err);

/* Does a sample of the caches' sets make an estimate of this event (with the prefix)?  Of others it counts all. */
bool simulated_is_of_sets(const char *name);

/*
 * Let what simulated_choose chose be counted in sampling windows: two groups, as simulated.h says.  Instructions, over
 * which the rates are, join the set if they are not in it.  Returns 0, or -1 with *err set.
 */
int simulated_choose_windows(struct arena *arena, struct counter_set *set, struct counter_layout *layout,
                             struct err *err);

#endif
