#include "core/base/text.h"

#include "core/base/pattern.h"
#include "core/base/utf8.h"
#include "core/base/words.h"
#include "test/unit/tap.h"

#include <stdlib.h>

static struct arena arena;

static void test_in(void)
{
    static const struct {
        const char *claim, *text, *utf8;
    } rows[] = {
        { "plain text stays", "Sort.main([String)", "Sort.main([String)" },
        { "UTF-8 stays", "caf\xc3\xa9 \xe2\x82\xac", "caf\xc3\xa9 \xe2\x82\xac" },
        { "a class file's pair of surrogates becomes one character", "\xed\xa0\xb5\xed\xb2\xb3work",
          "\xf0\x9d\x92\xb3work" },
        { "a character of four bytes stays", "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80" },
        { "half a pair is replaced", "\xed\xa0\xbdx", "\xef\xbf\xbdx" },
        { "the wrong half, too", "\xed\xb8\x80", "\xef\xbf\xbd" },
        { "Java's NUL of two bytes is replaced", "a\xc0\x80z", "a\xef\xbf\xbdz" },
        { "a lonely byte is replaced", "a\xffz", "a\xef\xbf\xbdz" },
        { "a text that is cut amid a character is replaced there", "\xc3\xa9\xc3", "\xc3\xa9\xef\xbf\xbd" },
        { "an overlong one, byte by byte", "\xe0\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
        { "control characters stay", "a\n\x1b[b\x7f", "a\n\x1b[b\x7f" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *text = text_utf8(&arena, rows[i].text, strlen(rows[i].text)), into[64];
        CHECK_TEXT(rows[i].claim, text, rows[i].utf8);
        CHECK_TEXT("and again it stays as it is", text_utf8(&arena, text, strlen(text)), rows[i].utf8);
        CHECK("it compares equal to what it was made of", utf8_compare(text, rows[i].text, strlen(rows[i].text)) == 0);
        text_utf8_into(into, sizeof into, rows[i].text, strlen(rows[i].text));
        CHECK_TEXT("a buffer gets the same", into, rows[i].utf8);
    }
    char small[4];
    text_utf8_into(small, sizeof small, "ab\xc3\xa9", 4);
    CHECK_TEXT("a buffer gets whole characters", small, "ab");
    CHECK("a NUL amid the bytes is replaced", strcmp(text_utf8(&arena, "a\0b", 3), "a\xef\xbf\xbd"
                                                                                   "b") == 0);
}

static void test_order(void)
{
    CHECK("a shorter text is less", utf8_compare("ab", "abc", 3) < 0 && utf8_compare("abc", "ab", 2) > 0);
    CHECK("characters beyond U+FFFF come behind all others, also where a class file has surrogates",
          utf8_compare("\xef\xbf\xbd", "\xed\xa0\xb5\xed\xb2\xb3", 6) < 0 &&
              utf8_compare("\xf0\x9d\x92\xb3", "\xef\xbf\xbd", 3) > 0);
}

static char *printed(void (*print)(FILE *, const char *), const char *text)
{
    char *made = NULL;
    size_t n;
    FILE *out = open_memstream(&made, &n);
    print(out, text);
    fclose(out);
    return made;
}

static void test_out(void)
{
    static const struct {
        const char *claim, *text, *people, *json;
    } rows[] = {
        { "plain text", "a b", "a b", "\"a b\"" },
        { "quotes and backslashes", "a\"\\", "a\"\\", "\"a\\\"\\\\\"" },
        { "ESC",
          "\x1b"
          "c",
          "?c", "\"\\u001bc\"" },
        { "a line feed", "a\nb", "a?b", "\"a\\u000ab\"" },
        { "DEL", "\x7f", "?", "\"\\u007f\"" },
        { "U+009B, which is ESC [ to some",
          "\xc2\x9b"
          "2J",
          "?2J", "\"\\u009b2J\"" },
        { "an override of the direction",
          "\xe2\x80\xae"
          "a",
          "?a", "\"\\u202ea\"" },
        { "an isolate", "\xe2\x81\xa9", "?", "\"\\u2069\"" },
        { "a letter that begins like them", "\xc2\xa9\xe2\x80\xb0", "\xc2\xa9\xe2\x80\xb0",
          "\"\xc2\xa9\xe2\x80\xb0\"" },
        { "what is not UTF-8", "\xff", "\xef\xbf\xbd", "\"\xef\xbf\xbd\"" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *people = printed(text_print, rows[i].text), *json = printed(text_print_string, rows[i].text);
        CHECK_TEXT(rows[i].claim, people, rows[i].people);
        CHECK_TEXT("the same as a copy", text_clean(&arena, rows[i].text), rows[i].people);
        CHECK_TEXT("and in JSON", json, rows[i].json);
        free(people);
        free(json);
    }
    char *lines = printed(text_print_lines, "a\x1b\n  next: b"),
         *json = printed(text_print_json, "{\n\t\"a\":\"\xc2\x9b\"}");
    CHECK_TEXT("a message keeps its lines", lines, "a?\n  next: b");
    CHECK_TEXT("JSON keeps its lines", json, "{\n\t\"a\":\"\\u009b\"}");
    free(lines);
    free(json);
}

static void test_words(void)
{
    static const char *const names[] = { "adds (positive) numbers", "a\nb", "100%", "%41", "", "\xc2\x9b" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char *word = text_words(&arena, &names[i], 1);
        CHECK("a word holds no blank", word[strcspn(word, " \n\t")] == '\0');
        words_unescape(word);
        CHECK_TEXT("and comes back", word, names[i]);
    }
    CHECK_TEXT("words stand between blanks", text_words(&arena, (const char *const[]){ "a b", "c" }, 2), "a%20b c");
    char loose[] = "5% %zz %00 %4";
    words_unescape(loose);
    CHECK_TEXT("what is not escaped stays", loose, "5% %zz %00 %4");
}

static void test_patterns(void)
{
    struct pattern pattern;
    static const char in_class_file[] = "\xed\xa0\xb5\xed\xb2\xb3work";
    CHECK("a pattern in UTF-8 matches a class file's name",
          pattern_parse(&pattern, "a.B#\xf0\x9d\x92\xb3*k") == 0 &&
              pattern_matches_method(&pattern, in_class_file, strlen(in_class_file)));
    CHECK("and not another", !pattern_matches_method(&pattern, "work", 4));
    CHECK("a star stands for such characters, too",
          pattern_parse(&pattern, "a.B#*work") == 0 &&
              pattern_matches_method(&pattern, in_class_file, strlen(in_class_file)));
    CHECK("names may have blanks and brackets", pattern_parse(&pattern, "Odd#adds (positive) *") == 0 &&
                                                    pattern_matches_method(&pattern, "adds (positive) numbers", 23));
}

int main(void)
{
    test_in();
    test_order();
    test_out();
    test_words();
    test_patterns();
    arena_free(&arena);
    return tap_done();
}
