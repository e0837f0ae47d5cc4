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

/* A gap, a virtual thread, an open call, or an exit whose entry is not the chunk's latest open one. */
static uint8_t *put_other(uint8_t *at, uint64_t delta, uint32_t kind, uint32_t operand)
{
    static const uint8_t kinds[] = { [RING_RESUME] = VIRTUAL_RESUME,
                                     [RING_OPEN] = VIRTUAL_OPEN,
                                     [RING_MOUNT] = VIRTUAL_MOUNT,
                                     [RING_UNMOUNT] = VIRTUAL_UNMOUNT };
    at = number_put(at, delta << TAG_BITS | TAG_OTHER);
    if (kind >= RING_RESUME && kind < RING_GAP)
        return number_put(at, ((uint64_t)operand << TAG_BITS | kinds[kind]) << TAG_BITS | OTHER_VIRTUAL);
    return number_put(at, (uint64_t)operand << TAG_BITS | (kind >= RING_GAP ? OTHER_GAP : kind - RING_EXIT));
}

/*
 * Entries and exits share one path without branches: which of them comes next cannot be predicted, and a
 * misprediction costs more than the few stores that one of them does not need.
 */
size_t encode_records(struct encoder *encoder, const uint64_t *words, size_t *n_words, uint64_t now,
                      uint64_t *last_ticks, uint8_t *payload)
{
    const size_t n_per_record = 1 + encoder->n_counters;
    const uint64_t *word = words, *end = words + *n_words;
    uint8_t *at = payload + 8, *limit = payload + RECORDS_PAYLOAD_BYTES - RECORD_MAX_BYTES - NUMBER_MAX_BYTES;
    uint32_t *top = encoder->stack;
    uint64_t first = ring_word_ticks(*word, now);
    uint64_t before = first < *last_ticks ? *last_ticks : first;
    *top = NO_METHOD;
    memset(encoder->counters, 0, sizeof encoder->counters);
    store_u64le(payload, before);
    for (; word < end && at <= limit; word += n_per_record) {
        uint64_t ticks = ring_word_ticks(*word, now);
        ticks = ticks < before ? before : ticks;
        uint64_t delta = ticks - before;
        uint32_t kind = (uint32_t)ring_word_kind(*word), method = ring_word_method(*word);
        uint32_t if_exit = 0 - (uint32_t)(kind != RING_ENTER); /* masks: gcc makes branches of conditions */
        before = ticks;
        if (UNLIKELY(((*top ^ method) & if_exit) != 0 || kind >= RING_RESUME)) {
            at = put_other(at, delta, kind, method);
        } else {
            at = number_put(at, delta << TAG_BITS | kind);
            at += (size_t)(number_put(at, method) - at) & ~(size_t)(int32_t)if_exit;
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
