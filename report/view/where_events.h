/*
 * What events counted in each kind of code, from the IP samples that they took: cycles per instruction and misses of
 * the interpreter, of class loading, of each other part of the JVM (thesis §3.2.1, Figure 3.6).
 */
#ifndef REPORT_VIEW_WHERE_EVENTS_H
#define REPORT_VIEW_WHERE_EVENTS_H

#include "report/sample_ratios.h"
#include "report/source.h"
#include "symbolize/code_locations.h"

#define WHERE_EVENTS_MAX   (TRACE_SAMPLE_COUNTERS_MAX + 1)
#define WHERE_EVENTS_LEAST 10u /* samples of which a ratio can be told */

/* What samples of one event stand for. */
struct where_count {
    uint64_t n;
    double sum, squares; /* of their weights */
};

struct where_events {
    uint32_t n; /* 0: the trace has none; event 0 is the CPU clock, in ns, which is counted elsewhere */
    const char *names[WHERE_EVENTS_MAX];
    const char *why_not;                          /* or NULL */
    struct where_count (*rows)[WHERE_EVENTS_MAX]; /* by row of where; the last one has all */
};

/* Samples by thread, code and event, before it is known which code that is. */
struct where_events_reading;
struct where_events_reading *where_events_begin(struct arena *arena);
void where_events_hear(struct where_events_reading *reading, const struct trace_event_sample *sample);

/* only_threads: as of where_begin. */
void where_events_end(struct where_events_reading *reading, const struct report_source *source,
                      const char *only_threads, struct code_locations *locations, struct where_events *events);
void where_events_close(struct where_events_reading *reading); /* NULL is fine */

/* A ratio of a row, and half of its 95 % interval; NAN: there are too few samples. */
struct where_ratio {
    double value, error;
};

/* clock: what stands for event 0 in the row. */
struct where_ratio where_events_ratio(const struct where_count *row, const struct where_count *clock,
                                      const struct sample_ratio_kind *kind);

#endif
