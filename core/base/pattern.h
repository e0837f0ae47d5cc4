/*
 * Patterns for methods: CLASS, CLASS#METHOD or, if the class is written with slashes, CLASS.METHOD; '*' stands for any
 * characters.  Patterns are UTF-8, names that or a class file's modified UTF-8.  Without slashes, dots separate the
 * parts of the class's name.
 *
 *     java/util/HashMap.get*    java.util.HashMap#get*    com.example.*
 */
#ifndef CORE_BASE_PATTERN_H
#define CORE_BASE_PATTERN_H

#include "core/base/std.h"

#define PATTERN_BYTES 512

struct pattern {
    char text[PATTERN_BYTES]; /* class pattern, NUL, method pattern ("*" when none was given), NUL */
    size_t method_at;
    bool names_methods; /* there is a method pattern */
};

/* Returns 0, or -1 when the text is empty or too long. */
int pattern_parse(struct pattern *pattern, const char *text);

/* class_name in internal form. */
bool pattern_matches_class(const struct pattern *pattern, const char *class_name, size_t n);
bool pattern_matches_method(const struct pattern *pattern, const char *name, size_t n);

/*
 * How many characters differ between a name and the nearest one that matches, at most most: for who mistyped it.  A
 * class' name counts without its package, too, as one more; so does one that the pattern has a part more than.
 */
uint32_t pattern_class_distance(const struct pattern *pattern, const char *class_name, size_t n, uint32_t most);
uint32_t pattern_method_distance(const struct pattern *pattern, const char *name, size_t n, uint32_t most);

#endif
