/*
 * The chunks of a trace, one after the other, with their checksums verified.
 *
 * Reads a file, a pipe or bytes in memory, through one buffer that holds at least the largest chunk.
 */
#ifndef CORE_TRACE_CHUNKS_H
#define CORE_TRACE_CHUNKS_H

#include "core/base/err.h"
#include "core/trace/format.h"

struct chunk {
    enum chunk_type type;
    uint8_t flags;
    uint32_t thread;
    uint32_t payload_bytes;
    uint32_t payload_crc;
    const uint8_t *payload; /* the source's, until the next chunk; RECORD_MAX_BYTES more are readable */
    uint64_t offset;        /* of the chunk's header in the file */
};

struct chunk_source {
    int fd;                /* owned; -1: bytes in memory */
    const uint8_t *memory; /* borrowed; what is left of the bytes */
    size_t n_memory;
    char *name; /* owned; for messages */
    bool salvage;
    bool is_outline; /* only chunks of what stands in tables are wanted; the others are skipped unread */
    bool at_eof;
    uint8_t *buffer;         /* owned */
    size_t buffer_bytes;     /* and RECORD_MAX_BYTES more */
    const uint8_t *at, *end; /* what is buffered and not consumed yet */
    uint64_t offset;         /* of at */
    uint64_t n_damaged;
};

/*
 * Start to read from fd (owned from now on, even on failure), or from memory if fd is -1, and check the file's
 * header.  Returns 0, or -1 with *err set; chunks_close is needed in both cases.
 */
int chunks_open(struct chunk_source *source, int fd, const void *memory, size_t n_memory, const char *name,
                bool salvage, struct err *err);
void chunks_close(struct chunk_source *source);

/*
 * The next whole chunk.  Returns 1, 0 at the end of the input (whether or not a part of a chunk is left there), or -1
 * with *err set.  With salvage, what is damaged is skipped and counted.
 */
int chunks_next(struct chunk_source *source, struct chunk *chunk, struct err *err);

/* What stands at an offset is damaged: count it (with salvage) and return 0, or return -1 with *err set. */
int chunks_damaged(struct chunk_source *source, uint64_t offset, const char *what, struct err *err);

#endif
