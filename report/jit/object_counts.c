#include "report/jit/call_counts.h"

#include "core/base/text.h"
#include "core/base/vec.h"
#include "symbolize/java_names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_LINE "mmprof-objects 1"
#define WORDS      8 /* of a site's line */

void object_counts_init(struct object_counts *counts, struct arena *arena)
{
    *counts = (struct object_counts){ .arena = arena, .by_site = { .arena = arena } };
}

void object_counts_free(struct object_counts *counts)
{
    map_free(&counts->by_site);
    free(counts->sites);
}

/* ---- reading ---- */

static struct object_site *site_of(struct object_counts *counts, const struct object_site *like)
{
    const struct method_name *m = &like->method;
    char *key = arena_printf(counts->arena, "%s %s %s %s %" PRId32, like->class_name,
                             m->class_name == NULL ? "" : m->class_name, m->method, m->descriptor, like->index);
    if (key == NULL)
        return NULL;
    uint32_t *known = map_get(&counts->by_site, key, strlen(key));
    if (known != NULL)
        return &counts->sites[*known];
    if (vec_reserve(counts->sites, counts->room, counts->n_sites + 1) < 0 ||
        map_put(&counts->by_site, key, strlen(key), counts->n_sites) < 0)
        return NULL;
    struct object_site *site = &counts->sites[counts->n_sites++];
    *site = *like;
    site->class_name = text_utf8(counts->arena, like->class_name, strlen(like->class_name));
    if (m->class_name != NULL)
        site->method.class_name = text_utf8(counts->arena, m->class_name, strlen(m->class_name));
    site->method.method = text_utf8(counts->arena, m->method, strlen(m->method));
    site->method.descriptor = text_utf8(counts->arena, m->descriptor, strlen(m->descriptor));
    bool is_whole = site->class_name != NULL && site->method.method != NULL && site->method.descriptor != NULL &&
                    (m->class_name == NULL) == (site->method.class_name == NULL);
    return is_whole ? site : NULL;
}

struct object_reading {
    struct object_counts *counts;
    enum object_run run;
};

static enum counted_line read_site(const struct object_reading *r, char **words)
{
    uint64_t n, n_bytes, line;
    int32_t index;
    if (!counted_text_number(words[0], &n) || !counted_text_number(words[1], &n_bytes) ||
        !counted_text_index(words[6], &index) || !counted_text_number(words[7], &line) || line > UINT32_MAX)
        return COUNTED_DAMAGED;
    for (size_t i = 2; i < 6; i++)
        if (!counted_text_word(words[i]))
            return COUNTED_DAMAGED;
    counted_text_cut_hidden(words[2]);
    counted_text_cut_hidden(words[3]);
    const struct object_site like = { .class_name = words[2],
                                      .method = { strcmp(words[3], "-") == 0 ? NULL : words[3], words[4], words[5] },
                                      .index = index,
                                      .line = (uint32_t)line };
    struct object_site *site = site_of(r->counts, &like);
    if (site == NULL)
        return COUNTED_NO_MEMORY;
    site->n[r->run] += n;
    site->n_bytes[r->run] += n_bytes;
    return COUNTED_TAKEN;
}

static enum counted_line read_line(void *context, char **words, size_t n_words, bool is_end)
{
    const struct object_reading *r = context;
    if (!is_end)
        return n_words == WORDS ? read_site(r, words) : COUNTED_DAMAGED;
    return n_words == 3 && counted_text_number(words[1], &r->counts->n[r->run]) &&
                   counted_text_number(words[2], &r->counts->n_bytes[r->run])
               ? COUNTED_TAKEN
               : COUNTED_DAMAGED;
}

int object_counts_read(struct object_counts *counts, enum object_run run, char *text, size_t n, const char *name,
                       struct err *err)
{
    struct object_reading reading = { counts, run };
    return counted_text_read(text, n, FIRST_LINE, name, read_line, &reading, err);
}

/* ---- the table ---- */

/* Negative: the compiled code creates more there than the bytecode has. */
static double removed(const uint64_t n[OBJECTS_RUNS])
{
    return (double)n[OBJECTS_IN_BYTECODE] - (double)n[OBJECTS_ON_HEAP];
}

static int by_removed(const void *a, const void *b)
{
    const struct object_site *x = a, *y = b;
    double of_x = removed(x->n_bytes), of_y = removed(y->n_bytes);
    if (of_x != of_y)
        return of_x < of_y ? 1 : -1;
    return x->n_bytes[0] != y->n_bytes[0] ? (x->n_bytes[0] < y->n_bytes[0] ? 1 : -1) : 0;
}

static const char *site_words(const struct object_site *site, struct arena *arena)
{
    if (site->method.class_name == NULL)
        return "the JVM";
    const char *name = java_names_display(arena, &site->method, JAVA_NAMES_SHORT);
    return name == NULL || site->line == 0 ? name : arena_printf(arena, "%s:%" PRIu32, name, site->line);
}

static const char *class_words(const char *name, struct arena *arena)
{
    const char *full = java_names_class(arena, name), *dot = full == NULL ? NULL : strrchr(full, '.');
    return dot == NULL ? full : dot + 1;
}

static void add_columns(struct table *table)
{
    table_column(table, "Allocated by", "site_label", TABLE_TEXT);
    table_column(table, "Class", "class_label", TABLE_TEXT);
    table_column(table, "In bytecode", "bytecode_objects", TABLE_COUNT);
    table_column(table, "On the heap", "heap_objects", TABLE_COUNT);
    table_column(table, "Removed (%)", "removed_objects_share", TABLE_SHARE);
    table_column(table, "Bytes in bytecode", "bytecode_bytes", TABLE_BYTES);
    table_column(table, "Bytes removed", "removed_bytes", TABLE_BYTES);
    table_column(table, "(%)", "removed_bytes_share", TABLE_SHARE);
    table_data_column(table, "removed_objects", TABLE_COUNT);
    table_data_column(table, "heap_bytes", TABLE_BYTES);
    table_data_column(table, "line", TABLE_COUNT);
    table_data_column(table, "bytecode", TABLE_COUNT);
    table_data_column(table, "allocated_class", TABLE_TEXT);
    table_data_column(table, "class", TABLE_TEXT);
    table_data_column(table, "method", TABLE_TEXT);
    table_data_column(table, "descriptor", TABLE_TEXT);
}

/* What more is created than the bytecode has is no removal: '-'. */
static struct table_cell removed_cell(const uint64_t n[OBJECTS_RUNS])
{
    return removed(n) < 0 ? table_unmeasured() : table_number(removed(n));
}

static struct table_cell removed_share(const uint64_t n[OBJECTS_RUNS])
{
    return removed(n) < 0 ? table_unmeasured() : table_quotient(removed(n), (double)n[OBJECTS_IN_BYTECODE]);
}

static struct table_cell *add_numbers(struct table *table, const char *kind, const char *label,
                                      const uint64_t n[OBJECTS_RUNS], const uint64_t n_bytes[OBJECTS_RUNS])
{
    struct table_cell *cells = table_row(table, kind);
    if (cells == NULL)
        return NULL;
    cells[0] = table_words(label);
    cells[2] = table_number((double)n[OBJECTS_IN_BYTECODE]);
    cells[3] = table_number((double)n[OBJECTS_ON_HEAP]);
    cells[4] = removed_share(n);
    cells[5] = table_number((double)n_bytes[OBJECTS_IN_BYTECODE]);
    cells[6] = removed_cell(n_bytes);
    cells[7] = removed_share(n_bytes);
    cells[8] = table_number(removed(n));
    cells[9] = table_number((double)n_bytes[OBJECTS_ON_HEAP]);
    return cells;
}

static void add_site(const struct object_site *site, struct table *table)
{
    struct table_cell *cells = add_numbers(table, "site", site_words(site, table->arena), site->n, site->n_bytes);
    if (cells == NULL)
        return;
    cells[1] = table_words(class_words(site->class_name, table->arena));
    cells[12] = table_words(site->class_name);
    if (site->method.class_name == NULL)
        return;
    if (site->line != 0)
        cells[10] = table_number(site->line);
    if (site->index >= 0)
        cells[11] = table_number(site->index);
    cells[13] = table_words(site->method.class_name);
    cells[14] = table_words(site->method.method);
    cells[15] = table_words(site->method.descriptor);
}

static void add_sums(const struct object_counts *counts, uint64_t n_shown, struct table *table)
{
    struct object_site rest = { .n = { 0 } };
    for (uint64_t i = n_shown; i < counts->n_sites; i++)
        for (int run = 0; run < OBJECTS_RUNS; run++) {
            rest.n[run] += counts->sites[i].n[run];
            rest.n_bytes[run] += counts->sites[i].n_bytes[run];
        }
    size_t first = table->n_rows;
    if (n_shown < counts->n_sites)
        add_numbers(table, "others", arena_printf(table->arena, "%" PRIu64 " other sites", counts->n_sites - n_shown),
                    rest.n, rest.n_bytes);
    add_numbers(table, "total", "all", counts->n, counts->n_bytes);
    if (first < table->n_rows)
        table->rows[first].after_rule = true;
}

static void add_metadata(const struct object_counts *counts, const char *command, struct table *table)
{
    struct arena *arena = table->arena;
    char bytes[2][64];
    for (int run = 0; run < OBJECTS_RUNS; run++)
        table_format_bytes((double)counts->n_bytes[run], bytes[run], sizeof bytes[run]);
    table_metadata_words(table, "command", command, arena_printf(arena, "command   %s", command));
    if (counts->window != NULL)
        table_metadata_words(table, "window", counts->window,
                             arena_printf(arena, "objects   of %s, up to the next", counts->window));
    table_metadata_number(table, "bytecode_objects", (double)counts->n[OBJECTS_IN_BYTECODE],
                          arena_printf(arena, "bytecode  allocates %" PRIu64 " objects, %s (a run with -Xint)",
                                       counts->n[OBJECTS_IN_BYTECODE], bytes[OBJECTS_IN_BYTECODE]));
    table_metadata_number(table, "heap_objects", (double)counts->n[OBJECTS_ON_HEAP],
                          arena_printf(arena, "heap      gets %" PRIu64 " objects, %s (a run without -Xint)",
                                       counts->n[OBJECTS_ON_HEAP], bytes[OBJECTS_ON_HEAP]));
}

int object_counts_table(struct object_counts *counts, const char *command, uint64_t top, struct table *table,
                        struct err *err)
{
    table_begin(table, counts->arena);
    add_metadata(counts, command, table);
    add_columns(table);
    if (counts->n_sites > 0)
        qsort(counts->sites, counts->n_sites, sizeof *counts->sites, by_removed);
    uint64_t n_shown = top == 0 || top > counts->n_sites ? counts->n_sites : top;
    for (uint64_t i = 0; i < n_shown; i++)
        add_site(&counts->sites[i], table);
    add_sums(counts, n_shown, table);
    table_note(table, "rows are sorted by the bytes that bytecode allocates and compiled code does not; '-': compiled "
                      "code allocates more");
    return table->is_broken ? err_set(err, "out of memory for a table") : 0;
}
