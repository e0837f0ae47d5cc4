#include "report/view/allocations.h"

#include "report/sample_cells.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define NO_JAVA "stack not known"

/* Names as the rows show them. */
struct allocations_labels {
    const char **methods, **allocators, **phases;
};

/* ---- names ---- */

/* Short ones, each the only one of its kind; where there is no method, other. */
static const char **labels_of(const struct view_pass *pass, const struct allocations *found, size_t offset,
                              const char *other)
{
    struct method_name *names = arena_alloc(pass->arena, (found->n_rows + 1) * sizeof *names);
    const char **labels = arena_alloc(pass->arena, (found->n_rows + 1) * sizeof *labels);
    if (names == NULL || labels == NULL)
        return NULL;
    for (size_t i = 0; i < found->n_rows; i++) {
        memcpy(&names[i], (const char *)&found->rows[i] + offset, sizeof *names);
        labels[i] = names[i].method == NULL ? other : java_names_display(pass->arena, &names[i], JAVA_NAMES_SHORT);
        if (labels[i] == NULL)
            return NULL;
    }
    return labels;
}

static int make_labels(const struct view_pass *pass, const struct allocations *found, struct allocations_labels *labels)
{
    labels->methods = labels_of(pass, found, offsetof(struct allocations_row, method), NO_JAVA);
    labels->allocators = labels_of(pass, found, offsetof(struct allocations_row, allocator), "");
    labels->phases = labels_of(pass, found, offsetof(struct allocations_row, phase), "");
    return labels->methods == NULL || labels->allocators == NULL || labels->phases == NULL ? -1 : 0;
}

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

static struct table_cell words_of(const char *words)
{
    return words[0] == '\0' ? table_unmeasured() : table_words(words);
}

static void add_row(const struct allocations *found, const struct allocations_labels *labels, size_t i,
                    enum allocations_by by, struct table *table)
{
    const struct allocations_row *row = &found->rows[i];
    const struct sample_share share = { .share = row->share, .error = row->error };
    struct sample_cells to = { table, table_row(table, by == ALLOCATIONS_BY_CLASS ? "class" : "method") };
    if (to.next == NULL)
        return;
    const char *class_name = java_names_class(table->arena, row->class_name);
    if (by == ALLOCATIONS_BY_CLASS)
        sample_cells_put(&to, table_words(class_name == NULL ? "" : class_name));
    sample_cells_put(&to, table_words(labels->methods[i]));
    sample_cells_put(&to, words_of(labels->allocators[i]));
    if (by != ALLOCATIONS_BY_CLASS)
        sample_cells_put(&to, table_words(class_name == NULL ? "" : class_name));
    sample_cells_put(&to, sample_cells_share(&share, table->arena));
    sample_cells_put(&to, table_number(row->bytes));
    sample_cells_put(&to, table_number(row->bytes_per_s));
    sample_cells_put(&to, table_number(round(row->objects)));
    sample_cells_put(&to, words_of(labels->phases[i]));
    sample_cells_put(&to, table_number((double)row->n_samples));
    sample_cells_put(&to, table_number(row->error));
}

/* The sum of some rows: those that are not printed, or all. */
static void add_sum(const struct allocations *found, size_t first, const char *kind, const char *words,
                    struct table *table)
{
    double bytes = 0, objects = 0, n_samples = 0;
    for (size_t i = first; i < found->n_rows; i++) {
        bytes += found->rows[i].bytes;
        objects += found->rows[i].objects;
        n_samples += (double)found->rows[i].n_samples;
    }
    struct table_cell *cells = table_row(table, kind);
    if (cells == NULL)
        return;
    table->rows[table->n_rows - 1].after_rule = first == 0;
    cells[0] = table_words(words);
    cells[3] = table_quotient(bytes, found->bytes);
    cells[4] = table_number(bytes);
    cells[5] = table_quotient(bytes, found->seconds);
    cells[6] = table_number(round(objects));
    cells[8] = table_number(n_samples);
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
                          arena_printf(arena, "sampled    %" PRIu64 " objects, which alone say %s \u00b1%s%s",
                                       found->n_samples, sampled, error,
                                       is_counted ? "" : "; the JVM's own counters are not known"));
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
        table_note(table, arena_printf(table->arena,
                                       "%" PRIu64 " samples were lost: there were too many at a time; what they stood "
                                       "for is missing",
                                       found->n_lost));
}

static size_t n_printed(const struct allocations *found, const struct report_row_options *rows)
{
    size_t n = 0;
    while (n < found->n_rows && (rows->top == 0 || n < rows->top) &&
           (rows->all || found->rows[n].share >= rows->min_share))
        n++;
    return n;
}

int allocations_table(const struct view_pass *pass, enum allocations_by by, const struct report_row_options *rows,
                      struct table *table, struct err *err)
{
    struct allocations found;
    struct allocations_labels labels;
    if (allocations_find(pass, by, &found, err) < 0)
        return -1;
    if (make_labels(pass, &found, &labels) < 0)
        return err_set(err, "out of memory for names");
    table_begin(table, pass->arena);
    add_facts(&found, table);
    add_columns(by, table);
    size_t n = n_printed(&found, rows);
    for (size_t i = 0; i < n; i++)
        add_row(&found, &labels, i, by, table);
    if (n < found.n_rows)
        add_sum(&found, n, "others", "others", table);
    add_sum(&found, 0, "total", "total", table);
    add_notes(&found, table);
    return table->is_broken ? err_set(err, "out of memory for a table") : 0;
}
