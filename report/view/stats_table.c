#include "report/view/tables.h"

struct stats_making {
    const struct report_source *source;
    const struct call_metrics *metrics;
    const struct statistics *statistics;
    struct table *table;
    struct report_row *rows; /* the arena's */
    size_t n_rows;
};

/* NAN: not known. */
struct stats_row {
    const char *label, *metric, *unit, *verdict;
    struct table_cell mean;
    double calls, cov, p50, p99, longest;
    struct anova anova;
    struct method_name name;
};

static const struct table_column columns[] = {
    { "label", "Phase", TABLE_TEXT, FROM(struct stats_row, label) },
    { "metric", "Metric", TABLE_TEXT, FROM(struct stats_row, metric) },
    { "calls", "Calls", TABLE_COUNT, FROM(struct stats_row, calls) },
    { "mean", "Mean", TABLE_RATIO, FROM(struct stats_row, mean) },
    { "cov", "CoV (%)", TABLE_SHARE, FROM(struct stats_row, cov) },
    { "p50_ns", "p50", TABLE_NS, FROM(struct stats_row, p50) },
    { "p99_ns", "p99", TABLE_NS, FROM(struct stats_row, p99) },
    { "max_ns", "Longest", TABLE_NS, FROM(struct stats_row, longest) },
    { "unit", "unit", TABLE_TEXT, FROM(struct stats_row, unit), .width = COLUMN_DATA },
    { "f", "f", TABLE_RATIO, FROM(struct stats_row, anova.f), .width = COLUMN_DATA },
    { "df_between", "df_between", TABLE_RATIO, FROM(struct stats_row, anova.df_between), .width = COLUMN_DATA },
    { "df_within", "df_within", TABLE_RATIO, FROM(struct stats_row, anova.df_within), .width = COLUMN_DATA },
    { "p", "p", TABLE_RATIO, FROM(struct stats_row, anova.p), .width = COLUMN_DATA },
    { "welch_f", "welch_f", TABLE_RATIO, FROM(struct stats_row, anova.welch_f), .width = COLUMN_DATA },
    { "welch_df", "welch_df", TABLE_RATIO, FROM(struct stats_row, anova.welch_df), .width = COLUMN_DATA },
    { "welch_p", "welch_p", TABLE_RATIO, FROM(struct stats_row, anova.welch_p), .width = COLUMN_DATA },
    { "explained_share", "explained_share", TABLE_SHARE, FROM(struct stats_row, anova.explained),
      .width = COLUMN_DATA },
    { "verdict", "verdict", TABLE_TEXT, FROM(struct stats_row, verdict), .width = COLUMN_DATA },
    { "class", "class", TABLE_TEXT, FROM(struct stats_row, name.class_name), .width = COLUMN_DATA },
    { "method", "method", TABLE_TEXT, FROM(struct stats_row, name.method), .width = COLUMN_DATA },
    { "descriptor", "descriptor", TABLE_TEXT, FROM(struct stats_row, name.descriptor), .width = COLUMN_DATA },
};

/* A metric's unit from that of its moments. */
static double scale(const struct stats_making *making, size_t metric)
{
    return making->metrics->options.metrics[metric].is_time ? making->source->tree->ns_per_tick : 1;
}

static struct stats_row row_of(const struct stats_making *making, const char *label, size_t metric)
{
    const struct call_metric *of = &making->metrics->of[metric];
    return (struct stats_row){ .label = label,
                               .metric = of->name,
                               .unit = of->unit,
                               .cov = NAN,
                               .p50 = NAN,
                               .p99 = NAN,
                               .longest = NAN,
                               .anova = { .f = NAN,
                                          .df_between = NAN,
                                          .df_within = NAN,
                                          .p = NAN,
                                          .welch_f = NAN,
                                          .welch_df = NAN,
                                          .welch_p = NAN,
                                          .explained = NAN } };
}

/* ---- the phases ---- */

static void add_phase_metric(struct stats_making *making, size_t index, size_t metric)
{
    const struct statistics *s = making->statistics;
    const struct call_metric *of = &making->metrics->of[metric];
    uint32_t method = making->rows[index].total->method;
    struct moments moments = statistics_moments(s, method, metric);
    struct stats_row row = row_of(making, making->rows[index].label, metric);
    double unit = scale(making, metric);
    row.calls = (double)moments.n;
    if (of->why == NULL && moments.n > 0)
        row.mean = table_number_in(making->table, moments.mean * unit, of->format);
    if (making->metrics->options.metrics[metric].is_time) {
        row.p50 = statistics_quantile(s, method, 0.5) * unit;
        row.p99 = statistics_quantile(s, method, 0.99) * unit;
        row.longest = statistics_longest(s, method) * unit;
    }
    if (of->why == NULL)
        row.cov = moments_cov(&moments);
    row.name = report_name(making->source, method);
    table_add(making->table, "phase", &row);
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

static void add_within_and_between(struct stats_making *making, size_t metric, const struct anova *anova,
                                   bool after_rule)
{
    struct stats_row within = row_of(making, "within phases", metric),
                     between = row_of(making, "between phases", metric);
    within.calls = between.calls = (double)anova->n;
    within.cov = anova->within_cov;
    table_add(making->table, "within", &within)->after_rule = after_rule;
    between.cov = anova->between_cov;
    between.anova = *anova;
    between.verdict = differ(anova) ? "differ" : "alike";
    table_add(making->table, "between", &between);
}

static void add_all(struct stats_making *making, size_t metric, struct moments *groups, bool after_rule)
{
    struct anova anova;
    const struct call_metric *about = &making->metrics->of[metric];
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
    add_within_and_between(making, metric, &anova, after_rule);
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
    TABLE_COLUMNS(table, columns, 0);
    for (size_t i = 0; i < making.n_rows; i++)
        for (size_t metric = 0; metric < metrics->options.n_metrics; metric++)
            add_phase_metric(&making, i, metric);
    for (size_t i = 0; i < metrics->options.n_metrics; i++)
        add_all(&making, i, groups, i == 0);
    add_notes(&making);
    report_losses(source, table);
    return 0;
}
