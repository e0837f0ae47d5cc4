#include "report/jit/call_counts.h"

#include "core/base/text.h"
#include "core/base/xalloc.h"
#include "symbolize/java_names.h"

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
    const char *key = arena_printf(counts->arena, "%s %s %s %s %" PRId32, like->class_name,
                                   m->class_name == NULL ? "" : m->class_name, m->method, m->descriptor, like->index);
    const uint32_t *known = map_get(&counts->by_site, key, strlen(key));
    if (known != NULL)
        return &counts->sites[*known];
    map_put(&counts->by_site, key, strlen(key), counts->n_sites);
    struct object_site *site = xpush(counts->sites, counts->room, counts->n_sites);
    *site = *like;
    site->class_name = text_utf8(counts->arena, like->class_name, strlen(like->class_name));
    if (m->class_name != NULL)
        site->method.class_name = text_utf8(counts->arena, m->class_name, strlen(m->class_name));
    site->method.method = text_utf8(counts->arena, m->method, strlen(m->method));
    site->method.descriptor = text_utf8(counts->arena, m->descriptor, strlen(m->descriptor));
    return site;
}

struct object_reading {
    struct object_counts *counts;
    enum object_run run;
};

static bool read_site(const struct object_reading *r, char **words)
{
    uint64_t n, n_bytes, line;
    int32_t index;
    if (!counted_text_number(words[0], &n) || !counted_text_number(words[1], &n_bytes) ||
        !counted_text_index(words[6], &index) || !counted_text_number(words[7], &line) || line > UINT32_MAX)
        return false;
    for (size_t i = 2; i < 6; i++)
        if (!counted_text_word(words[i]))
            return false;
    counted_text_cut_hidden(words[2]);
    counted_text_cut_hidden(words[3]);
    const struct object_site like = { .class_name = words[2],
                                      .method = { strcmp(words[3], "-") == 0 ? NULL : words[3], words[4], words[5] },
                                      .index = index,
                                      .line = (uint32_t)line };
    struct object_site *site = site_of(r->counts, &like);
    site->n[r->run] += n;
    site->n_bytes[r->run] += n_bytes;
    return true;
}

static bool read_line(void *context, char **words, size_t n_words, bool is_end)
{
    const struct object_reading *r = context;
    if (!is_end)
        return n_words == WORDS ? read_site(r, words) : false;
    return n_words == 3 && counted_text_number(words[1], &r->counts->n[r->run]) &&
           counted_text_number(words[2], &r->counts->n_bytes[r->run]);
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

/* A row; what it has not is NULL, or NAN. */
struct object_row {
    struct object_site of;
    const char *label, *class_label;
    double removed_share, removed_bytes, removed_bytes_share, removed, line, index;
};

static const struct table_column columns[] = {
    { "site_label", "Allocated by", TABLE_TEXT, FROM(struct object_row, label) },
    { "class_label", "Class", TABLE_TEXT, FROM(struct object_row, class_label) },
    { "bytecode_objects", "In bytecode", TABLE_COUNT, FROM(struct object_row, of.n[OBJECTS_IN_BYTECODE]) },
    { "heap_objects", "On the heap", TABLE_COUNT, FROM(struct object_row, of.n[OBJECTS_ON_HEAP]) },
    { "removed_objects_share", "Removed (%)", TABLE_SHARE, FROM(struct object_row, removed_share) },
    { "bytecode_bytes", "Bytes in bytecode", TABLE_BYTES, FROM(struct object_row, of.n_bytes[OBJECTS_IN_BYTECODE]) },
    { "removed_bytes", "Bytes removed", TABLE_BYTES, FROM(struct object_row, removed_bytes) },
    { "removed_bytes_share", "(%)", TABLE_SHARE, FROM(struct object_row, removed_bytes_share) },
    { "removed_objects", NULL, TABLE_COUNT, FROM(struct object_row, removed), .width = COLUMN_DATA },
    { "heap_bytes", NULL, TABLE_BYTES, FROM(struct object_row, of.n_bytes[OBJECTS_ON_HEAP]), .width = COLUMN_DATA },
    { "line", NULL, TABLE_COUNT, FROM(struct object_row, line), .width = COLUMN_DATA },
    { "bytecode", NULL, TABLE_COUNT, FROM(struct object_row, index), .width = COLUMN_DATA },
    { "allocated_class", NULL, TABLE_TEXT, FROM(struct object_row, of.class_name), .width = COLUMN_DATA },
    { "class", NULL, TABLE_TEXT, FROM(struct object_row, of.method.class_name), .width = COLUMN_DATA },
    { "method", NULL, TABLE_TEXT, FROM(struct object_row, of.method.method), .width = COLUMN_DATA },
    { "descriptor", NULL, TABLE_TEXT, FROM(struct object_row, of.method.descriptor), .width = COLUMN_DATA },
};

/* What more is created than the bytecode has is no removal: '-'. */
static double removed_part(const uint64_t n[OBJECTS_RUNS], double of)
{
    return removed(n) < 0 || of == 0 ? NAN : removed(n) / of;
}

static struct object_row row_of(const struct object_site *site, const char *label)
{
    return (struct object_row){ .of = *site,
                                .label = label,
                                .removed_share = removed_part(site->n, (double)site->n[OBJECTS_IN_BYTECODE]),
                                .removed_bytes = removed_part(site->n_bytes, 1),
                                .removed_bytes_share =
                                    removed_part(site->n_bytes, (double)site->n_bytes[OBJECTS_IN_BYTECODE]),
                                .removed = removed(site->n),
                                .line = NAN,
                                .index = NAN };
}

static void add_site(const struct object_site *site, struct table *table)
{
    struct object_row row = row_of(site, "the JVM");
    const char *full = java_names_class(table->arena, site->class_name), *dot = strrchr(full, '.');
    row.class_label = dot == NULL ? full : dot + 1;
    if (site->method.class_name == NULL) {
        row.of.method = (struct method_name){ NULL, NULL, NULL };
    } else {
        row.label = java_names_display(table->arena, &site->method, JAVA_NAMES_SHORT);
        row.line = site->line == 0 ? NAN : (double)site->line;
        row.index = site->index < 0 ? NAN : (double)site->index;
    }
    if (site->method.class_name != NULL && site->line != 0)
        row.label = arena_printf(table->arena, "%s:%" PRIu32, row.label, site->line);
    table_add(table, "site", &row);
}

static void add_sums(const struct object_counts *counts, uint64_t n_shown, struct table *table)
{
    struct object_site rest = { .n = { 0 } }, all = { .n = { 0 } };
    for (uint64_t i = n_shown; i < counts->n_sites; i++)
        for (int run = 0; run < OBJECTS_RUNS; run++) {
            rest.n[run] += counts->sites[i].n[run];
            rest.n_bytes[run] += counts->sites[i].n_bytes[run];
        }
    memcpy(all.n, counts->n, sizeof all.n);
    memcpy(all.n_bytes, counts->n_bytes, sizeof all.n_bytes);
    struct object_row others =
        row_of(&rest, arena_printf(table->arena, "%" PRIu64 " other sites", counts->n_sites - n_shown));
    struct object_row total = row_of(&all, "all");
    size_t first = table->n_rows;
    if (n_shown < counts->n_sites)
        table_add(table, "others", &others);
    table_add(table, "total", &total);
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

void object_counts_table(struct object_counts *counts, const char *command, uint64_t top, struct table *table)
{
    table_begin(table, counts->arena);
    add_metadata(counts, command, table);
    TABLE_COLUMNS(table, columns, 0);
    if (counts->n_sites > 0)
        qsort(counts->sites, counts->n_sites, sizeof *counts->sites, by_removed);
    uint64_t n_shown = top == 0 || top > counts->n_sites ? counts->n_sites : top;
    for (uint64_t i = 0; i < n_shown; i++)
        add_site(&counts->sites[i], table);
    add_sums(counts, n_shown, table);
    table_note(table, "rows are sorted by the bytes that bytecode allocates and compiled code does not; '-': compiled "
                      "code allocates more");
}
