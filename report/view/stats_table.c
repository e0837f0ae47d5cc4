#include "report/view/stats_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct stats_layout {
    size_t label, metric, calls, mean, cov, p50, p99, longest, unit, f, df_between, df_within, p, welch_f, welch_df,
        welch_p, explained, verdict, class_name, method, descriptor;
};

struct stats_making {
    const struct report_source *source;
    const struct call_metrics *metrics;
    const struct statistics *statistics;
    struct table *table;
    struct report_row *rows; /* the arena's */
    size_t n_rows;
    struct stats_layout at;
};

static void add_columns(struct stats_making *making)
{
    struct table *t = making->table;
    struct stats_layout *at = &making->at;
    at->label = table_column(t, "Phase", "label", TABLE_TEXT);
    at->metric = table_column(t, "Metric", "metric", TABLE_TEXT);
    at->calls = table_column(t, "Calls", "calls", TABLE_COUNT);
    at->mean = table_column(t, "Mean", "mean", TABLE_RATIO);
    at->cov = table_column(t, "CoV (%)", "cov", TABLE_SHARE);
    at->p50 = table_column(t, "p50", "p50_ns", TABLE_NS);
    at->p99 = table_column(t, "p99", "p99_ns", TABLE_NS);
    at->longest = table_column(t, "Longest", "max_ns", TABLE_NS);
    at->unit = table_data_column(t, "unit", TABLE_TEXT);
    at->f = table_data_column(t, "f", TABLE_RATIO);
    at->df_between = table_data_column(t, "df_between", TABLE_RATIO);
    at->df_within = table_data_column(t, "df_within", TABLE_RATIO);
    at->p = table_data_column(t, "p", TABLE_RATIO);
    at->welch_f = table_data_column(t, "welch_f", TABLE_RATIO);
    at->welch_df = table_data_column(t, "welch_df", TABLE_RATIO);
    at->welch_p = table_data_column(t, "welch_p", TABLE_RATIO);
    at->explained = table_data_column(t, "explained_share", TABLE_SHARE);
    at->verdict = table_data_column(t, "verdict", TABLE_TEXT);
    at->class_name = table_data_column(t, "class", TABLE_TEXT);
    at->method = table_data_column(t, "method", TABLE_TEXT);
    at->descriptor = table_data_column(t, "descriptor", TABLE_TEXT);
}

/* A metric's unit from that of its moments. */
static double scale(const struct stats_making *making, size_t metric)
{
    return making->metrics->options.metrics[metric].is_time ? making->source->tree->ns_per_tick : 1;
}

static struct table_cell *start_row(struct stats_making *making, const char *kind, const char *label, size_t metric)
{
    struct table_cell *cells = table_row(making->table, kind);
    if (cells == NULL)
        return NULL;
    cells[making->at.label] = table_words(label);
    cells[making->at.metric] = table_words(making->metrics->of[metric].name);
    cells[making->at.unit] = table_words(making->metrics->of[metric].unit);
    return cells;
}

/* ---- the phases ---- */

static void fill_quantiles(const struct stats_making *making, uint32_t method, double ns_per_tick,
                           struct table_cell *cells)
{
    const struct statistics *s = making->statistics;
    cells[making->at.p50] = table_number(statistics_quantile(s, method, 0.5) * ns_per_tick);
    cells[making->at.p99] = table_number(statistics_quantile(s, method, 0.99) * ns_per_tick);
    cells[making->at.longest] = table_number(statistics_longest(s, method) * ns_per_tick);
}

static void add_phase(struct stats_making *making, size_t row)
{
    uint32_t method = making->rows[row].total->method;
    struct method_name name = report_name(making->source, method);
    for (size_t i = 0; i < making->metrics->options.n_metrics; i++) {
        struct moments moments = statistics_moments(making->statistics, method, i);
        struct table_cell *cells = start_row(making, "phase", making->rows[row].label, i);
        if (cells == NULL)
            return;
        bool is_measured = making->metrics->of[i].why == NULL;
        cells[making->at.calls] = table_number((double)moments.n);
        if (is_measured && moments.n > 0)
            cells[making->at.mean] =
                table_number_in(making->table, moments.mean * scale(making, i), making->metrics->of[i].format);
        if (making->metrics->options.metrics[i].is_time)
            fill_quantiles(making, method, scale(making, i), cells);
        if (is_measured)
            cells[making->at.cov] = table_number(moments_cov(&moments));
        cells[making->at.class_name] = table_words(name.class_name);
        cells[making->at.method] = table_words(name.method);
        cells[making->at.descriptor] = table_words(name.descriptor);
    }
}

/* ---- all phases ---- */

static const char *probability(struct arena *arena, double p)
{
    return p < 0.0001 ? "p < 0.0001" : arena_printf(arena, "p = %.4f", p);
}

/* Welch's test stands where it can: times of phases vary very differently. */
static bool differ(const struct anova *anova)
{
    double p = isnan(anova->welch_p) ? anova->p : anova->welch_p;
    return p < STATS_SIGNIFICANCE;
}

/* The test that decides, in words. */
static const char *test_words(struct arena *arena, const struct anova *anova)
{
    if (isnan(anova->welch_p))
        return arena_printf(arena, "F(%.0f, %.0f) = %.4g, %s", anova->df_between, anova->df_within, anova->f,
                            probability(arena, anova->p));
    return arena_printf(arena, "Welch's F(%.0f, %.1f) = %.4g, %s", anova->df_between, anova->welch_df, anova->welch_f,
                        probability(arena, anova->welch_p));
}

static void say(struct stats_making *making, size_t metric, const struct anova *anova)
{
    struct arena *arena = making->source->arena;
    const char *line = arena_printf(
        arena, "%-9s %u phases %s: %s, %s of the variance", making->metrics->of[metric].name, anova->n_groups,
        differ(anova) ? "differ more from each other than within" : "do not differ more from each other than within",
        test_words(arena, anova), report_percent(arena, anova->explained));
    table_metadata_words(making->table, NULL, NULL, line);
}

static void add_within(struct stats_making *making, size_t metric, const struct anova *anova)
{
    struct table_cell *cells = start_row(making, "within", "within phases", metric);
    if (cells == NULL)
        return;
    cells[making->at.calls] = table_number((double)anova->n);
    cells[making->at.cov] = table_number(anova->within_cov);
}

static void add_between(struct stats_making *making, size_t metric, const struct anova *anova)
{
    const struct stats_layout *at = &making->at;
    struct table_cell *cells = start_row(making, "between", "between phases", metric);
    if (cells == NULL)
        return;
    cells[at->calls] = table_number((double)anova->n);
    cells[at->cov] = table_number(anova->between_cov);
    cells[at->f] = table_number(anova->f);
    cells[at->df_between] = table_number(anova->df_between);
    cells[at->df_within] = table_number(anova->df_within);
    cells[at->p] = table_number(anova->p);
    cells[at->welch_f] = table_number(anova->welch_f);
    cells[at->welch_df] = table_number(anova->welch_df);
    cells[at->welch_p] = table_number(anova->welch_p);
    cells[at->explained] = table_number(anova->explained);
    cells[at->verdict] = table_words(differ(anova) ? "differ" : "alike");
}

static void add_all(struct stats_making *making, size_t metric, struct moments *groups, bool after_rule)
{
    struct anova anova;
    const struct call_metric *about = &making->metrics->of[metric];
    size_t first = making->table->n_rows;
    if (about->why != NULL) {
        table_note(making->table, arena_printf(making->source->arena, "%s: %s", about->name, about->why));
        return;
    }
    for (size_t i = 0; i < making->n_rows; i++)
        groups[i] = statistics_moments(making->statistics, making->rows[i].total->method, metric);
    if (!anova_compute(groups, making->n_rows, &anova)) {
        table_note(making->table,
                   arena_printf(making->source->arena, "%s: fewer than two phases have two calls whose values differ",
                                about->name));
        return;
    }
    say(making, metric, &anova);
    add_within(making, metric, &anova);
    add_between(making, metric, &anova);
    if (first < making->table->n_rows)
        making->table->rows[first].after_rule = after_rule;
}

/* ---- the whole ---- */

/* Of methods that only samples know no call is. */
static void leave_out_sampled(struct stats_making *making)
{
    size_t n = 0;
    for (size_t i = 0; i < making->n_rows; i++)
        if (making->rows[i].total->calls > 0)
            making->rows[n++] = making->rows[i];
    making->n_rows = n;
}

static void add_notes(struct stats_making *making)
{
    uint64_t n = making->source->tree->n_under_way;
    table_note(making->table, "one observation is one call (the outermost one of a recursive method); calls that had "
                              "not returned at the end are left out");
    if (n > 0)
        table_note(
            making->table,
            arena_printf(making->source->arena,
                         "%" PRIu64
                         " call%s running when %s method got probes: how long %s took is unknown, so %s left out",
                         n, n == 1 ? " was" : "s were", n == 1 ? "its" : "their", n == 1 ? "it" : "they",
                         n == 1 ? "it is" : "they are"));
    table_note(
        making->table,
        "calls are nested and follow each other, so their p values are smaller than those of independent observations");
    if (making->metrics->options.n_metrics == 1)
        table_note(making->table, "CPI and misses of calls need recorded cycles and instructions");
}

int stats_table(const struct report_source *source, const struct calltree_total *totals, size_t n_totals,
                const struct report_row_options *options, const struct call_metrics *metrics,
                const struct statistics *statistics, struct table *table, struct err *err)
{
    struct stats_making making = { .source = source, .metrics = metrics, .statistics = statistics, .table = table };
    if (report_rows(source, totals, n_totals, options, &making.rows, &making.n_rows, err) < 0)
        return -1;
    leave_out_sampled(&making);
    struct moments *groups = arena_alloc(source->arena, (making.n_rows + 1) * sizeof *groups);
    table_begin(table, source->arena);
    report_metadata(source, table);
    add_columns(&making);
    for (size_t i = 0; i < making.n_rows; i++)
        add_phase(&making, i);
    for (size_t i = 0; i < metrics->options.n_metrics; i++)
        add_all(&making, i, groups, i == 0);
    add_notes(&making);
    report_losses(source, table);
    return 0;
}
