/*
 * The names of simulated events.  In traces and tables they are "simulated::cycles" and so on.
 */
#ifndef CORE_PMU_SIMULATED_EVENTS_H
#define CORE_PMU_SIMULATED_EVENTS_H

#include "core/base/arena.h"
#include "core/pmu/events.h"

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
