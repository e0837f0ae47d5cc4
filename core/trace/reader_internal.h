/*
 * Shared by reader*.c; nobody else includes it.
 */
#ifndef CORE_TRACE_READER_INTERNAL_H
#define CORE_TRACE_READER_INTERNAL_H

#include "core/base/progress.h"
#include "core/trace/decode.h"
#include "core/trace/read_ahead.h"
#include "core/trace/reader.h"
#include "core/trace/tables.h"

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

#endif
