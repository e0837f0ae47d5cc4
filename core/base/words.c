#include "core/base/words.h"

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

size_t words_escape(char *to, const char *word)
{
    static const char digits[] = "0123456789ABCDEF";
    const char *start = to;
    for (; *word != '\0'; word++) {
        unsigned char c = (unsigned char)*word;
        if (c > ' ' && c != '%' && c != 0x7f) {
            *to++ = *word;
            continue;
        }
        *to++ = '%';
        *to++ = digits[c >> 4];
        *to++ = digits[c & 15];
    }
    *to = '\0';
    return (size_t)(to - start);
}

void words_unescape(char *word)
{
    char *to = word;
    while (*word != '\0') {
        int high = word[0] == '%' ? digit(word[1]) : -1;
        int low = high < 0 ? -1 : digit(word[2]);
        if (low < 0 || high + low == 0) {
            *to++ = *word++;
            continue;
        }
        *to++ = (char)(high << 4 | low);
        word += 3;
    }
    *to = '\0';
}

/* "it's" as 'it'\''s' */
#define QUOTE_GROWTH 4
#define PLAIN_CHARACTERS                                             \
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789" \
    "@%+=:,./_-^"
#define CUT "..."

/* At most room bytes with the NUL, or -1: it does not fit. */
static int quote(char *to, size_t room, const char *word)
{
    const char *start = to, *end = to + room;
    *to++ = '\'';
    for (; *word != '\0'; word++) {
        if (end - to < QUOTE_GROWTH + 2)
            return -1;
        if (*word == '\'') {
            memcpy(to, "'\\'", QUOTE_GROWTH - 1);
            to += QUOTE_GROWTH - 1;
        }
        *to++ = *word;
    }
    *to++ = '\'';
    *to = '\0';
    return (int)(to - start);
}

void words_append_quoted(char *line, size_t room, const char *word)
{
    size_t n = strlen(line), n_cut = strlen(CUT), length = strlen(word);
    bool is_plain = length > 0 && strspn(word, PLAIN_CHARACTERS) == length;
    if (n >= n_cut && strcmp(line + n - n_cut, CUT) == 0)
        return;
    char *at = line + n;
    if (n > 0 && n + 1 < room)
        *at++ = ' ';
    size_t left = room - (size_t)(at - line);
    if (left > (is_plain ? length : 2 * QUOTE_GROWTH)) {
        if (is_plain)
            memcpy(at, word, length + 1);
        if (is_plain || quote(at, left, word) >= 0)
            return;
    }
    memcpy(n + n_cut < room ? line + n : line + room - n_cut - 1, CUT, n_cut + 1);
}
