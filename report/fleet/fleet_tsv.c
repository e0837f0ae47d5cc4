#include "report/fleet/fleet_engine.h"

#include <string.h>

static enum fleet_type type_of(const char *name)
{
    static const char *const wrappers[] = { "Nullable(", "LowCardinality(" };
    for (size_t i = 0; i < sizeof wrappers / sizeof wrappers[0]; i++)
        if (strncmp(name, wrappers[i], strlen(wrappers[i])) == 0)
            return type_of(name + strlen(wrappers[i]));
    if (strncmp(name, "Int", 3) == 0 || strncmp(name, "UInt", 4) == 0)
        return strncmp(name, "Interval", 8) == 0 ? FLEET_TEXT : FLEET_WHOLE;
    return strncmp(name, "Float", 5) == 0 || strncmp(name, "Decimal", 7) == 0 ? FLEET_REAL : FLEET_TEXT;
}

/* The next field of a line, unescaped in place; *at moves behind it.  NULL: it is NULL. */
static const char *take_field(char **at, bool *is_last)
{
    static const char escapes[] = "b\bf\fr\rn\nt\t0\0'''\\\\\\";
    char *start = *at, *to = start;
    size_t n = strcspn(start, "\t\n");
    bool is_null = n == 2 && start[0] == '\\' && start[1] == 'N';
    for (size_t i = 0; i < n; i++) {
        const char *found = start[i] == '\\' && i + 1 < n ? strchr("bfrnt0'\\", start[i + 1]) : NULL;
        if (found != NULL) {
            char c = start[++i];
            const char *pair = escapes;
            while (pair[0] != c && pair < escapes + sizeof escapes - 2)
                pair += 2;
            *to++ = pair[0] == c ? pair[1] : c;
        } else {
            *to++ = start[i];
        }
    }
    *is_last = start[n] != '\t';
    *at = start + n + (start[n] != '\0');
    *to = '\0';
    return is_null ? NULL : start;
}

static size_t count_bytes(const char *text, char byte, bool in_first_line)
{
    size_t n = 0;
    for (; *text != '\0' && !(in_first_line && *text == '\n'); text++)
        n += *text == byte;
    return n;
}

/* A copy in the arena is cut into fields. */
int fleet_tsv_read(const char *answer, struct arena *arena, struct fleet_result *result)
{
    char *at = arena_text(arena, answer, strlen(answer));
    size_t n_lines = count_bytes(answer, '\n', false);
    bool is_last;
    *result = (struct fleet_result){ .n_columns = count_bytes(answer, '\t', true) + 1 };
    result->n_rows = n_lines < 2 ? 0 : n_lines - 2;
    result->names = arena_alloc(arena, result->n_columns * sizeof *result->names);
    result->types = arena_alloc(arena, result->n_columns * sizeof *result->types);
    result->values = arena_alloc(arena, (result->n_rows * result->n_columns + 1) * sizeof *result->values);
    if (at == NULL || result->names == NULL || result->types == NULL || result->values == NULL)
        return -1;
    for (size_t c = 0; c < result->n_columns; c++) {
        const char *name = take_field(&at, &is_last);
        result->names[c] = name == NULL ? "" : name;
    }
    for (size_t c = 0; c < result->n_columns; c++) {
        const char *name = take_field(&at, &is_last);
        result->types[c] = type_of(name == NULL ? "" : name);
    }
    for (size_t i = 0; i < result->n_rows * result->n_columns; i++)
        result->values[i] = take_field(&at, &is_last);
    return 0;
}
