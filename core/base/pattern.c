#include "core/base/pattern.h"

#include "core/base/utf8.h"

#include <string.h>

/* '*' matches any characters.  Linear but for the last star: on a mismatch only that one takes one more. */
static bool matches(const char *glob, const char *text, size_t n)
{
    const char *end = text + n, *glob_end = glob + strlen(glob), *star = NULL, *resume = NULL;
    while (text < end) {
        const char *behind_glob = glob, *behind_text = text;
        if (*glob == '*') {
            star = ++glob;
            resume = text;
        } else if (glob < glob_end && utf8_take(&behind_glob, glob_end) == utf8_take(&behind_text, end)) {
            glob = behind_glob;
            text = behind_text;
        } else if (star != NULL) {
            glob = star;
            utf8_take(&resume, end);
            text = resume;
        } else {
            return false;
        }
    }
    while (*glob == '*')
        glob++;
    return *glob == '\0';
}

/* Where the class ends: at '#', or at the dot behind the last slash; a name with dots only is all class. */
static size_t class_length(const char *text)
{
    const char *hash = strchr(text, '#'), *slash = strrchr(text, '/');
    if (hash != NULL)
        return (size_t)(hash - text);
    if (slash == NULL)
        return strlen(text);
    const char *dot = strchr(slash, '.');
    return dot == NULL ? strlen(text) : (size_t)(dot - text);
}

int pattern_parse(struct pattern *pattern, const char *text)
{
    size_t n = strlen(text), n_class = class_length(text);
    if (n == 0 || n + 3 > sizeof pattern->text)
        return -1;
    memcpy(pattern->text, text, n_class);
    pattern->text[n_class] = '\0';
    pattern->method_at = n_class + 1;
    if (n_class < n)
        memcpy(pattern->text + n_class + 1, text + n_class + 1, n - n_class);
    else
        memcpy(pattern->text + n_class + 1, "*", 2);
    for (size_t i = 0; strchr(text, '/') == NULL && i < n_class; i++)
        if (pattern->text[i] == '.')
            pattern->text[i] = '/';
    return 0;
}

bool pattern_matches_class(const struct pattern *pattern, const char *class_name, size_t n)
{
    return matches(pattern->text, class_name, n);
}

bool pattern_matches_method(const struct pattern *pattern, const char *name, size_t n)
{
    return matches(pattern->text + pattern->method_at, name, n);
}
