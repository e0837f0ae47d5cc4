/*
 * Shared by the files that make the report.
 */
#ifndef REPORT_REPORT_INTERNAL_H
#define REPORT_REPORT_INTERNAL_H

#include "report/estimates.h"
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
    const uint64_t *metrics;                /* the tree's; NULL: not known */
    const struct estimate_batches *batches; /* of the counters; NULL: none */
    const struct event_estimate *estimates; /* by event; NULL: of metrics and batches */
    double counted; /* the share of its time on the CPU in which the counters are known; negative: they are not */
};

/* The columns' indexes. */
struct layout {
    size_t label, time, self, calls, per_call, cpi, rates[EVENT_COLUMNS_MAX], off_cpu, faults, switches;
    size_t raw[EVENT_COLUMNS_MAX], counted, time_ns, self_ns, unwinds, open_calls, class_name, method, descriptor;
    /* Of groups that take turns; a lowest value stands before its highest. */
    size_t cpi_low, rates_low[EVENT_COLUMNS_MAX], raw_low[EVENT_COLUMNS_MAX], scaling[EVENT_COLUMNS_MAX];
};

struct making {
    const struct report_source *source;
    const struct report_wish *wish;
    struct table *table;
    struct shares shares;
    struct event_column events[EVENT_COLUMNS_MAX];
    size_t n_events;
    struct estimates_basis basis;                     /* of them */
    bool take_turns;                                  /* the groups of the counters do */
    const struct event_column *cycles, *instructions; /* measured, or NULL */
    struct layout at;
    const struct calltree_total **rows; /* the arena's */
    size_t n_rows;
    bool has_hardware;   /* some hardware event was measured */
    bool has_readings;   /* threads without probes were counted, too */
    const char *partly;  /* the rows that were counted in part of their time: the arena's, or NULL */
    const char *too_few; /* those of which too little was counted */
};

bool report_is_hardware(const struct event_column *event);

/*
 * Of the time of a row: more than this share without counters makes its counts and rates estimates from the rest, and
 * more than the second one its counts unknown.
 */
#define REPORT_UNCOUNTED_MAX 0.001
#define REPORT_SCALED_MAX    0.1

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
