#include "report/view/values.h"

#include "report/view/waits.h"

#define SEVERAL_METHODS 2u /* conditions of columns in text */
#define ANY_UNWINDS     4u

/* A row as it is printed. */
struct value_line {
    const char *value, *label;
    struct method_name name;
    double share, calls, mean_ns, p50_ns, p99_ns, longest_ns, unwinds, waited_ns, bytes, ns, wall_ns;
    struct wait_causes causes;
    double metrics[STATISTICS_METRICS_MAX];
};

#define VALUE(member) FROM(struct value_line, member)

static const struct table_column columns[] = {
    { "value", "Value", TABLE_TEXT, VALUE(value) },
    { "label", "Method", TABLE_TEXT, VALUE(label), .text_when = SEVERAL_METHODS },
    { "time_share", "Time (%)", TABLE_SHARE, VALUE(share), .sum = COLUMN_OF_SUM },
    { "calls", "Calls", TABLE_COUNT, VALUE(calls), .sum = COLUMN_OF_SUM },
    { "ns_per_call", "Time/call", TABLE_NS, VALUE(mean_ns), .sum = COLUMN_OF_SUM },
    { "wall_p50_ns", "p50", TABLE_NS, VALUE(p50_ns) },
    { "wall_p99_ns", "p99", TABLE_NS, VALUE(p99_ns) },
    { "wall_max_ns", "Longest", TABLE_NS, VALUE(longest_ns) },
    { "unwinds", "Exceptions", TABLE_COUNT, VALUE(unwinds), .text_when = ANY_UNWINDS, .sum = COLUMN_OF_SUM },
    { "waited_ns", "Waited", TABLE_NS, VALUE(waited_ns), .sum = COLUMN_OF_SUM },
    { "most_for", "Most for", TABLE_TEXT, VALUE(causes.most) },
    { "allocated_bytes", "Allocated", TABLE_BYTES, VALUE(bytes), .sum = COLUMN_OF_SUM },
    { "total_ns", NULL, TABLE_NS, VALUE(ns), .width = COLUMN_DATA, .sum = COLUMN_OF_SUM },
    { "wall_ns", NULL, TABLE_NS, VALUE(wall_ns), .width = COLUMN_DATA, .sum = COLUMN_OF_SUM },
    { "class", NULL, TABLE_TEXT, VALUE(name.class_name), .width = COLUMN_DATA },
    { "method", NULL, TABLE_TEXT, VALUE(name.method), .width = COLUMN_DATA },
    { "descriptor", NULL, TABLE_TEXT, VALUE(name.descriptor), .width = COLUMN_DATA },
};

static void add_columns(const struct view_pass *pass, const struct value_rows *values, struct table *table)
{
    bool any_unwinds = false;
    for (size_t i = 0; i < values->n; i++)
        any_unwinds = any_unwinds || values->rows[i].unwinds > 0;
    TABLE_COLUMNS(table, columns, 1u | (values->n_methods > 1 ? SEVERAL_METHODS : 0) | (any_unwinds ? ANY_UNWINDS : 0));
    wait_causes_columns(offsetof(struct value_line, causes), table);
    for (size_t i = 1; i < pass->metrics.options.n_metrics; i++) {
        struct table_column column = { .key = pass->metrics.of[i].key,
                                       .heading = pass->metrics.of[i].name,
                                       .unit = pass->metrics.of[i].format,
                                       .field = FIELD_FROM(struct value_line, metrics[0]) };
        column.field.offset = (uint16_t)(column.field.offset + i * sizeof(double));
        table_columns(table, &column, 1, 0);
    }
}

static struct value_line line_of(const struct view_pass *pass, const struct report_source *source,
                                 const struct value_rows *values, const struct values_row *row)
{
    double ns = report_ns(source, 1);
    struct value_line line = { .value = row->text[0] == '\0' ? "(empty)" : row->text,
                               .name = trace_method(pass->reader, row->method)->names,
                               .share = row->ticks / (double)values->shares.all_ticks,
                               .calls = (double)row->calls,
                               .mean_ns = row->mean * ns,
                               .p50_ns = row->p50 * ns,
                               .p99_ns = row->p99 * ns,
                               .longest_ns = row->longest * ns,
                               .unwinds = (double)row->unwinds,
                               .waited_ns = values->has_waits ? row->waited_ns : NAN,
                               .bytes = values->has_allocations ? row->bytes : NAN,
                               .ns = row->ticks * ns,
                               .wall_ns = row->wall_ticks * ns,
                               .causes = wait_causes_of(row->cause_ns, values->has_waits, source->arena) };
    line.label = java_names_display(source->arena, &line.name, JAVA_NAMES_SHORT);
    for (size_t i = 1; i < pass->metrics.options.n_metrics; i++)
        line.metrics[i] =
            pass->metrics.of[i].why != NULL ? NAN : statistics_error_of(pass->value_calls->by_clock, row->key, i).value;
    return line;
}

static void add_to_sum(struct values_row *sum, const struct values_row *row)
{
    sum->text = "";
    sum->method = row->method;
    sum->calls += row->calls;
    sum->unwinds += row->unwinds;
    sum->ticks += row->ticks;
    sum->wall_ticks += row->wall_ticks;
    sum->waited_ns += row->waited_ns;
    sum->bytes += row->bytes;
}

struct sum_row {
    const char *kind, *label;
};

static void add_sum(const struct view_pass *pass, const struct report_source *source, const struct value_rows *values,
                    const struct values_row *of, struct sum_row row, struct table *table)
{
    struct value_line sum = line_of(pass, source, values, of);
    sum.mean_ns = sum.ns / sum.calls;
    table_add_sum(table, row.kind, row.label, &sum);
}

static void add_rows(const struct view_pass *pass, const struct report_source *source, const struct value_rows *values,
                     const struct report_row_options *options, struct table *table)
{
    static const char *const kinds[] = { [VALUE_TEXT] = "value",
                                         [VALUE_NULL] = "null",
                                         [VALUE_OTHER] = "other",
                                         [VALUE_EXCEPTION] = "exception",
                                         [VALUE_NO_METHOD] = "no_method" };
    struct values_row others = { .text = "" }, all = { .text = "" };
    size_t n_others = 0;
    for (size_t i = 0; i < values->n; i++) {
        const struct values_row *row = &values->rows[i];
        bool is_beyond = options->top != 0 && i >= options->top && !options->all;
        const struct value_line line = line_of(pass, source, values, row);
        add_to_sum(&all, row);
        n_others += is_beyond;
        if (is_beyond)
            add_to_sum(&others, row);
        else
            table_add(table, row->value == NULL ? "unknown" : kinds[row->value->kind], &line);
    }
    if (n_others > 0)
        add_sum(pass, source, values, &others,
                (struct sum_row){ "others", arena_printf(table->arena, "%zu with less time", n_others) }, table);
    if (values->n > 0 && values->n_methods <= 1) /* one may be called by the other */
        add_sum(pass, source, values, &all, (struct sum_row){ "total", "all calls" }, table);
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

void values_table(const struct view_pass *pass, const struct report_source *source, const char *method,
                  const struct report_row_options *rows, struct table *table)
{
    struct value_rows values;
    values_find(pass, source, method, &values);
    table_begin(table, source->arena);
    report_metadata(source, table);
    add_columns(pass, &values, table);
    add_rows(pass, source, &values, rows, table);
    add_notes(pass, &values, table);
    report_losses(source, table);
}
