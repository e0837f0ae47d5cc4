/*
 * Puts a trace's checksums right, which is what gets a fuzzer past them.
 */
#ifndef TEST_FUZZ_REPAIR_H
#define TEST_FUZZ_REPAIR_H

#include "core/trace/format.h"

#include <string.h>

/* Walk over the chunks and put their checksums right. */
static inline void repair(uint8_t *bytes, size_t n)
{
    size_t at = FILE_HEADER_BYTES;
    if (n >= FILE_HEADER_BYTES)
        memcpy(bytes, FILE_MAGIC "\3\0\0\0\0\0\0", FILE_HEADER_BYTES);
    while (at + CHUNK_HEADER_BYTES <= n) {
        uint8_t *header = bytes + at;
        struct cursor c = cursor_over(header + 12, 4);
        size_t room = n - at - CHUNK_HEADER_BYTES, n_payload = cursor_u32le(&c);
        n_payload = n_payload < room ? n_payload : room;
        struct sink s = sink_into(header, CHUNK_HEADER_BYTES);
        sink_u32le(&s, CHUNK_MAGIC);
        s.at = header + 12;
        sink_u32le(&s, (uint32_t)n_payload);
        sink_u32le(&s, checksum(header + CHUNK_HEADER_BYTES, n_payload));
        sink_u32le(&s, checksum(header, CHUNK_SIGNED_BYTES));
        at += CHUNK_HEADER_BYTES + n_payload;
    }
}

#endif
