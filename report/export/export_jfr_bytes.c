#include "report/export/export_jfr_parts.h"

#include "core/base/xalloc.h"

#define TEXT_NONE    0
#define TEXT_UTF8    3
#define NUMBER_BYTES 9
#define LENGTH_BYTES 5 /* of an entry: five times seven bits, whatever its length */

void jfr_bytes_free(struct jfr_bytes *to)
{
    free(to->bytes);
    memset(to, 0, sizeof *to);
}

void jfr_put_fixed(struct jfr_bytes *to, uint64_t value, size_t n)
{
    xgrow(to->bytes, to->room, to->n + n);
    for (size_t i = n; i > 0; i--)
        to->bytes[to->n++] = (uint8_t)(value >> 8 * (i - 1));
}

void jfr_put_number(struct jfr_bytes *to, uint64_t value)
{
    xgrow(to->bytes, to->room, to->n + NUMBER_BYTES);
    for (size_t i = 1; i < NUMBER_BYTES && value >= 0x80; i++, value >>= 7)
        to->bytes[to->n++] = (uint8_t)(value | 0x80);
    to->bytes[to->n++] = (uint8_t)value;
}

static void put_raw(struct jfr_bytes *to, const void *bytes, size_t n)
{
    if (n == 0)
        return;
    xgrow(to->bytes, to->room, to->n + n);
    memcpy(to->bytes + to->n, bytes, n);
    to->n += n;
}

void jfr_put_text(struct jfr_bytes *to, const char *text)
{
    jfr_put_fixed(to, text == NULL ? TEXT_NONE : TEXT_UTF8, 1);
    if (text == NULL)
        return;
    jfr_put_number(to, strlen(text));
    put_raw(to, text, strlen(text));
}

void jfr_put_bytes(struct jfr_bytes *to, const struct jfr_bytes *from)
{
    put_raw(to, from->bytes, from->n);
}

size_t jfr_begin(struct jfr_bytes *to)
{
    size_t start = to->n;
    jfr_put_fixed(to, 0, LENGTH_BYTES);
    return start;
}

void jfr_end(struct jfr_bytes *to, size_t start)
{
    size_t length = to->n - start;
    for (size_t i = 0; i < LENGTH_BYTES; i++, length >>= 7)
        to->bytes[start + i] = (uint8_t)((length & 0x7f) | (i + 1 < LENGTH_BYTES ? 0x80 : 0));
}
