/*
 * How a session's hardware events share the counters of this CPU: found out by opening them, not from a table.
 *
 * Thesis §3.1.2 runs a program again for every four events.  Here the events that do not fit at once become groups that
 * the kernel lets take turns; cycles and instructions are in each group, so that each has its own CPI, and rates per
 * instruction.
 */
#ifndef CORE_PMU_LAYOUT_H
#define CORE_PMU_LAYOUT_H

#include "core/pmu/events.h"

/*
 * Do n events (1..COUNTERS_GROUP_MAX) count together?  They are opened for a moment as one group of the calling thread.
 * Returns 0; EBUSY when they open but get no counters, because somebody else (the NMI watchdog) holds one; else the
 * errno of perf_event_open.
 */
int layout_try(const struct counter_code *codes, uint32_t n);

/*
 * Arrange the set's usable hardware events: cycles and instructions lead, each other event goes into the first group in
 * which it still counts.  What fits into one group is one.  An event that does not count next to cycles and
 * instructions gets a group with that one of them with which it does.
 *
 * Returns 0, layout->n_groups 0 when there is no such event; or -1 with *err set: an event cannot be opened any more,
 * the descriptors do not suffice, or there are too many groups.
 */
int layout_arrange(const struct counter_set *set, struct counter_layout *layout, struct err *err);

/* How many such events count together, at most COUNTERS_GROUP_MAX: the counters that one thread can get. */
uint32_t layout_group_size(const struct counter_code *code);

#endif
