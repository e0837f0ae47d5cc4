/* Lines of Kotlin's inline functions: which line of the file calls them. */
#include "core/wire/code_log.h"

#include "test/unit/tap.h"

#include <stdlib.h>

/* As kotlinc 1.9 writes it of a file of 28 lines: line 5 calls a function of the same file, whose lines are 24 to 28,
 * line 9 one of another file. */
#define KOTLIN                                                                                \
    "SMAP\nInl.kt\nKotlin\n*S Kotlin\n*F\n+ 1 Inl.kt\ndemo/Hot\n+ 2 Inl.kt\ndemo/InlKt\n+ 3 " \
    "Util.kt\ndemo/UtilKt\n*L\n"                                                              \
    "1#1,28:1\n24#2,5:29\n100#3,2:34\n"
#define CALLS "*S KotlinDebug\n*F\n+ 1 Inl.kt\ndemo/Hot\n*L\n5#1:29,5\n9#1:34,2\n*E\n"

static const struct {
    const char *claim, *smap;
    uint32_t lines[4], expected[4];
} rows[] = {
    { "lines of inline functions are those that call them", KOTLIN CALLS, { 5, 31, 35, 28 }, { 5, 5, 9, 28 } },
    { "one that is told by nothing is not known", KOTLIN CALLS, { 36, 200, 6, 1 }, { 0, 0, 6, 1 } },
    { "nor any without the calls", KOTLIN "*E\n", { 31, 5, 28, 29 }, { 0, 5, 28, 0 } },
    { "kotlinc up to 1.4 has as many calls as lines: they are one",
      KOTLIN "*S KotlinDebug\n*L\n5#1,5:29\n9#1:34\n*E\n",
      { 29, 31, 33, 34 },
      { 5, 5, 5, 9 } },
    { "several lines in turn", KOTLIN "*S KotlinDebug\n*L\n3#1,2:40,10\n*E\n", { 40, 49, 50, 60 }, { 3, 3, 4, 0 } },
    { "a call that is itself behind the end is not known",
      KOTLIN "*S KotlinDebug\n*L\n40#1:31\n*E\n",
      { 31, 2, 3, 4 },
      { 0, 2, 3, 4 } },
    { "another language's lines stay",
      "SMAP\na.jsp\nJSP\n*S JSP\n*F\n+ 0 a.jsp\n*L\n1,3:90\n*E\n",
      { 90, 91, 92, 5 },
      { 90, 91, 92, 5 } },
    { "so do those of no SMAP", "nonsense", { 90, 91, 92, 5 }, { 90, 91, 92, 5 } },
    { "and of an empty one", "", { 90, 91, 92, 5 }, { 90, 91, 92, 5 } },
    { "numbers that are none are left out",
      KOTLIN "*S KotlinDebug\n*L\n99999999999#1:29\n5#:29\n:29\n5:29,0\n5,:29\n",
      { 29, 5, 6, 7 },
      { 0, 5, 6, 7 } },
};

int main(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct code_line lines[4];
        bool are_right = true;
        size_t n = strlen(rows[i].smap);
        char *smap = malloc(n + 1); /* so that a sanitizer sees what is read behind it */
        memcpy(smap, rows[i].smap, n);
        for (uint32_t k = 0; k < 4; k++)
            lines[k] = (struct code_line){ k, rows[i].lines[k] };
        smap_take_calls(smap, n, lines, 4);
        for (uint32_t k = 0; k < 4; k++)
            are_right = are_right && lines[k].line == rows[i].expected[k];
        CHECK(rows[i].claim, are_right);
        for (size_t cut = 0; cut < n; cut++)
            smap_take_calls(smap, cut, lines, 4);
        free(smap);
    }
    CHECK("only Kotlin's classes have such lines",
          smap_is_of("Inl.kt", 6) && !smap_is_of("Inl.java", 8) && !smap_is_of(".kt", 3) && !smap_is_of("", 0));
    return tap_done();
}
