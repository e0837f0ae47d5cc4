/*
 * A few totals of recordings in Prometheus' text exposition format, for the textfile collector of the node exporter.
 *
 * Times of phases are none of them: a label for each method, run or time makes more series than Prometheus bears, and
 * rows of a table (report/fleet) are for that.
 *
 * Source: https://prometheus.io/docs/instrumenting/exposition_formats/, text format 0.0.4.
 */
#ifndef REPORT_EXPORT_EXPORT_METRICS_H
#define REPORT_EXPORT_EXPORT_METRICS_H

#include "report/format/table.h"
#include "report/source.h"

#define METRICS_PARTS_MAX  32 /* kinds of rows of the phase table, without methods */
#define METRICS_TOTALS     3  /* calls, cycles, instructions */
#define METRICS_PART_BYTES 32

/* Of all values; NULL: none, or not known.  Borrowed. */
struct metrics_labels {
    const char *host, *service, *version;
};

/* Sums over recordings, or over the files of a recording that goes on.  All zero at first. */
struct metrics_totals {
    struct {
        char kind[METRICS_PART_BYTES]; /* as in the phase table; "phases" for all methods that have a row */
        double cpu_s;
    } parts[METRICS_PARTS_MAX];
    size_t n_parts;
    double values[METRICS_TOTALS];
    bool has[METRICS_TOTALS]; /* it was counted */
    double start_s, end_s;    /* of the first and the last one, since 1970 */
    double recorded_s;
    uint64_t n_written, n_lost; /* files */
};

/* Add what the phase table of a trace says, which source is of. */
void metrics_totals_add(struct metrics_totals *totals, const struct table *table, const struct report_source *source);

/*
 * goes_on    totals grow until they are written again: they are counters, whose names end with _total; else gauges
 *
 * Returns 0, or -1 with *err set: out cannot be written.
 */
int metrics_write(const struct metrics_totals *totals, const struct metrics_labels *labels, bool goes_on, FILE *out,
                  struct err *err);

#endif
