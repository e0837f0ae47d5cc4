/* Shared by reader*.c; nobody else includes it. */
#ifndef CORE_TRACE_READER_INTERNAL_H
#define CORE_TRACE_READER_INTERNAL_H

#include "core/base/progress.h"
#include "core/trace/chunks.h"
#include "core/trace/decode.h"
#include "core/trace/trace_tables.h"
#include "core/trace/trace.h"

struct read_ahead;

struct trace_reader {
    /* Records that are decoded and not given yet: all of one thread, and where they have counters one at a time. */
    const struct trace_record *record, *records_end;
    const uint64_t *values;     /* of a record: the decoder's, or not_counted, or NULL when the trace has none */
    enum decode_result after;   /* what follows them in the chunk: DECODE_DAMAGED, or OK */
    bool in_records;            /* the chunk may have more of them */
    struct trace_record *batch; /* owned; RECORDS_BATCH of them */
    struct decoder decoder;

    /* Of the chunk of other events that is being decoded; at == end: none. */
    const uint8_t *at, *end;
    uint64_t ticks;
    size_t n_counters;
    uint64_t counters[RING_COUNTERS_MAX];

    struct chunk chunk;
    struct tables tables;
    struct chunk_source source;
    struct read_ahead *ahead;           /* owned; NULL: chunks come from the source */
    const struct read_ahead_item *item; /* its latest one */
    int64_t ahead_min_bytes;            /* smaller files are not read ahead */
    bool is_begun, ended, have_end, failed;
    uint64_t not_counted[RING_COUNTERS_MAX];
    uint64_t end_ticks, latest_ticks;
    uint64_t n_damaged; /* chunks whose content is impossible */
    struct progress progress;
    uint64_t size_bytes; /* of the file, where progress is shown; else 0 */
    struct err error;    /* when failed */
};

/* The next event of a chunk that is none of RECORDS.  Returns whether it is possible. */
bool reader_event(struct trace_reader *reader, struct trace_event *event);

/* The latest moment that an event had so far. */
static inline uint64_t reader_latest(const struct trace_reader *reader)
{
    return reader->ticks > reader->latest_ticks ? reader->ticks : reader->latest_ticks;
}

/*
 * A thread of its own that reads a trace's chunks, verifies their checksums and decodes records, while its owner makes
 * sense of what came before.  Everything comes in the order of the file: who reads ahead gets what he else would.
 */

#define RECORDS_BATCH ((size_t)4096) /* decoded at once: a core's cache holds them */

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

/* Other ways into a trace than by its path: for the tests and the fuzzer. */

/* As trace_open, from bytes in memory, borrowed until trace_close; name is for messages. */
int trace_open_bytes(struct trace_reader **reader, const void *bytes, size_t n, const char *name, bool salvage,
                     struct err *err);

/* Before the first event: files of at least so many bytes are read ahead, where there is a second CPU; else not at all.
 */
void trace_read_ahead_from(struct trace_reader *reader, int64_t min_bytes);

#endif
