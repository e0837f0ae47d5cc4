/*
 * Totals of traces in a file for the textfile collector of Prometheus' node exporter: of one trace (export --metrics),
 * or of a recording while it goes on (record --metrics).
 */
#ifndef CMD_METRICS_FILE_H
#define CMD_METRICS_FILE_H

#include "core/base/options.h"
#include "report/export/export_metrics.h"

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
 * goes_on: as metrics_write has it.  Returns 0, or -1 with *err set, and the path is as it was.
 */
int metrics_file_write(const struct metrics_file *file, const char *path, bool goes_on, struct err *err);

void metrics_file_close(struct metrics_file *file);

#endif
