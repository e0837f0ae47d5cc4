/*
 * After how much of an event a thread on a CPU is sampled, what a sample so stands for, and what other events counted
 * since the sample before.
 *
 * A period is drawn at random for each event, from half of the one wanted to twice as much (perf_rings_drawn), so that
 * a program that does the same again and again is not in step with it.  Of a thread on a CPU it is drawn again after 40
 * samples; a thread that starts later has that of its parent.
 *
 * Of a CPU there are two clocks of twice the period each, drawn for themselves every half a second or so: what one of
 * them has more than the other says how far both are off (phases/samples/sample_profile.h).  What had passed of their
 * periods is lost then, and nothing is taken until the new ones are over: the first sample stands for half a period
 * more.
 */
#ifndef CORE_RECORDER_SAMPLE_PERIODS_H
#define CORE_RECORDER_SAMPLE_PERIODS_H

#include "core/base/arena.h"
#include "core/base/hash.h"
#include "core/perf/perf_rings.h"

/* A thread on a CPU: its events count by themselves. */
struct sample_series {
    uint64_t key;
    struct kernel_values last;
};

/* An event that takes samples. */
struct drawn_event {
    uint64_t event_id;
    uint64_t period;   /* that it has been given since; 0: none */
    uint64_t since_ns; /* CLOCK_MONOTONIC_RAW */
    uint32_t half;     /* of a CPU: which of its clocks */
    uint32_t n;        /* samples since */
    int32_t tid;       /* whose own it is */
};

struct sample_periods {
    uint64_t wanted;             /* of a trigger that the kernel finds the period for, the frequency */
    bool is_clock, is_frequency; /* is_frequency: of which the kernel finds the period */
    bool has_cpus;               /* the caller's: the events are CPUs' clocks */
    uint32_t n_draws;            /* of these */
    uint64_t drawn_ns;           /* the latest */
    struct drand48_data random;
    struct hash_set by_series, by_event;
    struct sample_series *series; /* owned */
    struct drawn_event *drawn;    /* owned */
    uint32_t n_cpus;              /* the highest number of one that had a sample, and 1 */
    size_t n_series, series_room, n_drawn, drawn_room;
};

/* hz: where the trigger has no period.  To be freed by sample_periods_free. */
void sample_periods_init(struct sample_periods *periods, const struct kernel_trigger *trigger, uint32_t hz);
void sample_periods_free(struct sample_periods *periods);

/* What a sample stands for: ns, or events. */
uint64_t sample_periods_weight(struct sample_periods *periods, const struct kernel_event *sample);

/*
 * What the trigger and the events read with it counted since this thread's sample before on this CPU.  Returns how many
 * events there are; 0: none.
 */
uint32_t sample_periods_counters(struct sample_periods *periods, const struct kernel_event *sample,
                                 uint64_t counters[KERNEL_VALUES_MAX]);

/* A thread has ended: what is kept of it is given back, and another one with its number counts from 0. */
void sample_periods_forget(struct sample_periods *periods, int32_t tid);

/*
 * Take samples more seldom, or more often: of now on the periods wanted are so many times as long.  All are drawn
 * again.
 */
void sample_periods_stretch(struct sample_periods *periods, double times);

/* Draw those that it is time for.  After a drain, so that what was sampled by then has its period. */
void sample_periods_draw(struct sample_periods *periods, struct perf_rings *rings);

#endif
