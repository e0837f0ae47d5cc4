/*
 * A column of a row group: its values, each different one kept once, and the pages that they become.
 */
#ifndef REPORT_FLEET_PARQUET_PAGES_H
#define REPORT_FLEET_PARQUET_PAGES_H

#include "core/base/map.h"
#include "report/fleet/parquet.h"
#include "report/fleet/parquet_bytes.h"

/* Numbers of parquet.thrift. */
enum parquet_type { PARQUET_INT64 = 2, PARQUET_BYTE_ARRAY = 6 };
enum parquet_encoding { PARQUET_PLAIN = 0, PARQUET_RLE = 3, PARQUET_RLE_DICTIONARY = 8 };
#define PARQUET_OPTIONAL 1
#define PARQUET_GZIP     2

#define PARQUET_IS_NULL UINT32_MAX

struct parquet_values {
    enum parquet_kind kind;
    uint32_t *indexes; /* by row: a different value's number, or PARQUET_IS_NULL; owned */
    size_t n, room, n_nulls;
    struct parquet_bytes different; /* all of them, as a plain page has them */
    size_t *ends;                   /* of each, in those bytes; owned */
    uint32_t n_different;
    size_t ends_room;
    struct map number_of;
    struct arena arena; /* the map's keys */
};

/* What the footer says of a column's chunk: offsets are from the beginning of the file. */
struct parquet_chunk {
    bool has_dictionary;
    int64_t dictionary_at, pages_at; /* the first page of values */
    int64_t n_values, n_nulls, plain_bytes, packed_bytes;
    bool has_limits;
    struct parquet_bytes least, most; /* as a plain value without its length; owned */
};

/* Returns 0, or -1: no memory. */
int parquet_values_add(struct parquet_values *values, const struct parquet_value *value);

/* Forget them; a new row group begins. */
void parquet_values_clear(struct parquet_values *values);

/*
 * Make the pages of what was added: a page of different values where that is shorter, then pages of values.
 *
 * at     where in the file they will stand.
 * pages  they are appended to it.
 *
 * Returns 0, or -1: no memory.
 */
int parquet_pages(const struct parquet_values *values, int64_t at, struct parquet_bytes *pages,
                  struct parquet_chunk *chunk);

#endif
