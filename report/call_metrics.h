/* What is measured of single calls: time, CPI and misses per 1,000 instructions. */
#ifndef REPORT_CALL_METRICS_H
#define REPORT_CALL_METRICS_H

#include "phases/select/statistics.h"
#include "report/format/table.h"

struct call_metric {
    const char *name; /* "time/call", "CPI", or the event's heading */
    const char *key;  /* the column of the report's CSV and JSON that has it: "ns_per_call", "cpi", ... */
    const char *unit; /* "ns", "ratio", "per_1000_instructions" */
    enum table_unit format;
    const char *why; /* it was not measured; NULL: it was, as far as is known */
};

struct call_metrics {
    struct statistics_options options;
    struct call_metric of[STATISTICS_METRICS_MAX]; /* options.n_metrics of them; texts are the arena's */
};

/*
 * What its counters can tell of calls.
 *
 * outline  the trace's (trace_outline).
 */
void call_metrics_find(const struct trace_reader *outline, enum phases_clock clock, struct arena *arena,
                       struct call_metrics *metrics);

/* Now that all records are read: set why of those whose events never counted. */
void call_metrics_judge(struct call_metrics *metrics, const struct trace_reader *reader, const struct calltree *tree);

#endif
