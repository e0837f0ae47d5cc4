/* What the events of a trace become in a report: CPI, misses per 1,000 instructions under the thesis' headings. */
#ifndef REPORT_EVENT_COLUMNS_H
#define REPORT_EVENT_COLUMNS_H

#include "core/base/arena.h"
#include "core/pmu/event_roles.h"
#include "core/trace/trace.h"
#include "phases/tree/calltree.h"
#include "phases/tree/estimate.h"

#define EVENT_COLUMNS_MAX 64

struct event_column {
    const char *name;    /* as the user wrote it; the reader's */
    const char *heading; /* "L1-D", or the name itself */
    const char *why;     /* "" when it was measured; the reader's */
    enum event_role role;
    uint32_t n_recorded; /* in so many groups; 0: not in records */
    struct {
        uint8_t column; /* among the recorded counters */
        uint8_t group;
    } recorded[ESTIMATE_GROUPS_MAX];
};

/*
 * The trace's events, each once, in however many groups it is; columns has room for EVENT_COLUMNS_MAX, others are left
 * out.  One that stayed 0 in the self-test and in the whole tree (NULL: that is not looked at) has not been measured.
 * Returns how many.
 */
size_t event_columns(const struct trace_reader *reader, const struct calltree *tree, struct event_column *columns);

/* The measured event of a role, or NULL. */
const struct event_column *event_column_measured(const struct event_column *columns, size_t n, enum event_role role);

/* The recorded counter that it is in a group, or -1. */
int event_column_in(const struct event_column *event, uint32_t group);

#endif
