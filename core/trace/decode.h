/* From the payload of a RECORDS chunk to records. */
#ifndef CORE_TRACE_DECODE_H
#define CORE_TRACE_DECODE_H

#include "core/trace/predict.h"
#include "core/trace/trace.h"

/* What changes with each record. */
struct decoder_state {
    const uint8_t *at; /* the next one; at the end, all is decoded */
    uint64_t ticks;    /* the latest one's moment */
    uint64_t position; /* of predicted records: that since the chunk's base, in quarters of a tick */
    uint32_t *top;     /* into the stack */
    struct predictor predictor;
    uint32_t n_missed; /* of the records decoded last: they were not predicted */
};

struct decoder {
    struct decoder_state state;
    const uint8_t *end;
    bool is_predicted, misses_many;
    uint64_t base, unit; /* of predicted records */
    uint32_t *stack;     /* owned; methods entered in this chunk and not left yet, above a sentinel */
    size_t stack_size;
    size_t n_counters;
    uint64_t counters[RING_COUNTERS_MAX]; /* of the latest record */
    uint32_t n_methods;                   /* those of the records so far are below it */
    uint32_t table[PREDICT_PLACES];
};

enum decode_result { DECODE_OK, DECODE_DAMAGED };

/*
 * Begin with a chunk's payload, of which RECORD_MAX_BYTES more than n are readable, and its flags.  The decoder is
 * zeroed before the first one; decode_free frees what it owns.
 */
enum decode_result decode_begin(struct decoder *decoder, const uint8_t *payload, size_t n, unsigned flags);
void decode_free(struct decoder *decoder);

/*
 * The next records, at most n_max, one where they have counters.  *n is their number; with DECODE_DAMAGED, an
 * impossible one follows them, and the rest of the chunk is lost.
 */
enum decode_result decode_records(struct decoder *decoder, struct trace_record *records, size_t n_max, size_t *n);

/* Whether all records were given. */
static inline bool decode_is_done(const struct decoder *decoder)
{
    return decoder->state.at == decoder->end;
}

/* Values after a record, added to counters[n].  Returns where the next number stands, or NULL: a bit is of no counter.
 */
const uint8_t *decode_counters(const uint8_t *at, uint64_t *counters, size_t n);

#endif
