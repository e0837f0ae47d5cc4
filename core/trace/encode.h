/* From a ring's words to the payload of a RECORDS chunk. */
#ifndef CORE_TRACE_ENCODE_H
#define CORE_TRACE_ENCODE_H

#include "core/base/std.h"
#include "core/trace/predict.h"

/* Large enough that a chunk's frame and the learning of what comes next cost nothing, small enough for a core's cache.
 */
#define RECORDS_PAYLOAD_BYTES ((size_t)64 * 1024)

/* Moments in a chunk: whole units after the one before. */
struct encoder_clock {
    uint64_t base;     /* the chunk's first moment, in ticks */
    uint64_t position; /* since then, in quarters of a tick */
    uint64_t inverse;  /* to divide by the unit */
    uint32_t unit;     /* in quarters of a tick; of the chunk before, and 0: of none */
    uint32_t n_moved;  /* moments in this chunk that were not */
};

struct encoder {
    size_t n_counters;
    uint64_t counters[RING_COUNTERS_MAX];
    struct encoder_clock clock;
    uint64_t n_chunks;
    struct predictor predictor;
    uint32_t table[PREDICT_PLACES];
    /* The methods entered in this chunk and not left yet, above a sentinel; an entry takes a byte at least. */
    uint32_t stack[RECORDS_PAYLOAD_BYTES + 2];
};

/*
 * Encode records from words[0..*n_words) until the words or the payload's RECORDS_PAYLOAD_BYTES end.
 *
 * n_words     in: at least one record, and whole ones; out: the words used.
 * last_ticks  the thread's latest moment so far.  Time never goes back in a trace: where a word says so (two cores'
 *             counters differ a little, or the word is garbage), the record gets this moment.
 *
 * Returns the payload's size in bytes.  Any word is harmless.
 */
size_t encode_predicted(struct encoder *encoder, const uint64_t *words, size_t *n_words, uint64_t now,
                        uint64_t *last_ticks, uint8_t *payload);

/* The same without prediction: in half the time and about twice the bytes. */
size_t encode_plain(struct encoder *encoder, const uint64_t *words, size_t *n_words, uint64_t now, uint64_t *last_ticks,
                    uint8_t *payload);

/* The header of a chunk, CHUNK_HEADER_BYTES, with the checksums of its payload of n bytes and of itself. */
void encode_header(uint8_t *at, enum chunk_type type, unsigned flags, uint32_t thread, const uint8_t *payload,
                   size_t n);

/*
 * Encode n values as differences to before[], which become the values.  Returns where the next byte goes; with tag and
 * operand it is at most RECORD_MAX_BYTES away.
 */
uint8_t *encode_counters(uint8_t *at, uint64_t *before, const uint64_t *values, size_t n);

/* In what steps a timestamp counter goes on: found from timestamps. */

#define CLOCK_UNIT_SAMPLES 64 /* timestamps that it takes */

/*
 * Quarters of a tick, 0..3, to be added to the first of n timestamps, so that as many as possible of the next ones are
 * whole units after it; *n_fit of them are, itself included.
 */
uint32_t clock_unit_phase(const uint64_t *ticks, size_t n, uint32_t unit, size_t *n_fit);

/* The largest unit, in quarters of a tick, that fits all n timestamps, which do not go back; UNIT_TICK: no other. */
uint32_t clock_unit_find(const uint64_t *ticks, size_t n);

#endif
