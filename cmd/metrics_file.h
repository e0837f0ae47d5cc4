/*
 * Totals of traces in a file for the textfile collector of Prometheus' node exporter: of one trace (export --metrics),
 * or of a recording while it goes on (record --metrics).
 *
 * Times of phases are none of them: a label for each method, run or time makes more series than Prometheus bears, and
 * rows of a table (report/fleet) are for that.
 *
 * Source: https://prometheus.io/docs/instrumenting/exposition_formats/, text format 0.0.4.
 */
#ifndef CMD_METRICS_FILE_H
#define CMD_METRICS_FILE_H

#include "core/base/options.h"
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

struct metrics_file {
    const struct options_list *labels; /* KEY=NAME; borrowed */
    struct metrics_totals totals;
    struct metrics_labels options; /* what the labels say; the arena's */
    char host[256];                /* of the last trace */
    struct arena arena;            /* owned */
};

/* Read labels, KEY=NAME each; texts become the arena's.  Returns 0, or -1 with *err set. */
int metrics_labels_read(const struct options_list *list, struct metrics_labels *labels, struct arena *arena,
                        struct err *err);

/* Take the labels.  Returns 0, or -1 with *err set; metrics_file_close is needed then, too. */
int metrics_file_open(struct metrics_file *file, const struct options_list *labels, struct err *err);

/* Add a trace's totals.  Returns 0, or -1 with *err set: it cannot be read, and nothing is added. */
int metrics_file_add(struct metrics_file *file, const char *trace, bool salvage, struct err *err);

/*
 * Write what there is to the path: beside it first, and renamed, so that the collector never reads half of it.
 * goes_on: totals grow until they are written again: they are counters, whose names end with _total; else gauges.
 * Returns 0, or -1 with *err set, and the path is as it was.
 */
int metrics_file_write(const struct metrics_file *file, const char *path, bool goes_on, struct err *err);

void metrics_file_close(struct metrics_file *file);

#endif
