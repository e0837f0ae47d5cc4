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
