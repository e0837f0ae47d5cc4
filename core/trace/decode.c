/*
 * The bytes after a chunk are readable too, so a record is decoded without looking where the chunk ends, and only then
 * judged.
 */
#include "core/trace/decode.h"

#include "core/base/xalloc.h"

#define NO_METHOD UINT32_MAX

/* How a chunk's records are coded, and whether most of them are expected to be predicted. */
enum coding { CODING_PLAIN, CODING_LIKELY, CODING_UNLIKELY };

/* All ones or all zeros: gcc makes branches of conditions. */
static inline uint32_t mask_of(bool condition)
{
    return 0 - (uint32_t)condition;
}

static inline uint32_t choose(uint32_t if_first, uint32_t first, uint32_t second)
{
    return second ^ ((second ^ first) & if_first);
}

/*
 * A gap, a virtual thread, an open call, or an exit that names its method, after the first number.  Returns where the
 * next number stands; an impossible one has NO_METHOD.
 */
static const uint8_t *get_other(const uint8_t *at, unsigned virtual_bits, struct trace_record *record)
{
    static const enum trace_kind kinds[] = { TRACE_EXIT, TRACE_UNWIND, TRACE_GAP },
                                 virtual_kinds[] = { TRACE_RESUME, TRACE_MOUNT, TRACE_UNMOUNT, TRACE_OPEN };
    uint64_t number;
    at = number_get(at, &number);
    unsigned other = (unsigned)number & ((1u << TAG_BITS) - 1);
    number >>= TAG_BITS;
    bool is_known = true;
    if (other == OTHER_VIRTUAL) {
        unsigned which = (unsigned)number & ((1u << virtual_bits) - 1);
        is_known = which < VIRTUAL_CLOCK;
        record->kind = virtual_kinds[which & 3];
        number >>= virtual_bits;
    } else {
        record->kind = kinds[other];
    }
    if (record->kind == TRACE_GAP)
        record->operand = number < UINT32_MAX ? (uint32_t)number : UINT32_MAX - 1;
    else
        record->operand = is_known && number <= RING_METHOD_MAX ? (uint32_t)number : NO_METHOD;
    return at;
}

/* After a bitmap of those that changed. */
static const uint8_t *get_changed(const uint8_t *at, uint64_t *counters, size_t n)
{
    const uint8_t *changed = at;
    at += COUNTERS_BITMAP_BYTES(n);
    for (size_t first = 0; first < n; first += 8) {
        for (unsigned bits = changed[first / 8]; bits != 0; bits &= bits - 1) {
            size_t i = first + (unsigned)__builtin_ctz(bits);
            uint64_t delta;
            if (i >= n)
                return NULL;
            at = number_get(at, &delta);
            counters[i] += delta;
        }
    }
    return at;
}

const uint8_t *decode_counters(const uint8_t *at, uint64_t *counters, size_t n)
{
    if (n > COUNTERS_PLAIN_MAX)
        return get_changed(at, counters, n);
    for (size_t i = 0; i < n; i++) {
        uint64_t delta;
        at = number_get(at, &delta);
        counters[i] += delta;
    }
    return at;
}

/* The record that comes next, with branches for nothing but what is rare: which of an entry and an exit it is cannot be
 * foreseen by the processor. */
static inline void get_plain(struct decoder_state *s, struct trace_record *record)
{
    uint64_t first, method;
    const uint8_t *at = number_get(s->at, &first);
    unsigned kind = (unsigned)first & ((1u << TAG_BITS) - 1);
    s->ticks += first >> TAG_BITS;
    record->ticks = s->ticks;
    if (UNLIKELY(kind == TAG_OTHER)) {
        s->at = get_other(at, TAG_BITS, record);
        return;
    }
    const uint8_t *after = number_get(at, &method);
    uint32_t if_exit = mask_of(kind != TAG_ENTER);
    record->kind = (enum trace_kind)kind;
    record->operand = choose(if_exit, *s->top, method > RING_METHOD_MAX ? NO_METHOD : (uint32_t)method);
    s->top[1] = record->operand;
    s->top += 1 - (2 & (int32_t)if_exit);
    s->at = at + ((size_t)(after - at) & ~(size_t)(int64_t)(int32_t)if_exit);
}

/* What is known of a record before it is taken: what was predicted, or what it says of itself. */
struct coded {
    uint64_t n_units;
    uint32_t kind;    /* enum record_tag */
    uint32_t entered; /* TAG_ENTER: the method, or NO_METHOD */
};

/* A record that was not predicted, from its first number.  Returns where the next number stands. */
static inline const uint8_t *get_missed(const uint8_t *at, uint64_t first, struct coded *coded)
{
    uint64_t method;
    coded->kind = (unsigned)(first >> 1) & ((1u << TAG_BITS) - 1);
    coded->n_units = first >> MISSED_BITS;
    if (coded->kind != TAG_ENTER)
        return at;
    at = number_get(at, &method);
    coded->entered = method > RING_METHOD_MAX ? NO_METHOD : (uint32_t)method;
    return at;
}

/* Where most are predicted, and take a byte. */
static inline const uint8_t *get_likely(const uint8_t *at, struct coded *coded)
{
    uint64_t first = *at;
    if (LIKELY((first & 3) == 0)) {
        coded->n_units = first >> 2;
        return at + 1;
    }
    at = number_get(at, &first);
    coded->n_units = first >> 1;
    return (first & 1) != 0 ? get_missed(at, first, coded) : at;
}

/* The same without branches, where the processor cannot foresee whether a record was predicted. */
static inline const uint8_t *get_unlikely(const uint8_t *at, struct coded *coded)
{
    uint64_t first, method;
    at = number_get(at, &first);
    uint32_t if_missed = mask_of((first & 1) != 0);
    coded->kind = choose(if_missed, (uint32_t)(first >> 1) & ((1u << TAG_BITS) - 1), coded->kind);
    coded->n_units = first >> (1 + (TAG_BITS & if_missed));
    const uint8_t *after = number_get(at, &method);
    uint32_t if_named = if_missed & mask_of(coded->kind == TAG_ENTER);
    coded->entered = choose(if_named, method > RING_METHOD_MAX ? NO_METHOD : (uint32_t)method, coded->entered);
    return at + ((size_t)(after - at) & (size_t)(int64_t)(int32_t)if_named);
}

/* Returns whether it is a moment of its own, which comes before a record. */
static inline bool get_clock(struct decoder_state *s, const struct decoder *decoder, const uint8_t *at)
{
    uint64_t number;
    at = number_get(at, &number);
    if ((number & ((1u << (TAG_BITS + VIRTUAL_BITS)) - 1)) != (VIRTUAL_CLOCK << TAG_BITS | OTHER_VIRTUAL))
        return false;
    number >>= TAG_BITS + VIRTUAL_BITS;
    s->ticks += number >> PHASE_BITS;
    s->position = (s->ticks - decoder->base) << PHASE_BITS | (number & ((1u << PHASE_BITS) - 1));
    s->at = at;
    return true;
}

static inline void pass(struct decoder_state *s, const struct decoder *decoder, uint64_t n_units)
{
    s->position += n_units * decoder->unit;
    s->ticks = decoder->base + (s->position >> PHASE_BITS);
}

/* Returns false where there is no record: a moment alone. */
static inline __attribute__((always_inline)) bool get_predicted(struct decoder_state *s, const struct decoder *decoder,
                                                                uint32_t *table, enum coding coding,
                                                                struct trace_record *record)
{
    uint32_t *place = &table[predict_place(&s->predictor)], predicted = *place;
    struct coded coded = { 0, predicted == PREDICT_EXIT, predicted - 1 };
    const uint8_t *at = coding == CODING_LIKELY ? get_likely(s->at, &coded) : get_unlikely(s->at, &coded);
    if (UNLIKELY(coded.kind == TAG_OTHER) && get_clock(s, decoder, at))
        return false;
    pass(s, decoder, coded.n_units);
    record->ticks = s->ticks;
    if (UNLIKELY(coded.kind == TAG_OTHER)) {
        s->at = get_other(at, VIRTUAL_BITS, record);
        return true;
    }
    uint32_t if_exit = mask_of(coded.kind != TAG_ENTER);
    record->kind = (enum trace_kind)coded.kind;
    record->operand = choose(if_exit, *s->top, coded.entered);
    s->top[1] = record->operand;
    s->top += 1 - (2 & (int32_t)if_exit);
    s->at = at;
    if (LIKELY(coded.kind != TAG_UNWIND)) {
        uint32_t next = (record->operand + 1) & ~if_exit;
        s->n_missed += next != predicted;
        *place = next;
    }
    predict_follow(&s->predictor, record->operand, if_exit & 1);
    return true;
}

static inline __attribute__((always_inline)) enum decode_result
get_records(struct decoder *decoder, struct trace_record *records, size_t n_max, size_t *n, enum coding coding)
{
    struct decoder_state s = decoder->state; /* so that it is in registers */
    enum decode_result result = DECODE_OK;
    struct trace_record *record = records;
    uint32_t n_methods = decoder->n_methods;
    while (record < records + n_max && s.at != decoder->end) {
        bool is_record = true;
        if (coding == CODING_PLAIN)
            get_plain(&s, record);
        else
            is_record = get_predicted(&s, decoder, decoder->table, coding, record);
        if (is_record && decoder->n_counters > 0)
            s.at = decode_counters(s.at, decoder->counters, decoder->n_counters);
        if (UNLIKELY(s.at == NULL || s.at > decoder->end || (is_record && record->operand == NO_METHOD))) {
            result = DECODE_DAMAGED;
            s.at = decoder->end;
            break;
        }
        if (is_record && record->kind <= TRACE_OPEN && record->operand >= n_methods)
            n_methods = record->operand + 1;
        record += is_record;
    }
    decoder->n_methods = n_methods;
    decoder->state = s;
    *n = (size_t)(record - records);
    return result;
}

/* More than one in so many was not predicted: a branch for each costs more than decoding both ways. */
#define MISSED_PART 4

enum decode_result decode_records(struct decoder *decoder, struct trace_record *records, size_t n_max, size_t *n)
{
    if (decoder->n_counters > 0 && n_max > 1)
        n_max = 1;
    if (!decoder->is_predicted)
        return get_records(decoder, records, n_max, n, CODING_PLAIN);
    bool is_likely = !decoder->misses_many;
    decoder->state.n_missed = 0;
    enum decode_result result = is_likely ? get_records(decoder, records, n_max, n, CODING_LIKELY)
                                          : get_records(decoder, records, n_max, n, CODING_UNLIKELY);
    decoder->misses_many = decoder->state.n_missed > *n / MISSED_PART;
    return result;
}

/* ---- a chunk ---- */

/* A method entered takes a byte at least; one more may be decoded past the payload's end before that is seen. */
static void make_stack(struct decoder *decoder, size_t n_bytes)
{
    if (n_bytes + 4 > decoder->stack_size) {
        decoder->stack = xreallocarray(decoder->stack, n_bytes + 4, sizeof *decoder->stack);
        decoder->stack_size = n_bytes + 4;
    }
    decoder->state.top = decoder->stack;
    *decoder->state.top = NO_METHOD;
}

enum decode_result decode_begin(struct decoder *decoder, const uint8_t *payload, size_t n, unsigned flags)
{
    struct cursor c = cursor_over(payload, n);
    uint64_t bits = PREDICT_BITS_MIN;
    decoder->n_counters = flags & CHUNK_FLAGS_N_COUNTERS;
    decoder->is_predicted = (flags & CHUNK_FLAG_PREDICTED) != 0;
    decoder->base = decoder->state.ticks = cursor_u64le(&c);
    if (decoder->is_predicted) {
        decoder->unit = cursor_number(&c);
        decoder->state.position = cursor_number(&c);
        bits = cursor_number(&c);
    }
    if (c.bad || decoder->n_counters > RING_COUNTERS_MAX || bits < PREDICT_BITS_MIN || bits > PREDICT_BITS_MAX)
        return DECODE_DAMAGED;
    make_stack(decoder, n);
    if (decoder->is_predicted)
        decoder->state.predictor = predict_begin(decoder->table, (unsigned)bits);
    memset(decoder->counters, 0, sizeof decoder->counters);
    decoder->state.at = c.at;
    decoder->end = c.end;
    return DECODE_OK;
}

void decode_free(struct decoder *decoder)
{
    free(decoder->stack);
    decoder->stack = NULL;
}
