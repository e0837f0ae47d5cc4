/*
 * What the events of a trace become in a report: CPI, misses per 1,000 instructions under the thesis' headings.
 */
#ifndef REPORT_EVENT_COLUMNS_H
#define REPORT_EVENT_COLUMNS_H

#include "core/base/arena.h"
#include "core/counters/event_roles.h"
#include "core/trace/trace.h"

struct event_column {
    const char *name;    /* as the user wrote it; the reader's */
    const char *heading; /* "L1-D", or the name itself */
    const char *why;     /* "" when it was measured; the reader's */
    enum event_role role;
    int recorded; /* index among the recorded counters, or -1 */
};

/* The trace's events; columns has room for TRACE_COUNTERS_MAX.  Returns how many. */
size_t event_columns(const struct trace_reader *reader, struct event_column *columns);

/* The measured event of a role, or NULL. */
const struct event_column *event_column_measured(const struct event_column *columns, size_t n, enum event_role role);

#endif
