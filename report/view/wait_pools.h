/*
 * Pools of threads whose tasks wait for results of other tasks, so that none of their threads is left to run these.
 */
#ifndef REPORT_VIEW_WAIT_POOLS_H
#define REPORT_VIEW_WAIT_POOLS_H

#include "core/base/hash.h"
#include "core/trace/trace.h"
#include "phases/samples/wait_search.h"

/* Threads with names that differ in their numbers only: "pool-1-thread-". */
struct wait_pool {
    const char *name; /* of its first thread; the trace's */
    size_t n_name;    /* up to the number */
    uint32_t n_threads;
    double result_ns, idle_ns, other_ns; /* waited for a result; without work; else */
};

/* All zero at first. */
struct wait_pools {
    struct wait_pool *all; /* owned */
    uint32_t n, room;
    struct hash_set of_thread; /* 1 + its number */
};

/* A thread did so; site: NULL: it was not looked at.  Returns 1 + the number of its pool; 0: it is of none. */
uint32_t wait_pools_hear(struct wait_pools *pools, const struct trace_wait *wait, const struct trace_thread *thread,
                         const struct wait_site *site);

/* Does a site wait for the result of a task? */
bool wait_pools_is_result(const struct wait_site *site);

/*
 * Do most of a pool's threads wait for results, while none is idle and no other pool works on them?
 *
 * number  as wait_pools_hear returned it
 */
bool wait_pools_is_starved(const struct wait_pools *pools, uint32_t number);

void wait_pools_free(struct wait_pools *pools);

#endif
