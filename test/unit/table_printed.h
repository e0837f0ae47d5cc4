/*
 * A table as it is printed, for the tests of what makes one.
 */
#ifndef TEST_UNIT_TABLE_PRINTED_H
#define TEST_UNIT_TABLE_PRINTED_H

#include "core/base/arena.h"
#include "report/format/table.h"

#include <stdlib.h>
#include <string.h>

enum table_format { TEXT, CSV, JSON };

/* The arena's; the error's words when it cannot be printed. */
static inline const char *printed(const struct table *table, enum table_format format, struct arena *arena)
{
    char *text = NULL;
    size_t n = 0;
    struct err err;
    FILE *out = open_memstream(&text, &n);
    int rc = format == CSV    ? table_print_csv(table, out, &err)
             : format == JSON ? table_print_json(table, out, &err)
                              : table_print_text(table, out, &err);
    fclose(out);
    const char *copy = arena_text(arena, rc < 0 ? err.text : text, rc < 0 ? strlen(err.text) : n);
    free(text);
    return copy;
}

/* With one space for several. */
static inline const char *squeezed(const char *text, struct arena *arena)
{
    char *copied = arena_text(arena, text, strlen(text)), *to = copied;
    for (const char *at = copied; *at != '\0'; at++)
        if (at[0] != ' ' || at[1] != ' ')
            *to++ = *at;
    *to = '\0';
    return copied;
}

#endif
