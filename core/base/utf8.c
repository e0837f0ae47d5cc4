#include "core/base/utf8.h"

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

/* A code point, surrogates included; *at moves behind it, or by one byte when it is malformed. */
static uint32_t take_code_point(const char **at, const char *end)
{
    static const uint32_t lowest[] = { 0, 0x80, 0x800, 0x10000 };
    const uint8_t *p = (const uint8_t *)*at;
    int n = n_following(*p);
    ++*at;
    if (n < 0 || end - *at < n)
        return UTF8_REPLACEMENT;
    uint32_t code = n == 0 ? *p : *p & (0x3fu >> n);
    for (int i = 1; i <= n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return UTF8_REPLACEMENT;
        code = code << 6 | (p[i] & 0x3f);
    }
    if (code < lowest[n] || code > 0x10ffff)
        return UTF8_REPLACEMENT;
    *at += n;
    return code;
}

uint32_t utf8_take(const char **at, const char *end)
{
    bool is_java_nul = end - *at >= 2 && (uint8_t)(*at)[0] == 0xc0 && (uint8_t)(*at)[1] == 0x80;
    if (is_java_nul) {
        *at += 2;
        return UTF8_REPLACEMENT;
    }
    uint32_t code = take_code_point(at, end);
    if (code == 0)
        return UTF8_REPLACEMENT;
    if (code < 0xd800 || code > 0xdfff)
        return code;
    const char *next = *at;
    uint32_t low = code < 0xdc00 && next < end ? take_code_point(&next, end) : 0;
    if (low < 0xdc00 || low > 0xdfff)
        return UTF8_REPLACEMENT;
    *at = next;
    return 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
}

char *utf8_put(char *to, uint32_t character)
{
    static const uint8_t first[] = { 0, 0xc0, 0xe0, 0xf0 };
    int n = character < 0x80 ? 0 : character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
    *to++ = (char)(first[n] | character >> (6 * n));
    while (n-- > 0)
        *to++ = (char)(0x80 | (character >> (6 * n) & 0x3f));
    return to;
}

int utf8_compare(const char *text, const char *bytes, size_t n)
{
    const char *end = bytes + n;
    while (bytes < end) {
        char other[UTF8_BYTES_MAX];
        const char *stop = utf8_put(other, utf8_take(&bytes, end));
        for (const char *at = other; at < stop; at++, text++)
            if (*text != *at)
                return (uint8_t)*text < (uint8_t)*at ? -1 : 1;
    }
    return *text != '\0';
}

bool utf8_is_control(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c <= 0x9f) ||        /* C0, DEL, C1 */
           c == 0x061c || (c >= 0x200e && c <= 0x200f) || /* marks of direction */
           (c >= 0x2028 && c <= 0x202e) ||                /* separators of lines; embeddings, overrides */
           (c >= 0x2066 && c <= 0x2069);                  /* isolates */
}
