/*
 * How much of a process ran when: ticks by moment, in at most ACTIVITY_BINS equal steps, however long a recording is.
 */
#ifndef PHASES_TREE_ACTIVITY_H
#define PHASES_TREE_ACTIVITY_H

#include "core/base/err.h"

#include <stdint.h>

#define ACTIVITY_BINS 8192u /* of a minute: 7 ms each */

enum activity_kind {
    ACTIVITY_CPU,         /* all threads on CPUs */
    ACTIVITY_APPLICATION, /* of them the application's */
    ACTIVITY_WALL,        /* the threads that ran probes, as long as there was one, on a CPU or not */
    ACTIVITY_KINDS
};

struct activity {
    uint64_t start_ticks;
    uint32_t shift; /* a bin is 1 << shift ticks */
    uint64_t *bins; /* ACTIVITY_BINS + 1 for each kind; owned; NULL: there is none */
};

/* Returns 0, or -1 with *err set: no memory. */
int activity_open(struct activity *activity, uint64_t start_ticks, struct err *err);
void activity_close(struct activity *activity);

/* Something ran from one moment to another; what was before the start does not count. */
void activity_add(struct activity *activity, enum activity_kind kind, uint64_t from_ticks, uint64_t to_ticks);

/* No more is added: from now on activity_between answers. */
void activity_sum_up(struct activity *activity);

/* The ticks of all that ran between two moments; a bin that is partly between them counts by that part. */
double activity_between(const struct activity *activity, enum activity_kind kind, uint64_t from_ticks,
                        uint64_t to_ticks);

#endif
