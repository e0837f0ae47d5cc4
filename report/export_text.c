#include "report/export_text.h"

#include <stdint.h>
#include <string.h>

#define REPLACEMENT 0xfffd

/* How many bytes follow a first byte; -1: it is none. */
static int n_following(uint8_t first)
{
    if (first < 0x80)
        return 0;
    if (first >= 0xc2 && first <= 0xdf)
        return 1;
    if (first >= 0xe0 && first <= 0xef)
        return 2;
    return first >= 0xf0 && first <= 0xf4 ? 3 : -1;
}

/* One code point, surrogates included; *at moves behind it, or by one byte when it is malformed. */
static uint32_t take_code_point(const uint8_t **at)
{
    static const uint32_t lowest[] = { 0, 0x80, 0x800, 0x10000 };
    const uint8_t *p = *at;
    int n = n_following(*p);
    *at = p + 1;
    if (n < 0)
        return REPLACEMENT;
    uint32_t code = n == 0 ? *p : *p & (0x3fu >> n);
    for (int i = 1; i <= n; i++) {
        if ((p[i] & 0xc0) != 0x80) /* the closing NUL is none, too */
            return REPLACEMENT;
        code = code << 6 | (p[i] & 0x3f);
    }
    if (code < lowest[n] || code > 0x10ffff)
        return REPLACEMENT;
    *at = p + n + 1;
    return code;
}

/* Java writes characters beyond U+FFFF as two surrogates of three bytes each. */
static uint32_t take_character(const uint8_t **at)
{
    uint32_t code = take_code_point(at);
    if (code < 0xd800 || code > 0xdfff)
        return code;
    const uint8_t *next = *at;
    uint32_t low = code < 0xdc00 && *next != '\0' ? take_code_point(&next) : 0;
    if (low < 0xdc00 || low > 0xdfff)
        return REPLACEMENT;
    *at = next;
    return 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
}

static char *put(char *to, uint32_t code)
{
    if (code < ' ' || code == 0x7f)
        code = ' ';
    if (code < 0x80) {
        *to++ = (char)code;
        return to;
    }
    int n = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const uint8_t first[] = { 0, 0xc0, 0xe0, 0xf0 };
    *to++ = (char)(first[n] | code >> (6 * n));
    while (n-- > 0)
        *to++ = (char)(0x80 | (code >> (6 * n) & 0x3f));
    return to;
}

const char *export_utf8(struct arena *arena, const char *text)
{
    /* A malformed byte becomes three. */
    char *clean = arena_alloc(arena, strlen(text) * 3 + 1), *to = clean;
    const uint8_t *at = (const uint8_t *)text;
    if (clean == NULL)
        return NULL;
    while (*at != '\0')
        to = put(to, take_character(&at));
    return clean;
}

void export_json_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        fputc(*text, out);
    }
    fputc('"', out);
}
