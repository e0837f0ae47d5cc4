#include "core/agent/rewrite/rewrite_parts.h"

static uint8_t *grow(struct rewrite_buffer *b, size_t n)
{
    if (!b->failed && n > b->room - b->n) {
        size_t room = b->room + (b->room > n ? b->room : n) + 256;
        uint8_t *at = realloc(b->at, room);
        b->failed = at == NULL;
        if (at != NULL) {
            b->at = at;
            b->room = room;
        }
    }
    if (b->failed)
        return NULL;
    b->n += n;
    return b->at + b->n - n;
}

void buffer_bytes(struct rewrite_buffer *b, const void *bytes, size_t n)
{
    uint8_t *at = n > 0 ? grow(b, n) : NULL;
    if (at != NULL)
        memcpy(at, bytes, n);
}

void buffer_fill(struct rewrite_buffer *b, uint8_t byte, size_t n)
{
    uint8_t *at = n > 0 ? grow(b, n) : NULL;
    if (at != NULL)
        memset(at, byte, n);
}

void buffer_big(struct rewrite_buffer *b, uint64_t value, size_t n_bytes)
{
    uint8_t *at = grow(b, n_bytes);
    if (at != NULL)
        buffer_set(b, (size_t)(at - b->at), value, n_bytes);
}

void buffer_set(struct rewrite_buffer *b, size_t at, uint64_t value, size_t n_bytes)
{
    if (b->failed || at > b->n || n_bytes > b->n - at)
        return;
    for (size_t i = n_bytes; i > 0; i--, value >>= 8)
        b->at[at + i - 1] = (uint8_t)value;
}

void buffer_free(struct rewrite_buffer *b)
{
    free(b->at);
    *b = (struct rewrite_buffer){ .at = NULL };
}
