/*
 * The grid of 'mmprof phases --sweep' (thesis Figures 3.4 and 3.5).
 */
#ifndef REPORT_VIEW_SWEEP_TABLE_H
#define REPORT_VIEW_SWEEP_TABLE_H

#include "phases/select/select.h"
#include "report/source.h"

/* A row for each pair of thresholds: phases, their calls, the estimates of the overhead.  The table's arena is the
 * source's.  Returns 0, or -1 with *err set. */
int sweep_table(const struct report_source *source, const struct sweep *sweep, const struct budget_base *base,
                struct table *table, struct err *err);

#endif
