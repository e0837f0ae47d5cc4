#include "report/diff/versions_gate.h"

#include "phases/samples/significance.h"
#include "core/base/xalloc.h"
#include "report/diff/diff_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct versions_layout {
    size_t label, metric, from, to, before, after, change, interval, p, verdict;
    size_t unit, low, high, n_before, n_after, f, df_between, df_within, p_row, class_name, method, descriptor;
};

/* What a series says. */
struct versions_row {
    struct moments groups[VERSIONS_MAX]; /* of logarithms, if is_log */
    bool is_log, has_anova;
    struct anova anova;
    double p, p_corrected; /* of the row: of the analysis, or of the one pair; NAN: not known */
};

static void add_columns(struct table *t, bool is_text, struct versions_layout *at)
{
    at->label = table_column(t, "Phase", "label", TABLE_TEXT);
    at->metric = table_column(t, "Metric", "metric", TABLE_TEXT);
    at->from = table_column(t, "From", "from", TABLE_TEXT);
    at->to = table_column(t, "To", "to", TABLE_TEXT);
    at->before = table_column(t, "Before", "before", TABLE_RATIO);
    at->after = table_column(t, "After", "after", TABLE_RATIO);
    at->change = table_column(t, "Change (%)", "change", TABLE_RATE);
    at->interval = is_text ? table_column(t, "95 % interval", "interval", TABLE_RATE) : 0;
    at->p = table_column(t, "p", "p_corrected", TABLE_RATIO);
    at->verdict = table_column(t, "Verdict", "verdict", TABLE_TEXT);
    at->unit = table_data_column(t, "unit", TABLE_TEXT);
    at->low = table_data_column(t, "change_low", TABLE_RATIO);
    at->high = table_data_column(t, "change_high", TABLE_RATIO);
    at->n_before = table_data_column(t, "runs_before", TABLE_COUNT);
    at->n_after = table_data_column(t, "runs_after", TABLE_COUNT);
    at->f = table_data_column(t, "anova_f", TABLE_RATIO);
    at->df_between = table_data_column(t, "anova_df_between", TABLE_RATIO);
    at->df_within = table_data_column(t, "anova_df_within", TABLE_RATIO);
    at->p_row = table_data_column(t, "anova_p", TABLE_RATIO);
    at->class_name = table_data_column(t, "class", TABLE_TEXT);
    at->method = table_data_column(t, "method", TABLE_TEXT);
    at->descriptor = table_data_column(t, "descriptor", TABLE_TEXT);
}

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

/* ---- cells ---- */

static struct table_cell percent(struct arena *arena, double fraction)
{
    struct table_cell cell = table_number(fraction);
    cell.words = arena_printf(arena, "%+.1f", 100 * fraction);
    return isnan(fraction) ? table_unmeasured() : cell;
}

static const char *unit_key(enum table_unit unit)
{
    return unit == TABLE_NS      ? "ns"
           : unit == TABLE_SHARE ? "share"
           : unit == TABLE_COUNT ? "count"
           : unit == TABLE_RATE  ? "per_1000_instructions"
                                 : "ratio";
}

static void fill(const struct versions *v, const struct versions_series *s, const struct versions_row *row,
                 const struct versions_pair *pair, struct table *table, const struct versions_layout *at,
                 struct table_cell *cells)
{
    cells[at->before] = table_number_in(table, pair->before, s->unit);
    cells[at->after] = table_number_in(table, pair->after, s->unit);
    cells[at->change] = percent(v->arena, pair->change);
    cells[at->low] = table_number(pair->low);
    cells[at->high] = table_number(pair->high);
    cells[at->p] = table_number(pair->p);
    if (!isnan(pair->p))
        cells[at->p].words = pair->p < 0.0001 ? "< 0.0001" : arena_printf(v->arena, "%.4f", pair->p);
    cells[at->verdict] = table_words(pair->verdict);
    cells[at->unit] = table_words(unit_key(s->unit));
    cells[at->class_name] = table_words(s->names.class_name == NULL ? "" : s->names.class_name);
    cells[at->method] = table_words(s->names.method == NULL ? "" : s->names.method);
    cells[at->descriptor] = table_words(s->names.descriptor == NULL ? "" : s->names.descriptor);
    if (!row->has_anova)
        return;
    cells[at->f] = table_number(row->anova.f);
    cells[at->df_between] = table_number(row->anova.df_between);
    cells[at->df_within] = table_number(row->anova.df_within);
    cells[at->p_row] = table_number(row->anova.p);
}

static void add_pair(const struct versions *v, const struct versions_series *s, const struct versions_row *row,
                     const struct pairwise *pairwise, size_t a, size_t b, bool is_text, struct table *table,
                     const struct versions_layout *at)
{
    struct versions_pair pair = compare(v, row, pairwise, a, b);
    if (v->gate != NULL && a == 0)
        versions_gate_take(v, s, b, &pair);
    bool is_found = strcmp(pair.verdict, "higher") == 0 || strcmp(pair.verdict, "lower") == 0;
    if ((isnan(pair.before) && isnan(pair.after)) || (is_text && !s->is_main && !is_found))
        return;
    struct table_cell *cells = table_row(table, s->kind);
    cells[at->label] = table_words(s->label);
    cells[at->metric] = table_words(s->metric);
    cells[at->from] = table_words(v->names[a]);
    cells[at->to] = table_words(v->names[b]);
    cells[at->n_before] = table_number((double)row->groups[a].n);
    cells[at->n_after] = table_number((double)row->groups[b].n);
    fill(v, s, row, &pair, table, at, cells);
    if (is_text && !isnan(pair.low)) {
        const char *words = arena_printf(v->arena, "%+.1f .. %+.1f", 100 * pair.low, 100 * pair.high);
        cells[at->interval] = table_words(words);
    }
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

int versions_table(const struct versions *v, bool is_text, struct table *table, struct err *err)
{
    struct versions_layout at;
    struct pairwise *pairwise = arena_alloc(v->arena, sizeof *pairwise);
    struct versions_row *rows = arena_alloc(v->arena, (v->n_series + 1) * sizeof *rows);
    table_begin(table, v->arena);
    add_metadata(v, table);
    add_columns(table, is_text, &at);
    for (size_t i = 0; i < v->n_series; i++)
        analyse(v, &v->series[i], pairwise, &rows[i]);
    correct(v, rows);
    for (size_t i = 0; i < v->n_series; i++) {
        pairwise_begin(pairwise, rows[i].groups, v->n_versions);
        for (size_t a = 0; a < v->n_versions; a++)
            for (size_t b = a + 1; b < v->n_versions; b++)
                add_pair(v, &v->series[i], &rows[i], pairwise, a, b, is_text, table, &at);
        if (is_text)
            note_anova(v, &v->series[i], &rows[i], table);
    }
    return table->is_broken ? err_set(err, "out of memory for a table of %zu rows", v->n_series) : 0;
}
