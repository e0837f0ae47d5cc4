/*
 * Why and where the application's threads were off the CPU: the rows of the views 'waits' and 'locks', and of all that
 * is concluded from them.
 *
 * The recorder visits the threads some times a second; each visit stands for the time since the one before.  So a time
 * waited is an estimate, with an interval from blocks of time (phases/samples/sample_profile.h), and the sum of all
 * rows is the wall time of the threads that were visited.
 */
#ifndef REPORT_VIEW_WAITS_H
#define REPORT_VIEW_WAITS_H

#include "core/base/hash.h"
#include "core/trace/trace.h"
#include "phases/samples/wait_search.h"
#include "report/wait_sites.h"
#include "report/format/table.h"
#include "report/view/virtual_waits.h"
#include "report/source.h"

struct waits_reading;

/* A cause and a method that waited; of monitors and locks, of one class. */
struct wait_row {
    enum trace_cause cause;    /* ON_CPU: it did not wait; READY: it was ready to run; of neither is it known where */
    bool is_idle;              /* for work: waiting_samples.h */
    struct method_name where;  /* the innermost method of the program's own; its class is NULL: none, or not known */
    struct method_name called; /* what that called, or where it is none, the thread was in; the same */
    const char *lock_class;    /* of the monitor or lock, "java.util.HashMap"; NULL: not known, or another cause */
    uint64_t ns;               /* waited, all threads */
    double share;              /* of the wall time of all threads, 0..1 */
    double error;              /* of that: half its 95 % interval; NAN: not known, or as READY exact */
    uint64_t n;                /* visits that met it */
    uint32_t n_threads;        /* that waited so at some time */
    double mean_waiting;       /* threads at a time: ns by the time of the recording */
    uint32_t max_waiting;      /* at one visit; each thread with a wait of its own */
    bool is_task;              /* in a task of a pool, whose threads wait for others, too */
    bool is_shallow;           /* each time, and in no such task: wait_search.h */
    bool is_starved;           /* for results of tasks, as all threads of its pool do: wait_pools.c */
    /* of monitors and locks */
    struct method_name holder; /* where the owner was for most of ns; its class is NULL: not known */
    struct method_name taker;  /* what took the lock, as far as the owner's stack tells; the same */
    double taker_share;        /* of ns, with a lock that this took */
    double holder_share;       /* of ns, with the owner there: it waited, or had a CPU sample not 50 ms away; 0..1 */
};

/* All of it lives in the arena. */
struct waits {
    struct wait_row *rows; /* those that are idle last; else the longest first */
    size_t n;
    uint64_t wall_ns;   /* of all threads */
    uint64_t waited_ns; /* of that, in rows that are not idle, nor ON_CPU */
    uint64_t n_visits;  /* 0: the trace has none */
    uint32_t n_threads;
    struct virtual_waits virtuals;
};

static inline bool wait_row_is_lock(const struct wait_row *row)
{
    return row->cause == TRACE_CAUSE_MONITOR || row->cause == TRACE_CAUSE_LOCK;
}

/*
 * What hears the waits of a trace.
 *
 * reader, sites  of the trace; borrowed until the end
 * only_threads   the names of those that count (report/some_threads.h); NULL: all; borrowed
 */
void waits_begin(struct waits_reading **reading, const struct trace_reader *reader, struct wait_sites *sites,
                 const char *only_threads);
void waits_hear(struct waits_reading *reading, const struct trace_wait *wait);
void waits_hear_virtual(struct waits_reading *reading, const struct trace_virtual_wait *wait);
void waits_hear_sample(struct waits_reading *reading, const struct trace_sample *sample); /* tells where owners ran */

/* After the pass. */
void waits_end(struct waits_reading *reading, const struct report_source *source, struct waits *waits);
void waits_close(struct waits_reading *reading); /* NULL is fine */

/* Pools of threads whose tasks wait for results of other tasks, so that none of their threads is left to run these. */

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

/* Did threads of a pool wait for work at some time?  A thread that never comes back to its pool runs a loop. */
bool wait_pools_has_idle(const struct wait_pools *pools, uint32_t number);

void wait_pools_free(struct wait_pools *pools);

/* What a row waited, by cause, for the tables of groups and of values. */

/* A member of a row's struct. */
struct wait_causes {
    const char *most;        /* "monitor 12.3 s": the cause of most of it; NULL: nothing was waited */
    double ns[TRACE_CAUSES]; /* NAN: not known */
};

struct wait_causes wait_causes_unknown(void);
struct wait_causes wait_causes_of(const double *ns, bool is_known, struct arena *arena);

/* A column for each cause but ON_CPU, as "monitor_ns", not in text; offset: of the member in the row's struct. */
void wait_causes_columns(size_t offset, struct table *table);

/* "java.util.LinkedHashMap" is LinkedHashMap; NULL is NULL. */
const char *wait_short_class(const char *name);

/* "a monitor (Tariffs) that Tariffs.refresh holds while in Database.read (socket I/O)", as far as it is known. */
const char *wait_lock_words(const struct waits *waits, const struct wait_row *row, struct arena *arena);

/* The CPU quota of the program's container, and for how long it stopped the program. */

struct quota {
    double cpus; /* that it allows; 0: there is none, or the trace does not say */
    double n_throttled, throttled_ns;
};

struct quota quota_read(const struct report_source *source);

/* "the container's CPU quota (0.20 CPUs) stopped the program 104 times for 7.10 s". */
const char *quota_words(const struct report_source *source, const struct quota *quota);

/* Did it stop the program for more than 1 % of its CPU time? */
bool quota_is_noted(const struct report_source *source);

/* For times off the CPU: a note, if so. */
void quota_note(const struct report_source *source, struct table *table);

#endif
