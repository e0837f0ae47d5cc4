/*
 * mmprof export --format parquet: the rows of traces, with labels.
 */
#ifndef CMD_EXPORT_PARQUET_H
#define CMD_EXPORT_PARQUET_H

#include "core/base/arena.h"
#include "core/base/options.h"
#include "report/fleet/fleet_rows.h"

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

/* Take labels, KEY=VALUE each, into the options; texts become the arena's.  Returns 0, or -1 with *err set. */
int export_labels(const struct options_list *labels, struct fleet_options *fleet, struct arena *arena, struct err *err);

#endif
