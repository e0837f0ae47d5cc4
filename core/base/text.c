#include "core/base/text.h"

#include "core/base/utf8.h"
#include "core/base/words.h"

#include <stdbool.h>
#include <string.h>

static bool is_ascii(const char *at, size_t n)
{
    unsigned char all = 0;
    for (size_t i = 0; i < n; i++)
        all |= (unsigned char)at[i];
    return all < 0x80 && memchr(at, '\0', n) == NULL;
}

char *text_utf8(struct arena *arena, const char *at, size_t n)
{
    if (n == 0 || is_ascii(at, n))
        return arena_text(arena, at, n);
    char *text = arena_alloc(arena, n * UTF8_GROWTH + 1), *to = text;
    for (const char *end = at + n; text != NULL && at < end;)
        to = utf8_put(to, utf8_take(&at, end));
    return text;
}

void text_utf8_into(char *to, size_t room, const char *at, size_t n)
{
    const char *end = at + n;
    while (at < end) {
        char one[UTF8_BYTES_MAX] = { 0 };
        size_t n_bytes = (size_t)(utf8_put(one, utf8_take(&at, end)) - one);
        if (n_bytes >= room)
            break;
        memcpy(to, one, n_bytes);
        to += n_bytes;
        room -= n_bytes;
    }
    *to = '\0';
}

uint32_t text_take_clean(const char **at, const char *end)
{
    uint32_t character = utf8_take(at, end);
    return utf8_is_control(character) ? '?' : character;
}

char *text_clean(struct arena *arena, const char *text)
{
    size_t n = strlen(text);
    char *clean = arena_alloc(arena, n * UTF8_GROWTH + 1), *to = clean;
    for (const char *end = text + n; clean != NULL && text < end;)
        to = utf8_put(to, text_take_clean(&text, end));
    return clean;
}

void text_put(FILE *out, uint32_t character)
{
    char one[UTF8_BYTES_MAX] = { 0 };
    fwrite(one, 1, (size_t)(utf8_put(one, character) - one), out);
}

void text_print(FILE *out, const char *text)
{
    const char *end = text + strlen(text);
    while (text < end)
        text_put(out, text_take_clean(&text, end));
}

void text_print_lines(FILE *out, const char *text)
{
    const char *end = text + strlen(text);
    while (text < end) {
        bool is_feed = *text == '\n';
        uint32_t character = text_take_clean(&text, end);
        text_put(out, is_feed ? '\n' : character);
    }
}

static void put_json(FILE *out, uint32_t character)
{
    if (utf8_is_control(character))
        fprintf(out, "\\u%04x", (unsigned)character);
    else
        text_put(out, character);
}

void text_print_string(FILE *out, const char *text)
{
    const char *end = text + strlen(text);
    fputc('"', out);
    while (text < end) {
        uint32_t character = utf8_take(&text, end);
        if (character == '"' || character == '\\')
            fputc('\\', out);
        put_json(out, character);
    }
    fputc('"', out);
}

void text_print_json(FILE *out, const char *json)
{
    const char *end = json + strlen(json);
    while (json < end) {
        if (*json == '\n' || *json == '\t') /* between the values */
            fputc(*json++, out);
        else
            put_json(out, utf8_take(&json, end));
    }
}

char *text_words(struct arena *arena, const char *const *words, size_t n)
{
    size_t room = 1;
    for (size_t i = 0; i < n; i++)
        room += strlen(words[i]) * WORDS_GROWTH + 1;
    char *line = arena_alloc(arena, room), *to = line;
    for (size_t i = 0; line != NULL && i < n; i++) {
        if (i > 0)
            *to++ = ' ';
        to += words_escape(to, words[i]);
    }
    return line;
}
