/*
 * A writer of Apache Parquet files: a table of optional numbers, moments and texts, compressed by gzip.
 *
 *     parquet_open(&writer, out, columns, n_columns, err);
 *     parquet_row(writer, values, err);                        for each row
 *     parquet_metadata(writer, "mmprof.version", "0.1.0");
 *     parquet_close(writer, err);
 *
 * Source: https://github.com/apache/parquet-format, version 2.11 (README.md, Encodings.md, parquet.thrift).
 */
#ifndef REPORT_FLEET_PARQUET_H
#define REPORT_FLEET_PARQUET_H

#include "core/base/std.h"
#include "core/base/err.h"

#define PARQUET_COLUMNS_MAX 64
#define PARQUET_GROUP_ROWS  122880 /* DuckDB's own: a thread reads a group */

enum parquet_kind {
    PARQUET_NUMBER,  /* INT64 */
    PARQUET_TIME_US, /* INT64: TIMESTAMP, microseconds since 1970, UTC */
    PARQUET_TEXT     /* BYTE_ARRAY: STRING */
};

struct parquet_column {
    const char *name; /* borrowed until parquet_close */
    enum parquet_kind kind;
};

/* A value of a row, or none: NULL. */
struct parquet_value {
    bool is_there;
    int64_t number;   /* of the first two kinds */
    const char *text; /* well-formed UTF-8; borrowed for the call */
};

struct parquet_writer;

/*
 * Begin a file.
 *
 * out  borrowed until parquet_close; nothing has been written to it.
 *
 * Returns 0, or -1 with *err set and *writer NULL: it cannot be written.
 */
int parquet_open(struct parquet_writer **writer, FILE *out, const struct parquet_column *columns, size_t n_columns,
                 struct err *err);

/* Add a row, n_columns values.  Returns 0, or -1 with *err set: it cannot be written. */
int parquet_row(struct parquet_writer *writer, const struct parquet_value *values, struct err *err);

/* Add a key and its value to the footer. */
void parquet_metadata(struct parquet_writer *writer, const char *key, const char *value);

/* Write the rest and the footer, without which it is no Parquet file, and free.  Returns 0, or -1 with *err set. */
int parquet_close(struct parquet_writer *writer, struct err *err);

/* Free; the file is not whole.  NULL is allowed. */
void parquet_abandon(struct parquet_writer *writer);

#endif
