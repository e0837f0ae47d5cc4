#include "core/emu/memtrace/memtrace.h"

#include <stdlib.h>
#include <zlib.h>

int memtrace_write_header(FILE *out)
{
    uint8_t bytes[MEMTRACE_HEADER_BYTES];
    struct sink s = sink_into(bytes, sizeof bytes);
    sink_bytes(&s, MEMTRACE_MAGIC, 8);
    sink_u32le(&s, MEMTRACE_VERSION);
    sink_u32le(&s, 0);
    return fwrite(bytes, sizeof bytes, 1, out) == 1 ? 0 : -1;
}

int memtrace_write_chunk(FILE *out, enum memtrace_chunk kind, const void *bytes, size_t n)
{
    uLongf n_packed = compressBound((uLong)n);
    uint8_t header[MEMTRACE_CHUNK_HEADER], *packed = malloc(n_packed);
    if (packed == NULL)
        return -1;
    int rc = -1;
    if (compress2(packed, &n_packed, bytes, (uLong)n, Z_BEST_SPEED) == Z_OK) {
        struct sink s = sink_into(header, sizeof header);
        sink_u32le(&s, MEMTRACE_CHUNK_MAGIC);
        sink_u32le(&s, (uint32_t)kind);
        sink_u32le(&s, (uint32_t)n);
        sink_u32le(&s, (uint32_t)n_packed);
        sink_u32le(&s, (uint32_t)crc32(0, packed, (uInt)n_packed));
        sink_u32le(&s, (uint32_t)crc32(0, header, sizeof header - 4));
        rc = fwrite(header, sizeof header, 1, out) == 1 && fwrite(packed, n_packed, 1, out) == 1 ? 0 : -1;
    }
    free(packed);
    return rc;
}
