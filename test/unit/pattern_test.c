#include "core/base/pattern.h"

#include "test/unit/tap.h"

#include <string.h>

static void test_parts(void)
{
    static const struct {
        const char *text, *class_name, *method;
        bool names_methods, matches;
    } rows[] = {
        { "java/util/HashMap", "java/util/HashMap", "get", false, true },
        { "java.util.HashMap", "java/util/HashMap", "get", false, true },
        { "java/util/HashMap.get*", "java/util/HashMap", "getNode", true, true },
        { "java/util/HashMap.get*", "java/util/HashMap", "put", true, false },
        { "java.util.HashMap#get", "java/util/HashMap", "get", true, true },
        { "com/example/*", "com/example/a/B", "c", false, true },
        { "*/HashMap", "java/util/HashMap", "get", false, true },
        { "*/HashMap", "java/util/HashMap$Node", "get", false, false },
    };
    struct pattern p;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK("it is a pattern", pattern_parse(&p, rows[i].text) == 0);
        CHECK("it names methods, or not", p.names_methods == rows[i].names_methods);
        CHECK("it matches, or not",
              (pattern_matches_class(&p, rows[i].class_name, strlen(rows[i].class_name)) &&
               pattern_matches_method(&p, rows[i].method, strlen(rows[i].method))) == rows[i].matches);
    }
}

static void test_distances(void)
{
    static const struct {
        const char *text, *class_name;
        uint32_t distance;
    } rows[] = {
        { "java/util/HashMap", "java/util/HashMap", 0 }, { "java/util/HasMap", "java/util/HashMap", 1 },
        { "java/util/HahsMap", "java/util/HashMap", 2 }, { "com/exmaple/*", "com/example/Foo", 2 },
        { "HashMap", "java/util/HashMap", 1 },           { "Hashmap", "java/util/HashMap", 2 },
        { "org/other/Thing", "java/util/HashMap", 12 },  { "java.util.HashMap.get", "java/util/HashMap", 1 },
    };
    struct pattern p;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pattern_parse(&p, rows[i].text);
        CHECK_NUMBER(rows[i].text, pattern_class_distance(&p, rows[i].class_name, strlen(rows[i].class_name), 12),
                     rows[i].distance);
    }
    pattern_parse(&p, "a/B.gte*");
    CHECK_NUMBER("of a method", pattern_method_distance(&p, "getAll", 6, 12), 1);
}

int main(void)
{
    test_parts();
    test_distances();
    return tap_done();
}
