#include "report/view/allocations.h"

/* ---- rows ---- */

#define BY_METHOD (1u << ALLOCATIONS_BY_METHOD)
#define BY_CLASS  (1u << ALLOCATIONS_BY_CLASS)
#define BY_SITE   (1u << ALLOCATIONS_BY_SITE)

static const struct table_column columns[] = {
    { "class", "Class", TABLE_TEXT, .value = allocation_cell_class, .when = BY_CLASS },
    { "method", "Most by", TABLE_TEXT, .value = allocation_cell_method, .when = BY_CLASS },
    { "method", "Method", TABLE_TEXT, .value = allocation_cell_method, .when = BY_METHOD | BY_SITE },
    { "allocator", "Allocates in", TABLE_TEXT, .value = allocation_cell_allocator },
    { "class", "Most of class", TABLE_TEXT, .value = allocation_cell_class, .when = BY_METHOD },
    { "class", "Class", TABLE_TEXT, .value = allocation_cell_class, .when = BY_SITE },
    { "bytes_share", "Bytes (%)", TABLE_SHARE, FROM(struct allocation_row, share),
      ERROR_FROM(struct allocation_row, share_error), .sum = COLUMN_OF_SUM },
    { "bytes", "Bytes", TABLE_BYTES, FROM(struct allocation_row, bytes), .sum = COLUMN_ADDS },
    { "bytes_per_s", "Bytes/s", TABLE_BYTES, FROM(struct allocation_row, bytes_per_s), .sum = COLUMN_OF_SUM },
    { "objects", "Objects", TABLE_COUNT, FROM(struct allocation_row, objects), .value = allocation_cell_objects,
      .sum = COLUMN_ADDS },
    { "phase", "In phase", TABLE_TEXT, .value = allocation_cell_phase },
    { "samples", NULL, TABLE_COUNT, FROM(struct allocation_row, n_samples), .width = COLUMN_DATA, .sum = COLUMN_ADDS },
    { "bytes_share_error", NULL, TABLE_SHARE, FROM(struct allocation_row, share_error), .width = COLUMN_DATA },
};

/* The sum of some rows: those that are not printed, or all. */
static void add_sum(const struct allocations *found, size_t first, const char *kind, struct table *table)
{
    struct allocation_row sum = allocation_rows_sum(&found->rows, first, found->bytes, table);
    sum.bytes_per_s = sum.bytes / found->seconds;
    table_add_sum(table, kind, kind, &sum);
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
    TABLE_COLUMNS(table, columns, 1u << by);
    size_t n = allocation_rows_printed(&found.rows, rows);
    for (size_t i = 0; i < n; i++)
        table_add(table, by == ALLOCATIONS_BY_CLASS ? "class" : "method", &found.rows.all[i]);
    if (n < found.rows.n)
        add_sum(&found, n, "others", table);
    add_sum(&found, 0, "total", table);
    add_notes(&found, table);
    return 0;
}
