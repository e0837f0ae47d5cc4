/*
 * A few totals of recordings in Prometheus' text exposition format, for the textfile collector of the node exporter.
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
#include "report/source.h"

#include <stdio.h>

#define FLEET_PARTS_MAX  32 /* kinds of rows of the phase table, without methods */
#define FLEET_TOTALS     3  /* calls, cycles, instructions */
#define FLEET_PART_BYTES 32

/* Sums over recordings, or over the files of a recording that goes on.  All zero at first. */
struct fleet_totals {
    struct {
        char kind[FLEET_PART_BYTES]; /* as in the phase table; "phases" for all methods that have a row */
        double cpu_s;
    } parts[FLEET_PARTS_MAX];
    size_t n_parts;
    double values[FLEET_TOTALS];
    bool has[FLEET_TOTALS]; /* it was counted */
    double start_s, end_s;  /* of the first and the last one, since 1970 */
    double recorded_s;
    uint64_t n_written, n_lost; /* files */
};

/* Add what the phase table of a trace says, which source is of. */
void fleet_totals_add(struct fleet_totals *totals, const struct table *table, const struct report_source *source);

/*
 * run        whose service, version and host are labels, where they are known; borrowed
 * goes_on    totals grow until they are written again: they are counters, whose names end with _total; else gauges
 *
 * Returns 0, or -1 with *err set: out cannot be written.
 */
int fleet_metrics_write(const struct fleet_totals *totals, const struct fleet_run *run, bool goes_on, FILE *out,
                        struct err *err);

#endif
