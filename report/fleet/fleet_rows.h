/*
 * The rows of recordings for engines that read tables: one for each row of the phase table, bucket of time and run.
 * mmprof.parquet(5) describes the columns.
 */
#ifndef REPORT_FLEET_FLEET_ROWS_H
#define REPORT_FLEET_FLEET_ROWS_H

#include "core/base/arena.h"
#include "core/trace/trace.h"
#include "report/fleet/parquet.h"

#define FLEET_SCHEMA         "mmprof.fleet"
#define FLEET_SCHEMA_VERSION 1

struct fleet_options {
    const char *host, *service, *version; /* NULL: the trace's host; none; none */
    double bucket_ns;
    double min_share; /* of the process' time that a method needs for rows */
    bool salvage;
};

/* The columns, n of them, in their order. */
const struct parquet_column *fleet_rows_columns(size_t *n);

/* Begin a file of such rows.  Returns as parquet_open. */
int fleet_rows_open(struct parquet_writer **writer, FILE *out, const struct fleet_options *options, struct err *err);

/* Add those of a trace.  Returns 0, or -1 with *err set: it cannot be read. */
int fleet_rows_add(struct parquet_writer *writer, const char *path, const struct fleet_options *options,
                   struct err *err);

/* ---- What tells a recording from others: the columns that all rows of a run have alike ---- */

/* Texts are the arena's; NULL: not known. */
struct fleet_run {
    const char *run; /* HOST-PID-START: START in ns since 1970, of the first of a recording's files */
    uint32_t file;   /* of these, from 1 on */
    const char *host, *service, *version;
    const char *jdk, *gc, *cpu_model;
    const char *simulated; /* the model that events are of; NULL: they are the hardware's */
};

void fleet_run_find(const struct trace_reader *reader, const struct fleet_options *options, struct arena *arena,
                    struct fleet_run *run);

#endif
