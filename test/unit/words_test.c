/*
 * Command lines that a shell reads as the words that they were made of.
 */
#include "core/base/words.h"

#include "test/unit/tap.h"

#include <string.h>

static const char *line_of(const char *const *words, char *line, size_t room)
{
    line[0] = '\0';
    for (; *words != NULL; words++)
        words_append_quoted(line, room, *words);
    return line;
}

int main(void)
{
    static const struct {
        const char *claim;
        const char *words[4];
        size_t room;
        const char *line;
    } rows[] = {
        { "plain words stand as they are", { "java", "-Dx=1,2:/a_b", "a@b" }, 99, "java -Dx=1,2:/a_b a@b" },
        { "what a shell would take apart is quoted", { "java", "a;b", "*" }, 99, "java 'a;b' '*'" },
        { "as is what it would leave out", { "java", "", "a b" }, 99, "java '' 'a b'" },
        { "and a quote", { "java", "it's" }, 99, "java 'it'\\''s'" },
        { "a line that fits exactly is whole", { "java", "abc" }, 9, "java abc" },
        { "one that does not ends with dots", { "java", "abcd" }, 9, "java..." },
        { "and takes no more", { "java", "abcdef", "x" }, 9, "java..." },
        { "a quoted word that does not fit is not cut", { "java", "a b c d e" }, 16, "java..." },
        { "a word that is longer than the line", { "javajavajava" }, 9, "..." },
    };
    char line[100];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_TEXT(rows[i].claim, line_of(rows[i].words, line, rows[i].room), rows[i].line);
    return tap_done();
}
