#include "report/view/values.h"

#include "report/view/cause_cells.h"

#include <inttypes.h>
#include <math.h>

enum value_cell {
    CELL_VALUE,
    CELL_LABEL,
    CELL_TIME,
    CELL_CALLS,
    CELL_MEAN,
    CELL_P50,
    CELL_P99,
    CELL_LONGEST,
    CELL_UNWINDS,
    CELL_WAITED,
    CELL_MOST,
    CELL_BYTES,
    CELL_TOTAL_NS,
    CELL_WALL_NS,
    CELL_CLASS,
    CELL_METHOD,
    CELL_DESCRIPTOR,
    CELL_CAUSE_NS /* and up: trace_cause, but for ON_CPU; then the metrics of calls, but for time */
};

static const struct {
    const char *heading, *key;
    enum table_unit unit;
} columns[] = {
    [CELL_VALUE] = { "Value", "value", TABLE_TEXT },
    [CELL_LABEL] = { "Method", "label", TABLE_TEXT },
    [CELL_TIME] = { "Time (%)", "time_share", TABLE_SHARE },
    [CELL_CALLS] = { "Calls", "calls", TABLE_COUNT },
    [CELL_MEAN] = { "Time/call", "ns_per_call", TABLE_NS },
    [CELL_P50] = { "p50", "wall_p50_ns", TABLE_NS },
    [CELL_P99] = { "p99", "wall_p99_ns", TABLE_NS },
    [CELL_LONGEST] = { "Longest", "wall_max_ns", TABLE_NS },
    [CELL_UNWINDS] = { "Exceptions", "unwinds", TABLE_COUNT },
    [CELL_WAITED] = { "Waited", "waited_ns", TABLE_NS },
    [CELL_MOST] = { "Most for", "most_for", TABLE_TEXT },
    [CELL_BYTES] = { "Allocated", "allocated_bytes", TABLE_BYTES },
    [CELL_TOTAL_NS] = { NULL, "total_ns", TABLE_NS },
    [CELL_WALL_NS] = { NULL, "wall_ns", TABLE_NS },
    [CELL_CLASS] = { NULL, "class", TABLE_TEXT },
    [CELL_METHOD] = { NULL, "method", TABLE_TEXT },
    [CELL_DESCRIPTOR] = { NULL, "descriptor", TABLE_TEXT },
};

static void add_columns(const struct view_pass *pass, const struct value_rows *values, struct table *table)
{
    bool any_unwinds = false;
    for (size_t i = 0; i < values->n; i++)
        any_unwinds = any_unwinds || values->rows[i].unwinds > 0;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        size_t at =
            table_column(table, columns[i].heading == NULL ? "" : columns[i].heading, columns[i].key, columns[i].unit);
        table->columns[at].not_in_text = columns[i].heading == NULL || (i == CELL_LABEL && values->n_methods < 2) ||
                                         (i == CELL_UNWINDS && !any_unwinds);
    }
    cause_cells_hide(table);
    for (size_t i = 1; i < pass->metrics.options.n_metrics; i++)
        table_column(table, pass->metrics.of[i].name, pass->metrics.of[i].key, pass->metrics.of[i].format);
}

static void put_metrics(const struct view_pass *pass, const struct value_rows *values, const struct values_row *row,
                        struct sample_cells *to)
{
    cause_cells_put(to, values->has_waits ? row->cause_ns : NULL);
    for (size_t i = 1; i < pass->metrics.options.n_metrics; i++)
        sample_cells_put(to, pass->metrics.of[i].why != NULL
                                 ? table_unmeasured()
                                 : table_number(statistics_error_of(pass->value_calls->by_clock, row->key, i).value));
}

/* What a row has of everything. */
static void put_sums(const struct report_source *source, const struct value_rows *values, const struct values_row *row,
                     struct table_cell *cells)
{
    double ns = report_ns(source, 1);
    cells[CELL_TIME] = table_quotient(row->ticks, (double)values->shares.all_ticks);
    cells[CELL_CALLS] = table_number((double)row->calls);
    cells[CELL_UNWINDS] = table_number((double)row->unwinds);
    cells[CELL_TOTAL_NS] = table_number(row->ticks * ns);
    cells[CELL_WALL_NS] = table_number(row->wall_ticks * ns);
    if (values->has_waits)
        cells[CELL_WAITED] = table_number(row->waited_ns);
    if (values->has_allocations)
        cells[CELL_BYTES] = table_number(row->bytes);
}

static void put_row(const struct view_pass *pass, const struct report_source *source, const struct value_rows *values,
                    const struct values_row *row, struct table *table)
{
    static const char *const kinds[] = { [VALUE_TEXT] = "value",
                                         [VALUE_NULL] = "null",
                                         [VALUE_OTHER] = "other",
                                         [VALUE_EXCEPTION] = "exception",
                                         [VALUE_NO_METHOD] = "no_method" };
    struct table_cell *cells = table_row(table, row->value == NULL ? "unknown" : kinds[row->value->kind]);
    double ns = report_ns(source, 1);
    const struct method_name name = trace_method(pass->reader, row->method)->names;
    const char *label = java_names_display(table->arena, &name, JAVA_NAMES_SHORT);
    if (cells == NULL)
        return;
    put_sums(source, values, row, cells);
    cells[CELL_VALUE] = table_words(row->text[0] == '\0' ? "(empty)" : row->text);
    cells[CELL_LABEL] = table_words(label == NULL ? "" : label);
    cells[CELL_MEAN] = table_number(row->mean * ns);
    cells[CELL_P50] = table_number(row->p50 * ns);
    cells[CELL_P99] = table_number(row->p99 * ns);
    cells[CELL_LONGEST] = table_number(row->longest * ns);
    cells[CELL_MOST] = cause_cells_most(row->cause_ns, table->arena);
    cells[CELL_CLASS] = table_words(name.class_name);
    cells[CELL_METHOD] = table_words(name.method);
    cells[CELL_DESCRIPTOR] = table_words(name.descriptor);
    struct sample_cells to = { table, cells + CELL_CAUSE_NS };
    put_metrics(pass, values, row, &to);
}

static void add_to_sum(struct values_row *sum, const struct values_row *row)
{
    sum->calls += row->calls;
    sum->unwinds += row->unwinds;
    sum->ticks += row->ticks;
    sum->wall_ticks += row->wall_ticks;
    sum->waited_ns += row->waited_ns;
    sum->bytes += row->bytes;
}

static void put_sum(const struct report_source *source, const struct value_rows *values, const struct values_row *sum,
                    const char *label, const char *kind, struct table *table)
{
    struct table_cell *cells = table_row(table, kind);
    if (cells == NULL)
        return;
    put_sums(source, values, sum, cells);
    cells[CELL_VALUE] = table_words(label);
    cells[CELL_MEAN] = table_quotient(sum->ticks * report_ns(source, 1), (double)sum->calls);
}

static void put_rows(const struct view_pass *pass, const struct report_source *source, const struct value_rows *values,
                     const struct report_row_options *options, struct table *table)
{
    struct values_row others = { .calls = 0 }, all = { .calls = 0 };
    size_t n_others = 0;
    for (size_t i = 0; i < values->n; i++) {
        const struct values_row *row = &values->rows[i];
        bool is_beyond = options->top != 0 && i >= options->top && !options->all;
        add_to_sum(&all, row);
        if (is_beyond) {
            n_others++;
            add_to_sum(&others, row);
        } else {
            put_row(pass, source, values, row, table);
        }
    }
    if (n_others > 0)
        put_sum(source, values, &others, arena_printf(table->arena, "%zu with less time", n_others), "others", table);
    if (values->n_methods > 1)
        return; /* one may be called by the other */
    put_sum(source, values, &all, "all calls", "total", table);
    table->rows[table->n_rows - 1].after_rule = true;
}

static void add_notes(const struct view_pass *pass, const struct value_rows *values, struct table *table)
{
    const struct value_calls *calls = pass->value_calls;
    table_note(table, "p50, p99 and Longest are times from call to return, including waiting");
    if (values->has_waits || values->has_allocations)
        table_note(table, "waits and bytes of a thread count for the calls that were running in it");
    if (calls->n_not_kept > 0)
        table_doubt(table, arena_printf(table->arena,
                                        "waits and bytes of %" PRIu64 " later calls are in no row (limit: %u calls)",
                                        calls->n_not_kept, VALUE_CALLS_KEPT));
}

int values_table(const struct view_pass *pass, const struct report_source *source, const char *method,
                 const struct report_row_options *rows, struct table *table, struct err *err)
{
    struct value_rows values;
    if (values_find(pass, source, method, &values, err) < 0)
        return -1;
    table_begin(table, source->arena);
    report_metadata(source, table);
    add_columns(pass, &values, table);
    put_rows(pass, source, &values, rows, table);
    add_notes(pass, &values, table);
    report_losses(source, table);
    return table->is_broken ? err_set(err, "out of memory for a table of values") : 0;
}
