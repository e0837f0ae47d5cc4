/* Several runs of one program: each phase's mean over them, and how much they vary (thesis §3.1.2). */
#include "report/diff/diff_internal.h"

#include "phases/samples/significance.h"

/* A row and metric, as they are printed. */
struct runs_line {
    const char *label, *metric, *unit;
    struct table_cell mean, error, lowest, highest;
    double cov;
    uint64_t n;
    struct method_name names;
};

#define LINE(member) FROM(struct runs_line, member)

static const struct table_column columns[] = {
    { "label", "Phase", TABLE_TEXT, LINE(label) },
    { "metric", "Metric", TABLE_TEXT, LINE(metric) },
    { "mean", "Mean", TABLE_RATIO, LINE(mean) },
    { "error", "\u00b1", TABLE_RATIO, LINE(error) },
    { "cov", "CoV (%)", TABLE_SHARE, LINE(cov) },
    { "lowest", "Lowest", TABLE_RATIO, LINE(lowest) },
    { "highest", "Highest", TABLE_RATIO, LINE(highest) },
    { "runs", "Runs", TABLE_COUNT, LINE(n) },
    { "unit", "unit", TABLE_TEXT, LINE(unit), .width = COLUMN_DATA },
    { "class", "class", TABLE_TEXT, LINE(names.class_name), .width = COLUMN_DATA },
    { "method", "method", TABLE_TEXT, LINE(names.method), .width = COLUMN_DATA },
    { "descriptor", "descriptor", TABLE_TEXT, LINE(names.descriptor), .width = COLUMN_DATA },
};

/* What is known of a metric over the runs.  Returns false: of none. */
static bool find_line(const struct diff *d, const struct diff_row *row, size_t metric, struct table *table,
                      struct runs_line *line)
{
    const struct diff_metric *of = &d->metrics[metric];
    struct moments m = { .n = 0 };
    double lowest = INFINITY, highest = -INFINITY;
    for (size_t i = 0; i < d->options->n_traces[DIFF_BEFORE]; i++) {
        double value = diff_value_of(row, DIFF_BEFORE, i, metric)->value;
        if (isnan(value))
            continue;
        moments_add(&m, value);
        lowest = fmin(lowest, value);
        highest = fmax(highest, value);
    }
    double n = (double)m.n, error = n < 2 ? NAN : distribution_t_limit(0.05, n - 1) * sqrt(moments_variance(&m) / n);
    *line = (struct runs_line){ .label = row->label,
                                .metric = of->name,
                                .unit = diff_unit_key(of->unit),
                                .mean = table_number_in(table, m.mean, of->unit),
                                .error = table_number_in(table, error, of->unit),
                                .lowest = table_number_in(table, lowest, of->unit),
                                .highest = table_number_in(table, highest, of->unit),
                                .cov = moments_cov(&m),
                                .n = m.n,
                                .names = row->names };
    return m.n > 0;
}

static void add_lines(const struct diff *d, const struct diff_row *row, bool is_text, struct table *table)
{
    for (size_t m = 0; m < d->n_metrics; m++) {
        enum diff_role role = d->metrics[m].role;
        bool is_main = role == DIFF_TIME || role == DIFF_CALLS || role == DIFF_PER_CALL || role == DIFF_RATE;
        struct runs_line line;
        if (role != DIFF_ADJUSTED && (is_main || !is_text || d->options->all) && find_line(d, row, m, table, &line))
            table_add(table, row->kind, &line);
    }
}

int runs_table(const struct diff_row_options *options, bool is_text, struct arena *arena, struct table *table,
               struct err *err)
{
    struct diff *d = arena_alloc(arena, sizeof *d);
    size_t n = options->n_traces[DIFF_BEFORE];
    if (n < 2) {
        err_set(err, "one trace is one run");
        return err_next(err, "name several of one program: mmprof report --view runs a.dat b.dat c.dat");
    }
    if (diff_read(d, options, arena, err) < 0)
        return -1;
    diff_compare(d);
    table_begin(table, arena);
    table_metadata_number(table, "runs", (double)n, arena_printf(arena, "runs     %zu", n));
    TABLE_COLUMNS(table, columns, 0);
    for (size_t i = 0; i < d->n_rows; i++)
        add_lines(d, &d->rows[i], is_text, table);
    table_note(table,
               "CoV is the standard deviation between runs over the mean; \u00b1 is half the mean's 95 % interval");
    if (d->has_live)
        table_note(table, "live recordings: calls are those that probes saw in all of the time");
    return 0;
}
