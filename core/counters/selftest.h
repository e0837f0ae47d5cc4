/*
 * Does an event work here: it is opened, made to count by a known loop in this process, and read.  Names and tables of
 * PMUs promise more than a virtual machine, a container or a busy PMU keeps.
 */
#ifndef CORE_COUNTERS_SELFTEST_H
#define CORE_COUNTERS_SELFTEST_H

#include "core/counters/events.h"

#include <stdbool.h>

enum selftest_result {
    SELFTEST_REFUSED,  /* it does not open, or opens and is never given a counter */
    SELFTEST_SILENT,   /* it opens and stays 0 over a loop that computes, misses caches and TLBs, and mispredicts */
    SELFTEST_NO_READS, /* it counts, but user space may not read the counters: no use to a probe */
    SELFTEST_USABLE
};

/*
 * Try one event on this process; with a pid other than 0 also open it for that process or thread.  Derived events are
 * tried by opening what they are derived from.  For all but USABLE *err says why, and what to do.
 */
enum selftest_result selftest_event(const struct counter_spec *spec, pid_t pid, struct err *err);

/*
 * Which of n events (at most COUNTERS_GROUP_MAX) count together in one group: each is added if the kernel takes it and
 * the group still gets on the PMU.  Returns how many fit; fits[i] says which.
 */
size_t selftest_group(const struct counter_code *codes, size_t n, bool *fits);

/* How many such events the kernel takes into one group, at most COUNTERS_GROUP_MAX: the counters that one thread can
 * get. */
size_t selftest_group_size(const struct counter_code *code);

/* The loop: some milliseconds of arithmetic, cache, TLB and branch misses, in data and code.  Returns a sum. */
uint64_t selftest_exercise(void);

/*
 * The events of a session on process pid (0: oneself).  Each spec's 'why' is "" if it will be measured, else the
 * reason, complete with the next step, for a column that shows '-'.
 *
 * list NULL: the default set for this PMU (default_sets.h) as far as its events are usable and fit; without any
 * hardware event task-clock, page-faults and context-switches, next to cycles and instructions with the reason why they
 * are not counted, which *note says, too (else "").
 *
 * Returns 0, or -1 with *err set: the list is wrong, or its hardware events do not fit into one group (which do, is in
 * the text).
 */
int selftest_choose(const char *list, pid_t pid, struct arena *arena, struct counter_set *set, struct err *note,
                    struct err *err);

/*
 * Whether the set's usable hardware events count together in one group.  Returns 0, or -1 with *err set: it names those
 * that do and those that do not.
 */
int selftest_fit(const struct counter_set *set, struct err *err);

/* The codes of the set's usable hardware events, in order; codes holds COUNTERS_GROUP_MAX.  Returns how many. */
size_t selftest_codes(const struct counter_set *set, struct counter_code *codes);

/*
 * What one reading of the layout's groups costs in this process: in user space, and by system call (a read(2) for each
 * group).  SELFTEST_NO_COST stands for one that is not possible.  Takes some milliseconds.
 *
 * Returns 0, or -1 when the groups cannot be opened.
 */
int selftest_read_ns(const struct counter_layout *layout, double *user_ns, double *syscall_ns);

#define SELFTEST_NO_COST (-1.0)

#endif
