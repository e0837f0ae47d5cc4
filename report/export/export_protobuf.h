/*
 * Protocol buffers, as far as a profile needs them: varints, bytes, packed lists; and the gzip stream that they go to.
 *
 * Source: https://protobuf.dev/programming-guides/encoding/
 */
#ifndef REPORT_EXPORT_EXPORT_PROTOBUF_H
#define REPORT_EXPORT_EXPORT_PROTOBUF_H

#include "core/base/std.h"
#include "core/base/err.h"

#include <zlib.h>

/* A message that grows; all zero is an empty one. */
struct protobuf {
    uint8_t *bytes; /* owned */
    size_t n, room;
    bool is_broken; /* gzip_write() failed */
};

void protobuf_free(struct protobuf *message);
void protobuf_clear(struct protobuf *message); /* and keep its room */

/* A number; 0 is the default and not written. */
void protobuf_number(struct protobuf *message, uint32_t field, uint64_t value);

/* Eight bytes, 0 included. */
void protobuf_fixed64(struct protobuf *message, uint32_t field, uint64_t value);

/* A string, or a message in a message. */
void protobuf_bytes(struct protobuf *message, uint32_t field, const void *bytes, size_t n);

/* What stands in front of such n bytes, which follow elsewhere. */
void protobuf_head(struct protobuf *message, uint32_t field, size_t n);

/* A packed list of numbers, zeros included. */
void protobuf_numbers(struct protobuf *message, uint32_t field, const uint64_t *values, size_t n);

/* A stream into a file (borrowed), behind what it has.  NULL: there is no memory, or no descriptor. */
gzFile gzip_open(FILE *out);

/* Append a message's bytes; it is broken if they cannot be written. */
void gzip_write(gzFile gzip, struct protobuf *message);

/* Write the end and free.  is_broken: a message was.  Returns 0, or -1 with *err set: something was not written. */
int gzip_close(gzFile gzip, bool is_broken, struct err *err);

#endif
