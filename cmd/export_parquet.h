/*
 * mmprof export --format parquet, --metrics: what has labels.
 */
#ifndef CMD_EXPORT_PARQUET_H
#define CMD_EXPORT_PARQUET_H

#include "core/base/options.h"
#include "core/trace/trace.h"
#include "report/format/table.h"

#include <stdbool.h>

#define PARQUET_BUCKET_S  60
#define PARQUET_MIN_SHARE 0.001 /* of a method that gets rows */

struct export_parquet_options {
    const char *const *paths; /* borrowed */
    size_t n_paths;
    const struct options_list *labels; /* KEY=VALUE; borrowed */
    double bucket_s, min_share;
    bool salvage;
};

/* Write the rows of all traces.  Returns 0, or -1 with *err set. */
int export_parquet(const struct export_parquet_options *options, FILE *out, struct err *err);

/* Write the totals of a trace for Prometheus, from its phase table.  Returns 0, or -1 with *err set. */
int export_metrics(const struct options_list *labels, const struct table *table, const struct trace_reader *reader,
                   FILE *out, struct err *err);

#endif
