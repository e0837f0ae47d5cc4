#include "report/view/live_objects.h"

#include "report/sample_cells.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define N_NAMES 3 /* columns of words, the first ones */

static bool is_range(enum live_objects_by by)
{
    return by == LIVE_OBJECTS_BY_AGE || by == LIVE_OBJECTS_BY_COLLECTIONS;
}

/* ---- rows ---- */

static void add_columns(enum live_objects_by by, struct table *table)
{
    bool is_site = by == LIVE_OBJECTS_BY_SITE;
    if (is_site || by == LIVE_OBJECTS_BY_METHOD) {
        table_column(table, "Method", "method", TABLE_TEXT);
        table_column(table, is_site ? "Allocates in" : "Most in", "allocator", TABLE_TEXT);
        table_column(table, is_site ? "Class" : "Most of class", "class", TABLE_TEXT);
    } else if (by == LIVE_OBJECTS_BY_CLASS) {
        table_column(table, "Class", "class", TABLE_TEXT);
        table_column(table, "Most by", "method", TABLE_TEXT);
        table_column(table, "Allocates in", "allocator", TABLE_TEXT);
    } else {
        table_column(table, by == LIVE_OBJECTS_BY_AGE ? "Age" : "Survived collections", "range", TABLE_TEXT);
        table_column(table, "Most of class", "class", TABLE_TEXT);
        table_column(table, "Most by", "method", TABLE_TEXT);
    }
    table_column(table, "Live (%)", "live_share", TABLE_SHARE);
    table_column(table, "Live bytes", "live_bytes", TABLE_BYTES);
    table_column(table, "\u00b1", "live_bytes_error", TABLE_BYTES);
    table_column(table, "Objects", "objects", TABLE_COUNT);
    size_t survive = table_column(table, "Of allocated (%)", "live_of_allocated", TABLE_SHARE);
    table->columns[survive].not_in_text = is_range(by);
    table_column(table, "Age", "age_ns", TABLE_NS);
    table_column(table, "Oldest", "oldest_ns", TABLE_NS);
    table_column(table, "Collections", "collections", TABLE_RATE);
    sample_cells_hide(table, "samples", TABLE_COUNT);
    sample_cells_hide(table, "live_share_error", TABLE_SHARE);
}

static int add_row(const struct allocation_row *row, enum live_objects_by by, struct table *table)
{
    static const char *const kinds[] = { "site", "class", "age", "collections", "method" };
    const struct sample_share share = { .share = row->share, .error = row->share_error };
    struct sample_cells to = { table, table_row(table, kinds[by]) };
    struct allocation_cells names;
    if (to.next == NULL || allocation_rows_name(row, table->arena, &names) < 0)
        return -1;
    const struct table_cell site[N_NAMES] = { names.method, names.allocator, names.of_class },
                            class_first[N_NAMES] = { names.of_class, names.method, names.allocator },
                            range[N_NAMES] = { table_words(row->range), names.of_class, names.method };
    for (int i = 0; i < N_NAMES; i++)
        sample_cells_put(&to, is_range(by) ? range[i] : by == LIVE_OBJECTS_BY_CLASS ? class_first[i] : site[i]);
    sample_cells_put(&to, sample_cells_share(&share, table->arena));
    sample_cells_put(&to, table_number(row->bytes));
    sample_cells_put(&to, table_number(row->bytes_error));
    sample_cells_put(&to, table_number(round(row->objects)));
    sample_cells_put(&to, isnan(row->allocated_bytes)
                              ? table_unmeasured()
                              : table_quotient(row->bytes, fmax(row->allocated_bytes, row->bytes)));
    sample_cells_put(&to, table_number(row->age_ns));
    sample_cells_put(&to, table_number(row->oldest_ns));
    sample_cells_put(&to, row->collections > 0 ? table_number(row->collections) : table_unmeasured());
    sample_cells_put(&to, table_number((double)row->n_samples));
    sample_cells_put(&to, table_number(row->share_error));
    return 0;
}

/* The sum of some rows: those that are not printed, or all, whose interval is known. */
static void add_sum(const struct live_objects *found, size_t first, const char *kind, struct table *table)
{
    const struct allocation_row sum = allocation_rows_sum(&found->rows, first);
    struct table_cell *cells = table_row(table, kind);
    if (cells == NULL)
        return;
    table->rows[table->n_rows - 1].after_rule = first == 0;
    cells[0] = table_words(kind);
    cells[N_NAMES] = table_quotient(sum.bytes, found->bytes);
    cells[N_NAMES + 1] = table_number(sum.bytes);
    if (first == 0)
        cells[N_NAMES + 2] = table_number(found->bytes_error);
    cells[N_NAMES + 3] = table_number(round(sum.objects));
    cells[N_NAMES + 8] = table_number((double)sum.n_samples);
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
    struct live_objects found;
    if (live_objects_find(pass, by, &found, err) < 0)
        return -1;
    table_begin(table, pass->arena);
    add_facts(&found, table);
    add_columns(by, table);
    size_t n = allocation_rows_printed(&found.rows, rows);
    for (size_t i = 0; i < n; i++)
        if (add_row(&found.rows.all[i], by, table) < 0)
            return err_set(err, "out of memory for names");
    if (n < found.rows.n)
        add_sum(&found, n, "others", table);
    add_sum(&found, 0, "total", table);
    add_notes(&found, table);
    return table->is_broken ? err_set(err, "out of memory for a table") : 0;
}
