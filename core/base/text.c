#include "core/base/text.h"

#include "core/base/utf8.h"
#include "core/base/words.h"

#define ELLIPSIS   "\xe2\x80\xa6"
#define NAME_BYTES 4096 /* of a name that is shortened */

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
    for (const char *end = at + n; at < end;)
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
    for (const char *end = text + n; text < end;)
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

/* ---- columns ---- */

size_t text_columns(const char *text)
{
    size_t n = 0;
    for (; *text != '\0'; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

/* Where the n-th character begins, or the end. */
static const char *character(const char *text, size_t n)
{
    for (; *text != '\0'; text++)
        if (((unsigned char)*text & 0xc0) != 0x80 && n-- == 0)
            break;
    return text;
}

/* "class.method(parameters) [mark]" without the parameters, where there are some. */
static void drop_parameters(const char *text, char *to, size_t room)
{
    const char *open = strchr(text, '('), *close = strrchr(text, ')');
    if (open == NULL || open == text || open[-1] == ' ' || close == NULL || close < open + 2)
        snprintf(to, room, "%s", text);
    else
        snprintf(to, room, "%.*s" ELLIPSIS "%s", (int)(open + 1 - text), text, close);
}

/* Characters of the last two parts of a name with dots, and of what follows it; 0: it has no dots. */
static size_t last_parts(const char *text)
{
    const char *end = text + strcspn(text, "("), *at = end;
    unsigned n_dots = 0;
    for (; at > text; at--) {
        n_dots += at[-1] == '.';
        if (n_dots == 2)
            break;
    }
    return n_dots == 0 ? 0 : text_columns(at);
}

/* Words, and no name: those have no blank before their first dot, but for parameters and what is added to them. */
static bool is_sentence(const char *text)
{
    text += strspn(text, " ");
    size_t n = strcspn(text, " .(");
    return text[n] == ' ' && text[n + 1] != '(';
}

void text_shorten(const char *text, size_t columns, char *to, size_t room)
{
    char name[NAME_BYTES];
    size_t blanks = strspn(text, " "), n;
    blanks = blanks + 8 > columns ? columns - 8 : blanks;
    if (text_columns(text) <= columns) {
        snprintf(to, room, "%s", text);
        return;
    }
    if (is_sentence(text)) {
        snprintf(to, room, "%.*s" ELLIPSIS, (int)(character(text, columns - 1) - text), text);
        return;
    }
    drop_parameters(text + strspn(text, " "), name, sizeof name);
    n = text_columns(name);
    size_t left = columns - blanks, tail = last_parts(name);
    tail = tail > 0 && tail < left * 2 / 3 ? left * 2 / 3 : tail;
    tail = tail > left - 1 ? left - 1 : tail;
    if (n <= left)
        snprintf(to, room, "%*s%s", (int)blanks, "", name);
    else
        snprintf(to, room, "%*s%.*s" ELLIPSIS "%s", (int)blanks, "", (int)(character(name, left - 1 - tail) - name),
                 name, character(name, n - tail));
}

char *text_words(struct arena *arena, const char *const *words, size_t n)
{
    size_t room = 1;
    for (size_t i = 0; i < n; i++)
        room += strlen(words[i]) * WORDS_GROWTH + 1;
    char *line = arena_alloc(arena, room), *to = line;
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            *to++ = ' ';
        to += words_escape(to, words[i]);
    }
    return line;
}
