#include "report/jit/call_counts.h"

#include "core/base/words.h"

#include <stdlib.h>
#include <string.h>

void counted_text_cut_hidden(char *name)
{
    static const char *const marks[] = { "/0x", "+0x", ".0x" };
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        char *at = strstr(name, marks[i]);
        if (at != NULL && at[3 + strspn(at + 3, "0123456789abcdef")] == '\0')
            *at = '\0';
    }
    char *lambda = strstr(name, "$$Lambda$");
    if (lambda != NULL)
        lambda[strlen("$$Lambda")] = '\0';
}

bool counted_text_number(const char *word, uint64_t *number)
{
    char *end;
    *number = strtoull(word, &end, 10);
    return word[0] >= '0' && word[0] <= '9' && *end == '\0' && *number <= UINT64_MAX >> 8;
}

bool counted_text_index(const char *word, int32_t *index)
{
    uint64_t number = 0;
    bool is_known = strcmp(word, "-1") != 0;
    if (is_known && (!counted_text_number(word, &number) || number > INT32_MAX))
        return false;
    *index = is_known ? (int32_t)number : -1;
    return true;
}

bool counted_text_word(char *word)
{
    words_unescape(word);
    return word[0] != '\0';
}

/* Cut a line at its blanks.  Returns how many words there are, up to COUNTED_WORDS_MAX + 1. */
static size_t split(char *line, char *words[COUNTED_WORDS_MAX + 1])
{
    size_t n = 0;
    while (line != NULL && n <= COUNTED_WORDS_MAX) {
        words[n++] = line;
        line = strchr(line, ' ');
        if (line != NULL)
            *line++ = '\0';
    }
    return n;
}

static int refuse(const char *name, const char *why, struct err *err)
{
    err_set(err, "what was counted in '%s' is %s", name, why);
    return err_next(err, "run it again, and let the JVM end by itself");
}

int counted_text_read(char *text, size_t n, const char *first_line, const char *name, counted_line_fn *fn,
                      void *context, struct err *err)
{
    bool has_ended = false;
    char *words[COUNTED_WORDS_MAX + 1], *end = text + n;
    size_t n_first = strlen(first_line);
    if (n <= n_first || memcmp(text, first_line, n_first) != 0 || text[n_first] != '\n')
        return refuse(name, "damaged", err);
    for (char *line = text + n_first + 1, *stop; line < end; line = stop + 1) {
        stop = memchr(line, '\n', (size_t)(end - line));
        if (stop == NULL || has_ended || strlen(line) < (size_t)(stop - line))
            return refuse(name, "damaged or cut", err);
        *stop = '\0';
        size_t n_words = split(line, words);
        has_ended = strcmp(words[0], "end") == 0;
        if (!fn(context, words, n_words, has_ended))
            return refuse(name, "damaged", err);
    }
    return has_ended ? 0 : refuse(name, "cut", err);
}
