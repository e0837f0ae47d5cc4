/*
 * A few totals of a recording in Prometheus' text exposition format, for the textfile collector of the node exporter.
 *
 * Times of phases are none of them: a label for each method, run or time makes more series than Prometheus bears, and
 * rows of a table (fleet_rows.h) are for that.
 *
 * Source: https://prometheus.io/docs/instrumenting/exposition_formats/, text format 0.0.4.
 */
#ifndef REPORT_FLEET_FLEET_METRICS_H
#define REPORT_FLEET_FLEET_METRICS_H

#include "report/fleet/fleet_run.h"
#include "report/format/table.h"

#include <stdio.h>

/*
 * table   the phase table, of which the rows that are no methods are taken
 * run     whose service, version and host are labels, where they are known; borrowed
 * reader  of the trace
 *
 * Returns 0, or -1 with *err set: out cannot be written.
 */
int fleet_metrics_write(const struct table *table, const struct fleet_run *run, const struct trace_reader *reader,
                        FILE *out, struct err *err);

#endif
