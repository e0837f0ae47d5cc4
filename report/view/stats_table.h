/*
 * The table of 'mmprof report --view stats': how much the calls of each phase vary, and whether the phases differ more
 * from each other than within (thesis §3.2.3).
 */
#ifndef REPORT_VIEW_STATS_TABLE_H
#define REPORT_VIEW_STATS_TABLE_H

#include "report/call_metrics.h"
#include "report/view/phase_report.h"

/* Differences that chance makes more seldom than this are called differences. */
#define STATS_SIGNIFICANCE 0.05

/*
 * For each phase and metric the mean of its calls and their coefficient of variation; then, per metric, the variation
 * within and between phases, and the analysis of variance.
 *
 * statistics   of the calls of source's trace, by metrics->options.
 *
 * Returns 0, or -1 with *err set: no memory.
 */
int stats_table(const struct report_source *source, const struct calltree_total *totals, size_t n_totals,
                const struct report_row_options *options, const struct call_metrics *metrics,
                const struct statistics *statistics, struct table *table, struct err *err);

#endif
