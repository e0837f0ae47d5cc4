/*
 * A thread's counters, read by system call (1.8 us a group): from outside by the recorder, for any thread; or by the
 * thread itself.  libc only, no malloc.
 */
#ifndef CORE_PMU_OUTSIDE_H
#define CORE_PMU_OUTSIDE_H

#include "core/pmu/read.h"
#include "core/pmu/simulated.h"

/* The descriptors of one thread's groups. */
struct counters_outside {
    uint32_t n_slots;   /* 0: not open */
    bool has_first;     /* missed_ns is set */
    uint64_t missed_ns; /* one group: the time that it was enabled and did not count, at the first reading */
    /* Owned, by slot; -1: a member whose leader was adopted. */
    int fds[COUNTERS_SLOTS_MAX];
    struct simulated_thread simulated; /* of simulated events, instead of the descriptors */
};

/*
 * Open the layout's groups for a thread (0: the calling one): they count at once and are not mapped.  Each slot takes a
 * descriptor.  Returns 0, or -1 with *failure set and nothing open.
 */
int counters_outside_open(struct counters_outside *outside, const struct counter_layout *layout, pid_t tid,
                          struct counters_failure *failure);

/* Take over the leaders' descriptors, one for each group, of groups that a thread opened with counters_thread_open. */
void counters_outside_adopt(struct counters_outside *outside, const struct counter_layout *layout,
                            const int *leader_fds);

/*
 * The counters' values: the same columns as counters_thread_read gives, and of adopted groups the same series.  Returns
 * whether they are valid: not with one group that had to wait since the first reading, nor when a descriptor cannot be
 * read, or the thread has closed the members of adopted groups.
 */
bool counters_outside_read(struct counters_outside *outside, const struct counter_layout *layout, uint64_t *columns);

/* The same of simulated events.  since_base: the series that the thread's probes read, else since the thread began. */
void counters_outside_simulated(struct counters_outside *outside, const struct counter_layout *layout,
                                const struct simulated_thread *thread, bool since_base);

/* Does nothing when not open. */
void counters_outside_close(struct counters_outside *outside);

#endif
