/*
 * Bytes of a Parquet file on their way: they grow, and Thrift's compact protocol writes headers and the footer.
 *
 * Source: https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
 */
#ifndef REPORT_FLEET_PARQUET_BYTES_H
#define REPORT_FLEET_PARQUET_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero are none. */
struct parquet_bytes {
    uint8_t *at; /* owned */
    size_t n, room;
    bool is_broken; /* no memory: nothing was added since */
};

void parquet_bytes_free(struct parquet_bytes *bytes);
void parquet_put(struct parquet_bytes *to, const void *bytes, size_t n);
void parquet_put_little(struct parquet_bytes *to, uint64_t value, size_t n);
void parquet_put_varint(struct parquet_bytes *to, uint64_t value);

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

#endif
