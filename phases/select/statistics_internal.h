/* Shared by statistics*.c; nobody else includes it. */
#ifndef PHASES_SELECT_STATISTICS_INTERNAL_H
#define PHASES_SELECT_STATISTICS_INTERNAL_H

#include "phases/select/statistics.h"

/* The sums that make a metric's quotient. */
struct quotient {
    double top, bottom;
};

struct calls_batch {
    uint64_t n_calls;
    struct quotient of[]; /* by metric */
};

struct method_statistics {
    /* Of the calls' time, where that is a metric: exact, and quick to add to. */
    uint64_t ticks, ticks_before; /* of all; of those before the last batch */
    uint64_t batch_left;          /* calls that the last batch has room for */
    unsigned __int128 squares;
    struct latency latency;
    uint64_t batch_calls;
    uint32_t n_batches;
    struct moments moments[STATISTICS_METRICS_MAX]; /* of the other metrics */
    char batches[];                                 /* STATISTICS_BATCHES of batch_bytes */
};

/* A thread's clock and sums since its start, or since then up to a call's entry. */
struct statistics_snapshot {
    uint64_t moment, ticks, cpu_ticks, uncounted_ticks;
    struct quotient of[]; /* by metric; a time's is not used */
};

struct statistics_frame {
    uint64_t ticks; /* the clock at the entry */
    uint32_t method;
    bool is_none;  /* no observation: another call of the method is around it, or nobody saw when it began */
    bool has_left; /* it has been without a carrier */
};

/* The calls of a thread, or of a virtual thread, whose clock and sums go on when it is on a carrier.  All owned. */
struct calls_statistics {
    struct statistics_frame *frames;
    char *snapshots; /* by frame, snapshot_bytes each; NULL where nothing but times is asked for */
    uint32_t n_frames, frames_room, snapshots_room;
    struct statistics_snapshot *now; /* NULL: none yet */
};

struct statistics_thread {
    struct calls_statistics calls;   /* of who runs there */
    struct calls_statistics carrier; /* while that is a virtual thread */
    bool is_mounted;
    uint64_t ticks, cpu_ticks; /* the thread's clocks at its record before */
    uint32_t *n_active;        /* by method, in calls and carrier; owned */
    uint32_t n_active_room;
};

struct statistics {
    struct statistics_options options;
    size_t batch_bytes, snapshot_bytes;
    bool has_times_only;                /* no other metric, and nobody hears of single calls */
    struct method_statistics **methods; /* NULL: no call of it has ended */
    uint32_t n_methods;
    struct statistics_thread *threads;
    uint32_t n_threads;
    struct calls_statistics *unmounted; /* by ticket: left open by virtual threads */
    uint32_t n_unmounted;
};

/* ---- a method ---- */

/* A method that find_method() does not know yet. */
struct method_statistics *statistics_new_method(struct statistics *s, uint32_t index);

static inline struct method_statistics *find_method(struct statistics *s, uint32_t index)
{
    return index < s->n_methods && s->methods[index] != NULL ? s->methods[index] : statistics_new_method(s, index);
}

static inline struct calls_batch *batch_of(const struct statistics *s, const struct method_statistics *m, uint32_t i)
{
    return (struct calls_batch *)((char *)(uintptr_t)m->batches + i * s->batch_bytes);
}

/* The last batch is full, or there is none: begin another one. */
void statistics_begin_batch(const struct statistics *s, struct method_statistics *m);

static inline void add_to_batch(const struct statistics *s, struct method_statistics *m)
{
    if (m->batch_left == 0)
        statistics_begin_batch(s, m);
    m->batch_left--;
}

static inline void add_time(struct method_statistics *m, uint64_t ticks)
{
    m->ticks += ticks;
    m->squares += (unsigned __int128)ticks * ticks;
    latency_add(&m->latency, ticks);
}

#endif
