/*
 * Shared by the files that make the report.
 */
#ifndef REPORT_REPORT_INTERNAL_H
#define REPORT_REPORT_INTERNAL_H

#include "report/event_columns.h"
#include "report/phase_report.h"
#include "report/shares.h"

/* One row's values before any division. */
struct values {
    const char *label, *kind;
    struct java_name name;
    double time_ticks, self_ticks; /* negative: not applicable */
    double cpu_ticks;              /* inclusive: what faults and switches are divided by */
    double off_cpu_ticks;          /* inclusive; negative: not known */
    double calls;                  /* negative: not applicable */
    double unwinds, n_open;
    const uint64_t *metrics; /* the tree's n_metrics; NULL: not known */
    size_t n_metrics;        /* how many of them are: CALLTREE_COUNTERS where no probes ran */
    double counted;          /* the share of its time on the CPU in which the counters are known */
};

/* The columns' indexes. */
struct layout {
    size_t label, time, self, calls, per_call, cpi, rates[TRACE_COUNTERS_MAX], off_cpu, faults, switches;
    size_t raw[TRACE_COUNTERS_MAX], counted, time_ns, self_ns, unwinds, open_calls, class_name, method, descriptor;
};

struct making {
    const struct report_source *source;
    const struct report_wish *wish;
    struct table *table;
    struct shares shares;
    struct event_column events[TRACE_COUNTERS_MAX];
    size_t n_events;
    const struct event_column *cycles, *instructions; /* measured, or NULL */
    struct layout at;
    const struct calltree_total **rows; /* the arena's */
    size_t n_rows;
    bool has_hardware;  /* some hardware event was measured */
    const char *partly; /* the phases that were counted in part of their time: the arena's, or NULL */
};

bool report_is_hardware(const struct event_column *event);

/* Of the time of a row: more than this share without counters makes its counts unknown, its rates an estimate. */
#define REPORT_UNCOUNTED_MAX 0.001

/* The share of cpu_ticks in which the counters are known, by the metrics of that time. */
double report_counted(const struct making *making, const uint64_t *metrics, uint64_t cpu_ticks);

/* Add the columns, and note where they are. */
void report_columns(struct making *making);

/* Add a row; after_rule: with a rule before it. */
void report_row(struct making *making, const struct values *v, bool after_rule);

/* The rows of the phases, sorted.  Returns 0, or -1 with *err set: an unknown key, no memory. */
int report_phase_rows(struct making *making, struct err *err);

/* The application's other code, the parts of the VM, mmprof, the total. */
void report_other_rows(struct making *making);

#endif
