/*
 * Decoding and encoding bytes, never casts.
 *
 * A cursor walks over borrowed bytes; a read past the end returns zero and makes the cursor bad, which the decoder
 * checks once at the end of each unit.  A sink fills a borrowed buffer; what does not fit makes it full.  Neither
 * allocates: the agent uses both.
 */
#ifndef CORE_BASE_BYTES_H
#define CORE_BASE_BYTES_H

#include "core/base/std.h"

struct cursor {
    const uint8_t *at, *end; /* borrowed */
    bool bad;                /* a read went past the end */
};

struct sink {
    uint8_t *at, *end; /* borrowed */
    bool full;         /* a write did not fit; nothing was written after that */
};

static inline struct cursor cursor_over(const void *bytes, size_t n)
{
    struct cursor c = { bytes, (const uint8_t *)bytes + n, false };
    return c;
}

static inline size_t cursor_left(const struct cursor *c)
{
    return (size_t)(c->end - c->at);
}

/* n bytes of the input itself, or NULL (and the cursor bad). */
static inline const uint8_t *cursor_bytes(struct cursor *c, size_t n)
{
    if (cursor_left(c) < n) {
        c->bad = true;
        c->at = c->end;
        return NULL;
    }
    const uint8_t *start = c->at;
    c->at += n;
    return start;
}

static inline uint64_t cursor_little(struct cursor *c, size_t n)
{
    const uint8_t *b = cursor_bytes(c, n);
    uint64_t value = 0;
    for (size_t i = n; b != NULL && i > 0; i--)
        value = value << 8 | b[i - 1];
    return value;
}

static inline uint64_t cursor_big(struct cursor *c, size_t n)
{
    const uint8_t *b = cursor_bytes(c, n);
    uint64_t value = 0;
    for (size_t i = 0; b != NULL && i < n; i++)
        value = value << 8 | b[i];
    return value;
}

static inline uint8_t cursor_u8(struct cursor *c)
{
    return (uint8_t)cursor_little(c, 1);
}

static inline uint16_t cursor_u16le(struct cursor *c)
{
    return (uint16_t)cursor_little(c, 2);
}

static inline uint32_t cursor_u32le(struct cursor *c)
{
    return (uint32_t)cursor_little(c, 4);
}

static inline uint64_t cursor_u64le(struct cursor *c)
{
    return cursor_little(c, 8);
}

static inline uint16_t cursor_u16be(struct cursor *c)
{
    return (uint16_t)cursor_big(c, 2);
}

static inline uint32_t cursor_u32be(struct cursor *c)
{
    return (uint32_t)cursor_big(c, 4);
}

/* An unsigned LEB128 number of at most 64 bits; a longer one makes the cursor bad. */
static inline uint64_t cursor_varint(struct cursor *c)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (c->at == c->end)
            break;
        uint8_t byte = *c->at++;
        if (shift == 63 && byte > 1)
            break;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    c->bad = true;
    c->at = c->end;
    return 0;
}

/* A varint below limit; else 0, and the cursor is bad. */
static inline uint32_t cursor_below(struct cursor *c, uint32_t limit)
{
    uint64_t value = cursor_varint(c);
    if (value < limit)
        return (uint32_t)value;
    c->bad = true;
    return 0;
}

/*
 * Take an entry that stands behind its length (4 bytes, little first), of at most this many bytes: *entry is over it.
 * Returns 1, or 0 when it is not all there yet, or -1: it is longer; then c stands nowhere.
 */
static inline int cursor_entry(struct cursor *c, uint32_t most_bytes, struct cursor *entry)
{
    uint32_t length = cursor_u32le(c);
    if (!c->bad && length > most_bytes)
        return -1;
    const uint8_t *bytes = c->bad ? NULL : cursor_bytes(c, length);
    if (bytes == NULL)
        return 0;
    *entry = cursor_over(bytes, length);
    return 1;
}

/* A varint *n, at most limit, and so many bytes of the input itself; else "", 0, and the cursor is bad. */
static inline const char *cursor_text(struct cursor *c, size_t limit, size_t *n)
{
    uint64_t length = cursor_varint(c);
    const uint8_t *at = length > limit ? NULL : cursor_bytes(c, (size_t)length);
    c->bad = c->bad || at == NULL;
    *n = at == NULL ? 0 : (size_t)length;
    return at == NULL ? "" : (const char *)at;
}

static inline struct sink sink_into(void *bytes, size_t n)
{
    struct sink s = { bytes, (uint8_t *)bytes + n, false };
    return s;
}

static inline void sink_bytes(struct sink *s, const void *bytes, size_t n)
{
    if (s->full || (size_t)(s->end - s->at) < n) {
        s->full = true;
        return;
    }
    if (n > 0)
        memcpy(s->at, bytes, n);
    s->at += n;
}

static inline void sink_little(struct sink *s, uint64_t value, size_t n)
{
    uint8_t b[8];
    for (size_t i = 0; i < n; i++)
        b[i] = (uint8_t)(value >> (8 * i));
    sink_bytes(s, b, n);
}

static inline void sink_big(struct sink *s, uint64_t value, size_t n)
{
    uint8_t b[8];
    for (size_t i = 0; i < n; i++)
        b[i] = (uint8_t)(value >> (8 * (n - 1 - i)));
    sink_bytes(s, b, n);
}

static inline void sink_u8(struct sink *s, uint8_t value)
{
    sink_little(s, value, 1);
}

static inline void sink_u16le(struct sink *s, uint16_t value)
{
    sink_little(s, value, 2);
}

static inline void sink_u32le(struct sink *s, uint32_t value)
{
    sink_little(s, value, 4);
}

static inline void sink_u64le(struct sink *s, uint64_t value)
{
    sink_little(s, value, 8);
}

static inline void sink_u16be(struct sink *s, uint16_t value)
{
    sink_big(s, value, 2);
}

static inline void sink_u32be(struct sink *s, uint32_t value)
{
    sink_big(s, value, 4);
}

#define VARINT_MAX_BYTES 10

static inline void sink_varint(struct sink *s, uint64_t value)
{
    uint8_t b[VARINT_MAX_BYTES];
    size_t n = 0;
    while (value >= 0x80) {
        b[n++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    b[n++] = (uint8_t)value;
    sink_bytes(s, b, n);
}

#endif
