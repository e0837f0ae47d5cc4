/*
 * A thread of its own that reads a trace's chunks, verifies their checksums and decodes records, while its owner makes
 * sense of what came before.  Everything comes in the order of the file: who reads ahead gets what he else would.
 */
#ifndef CORE_TRACE_READ_AHEAD_H
#define CORE_TRACE_READ_AHEAD_H

#include "core/trace/chunks.h"
#include "core/trace/decode.h"

#define RECORDS_BATCH ((size_t)4096) /* decoded at once: a core's cache holds them */

struct read_ahead;

/* A chunk, or the next records of one. */
struct read_ahead_item {
    int rc; /* of chunks_next, with the error; 1: there is one */
    struct err err;
    struct chunk chunk;
    bool is_decoded;           /* into the records, of which the chunk may have more; else its payload is here */
    bool is_last;              /* it has no more */
    enum decode_result result; /* what follows the records */
    const struct trace_record *records;
    size_t n_records;
    uint32_t n_methods; /* those of the records are below it */
    uint64_t n_damaged; /* chunks that were skipped so far */
};

/* Start.  The source is the thread's until read_ahead_stop.  Returns NULL where there is no memory or no thread. */
struct read_ahead *read_ahead_start(struct chunk_source *source);
void read_ahead_stop(struct read_ahead *ahead);

/* The next item, until the next call.  The one whose rc is not 1 is the last. */
const struct read_ahead_item *read_ahead_next(struct read_ahead *ahead);

#endif
