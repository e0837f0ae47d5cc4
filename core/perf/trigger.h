/*
 * Which events take samples, and are read with them, from what the user writes behind -e: the first one takes them.
 * The CLI only (libpfm4).
 */
#ifndef CORE_PERF_TRIGGER_H
#define CORE_PERF_TRIGGER_H

#include "core/pmu/events.h"
#include "core/perf/perf_rings.h"

/*
 * Choose them, and see whether they count here, together.  Clocks and switches count in the kernel as well, unless the
 * name has a modifier.
 *
 * list    "cycles:precise=2,instructions"; 1 to COUNTERS_GROUP_MAX events
 * period  of the first one; 0: the kernel finds it for a frequency
 * set     out: their names and units; strings are the arena's
 *
 * Returns 0, or -1 with *err set: one of them is not known, does not count here, or not next to those before it.
 */
int trigger_choose(const char *list, uint64_t period, struct arena *arena, struct counter_set *set,
                   struct kernel_trigger *trigger, struct err *err);

/*
 * Events that take samples each by itself, some a second: clocks are refused.  At most COUNTERS_GROUP_MAX.
 *
 * codes  room for as many
 *
 * Returns 0, or -1 with *err set: one of them is not known, or takes no samples here.
 */
int trigger_choose_each(const char *list, struct arena *arena, struct counter_set *set, struct counter_code *codes,
                        struct err *err);

/* Can the PMU say at which instruction an event was (precise level 2, ":pp")? */
bool trigger_can_be_precise(const struct counter_spec *spec);

#endif
