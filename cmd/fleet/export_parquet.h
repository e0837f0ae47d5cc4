/*
 * mmprof export --format parquet: the rows of traces, with labels.
 */
#ifndef CMD_FLEET_EXPORT_PARQUET_H
#define CMD_FLEET_EXPORT_PARQUET_H

#include "cmd/parts.h"

/* Write the rows of all traces.  Returns 0, or -1 with *err set. */
int export_parquet(const struct export_parquet_options *options, FILE *out, struct err *err);

#endif
