#include "report/view/allocations.h"

#include "report/sample_cells.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- rows ---- */

static void add_columns(enum allocations_by by, struct table *table)
{
    bool is_class = by == ALLOCATIONS_BY_CLASS, is_site = by == ALLOCATIONS_BY_SITE;
    if (is_class)
        table_column(table, "Class", "class", TABLE_TEXT);
    table_column(table, is_class ? "Most by" : "Method", "method", TABLE_TEXT);
    table_column(table, "Allocates in", "allocator", TABLE_TEXT);
    if (!is_class)
        table_column(table, is_site ? "Class" : "Most of class", "class", TABLE_TEXT);
    table_column(table, "Bytes (%)", "bytes_share", TABLE_SHARE);
    table_column(table, "Bytes", "bytes", TABLE_BYTES);
    table_column(table, "Bytes/s", "bytes_per_s", TABLE_BYTES);
    table_column(table, "Objects", "objects", TABLE_COUNT);
    table_column(table, "In phase", "phase", TABLE_TEXT);
    sample_cells_hide(table, "samples", TABLE_COUNT);
    sample_cells_hide(table, "bytes_share_error", TABLE_SHARE);
}

static int add_row(const struct allocation_row *row, enum allocations_by by, struct table *table)
{
    const struct sample_share share = { .share = row->share, .error = row->share_error };
    struct sample_cells to = { table, table_row(table, by == ALLOCATIONS_BY_CLASS ? "class" : "method") };
    struct allocation_cells names;
    if (to.next == NULL || allocation_rows_name(row, table->arena, &names) < 0)
        return -1;
    if (by == ALLOCATIONS_BY_CLASS)
        sample_cells_put(&to, names.of_class);
    sample_cells_put(&to, names.method);
    sample_cells_put(&to, names.allocator);
    if (by != ALLOCATIONS_BY_CLASS)
        sample_cells_put(&to, names.of_class);
    sample_cells_put(&to, sample_cells_share(&share, table->arena));
    sample_cells_put(&to, table_number(row->bytes));
    sample_cells_put(&to, table_number(row->bytes_per_s));
    sample_cells_put(&to, table_number(round(row->objects)));
    sample_cells_put(&to, names.phase);
    sample_cells_put(&to, table_number((double)row->n_samples));
    sample_cells_put(&to, table_number(row->share_error));
    return 0;
}

/* The sum of some rows: those that are not printed, or all. */
static void add_sum(const struct allocations *found, size_t first, const char *kind, struct table *table)
{
    const struct allocation_row sum = allocation_rows_sum(&found->rows, first);
    struct table_cell *cells = table_row(table, kind);
    if (cells == NULL)
        return;
    table->rows[table->n_rows - 1].after_rule = first == 0;
    cells[0] = table_words(kind);
    cells[3] = table_quotient(sum.bytes, found->bytes);
    cells[4] = table_number(sum.bytes);
    cells[5] = table_quotient(sum.bytes, found->seconds);
    cells[6] = table_number(round(sum.objects));
    cells[8] = table_number((double)sum.n_samples);
}

/* ---- what it is of ---- */

static void add_facts(const struct allocations *found, struct table *table)
{
    char sampled[32], counted[32], error[32];
    bool is_counted = !isnan(found->jvm_bytes);
    struct arena *arena = table->arena;
    table_format_bytes(found->sampled_bytes, sampled, sizeof sampled);
    table_format_bytes(found->error, error, sizeof error);
    table_format_bytes(found->jvm_bytes, counted, sizeof counted);
    if (is_counted)
        table_metadata_number(
            table, "jvm_bytes", found->jvm_bytes,
            arena_printf(arena, "allocated  %s in %.1f s, by the JVM's own counters", counted, found->seconds));
    table_metadata_number(table, "sampled_bytes", found->sampled_bytes,
                          arena_printf(arena, "sampled    %" PRIu64 " objects; their own estimate is %s \u00b1%s%s",
                                       found->n_samples, sampled, error,
                                       is_counted ? "" : "; the JVM's own counters are unknown"));
    table_metadata_number(table, "sampled_bytes_error", found->error, NULL);
    table_metadata_number(table, "seconds", found->seconds, NULL);
}

static void add_notes(const struct allocations *found, struct table *table)
{
    if (found->n_pauses > 0) {
        char time[32];
        table_format_ns(found->pauses_ns, time, sizeof time);
        table_note(table, arena_printf(table->arena, "%.0f collection pauses stopped the program for %s",
                                       found->n_pauses, time));
    }
    if (found->n_lost > 0)
        table_note(table,
                   arena_printf(table->arena,
                                "%" PRIu64 " samples were lost because the buffer was full; their bytes are missing",
                                found->n_lost));
}

int allocations_table(const struct view_pass *pass, enum allocations_by by, const struct report_row_options *rows,
                      struct table *table, struct err *err)
{
    struct allocations found;
    if (allocations_find(pass, by, &found, err) < 0)
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
