/*
 * A thread's counters inside the target: opened at the thread's first probe, read by each of its probes, and shared
 * with the recorder, which reads them from outside between the probes.
 *
 * No malloc, no locks; system calls when a thread's counters are opened and closed, and in reads by system call.
 */
#ifndef CORE_AGENT_COUNTING_H
#define CORE_AGENT_COUNTING_H

#include "core/wire/config.h"
#include "core/pmu/outside.h"
#include "core/pmu/read.h"
#include "core/wire/ring.h"

#include <stdatomic.h>

struct counting_calls;

/* What a session counts; plain data. */
struct counting_plan {
    struct counter_layout layout; /* n_groups 0: nothing */
    bool by_call;                 /* read by system call, for which all descriptors stay open */
};

/* What a configuration wants counted.  Returns 0, or -1 with *err set: it is too much. */
int counting_plan_make(struct counting_plan *plan, const struct agent_config *config, struct err *err);

/* One thread's, in its own memory; zeroed: not open. */
struct counting_thread {
    struct counters_thread pages;        /* read in user space; or */
    struct counting_calls *calls;        /* by system call; owned mapping; or */
    struct simulated_thread simulated;   /* with the layout: */
    const struct counter_layout *layout; /* borrowed from the plan */
    /* While they do not open because somebody else's (the recorder's, for some ms) hold the counters: */
    uint32_t n_tries, tried_ms;
};

/* From now on threads count by this plan (copied) and hand their descriptors over to the socket (-1: to nobody). */
void counting_begin(const struct counting_plan *plan, int socket);

/* Tell the recorder that a ring fills; never waits. */
void counting_say_full(void);

/* Nobody uses the socket any more when this returns. */
void counting_end(void);

/*
 * Open the session's counters for the calling thread, whose ring has the given number, and hand them over; the ring
 * tells whether they are open.  What does not open now may open later, in counting_read.
 */
void counting_open(struct counting_thread *counting, struct ring *ring, uint32_t number);

/* By another plan and for nobody else.  Returns 0, or -1 with *failure set and nothing open. */
int counting_open_private(struct counting_thread *counting, const struct counting_plan *plan,
                          struct counters_failure *failure);

/* The values at 'ticks', now, as counter_layout_columns counts them.  Returns whether they are valid. */
bool counting_read(struct counting_thread *counting, struct ring *ring, uint32_t number, uint64_t ticks,
                   uint64_t *values);

/*
 * A simulator does not count what is between them, nor does it leave anything in the simulated caches.  Both in the
 * same function: a return without its call would be mispredicted.
 */
static inline void counting_pause(const struct counting_thread *counting)
{
    if (counting->simulated.slot != NULL)
        atomic_store_explicit(counting->simulated.is_paused, 1, memory_order_relaxed);
}

static inline void counting_resume(const struct counting_thread *counting)
{
    if (counting->simulated.slot != NULL)
        atomic_store_explicit(counting->simulated.is_paused, 0, memory_order_relaxed);
}

/* Does nothing when not open. */
void counting_close(struct counting_thread *counting);

#endif
