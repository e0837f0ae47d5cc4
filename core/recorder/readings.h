/*
 * Threads' counters, read by the recorder from outside: of the VM's threads and of those that have run no probe yet
 * through events of its own, of the others through those that their probes read.  So long calls are cut into several
 * measured intervals, and all threads together add up to the process.
 *
 * A thread that has run is read at most every 10 ms; more seldom where that would be more than 2,000 readings a second
 * or 0.5 % of a CPU in all.
 */
#ifndef CORE_RECORDER_READINGS_H
#define CORE_RECORDER_READINGS_H

#include "core/pmu/outside.h"
#include "core/recorder/session.h"
#include "core/recorder/threads.h"

/* Series of values: they continue each other within one (mmprof.trace(5)). */
enum readings_series { READINGS_OWN = 0, READINGS_PROBES = 1, READINGS_OWN_AGAIN = 2 };

struct readings_plan {
    const struct counter_layout *layout; /* n_groups 0: nothing is read; borrowed */
    bool without_probes;                 /* probes do not read the counters: threads with a ring are counted, too */
    const struct recorder_simulation *simulation; /* the layout's events are of it; borrowed, or NULL */
};

struct reading_thread;
struct pending_reading;

/* What a thread of the target handed over with its ring. */
struct readings_handed {
    int32_t tid; /* in the target's own PID namespace */
    struct counters_outside outside;
};

struct readings {
    struct readings_plan plan;
    uint32_t n_columns;
    struct session *session;     /* borrowed */
    struct threads *threads;     /* borrowed */
    struct reading_thread **all; /* owned, by a thread's index; elements owned */
    uint32_t n_all;
    struct readings_handed *handed;  /* owned, by a ring's number */
    struct pending_reading *pending; /* owned: of this round */
    uint64_t *values;                /* owned: theirs */
    size_t n_pending, room;
    uint32_t next;                        /* the thread whose turn it is */
    int64_t credit_ns, credit_x1000;      /* CPU time, and readings times 1000, that may be spent */
    uint64_t round_ns;                    /* when the latest round was */
    uint64_t first_ticks;                 /* when the first one was; 0: not yet */
    int highest_fd;                       /* own events take no descriptor above it */
    bool is_last;                         /* from now on: read all that is open, whatever it costs */
    uint64_t n_read, n_dropped, spent_ns; /* in all; dropped: a record came in between */
    uint32_t n_without;                   /* threads that could not be read */
    char why[256];                        /* the first one's reason, or "" */
};

/* Returns 0, or -1 with *err set. */
void readings_init(struct readings *readings, const struct readings_plan *plan, struct session *session,
                   struct threads *threads);

/* Disable what the threads handed over, too: their own mappings would keep it counting. */
void readings_close(struct readings *readings);

/* A thread's WIRE_COUNTERS with its descriptors, which are taken over. */
void readings_hand_over(struct readings *readings, const struct wire_message *told, const int *fds, size_t n_fds);

/* Is anything read at all? */
bool readings_are_active(const struct readings *readings);

/* Read those whose turn it is, before the snapshot of the rings. */
void readings_take(struct readings *readings, uint64_t now_ns);

/*
 * After it, when the round's threads and their rings are known: begin with new threads, end with those that have ended
 * or have a ring now.  Returns 0, or -1 with *err set.
 */
void readings_follow(struct readings *readings);

/* A thread has ended, and its index is another's from now on. */
void readings_forget(struct readings *readings, uint32_t thread);

/* Write the round's readings, when the threads are written.  Returns 0, or -1 with *err set. */
int readings_write(struct readings *readings, struct trace_writer *writer, struct err *err);

#endif
