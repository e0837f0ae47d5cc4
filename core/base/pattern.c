#include "core/base/pattern.h"

#include "core/base/utf8.h"

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
    pattern->names_methods = n_class < n;
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

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Levenshtein's distance; what a star stands for costs nothing. */
static uint32_t distance(const char *glob, const char *text, size_t n, uint32_t most)
{
    uint32_t row[PATTERN_BYTES], above_left, above;
    size_t n_glob = strlen(glob);
    row[0] = 0;
    for (size_t j = 1; j <= n_glob; j++)
        row[j] = row[j - 1] + (glob[j - 1] != '*');
    for (size_t i = 1; i <= n; i++) {
        uint32_t best = row[0] = (uint32_t)i;
        above_left = (uint32_t)i - 1;
        for (size_t j = 1; j <= n_glob; j++) {
            above = row[j];
            bool is_star = glob[j - 1] == '*';
            row[j] = least(least(above + !is_star, row[j - 1] + !is_star),
                           above_left + (!is_star && glob[j - 1] != text[i - 1]));
            above_left = above;
            best = least(best, row[j]);
        }
        if (best >= most)
            return most;
    }
    return least(row[n_glob], most);
}

uint32_t pattern_class_distance(const struct pattern *pattern, const char *class_name, size_t n, uint32_t most)
{
    uint32_t whole = distance(pattern->text, class_name, n, most);
    const char *last = strrchr(pattern->text, '/'); /* behind it may be a method */
    size_t at = n;
    if (last != NULL && (size_t)(last - pattern->text) == n && memcmp(pattern->text, class_name, n) == 0)
        return least(1, most);
    while (at > 0 && class_name[at - 1] != '/')
        at--;
    if (at == 0 || whole <= 1)
        return whole;
    return least(whole, distance(pattern->text, class_name + at, n - at, most - 1) + 1);
}

uint32_t pattern_method_distance(const struct pattern *pattern, const char *name, size_t n, uint32_t most)
{
    return distance(pattern->text + pattern->method_at, name, n, most);
}
