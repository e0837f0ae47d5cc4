#include "core/trace/encode.h"

#define NO_METHOD UINT32_MAX

static uint8_t *put_changed(uint8_t *at, uint64_t *before, const uint64_t *values, size_t n)
{
    uint8_t *changed = at;
    memset(changed, 0, COUNTERS_BITMAP_BYTES(n));
    at += COUNTERS_BITMAP_BYTES(n);
    for (size_t i = 0; i < n; i++) {
        uint64_t delta = values[i] - before[i];
        if (delta == 0)
            continue;
        changed[i / 8] |= (uint8_t)(1u << i % 8);
        at = number_put(at, delta);
        before[i] = values[i];
    }
    return at;
}

uint8_t *encode_counters(uint8_t *at, uint64_t *before, const uint64_t *values, size_t n)
{
    if (n > COUNTERS_PLAIN_MAX)
        return put_changed(at, before, values, n);
    for (size_t i = 0; i < n; i++) {
        at = number_put(at, values[i] - before[i]);
        before[i] = values[i];
    }
    return at;
}

/* ---- time ---- */

#define INVERSE_BITS 40
#define INVERSE_MAX  (UINT64_C(1) << 24) /* what it divides is below this: the quotient is exact */
#define SEARCH_EACH  256                 /* chunks, once none of the first ones had a unit */
#define MOVED_PART   8                   /* a unit that fits fewer than all but one in so many is none */

/* The words that are being encoded. */
struct encoding {
    const uint64_t *word, *end;
    size_t n_per_record;
    uint64_t now, before; /* before: the latest moment */
};

/* The moments of the records that come next, to see how the clock goes on. */
static size_t sample_moments(const struct encoding *e, uint64_t *ticks)
{
    size_t n = (size_t)(e->end - e->word) / e->n_per_record;
    n = n < CLOCK_UNIT_SAMPLES ? n : CLOCK_UNIT_SAMPLES;
    uint64_t before = e->before;
    for (size_t i = 0; i < n; i++) {
        uint64_t moment = ring_word_ticks(e->word[i * e->n_per_record], e->now);
        ticks[i] = before = moment < before ? before : moment;
    }
    return n;
}

/* The unit of the chunk before is kept; where it was none, one is looked for now and then. */
static void clock_begin(struct encoder *encoder, const uint64_t *ticks, size_t n)
{
    struct encoder_clock *clock = &encoder->clock;
    uint64_t i = encoder->n_chunks++;
    bool is_due = (i & (i - 1)) == 0 || i % SEARCH_EACH == 0;
    size_t n_fit;
    if (clock->unit <= UNIT_TICK)
        clock->unit = is_due ? clock_unit_find(ticks, n) : UNIT_TICK;
    clock->base = ticks[0];
    clock->position = clock_unit_phase(ticks, n, clock->unit, &n_fit);
    clock->inverse = ((UINT64_C(1) << INVERSE_BITS) + clock->unit - 1) / clock->unit;
    clock->n_moved = 0;
}

/* The whole units up to ticks.  False: they do not meet it. */
static inline bool clock_advance(struct encoder_clock *clock, uint64_t ticks, uint64_t *n_units)
{
    uint64_t passed = ticks - clock->base, ahead = (passed << PHASE_BITS | 3) - clock->position;
    *n_units = LIKELY(ahead < INVERSE_MAX) ? ahead * clock->inverse >> INVERSE_BITS : ahead / clock->unit;
    clock->position += *n_units * clock->unit;
    return clock->position >> PHASE_BITS == passed;
}

/* ---- records ---- */

/* The moment of the record that comes next is told as it is: units do not meet it. */
static uint8_t *put_moment(const struct encoding *e, struct encoder_clock *clock, uint8_t *at)
{
    uint64_t ticks[CLOCK_UNIT_SAMPLES];
    size_t n = sample_moments(e, ticks), n_fit;
    uint64_t phase = clock_unit_phase(ticks, n, clock->unit, &n_fit), passed = ticks[0] - e->before;
    uint64_t moment = (passed << PHASE_BITS | phase) << VIRTUAL_BITS | VIRTUAL_CLOCK;
    clock->position = (ticks[0] - clock->base) << PHASE_BITS | phase;
    clock->n_moved++;
    return number_put(number_put(at, TAG_OTHER << 1 | 1), moment << TAG_BITS | OTHER_VIRTUAL);
}

/* A gap, a virtual thread, an open call, or an exit whose entry is not the chunk's latest open one: what its first
 * number is followed by. */
static uint8_t *put_other(uint8_t *at, unsigned virtual_bits, uint32_t kind, uint32_t operand)
{
    static const uint8_t kinds[] = { [RING_RESUME] = VIRTUAL_RESUME,
                                     [RING_OPEN] = VIRTUAL_OPEN,
                                     [RING_MOUNT] = VIRTUAL_MOUNT,
                                     [RING_UNMOUNT] = VIRTUAL_UNMOUNT };
    if (kind >= RING_RESUME && kind < RING_GAP)
        return number_put(at, ((uint64_t)operand << virtual_bits | kinds[kind]) << TAG_BITS | OTHER_VIRTUAL);
    return number_put(at, (uint64_t)operand << TAG_BITS | (kind >= RING_GAP ? OTHER_GAP : kind - RING_EXIT));
}

/*
 * An entry, or an exit from the innermost call.  Entries and exits share one path without branches, predicted or not:
 * which of them comes next cannot be foreseen by the processor, and a misprediction costs more than the few stores that
 * one of them does not need.
 */
static inline uint8_t *put_call(struct predictor *predictor, uint32_t *table, uint8_t *at, uint64_t n_units,
                                uint32_t kind, uint32_t method, uint32_t if_exit)
{
    uint32_t *place = &table[predict_place(predictor)];
    uint32_t next = (method + 1) & ~if_exit; /* or PREDICT_EXIT */
    uint32_t if_missed = 0 - (uint32_t)(next != *place || kind == RING_UNWIND);
    uint64_t missed = n_units << MISSED_BITS | kind << 1 | 1, expected = n_units << 1;
    at = number_put(at, expected ^ ((expected ^ missed) & (uint64_t)(int64_t)(int32_t)if_missed));
    at += (size_t)(number_put(at, method) - at) & (size_t)(int64_t)(int32_t)(if_missed & ~if_exit);
    if (LIKELY(kind != RING_UNWIND))
        *place = next;
    predict_follow(predictor, method, if_exit & 1);
    return at;
}

static uint8_t *put_head(struct encoder *encoder, const struct encoding *e, uint8_t *at)
{
    uint64_t ticks[CLOCK_UNIT_SAMPLES] = { 0 };
    size_t n = (size_t)(e->end - e->word) / e->n_per_record;
    unsigned bits = PREDICT_BITS_MIN;
    while (bits < PREDICT_BITS_MAX && n >> bits > 1)
        bits++;
    clock_begin(encoder, ticks, sample_moments(e, ticks));
    encoder->predictor = predict_begin(encoder->table, bits);
    memset(encoder->counters, 0, sizeof encoder->counters);
    store_u64le(at, ticks[0]);
    at = number_put(at + 8, encoder->clock.unit);
    at = number_put(at, encoder->clock.position);
    return number_put(at, bits);
}

size_t encode_predicted(struct encoder *encoder, const uint64_t *words, size_t *n_words, uint64_t now,
                        uint64_t *last_ticks, uint8_t *payload)
{
    struct encoding e = { words, words + *n_words, 1 + encoder->n_counters, now, *last_ticks };
    uint8_t *at = put_head(encoder, &e, payload), *limit = payload + RECORDS_PAYLOAD_BYTES - RECORD_MAX_BYTES;
    struct encoder_clock clock = encoder->clock; /* these two so that they are in registers */
    struct predictor predictor = encoder->predictor;
    uint32_t *top = encoder->stack;
    *top = NO_METHOD;
    for (; e.word < e.end && at <= limit; e.word += e.n_per_record) {
        uint64_t ticks = ring_word_ticks(*e.word, now), n_units;
        ticks = ticks < e.before ? e.before : ticks;
        uint32_t kind = (uint32_t)ring_word_kind(*e.word), method = ring_word_method(*e.word);
        uint32_t if_exit = 0 - (uint32_t)(kind != RING_ENTER); /* masks: gcc makes branches of conditions */
        if (UNLIKELY(!clock_advance(&clock, ticks, &n_units))) {
            struct encoder_clock moved = clock;
            struct encoding now_at = e;
            at = put_moment(&now_at, &moved, at);
            clock = moved;
            n_units = 0;
        }
        e.before = ticks;
        if (UNLIKELY(((*top ^ method) & if_exit) != 0 || kind >= RING_RESUME)) {
            at = put_other(number_put(at, n_units << MISSED_BITS | TAG_OTHER << 1 | 1), VIRTUAL_BITS, kind, method);
        } else {
            at = put_call(&predictor, encoder->table, at, n_units, kind, method, if_exit);
            top[1] = method;
            top += 1 - (2 & (int32_t)if_exit);
        }
        if (e.n_per_record > 1)
            at = encode_counters(at, encoder->counters, e.word + 1, encoder->n_counters);
    }
    *n_words = (size_t)(e.word - words);
    *last_ticks = e.before;
    encoder->clock.unit = clock.n_moved > *n_words / e.n_per_record / MOVED_PART ? UNIT_TICK : clock.unit;
    return (size_t)(at - payload);
}

size_t encode_plain(struct encoder *encoder, const uint64_t *words, size_t *n_words, uint64_t now, uint64_t *last_ticks,
                    uint8_t *payload)
{
    const size_t n_per_record = 1 + encoder->n_counters;
    const uint64_t *word = words, *end = words + *n_words;
    uint8_t *at = payload + 8, *limit = payload + RECORDS_PAYLOAD_BYTES - RECORD_MAX_BYTES;
    uint32_t *top = encoder->stack;
    uint64_t first = ring_word_ticks(*word, now), before = first < *last_ticks ? *last_ticks : first;
    *top = NO_METHOD;
    memset(encoder->counters, 0, sizeof encoder->counters);
    store_u64le(payload, before);
    for (; word < end && at <= limit; word += n_per_record) {
        uint64_t ticks = ring_word_ticks(*word, now);
        ticks = ticks < before ? before : ticks;
        uint64_t delta = ticks - before;
        uint32_t kind = (uint32_t)ring_word_kind(*word), method = ring_word_method(*word);
        uint32_t if_exit = 0 - (uint32_t)(kind != RING_ENTER);
        before = ticks;
        if (UNLIKELY(((*top ^ method) & if_exit) != 0 || kind >= RING_RESUME)) {
            at = put_other(number_put(at, delta << TAG_BITS | TAG_OTHER), TAG_BITS, kind, method);
        } else {
            at = number_put(at, delta << TAG_BITS | kind);
            at += (size_t)(number_put(at, method) - at) & ~(size_t)(int64_t)(int32_t)if_exit;
            top[1] = method;
            top += 1 - (2 & (int32_t)if_exit);
        }
        if (n_per_record > 1)
            at = encode_counters(at, encoder->counters, word + 1, encoder->n_counters);
    }
    *n_words = (size_t)(word - words);
    *last_ticks = before;
    return (size_t)(at - payload);
}

void encode_header(uint8_t *at, enum chunk_type type, unsigned flags, uint32_t thread, const uint8_t *payload, size_t n)
{
    struct sink s = sink_into(at, CHUNK_HEADER_BYTES);
    sink_u32le(&s, CHUNK_MAGIC);
    sink_u8(&s, (uint8_t)type);
    sink_u8(&s, (uint8_t)flags);
    sink_u16le(&s, 0);
    sink_u32le(&s, thread);
    sink_u32le(&s, (uint32_t)n);
    sink_u32le(&s, checksum(payload, n));
    sink_u32le(&s, checksum(at, CHUNK_SIGNED_BYTES));
}
