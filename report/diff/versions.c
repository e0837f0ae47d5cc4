#include "report/diff/versions.h"

#include "phases/samples/significance.h"
#include "core/base/xalloc.h"
#include "report/diff/diff_internal.h"

#include <strings.h>

/* What a series says. */
struct versions_row {
    struct moments groups[VERSIONS_MAX]; /* of logarithms, if is_log */
    bool is_log, has_anova;
    struct anova anova;
    double p, p_corrected; /* of the row: of the analysis, or of the one pair; NAN: not known */
};

/* How a version differs from another in a row and metric: changes are fractions; NAN: not known. */
struct versions_pair {
    double before, after, change, low, high, p;
    const char *verdict;
};

/* A pair of versions in a series, as it is printed. */
struct versions_line {
    const struct versions_series *series;
    const char *from, *to, *unit, *interval, *class_name, *method, *descriptor;
    struct table_cell before, after, change, p;
    struct versions_pair pair;
    struct anova anova;
    uint64_t n_before, n_after;
};

static struct table_cell label_of(const void *row, struct arena *arena)
{
    (void)arena;
    return table_words(((const struct versions_line *)row)->series->label);
}

static struct table_cell metric_of(const void *row, struct arena *arena)
{
    (void)arena;
    return table_words(((const struct versions_line *)row)->series->metric);
}

enum { IN_TEXT = 1, IN_DATA = 2 };

static const struct table_column columns[] = {
    { "label", "Phase", TABLE_TEXT, .value = label_of },
    { "metric", "Metric", TABLE_TEXT, .value = metric_of },
    { "from", "From", TABLE_TEXT, FROM(struct versions_line, from) },
    { "to", "To", TABLE_TEXT, FROM(struct versions_line, to) },
    { "before", "Before", TABLE_RATIO, FROM(struct versions_line, before) },
    { "after", "After", TABLE_RATIO, FROM(struct versions_line, after) },
    { "change", "Change (%)", TABLE_RATE, FROM(struct versions_line, change) },
    { "interval", "95 % interval", TABLE_RATE, FROM(struct versions_line, interval), .when = IN_TEXT },
    { "p_corrected", "p", TABLE_RATIO, FROM(struct versions_line, p) },
    { "verdict", "Verdict", TABLE_TEXT, FROM(struct versions_line, pair.verdict) },
    { "unit", "unit", TABLE_TEXT, FROM(struct versions_line, unit), .width = COLUMN_DATA },
    { "change_low", "change_low", TABLE_RATIO, FROM(struct versions_line, pair.low), .width = COLUMN_DATA },
    { "change_high", "change_high", TABLE_RATIO, FROM(struct versions_line, pair.high), .width = COLUMN_DATA },
    { "runs_before", "runs_before", TABLE_COUNT, FROM(struct versions_line, n_before), .width = COLUMN_DATA },
    { "runs_after", "runs_after", TABLE_COUNT, FROM(struct versions_line, n_after), .width = COLUMN_DATA },
    { "anova_f", "anova_f", TABLE_RATIO, FROM(struct versions_line, anova.f), .width = COLUMN_DATA },
    { "anova_df_between", "anova_df_between", TABLE_RATIO, FROM(struct versions_line, anova.df_between),
      .width = COLUMN_DATA },
    { "anova_df_within", "anova_df_within", TABLE_RATIO, FROM(struct versions_line, anova.df_within),
      .width = COLUMN_DATA },
    { "anova_p", "anova_p", TABLE_RATIO, FROM(struct versions_line, anova.p), .width = COLUMN_DATA },
    { "class", "class", TABLE_TEXT, FROM(struct versions_line, class_name), .width = COLUMN_DATA },
    { "method", "method", TABLE_TEXT, FROM(struct versions_line, method), .width = COLUMN_DATA },
    { "descriptor", "descriptor", TABLE_TEXT, FROM(struct versions_line, descriptor), .width = COLUMN_DATA },
};

/* ---- statistics ---- */

static bool are_positive(const struct versions *v, const struct versions_series *s)
{
    for (size_t i = 0; i < v->n_versions; i++)
        for (size_t run = 0; run < v->n_runs[i]; run++)
            if (!isnan(s->values[i][run]) && !(s->values[i][run] > 0))
                return false;
    return true;
}

static void analyse(const struct versions *v, const struct versions_series *s, struct pairwise *pairwise,
                    struct versions_row *row)
{
    *row = (struct versions_row){ .is_log = are_positive(v, s), .p = NAN, .p_corrected = NAN };
    for (size_t i = 0; i < v->n_versions; i++)
        for (size_t run = 0; run < v->n_runs[i]; run++)
            if (!isnan(s->values[i][run]))
                moments_add(&row->groups[i], row->is_log ? log(s->values[i][run]) : s->values[i][run]);
    pairwise_begin(pairwise, row->groups, v->n_versions);
    if (isnan(pairwise->within))
        return;
    row->has_anova = v->n_versions > 2 && anova_compute(row->groups, v->n_versions, &row->anova);
    struct pairwise_difference d = pairwise_compare(pairwise, &row->groups[0], &row->groups[1]);
    row->p = row->has_anova ? row->anova.p : v->n_versions > 2 ? 1 : pairwise_p(&d);
}

/* Of all rows at once. */
static void correct(const struct versions *v, struct versions_row *rows)
{
    struct diff_test *tests = xreallocarray(NULL, v->n_series + 1, sizeof *tests);
    size_t n = 0;
    for (size_t i = 0; i < v->n_series; i++)
        if (!isnan(rows[i].p))
            tests[n++] = (struct diff_test){ rows[i].p, DIFF_GROUP_REST, 1 };
    diff_correct(tests, n);
    n = 0;
    for (size_t i = 0; i < v->n_series; i++)
        if (!isnan(rows[i].p))
            rows[i].p_corrected = tests[n++].p;
    free(tests);
}

/* ---- a pair ---- */

static double mean_of(const struct versions_row *row, size_t version)
{
    const struct moments *m = &row->groups[version];
    return m->n == 0 ? NAN : row->is_log ? exp(m->mean) : m->mean;
}

static struct versions_pair compare(const struct versions *v, const struct versions_row *row,
                                    const struct pairwise *pairwise, size_t a, size_t b)
{
    struct pairwise_difference d = pairwise_compare(pairwise, &row->groups[a], &row->groups[b]);
    struct versions_pair pair = { .before = mean_of(row, a), .after = mean_of(row, b), .verdict = "-" };
    double unit = row->is_log       ? 1
                  : pair.before > 0 ? pair.before
                                    : NAN,
           low = d.difference - d.half, high = d.difference + d.half;
    pair.change = row->is_log ? expm1(d.difference) : d.difference / unit;
    pair.low = row->is_log ? expm1(low) : low / unit < -1 ? -1 : low / unit; /* nothing is less than none */
    pair.high = row->is_log ? expm1(high) : high / unit;
    pair.p = isnan(d.half) ? NAN : fmax(pairwise_p(&d), row->p_corrected);
    if (!isnan(pair.p))
        pair.verdict = !(pair.p < DIFF_SIGNIFICANCE)  ? "not shown"
                       : fabs(pair.change) < v->least ? "small"
                       : d.difference > 0             ? "higher"
                                                      : "lower";
    return pair;
}

/* ---- limits on how versions differ from the first one (mmprof diff --fail-on) ---- */

int versions_check_gate(const struct versions *v, struct err *err)
{
    for (size_t i = 0; v->gate != NULL && i < v->gate->n_limits; i++) {
        const struct diff_limit *limit = &v->gate->limits[i];
        const char *list = "";
        bool is_known = false;
        for (size_t s = 0; s < v->n_series && !is_known; s++) {
            const char *metric = v->series[s].metric;
            is_known = strcasecmp(metric, limit->name) == 0;
            if (s == 0 || strcmp(v->series[s].label, v->series[0].label) == 0)
                list = arena_printf(v->arena, "%s%s%s", list, s == 0 ? "" : ", ", metric);
        }
        if (!is_known)
            return diff_limit_refuse(limit, list, err);
    }
    return 0;
}

/* Its end: "rose by 12.3 % (p = 0.0012)". */
static const char *words_of(struct arena *arena, const struct versions_pair *pair)
{
    const char *way = pair->after > pair->before ? "rose" : "fell";
    return isnan(pair->change) ? arena_printf(arena, "%s from 0", way)
                               : arena_printf(arena, "%s by %.1f %% (p %s %.4f)", way, 100 * fabs(pair->change),
                                              pair->p < 0.0001 ? "<" : "=", fmax(pair->p, 0.0001));
}

static void say_limit(struct versions_gate *gate, struct arena *arena, const char *line)
{
    const char *before = gate->said == NULL ? "" : gate->said;
    gate->said = arena_printf(arena, "%s%s\n", before, line);
}

static void look_at_limit(const struct versions *v, const struct diff_limit *limit,
                          const struct versions_series *series, size_t version, const struct versions_pair *pair)
{
    struct arena *arena = v->arena;
    bool is_found = strcmp(pair->verdict, limit->is_below ? "lower" : "higher") == 0;
    double end = limit->is_below ? -pair->low : pair->high;
    if (is_found && diff_limit_is_beyond(limit, pair->change)) {
        v->gate->n_broken++;
        say_limit(v->gate, arena,
                  arena_printf(arena, "mmprof: %s: %s: %s of '%s' %s", limit->text, series->label, series->metric,
                               v->names[version], words_of(arena, pair)));
    } else if (series->is_main && (isnan(end) || end > limit->change)) {
        say_limit(v->gate, arena,
                  isnan(end) ? arena_printf(arena, "mmprof: %s: %s: '%s' has too few runs to tell", limit->text,
                                            series->label, v->names[version])
                             : arena_printf(arena,
                                            "mmprof: %s: %s: '%s' may exceed the limit: its interval ends at %+.1f %%\n"
                                            "  next: measure more runs of each version, or on a quieter machine",
                                            limit->text, series->label, v->names[version],
                                            limit->is_below ? -100 * end : 100 * end));
    }
}

/* Look at a series' pair of the first version and another one. */
static void take_limits(const struct versions *v, const struct versions_series *series, size_t version,
                        const struct versions_pair *pair)
{
    for (size_t i = 0; i < v->gate->n_limits; i++)
        if (strcasecmp(v->gate->limits[i].name, series->metric) == 0)
            look_at_limit(v, &v->gate->limits[i], series, version, pair);
}

/* ---- cells ---- */

static const char *or_nothing(const char *text)
{
    return text == NULL ? "" : text;
}

static void add_pair(const struct versions *v, const struct versions_series *s, const struct versions_row *row,
                     const struct pairwise *pairwise, size_t a, size_t b, bool is_text, struct table *table)
{
    const struct versions_pair pair = compare(v, row, pairwise, a, b);
    if (v->gate != NULL && a == 0)
        take_limits(v, s, b, &pair);
    bool is_found = strcmp(pair.verdict, "higher") == 0 || strcmp(pair.verdict, "lower") == 0;
    if ((isnan(pair.before) && isnan(pair.after)) || (is_text && !s->is_main && !is_found))
        return;
    const struct versions_line line = {
        .series = s,
        .from = v->names[a],
        .to = v->names[b],
        .unit = diff_unit_key(s->unit),
        .before = table_number_in(table, pair.before, s->unit),
        .after = table_number_in(table, pair.after, s->unit),
        .change = diff_shown(pair.change, arena_printf(v->arena, "%+.1f", 100 * pair.change)),
        .interval = isnan(pair.low) ? NULL : arena_printf(v->arena, "%+.1f .. %+.1f", 100 * pair.low, 100 * pair.high),
        .p = diff_shown(pair.p, pair.p < 0.0001 ? "< 0.0001" : arena_printf(v->arena, "%.4f", pair.p)),
        .pair = pair,
        .anova =
            row->has_anova ? row->anova : (struct anova){ .f = NAN, .df_between = NAN, .df_within = NAN, .p = NAN },
        .n_before = row->groups[a].n,
        .n_after = row->groups[b].n,
        .class_name = or_nothing(s->names.class_name),
        .method = or_nothing(s->names.method),
        .descriptor = or_nothing(s->names.descriptor)
    };
    table_add(table, s->kind, &line);
}

static void add_metadata(const struct versions *v, struct table *table)
{
    for (size_t i = 0; i < v->n_versions; i++)
        table_metadata_words(table, v->names[i], v->what[i],
                             arena_printf(v->arena, "%-8s %zu runs  %s", v->names[i], v->n_runs[i], v->what[i]));
    table_metadata_words(
        table, "method", v->n_versions > 2 ? "anova, tukey" : "welch",
        v->n_versions > 2
            ? "compared by the variation between runs: analysis of variance of logarithms, Tukey's HSD for pairs"
            : "compared by the variation between runs: Welch's t-test of logarithms");
}

/* What a pair's p does not say: whether any versions differ. */
static void note_anova(const struct versions *v, const struct versions_series *s, const struct versions_row *row,
                       struct table *table)
{
    const struct anova *a = &row->anova;
    bool differs = a->p < DIFF_SIGNIFICANCE;
    if (row->has_anova && strcmp(s->kind, "total") == 0)
        table_note(table,
                   arena_printf(
                       v->arena, "%s: versions %s than the runs of one version: F(%.0f, %.0f) = %.3g, p %s", s->metric,
                       differs ? "differ more from each other" : "do not differ more from each other", a->df_between,
                       a->df_within, a->f, a->p < 0.0001 ? "< 0.0001" : arena_printf(v->arena, "= %.4f", a->p)));
}

void versions_table(const struct versions *v, bool is_text, struct table *table)
{
    struct pairwise *pairwise = arena_alloc(v->arena, sizeof *pairwise);
    struct versions_row *rows = arena_alloc(v->arena, (v->n_series + 1) * sizeof *rows);
    table_begin(table, v->arena);
    add_metadata(v, table);
    TABLE_COLUMNS(table, columns, is_text ? IN_TEXT : IN_DATA);
    for (size_t i = 0; i < v->n_series; i++)
        analyse(v, &v->series[i], pairwise, &rows[i]);
    correct(v, rows);
    for (size_t i = 0; i < v->n_series; i++) {
        pairwise_begin(pairwise, rows[i].groups, v->n_versions);
        for (size_t a = 0; a < v->n_versions; a++)
            for (size_t b = a + 1; b < v->n_versions; b++)
                add_pair(v, &v->series[i], &rows[i], pairwise, a, b, is_text, table);
        if (is_text)
            note_anova(v, &v->series[i], &rows[i], table);
    }
}
