/*
 * Does an event work here: it is opened, made to count by a known loop in this process, and read.  Names and tables of
 * PMUs promise more than a virtual machine, a container or a busy PMU keeps.
 */
#ifndef CORE_PMU_SELFTEST_H
#define CORE_PMU_SELFTEST_H

#include "core/pmu/events.h"

enum selftest_result {
    SELFTEST_REFUSED,  /* it does not open, or opens and is never given a counter */
    SELFTEST_SILENT,   /* it opens and stays 0 over a loop that computes, misses caches and TLBs, and mispredicts */
    SELFTEST_NO_READS, /* it counts, but a probe cannot read it: user space may not; a system call can */
    SELFTEST_USABLE
};

static inline bool selftest_counts(enum selftest_result result)
{
    return result == SELFTEST_NO_READS || result == SELFTEST_USABLE;
}

/*
 * Try one event on this process; with a pid other than 0 also open it for that process or thread.  Derived events are
 * tried by opening what they are derived from.  For all but USABLE *err says why, and what to do.  NO_READS is told
 * only of mmprof itself.
 */
enum selftest_result selftest_event(const struct counter_spec *spec, pid_t pid, struct err *err);

/* Can probes read such groups, in user space?  If not, append ": REASON" and the next step to err's text. */
bool selftest_user_reads(const struct counter_layout *layout, struct err *err);

/* The loop: some milliseconds of arithmetic, cache, TLB and branch misses, in data and code.  Returns a sum. */
uint64_t selftest_exercise(void);

/*
 * The events of a session on process pid (0: oneself).  Each spec's 'why' is "" if it will be measured, else the
 * reason, complete with the next step, for a column that shows '-'.
 *
 * list NULL: the default set for this PMU (default_sets.h) as far as its events are usable; without any hardware event
 * task-clock, page-faults and context-switches, next to cycles and instructions with the reason why they
 * are not counted, which *note says, too (else "").
 *
 * Returns 0, or -1 with *err set: the list is wrong.  How the hardware events share the counters is another matter:
 * layout_arrange.
 */
int selftest_choose(const char *list, pid_t pid, struct arena *arena, struct counter_set *set, struct err *note,
                    struct err *err);

/*
 * What one reading of the layout's groups costs in this process: in user space, and by system call (a read(2) for each
 * group).  SELFTEST_NO_COST stands for one that is not possible.  Takes some milliseconds.
 *
 * Returns 0, or -1 when the groups cannot be opened.
 */
int selftest_read_ns(const struct counter_layout *layout, double *user_ns, double *syscall_ns);

#define SELFTEST_NO_COST (-1.0)

#endif
