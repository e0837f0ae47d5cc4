/*
 * Where the threads' time goes, from the code locations at which the kernel's clock found them: interpreter, compiled
 * code, parts of libjvm.so (SA Figure 9), other libraries, the kernel; and in which functions.
 *
 * The kernel's switches tell how much CPU time the threads of each part of the VM used; IP samples only say where that
 * was.
 */
#ifndef REPORT_VIEW_WHERE_H
#define REPORT_VIEW_WHERE_H

#include "report/sample_cells.h"
#include "report/source.h"
#include "symbolize/code_locations.h"

struct where_events_reading;
struct where_reading;

/*
 * What events counted in each kind of code, from the IP samples that they took: cycles per instruction and misses of
 * the interpreter, of class loading, of each other part of the JVM (thesis §3.2.1, Figure 3.6).
 */

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

/* The rows: kinds of code, CODE_AT_VM as its sub-systems, and the kernel. */
#define WHERE_KERNEL (CODE_LOCATION_KINDS + VM_SUBSYSTEMS)
#define WHERE_ROWS   (WHERE_KERNEL + 1)

static inline size_t where_row(enum code_location_kind kind, enum vm_subsystem subsystem)
{
    return kind == CODE_AT_VM ? (size_t)CODE_LOCATION_KINDS + (size_t)subsystem : (size_t)kind;
}

struct where_function {
    uint32_t function;    /* number in code locations */
    double ns, kernel_ns; /* with what the kernel did for it; that alone */
    uint64_t n_ip_samples, n_most;
    struct code_location most; /* the most frequent line */
};

struct where {
    struct code_locations *locations; /* owned */
    uint64_t n_ip_samples, ip_samples[WHERE_ROWS][VM_PARTS];
    double part_ns[VM_PARTS];      /* CPU time of each part's threads */
    double ip_sample_ns[VM_PARTS]; /* that an IP sample stands for */
    double period_ns;              /* of the clock */
    bool has_kernel;            /* there are IP samples in the kernel; else time without IP samples is the kernel's */
    struct where_events events; /* that took samples, too */
    struct where_function *functions; /* owned; most time first */
    size_t n_functions;
};

/*
 * Before the pass over the trace: where is for where_free and *reading, the arena's, for where_close, in any case.
 * only_threads: a pattern (report/some_threads.h) for those whose time counts; NULL: all; borrowed.
 */
void where_begin(struct arena *arena, const char *only_threads, struct where *where, struct where_reading **reading);

/* For the listener of the trace, during the pass. */
void where_hear_location(struct where_reading *reading, const struct location_entry *entry);
void where_hear_ip_sample(struct where_reading *reading, const struct trace_event *event);
void where_hear_event_sample(struct where_reading *reading, const struct trace_event_sample *sample);

/* After it; source is what came of it.  Returns 0, or -1 with *err set: the trace has no IP samples. */
int where_end(struct where_reading *reading, const struct report_source *source, struct err *err);
void where_close(struct where_reading *reading); /* NULL is fine */
void where_free(struct where *where);

/* Time of a part's threads (VM_PARTS: of all) in a row, in ns. */
double where_ns(const struct where *where, size_t row, size_t part);

/* A row for each kind of code with time in it, a column for each part. */
void where_table(const struct report_source *source, const struct where *where, struct table *table);

/* A row for each function, at most 'top' (0: all). */
void where_hot_table(const struct report_source *source, const struct where *where, uint64_t top, struct table *table);

#endif
