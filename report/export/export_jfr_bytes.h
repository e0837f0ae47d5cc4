/*
 * The bytes of a JDK Flight Recorder file: numbers, texts, and entries that begin with their length.
 *
 * Source: jdk.jfr.internal.consumer.RecordingInput of JDK 17 and 25 is what reads them.
 */
#ifndef REPORT_EXPORT_EXPORT_JFR_BYTES_H
#define REPORT_EXPORT_EXPORT_JFR_BYTES_H

#include "core/base/std.h"

/* Bytes that grow; all zero are none. */
struct jfr_bytes {
    uint8_t *bytes; /* owned */
    size_t n, room;
    bool is_broken; /* no memory: nothing was added since */
};

void jfr_bytes_free(struct jfr_bytes *to);

/* n bytes as they are, the first one highest. */
void jfr_put_fixed(struct jfr_bytes *to, uint64_t value, size_t n);

/* A number of seven bits a byte, the lowest first; nine bytes have room for all 64. */
void jfr_put_number(struct jfr_bytes *to, uint64_t value);

/* A text of UTF-8, or one that is not there (NULL). */
void jfr_put_text(struct jfr_bytes *to, const char *text);

/* What another has, at the end. */
void jfr_put_bytes(struct jfr_bytes *to, const struct jfr_bytes *from);

/* Begin an entry; returns where, for jfr_end, which puts its length there. */
size_t jfr_begin(struct jfr_bytes *to);
void jfr_end(struct jfr_bytes *to, size_t start);

#endif
