/*
 * An entry of a log, its length (core/base/bytes.h) and what follows; and a text in it: a number (LEB128), its length,
 * and its bytes.
 */
#ifndef CORE_WIRE_WIRE_TEXT_H
#define CORE_WIRE_WIRE_TEXT_H

#include "core/base/bytes.h"

#define WIRE_TEXT_SHORT_BYTES ((size_t)4096)

struct wire_text {
    const char *at; /* borrowed, not NUL-terminated */
    size_t n;
};

static inline struct wire_text wire_text(const char *text)
{
    return (struct wire_text){ text, strlen(text) };
}

static inline void wire_text_put(struct sink *s, struct wire_text text)
{
    sink_varint(s, text.n);
    sink_bytes(s, text.at, text.n);
}

/* Of most_bytes at most; a longer one makes the cursor bad. */
static inline struct wire_text wire_text_get(struct cursor *c, size_t most_bytes)
{
    struct wire_text text;
    text.at = cursor_text(c, most_bytes, &text.n);
    return text;
}

/* Of a longer one, the end is left out. */
static inline void wire_text_put_short(struct sink *s, struct wire_text text)
{
    size_t n = text.n < WIRE_TEXT_SHORT_BYTES ? text.n : WIRE_TEXT_SHORT_BYTES;
    wire_text_put(s, (struct wire_text){ text.at, n });
}

/* The same, read; a NUL in it makes the cursor bad, too. */
static inline struct wire_text wire_text_get_short(struct cursor *c)
{
    struct wire_text text = wire_text_get(c, WIRE_TEXT_SHORT_BYTES);
    c->bad = c->bad || memchr(text.at, '\0', text.n) != NULL;
    return text;
}

/* Begin an entry as cursor_entry takes it.  Returns where its length will stand, for wire_end_entry. */
static inline uint8_t *wire_begin_entry(struct sink *s)
{
    uint8_t *length = s->at;
    sink_u32le(s, 0);
    return length;
}

static inline void wire_end_entry(struct sink *s, uint8_t *length)
{
    struct sink front = sink_into(length, 4);
    if (!s->full)
        sink_u32le(&front, (uint32_t)(s->at - length - 4));
}

#endif
