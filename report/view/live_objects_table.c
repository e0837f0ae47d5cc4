#include "report/view/live_objects.h"

/* ---- rows ---- */

#define BY_SITE        (1u << LIVE_OBJECTS_BY_SITE)
#define BY_CLASS       (1u << LIVE_OBJECTS_BY_CLASS)
#define BY_AGE         (1u << LIVE_OBJECTS_BY_AGE)
#define BY_COLLECTIONS (1u << LIVE_OBJECTS_BY_COLLECTIONS)
#define BY_METHOD      (1u << LIVE_OBJECTS_BY_METHOD)

static struct table_cell survived(const void *row, struct arena *arena)
{
    const struct allocation_row *of = row;
    (void)arena;
    return isnan(of->allocated_bytes) ? table_unmeasured()
                                      : table_quotient(of->bytes, fmax(of->allocated_bytes, of->bytes));
}

static struct table_cell collections(const void *row, struct arena *arena)
{
    const struct allocation_row *of = row;
    (void)arena;
    return of->collections > 0 ? table_number(of->collections) : table_unmeasured();
}

static const struct table_column columns[] = {
    { "range", "Age", TABLE_TEXT, FROM(struct allocation_row, range), .when = BY_AGE },
    { "range", "Survived collections", TABLE_TEXT, FROM(struct allocation_row, range), .when = BY_COLLECTIONS },
    { "class", "Class", TABLE_TEXT, .value = allocation_cell_class, .when = BY_CLASS },
    { "class", "Most of class", TABLE_TEXT, .value = allocation_cell_class, .when = BY_AGE | BY_COLLECTIONS },
    { "method", "Method", TABLE_TEXT, .value = allocation_cell_method, .when = BY_SITE | BY_METHOD },
    { "method", "Most by", TABLE_TEXT, .value = allocation_cell_method, .when = BY_CLASS | BY_AGE | BY_COLLECTIONS },
    { "allocator", "Allocates in", TABLE_TEXT, .value = allocation_cell_allocator, .when = BY_SITE | BY_CLASS },
    { "allocator", "Most in", TABLE_TEXT, .value = allocation_cell_allocator, .when = BY_METHOD },
    { "class", "Class", TABLE_TEXT, .value = allocation_cell_class, .when = BY_SITE },
    { "class", "Most of class", TABLE_TEXT, .value = allocation_cell_class, .when = BY_METHOD },
    { "live_share", "Live (%)", TABLE_SHARE, FROM(struct allocation_row, share),
      ERROR_FROM(struct allocation_row, share_error), .sum = COLUMN_OF_SUM },
    { "live_bytes", "Live bytes", TABLE_BYTES, FROM(struct allocation_row, bytes), .sum = COLUMN_ADDS },
    { "live_bytes_error", "\u00b1", TABLE_BYTES, FROM(struct allocation_row, bytes_error), .sum = COLUMN_OF_SUM },
    { "objects", "Objects", TABLE_COUNT, FROM(struct allocation_row, objects), .value = allocation_cell_objects,
      .sum = COLUMN_ADDS },
    { "live_of_allocated", "Of allocated (%)", TABLE_SHARE, .value = survived,
      .text_when = BY_SITE | BY_CLASS | BY_METHOD },
    { "age_ns", "Age", TABLE_NS, FROM(struct allocation_row, age_ns) },
    { "oldest_ns", "Oldest", TABLE_NS, FROM(struct allocation_row, oldest_ns) },
    { "collections", "Collections", TABLE_RATE, .value = collections },
    { "samples", NULL, TABLE_COUNT, FROM(struct allocation_row, n_samples), .width = COLUMN_DATA, .sum = COLUMN_ADDS },
    { "live_share_error", NULL, TABLE_SHARE, FROM(struct allocation_row, share_error), .width = COLUMN_DATA },
};

/* The sum of some rows: those that are not printed, or all, whose interval is known. */
static void add_sum(const struct live_objects *found, size_t first, const char *kind, struct table *table)
{
    struct allocation_row sum = allocation_rows_sum(&found->rows, first, found->bytes, table);
    sum.bytes_error = first == 0 ? found->bytes_error : NAN;
    table_add_sum(table, kind, kind, &sum);
}

/* ---- what it is of ---- */

static void add_facts(const struct live_objects *found, struct table *table)
{
    char live[32], error[32], young[32];
    struct arena *arena = table->arena;
    table_format_bytes(found->bytes, live, sizeof live);
    table_format_bytes(found->bytes_error, error, sizeof error);
    table_format_bytes(found->young_bytes, young, sizeof young);
    table_metadata_number(table, "live_bytes", found->bytes,
                          arena_printf(arena,
                                       "live       %s \u00b1%s of what was allocated in the %.1f s before the last "
                                       "collection",
                                       live, error, found->seconds));
    table_metadata_number(table, "live_bytes_error", found->bytes_error, NULL);
    table_metadata_number(
        table, "young_bytes", found->young_bytes,
        arena_printf(arena, "young      %s allocated since, which no collection could free yet", young));
    table_metadata_number(table, "tracked", (double)found->n_tracked,
                          arena_printf(arena, "tracked    %" PRIu64 " sampled objects, of which %" PRIu64 " were freed",
                                       found->n_tracked, found->n_freed));
    table_metadata_number(table, "freed", (double)found->n_freed, NULL);
    table_metadata_number(table, "dropped", (double)found->n_dropped, NULL);
    table_metadata_number(table, "collections", (double)found->n_collections, NULL);
    table_metadata_number(table, "seconds", found->seconds, NULL);
    table_metadata_number(table, "file", found->file, NULL);
    if (isnan(found->heap_bytes))
        return;
    table_format_bytes(found->heap_bytes, live, sizeof live);
    table_metadata_number(table, "heap_after_bytes", found->heap_bytes,
                          arena_printf(arena, "heap       %s in use after the last collection that was seen", live));
}

static void add_notes(const struct live_objects *found, struct table *table)
{
    if (found->seconds <= 0)
        table_note(table, "no collection was seen: record for longer, or run 'jcmd PID GC.run'");
    if (found->n_dropped > 0)
        table_note(table, arena_printf(table->arena,
                                       "%" PRIu64 " sampled objects were not tracked to the end, because there were "
                                       "too many; one in %.0f was kept, and weighted",
                                       found->n_dropped, found->one_in));
    if (found->file > 1)
        table_note(table, arena_printf(table->arena,
                                       "this is file %.0f of a recording: it has no objects of earlier files (record "
                                       "with a longer --every, or one file, to see objects that live longer)",
                                       found->file));
    if (found->rows.n > 0)
        table_note(table, "unreachable objects count as live until a collection covers their part of the heap");
}

int live_objects_table(const struct view_pass *pass, enum live_objects_by by, const struct report_row_options *rows,
                       struct table *table, struct err *err)
{
    static const char *const kinds[] = { "site", "class", "age", "collections", "method" };
    struct live_objects found;
    if (live_objects_find(pass, by, &found, err) < 0)
        return -1;
    table_begin(table, pass->arena);
    add_facts(&found, table);
    TABLE_COLUMNS(table, columns, 1u << by);
    size_t n = allocation_rows_printed(&found.rows, rows);
    for (size_t i = 0; i < n; i++)
        table_add(table, kinds[by], &found.rows.all[i]);
    if (n < found.rows.n)
        add_sum(&found, n, "others", table);
    add_sum(&found, 0, "total", table);
    add_notes(&found, table);
    return 0;
}
