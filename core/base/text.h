/*
 * Texts of other programs on their way in, and out.
 *
 * They become UTF-8 where they enter: text_utf8 is how a decoder keeps one.  What goes out to people, that is, perhaps
 * to a terminal, is cleaned: these functions are the only ways.  Between a recorder and its
 * agent, and in metadata of a trace, words stand between blanks: text_words.
 */
#ifndef CORE_BASE_TEXT_H
#define CORE_BASE_TEXT_H

#include "core/base/arena.h"

/* A copy of n bytes as well-formed UTF-8 without NUL (core/base/utf8.h), in the arena. */
char *text_utf8(struct arena *arena, const char *at, size_t n);

/* The same into room bytes (at least one) that end with a NUL; what does not fit as a whole character is left out. */
void text_utf8_into(char *to, size_t room, const char *at, size_t n);

/* A copy with '?' for characters that steer a terminal (utf8_is_control), in the arena. */
char *text_clean(struct arena *arena, const char *text);

/* Print it so; or its characters one by one: take the next, *at < end, and print one. */
void text_print(FILE *out, const char *text);
uint32_t text_take_clean(const char **at, const char *end);
void text_put(FILE *out, uint32_t character);

/* Print it so, but let line feeds pass: a message of several lines. */
void text_print_lines(FILE *out, const char *text);

/* Print it as a JSON string with its quotes; such characters become \u001b. */
void text_print_string(FILE *out, const char *text);

/* Print JSON that is well-formed but for such characters in its strings: as above. */
void text_print_json(FILE *out, const char *json);

/* Columns that a terminal needs for UTF-8 text: one for each character. */
size_t text_columns(const char *text);

/*
 * Text of at most so many columns (8 or more) into room bytes (4 for each column, and one).  A name that is longer is
 * cut in its middle, so that its indentation, its beginning, and its last two parts, class and method, stay; what is in
 * a method's parentheses goes first.  Text without dots is cut at its end.
 */
void text_shorten(const char *text, size_t columns, char *to, size_t room);

/* The ending of a noun after so many: "" of 1, else "s". */
static inline const char *text_plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static inline bool text_begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Is it one of a list that ends with NULL? */
static inline bool text_is_among(const char *text, const char *const *texts)
{
    while (*texts != NULL && strcmp(text, *texts) != 0)
        texts++;
    return *texts != NULL;
}

/* Of a path, or of a class' name with '/', what is behind the last one. */
static inline const char *text_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/* n words with blanks between them, escaped (core/base/words.h), in the arena. */
char *text_words(struct arena *arena, const char *const *words, size_t n);

#endif
