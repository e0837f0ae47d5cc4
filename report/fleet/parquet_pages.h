/* A column of a row group: its values, each different one kept once, and the pages that they become. */
#ifndef REPORT_FLEET_PARQUET_PAGES_H
#define REPORT_FLEET_PARQUET_PAGES_H

#include "core/base/map.h"
#include "report/fleet/parquet.h"

/*
 * Bytes of a Parquet file on their way: they grow, and Thrift's compact protocol writes headers and the footer.
 *
 * Source: https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
 */

/* All zero are none. */
struct parquet_bytes {
    uint8_t *at; /* owned */
    size_t n, room;
};

void parquet_bytes_free(struct parquet_bytes *bytes);
void parquet_put(struct parquet_bytes *to, const void *bytes, size_t n);
void parquet_put_little(struct parquet_bytes *to, uint64_t value, size_t n);

#define THRIFT_DEPTH_MAX 8

/* The types of Thrift's compact protocol that are needed. */
enum thrift_type {
    THRIFT_TRUE = 1,
    THRIFT_FALSE = 2,
    THRIFT_I32 = 5,
    THRIFT_I64 = 6,
    THRIFT_TEXT = 8,
    THRIFT_LIST = 9,
    THRIFT_STRUCT = 12
};

/* A struct that is being written, and those that it is in.  All zero begins one. */
struct thrift {
    struct parquet_bytes out;
    int last[THRIFT_DEPTH_MAX]; /* by depth: the field written last */
    size_t depth;
};

/* Fields of a struct, in the order of their ids. */
void thrift_bool(struct thrift *t, int id, bool value);
void thrift_i32(struct thrift *t, int id, int32_t value);
void thrift_i64(struct thrift *t, int id, int64_t value);
void thrift_text(struct thrift *t, int id, const void *text, size_t n);
void thrift_list(struct thrift *t, int id, enum thrift_type of, size_t n); /* n elements follow */
void thrift_begin(struct thrift *t, int id);                               /* a struct as a field */

/* Elements of a list. */
void thrift_element_i32(struct thrift *t, int32_t value);
void thrift_element_text(struct thrift *t, const char *text);
void thrift_element_begin(struct thrift *t);

/* End a struct, also the outermost one. */
void thrift_end(struct thrift *t);

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

void parquet_values_add(struct parquet_values *values, const struct parquet_value *value);

/* Forget them; a new row group begins. */
void parquet_values_clear(struct parquet_values *values);

/*
 * Make the pages of what was added: a page of different values where that is shorter, then pages of values.
 *
 * at     where in the file they will stand.
 * pages  they are appended to it.
 */
void parquet_pages(const struct parquet_values *values, int64_t at, struct parquet_bytes *pages,
                   struct parquet_chunk *chunk);

/*
 * The checksums of a Parquet file's pages: engines read a page whose bits have changed, and answer with what it says
 * then.
 *
 * Source: https://github.com/apache/parquet-format, PageHeader in parquet.thrift.
 */

#define PARQUET_PAGE_HEADER_MAX 4096

struct parquet_page {
    int64_t n_bytes; /* behind the header */
    uint32_t checksum;
    bool has_checksum;
};

/* Decode a page's header.  Returns its length, or 0: it is none, or longer than n bytes. */
size_t parquet_page_header(const uint8_t *bytes, size_t n, struct parquet_page *page);

/* Returns whether a page does not fit its checksum, or is none; false of a file without checksums, or not readable. */
bool parquet_is_damaged(const char *path);

#endif
