/*
 * The comparison as a table.
 */
#include "report/diff/diff_internal.h"

#include <math.h>
#include <string.h>

#define NEARLY_ALL   0.95
#define FRACTION_MAX 10.0 /* more is not printed as per cent */

struct diff_layout {
    size_t label, metric, before, after, change, interval, detectable, p, verdict;
    size_t unit, difference, low, high, p_corrected, cause, class_name, method, descriptor;
};

static const char *const verdicts[] = {
    "-", "not shown", "small", "higher", "lower", "follows", "new", "gone", "not measured before", "not measured after"
};

/* The interval is a text; low and high are numbers. */
static void add_columns(struct table *t, bool is_text, struct diff_layout *at)
{
    at->label = table_column(t, "Phase", "label", TABLE_TEXT);
    at->metric = table_column(t, "Metric", "metric", TABLE_TEXT);
    at->before = table_column(t, "Before", "before", TABLE_RATIO);
    at->after = table_column(t, "After", "after", TABLE_RATIO);
    at->change = table_column(t, "Change (%)", "change", TABLE_RATE);
    at->interval = is_text ? table_column(t, "95 % interval", "interval", TABLE_RATE) : 0;
    at->detectable = table_column(t, "Detectable (%)", "detectable", TABLE_RATE);
    at->p_corrected = table_column(t, "p", "p_corrected", TABLE_RATIO);
    at->verdict = table_column(t, "Verdict", "verdict", TABLE_TEXT);
    at->unit = table_data_column(t, "unit", TABLE_TEXT);
    at->difference = table_data_column(t, "difference", TABLE_RATIO);
    at->low = table_data_column(t, "low", TABLE_RATIO);
    at->high = table_data_column(t, "high", TABLE_RATIO);
    at->p = table_data_column(t, "p", TABLE_RATIO);
    at->cause = table_data_column(t, "cause", TABLE_TEXT);
    at->class_name = table_data_column(t, "class", TABLE_TEXT);
    at->method = table_data_column(t, "method", TABLE_TEXT);
    at->descriptor = table_data_column(t, "descriptor", TABLE_TEXT);
}

/* A number and how text prints it. */
static struct table_cell shown(double number, const char *words)
{
    struct table_cell cell = table_number(number);
    cell.words = words;
    return cell;
}

static struct table_cell p_cell(struct arena *arena, double p)
{
    if (isnan(p))
        return table_unmeasured();
    return shown(p, p < 0.0001 ? "< 0.0001" : arena_printf(arena, "%.4f", p));
}

/* A fraction as per cent, or how large it is at least. */
static const char *percent_words(struct arena *arena, double fraction, bool has_sign)
{
    if (fraction > FRACTION_MAX)
        return arena_printf(arena, "> %.0f", 100 * FRACTION_MAX);
    return arena_printf(arena, has_sign ? "%+.1f" : "%.1f", 100 * fraction);
}

static const char *interval_words(struct arena *arena, const struct diff_result *r)
{
    double before = r->mean[DIFF_BEFORE];
    const char *low = percent_words(arena, r->low / before, true), *high = percent_words(arena, r->high / before, true);
    return arena_printf(arena, "%s .. %s", low, high);
}

static const char *unit_of(const struct diff_metric *metric)
{
    switch (metric->unit) {
    case TABLE_NS:
        return "ns";
    case TABLE_SHARE:
        return "share";
    case TABLE_COUNT:
        return "count";
    case TABLE_RATE:
        return "per_1000_instructions";
    default:
        return "ratio";
    }
}

static void add_numbers(const struct diff *d, const struct diff_result *r, enum table_unit unit, struct table *table,
                        const struct diff_layout *at, struct table_cell *cells)
{
    cells[at->before] = table_number_in(table, r->mean[DIFF_BEFORE], unit);
    cells[at->after] = table_number_in(table, r->mean[DIFF_AFTER], unit);
    if (!isnan(r->change))
        cells[at->change] = shown(r->change, percent_words(d->arena, r->change, true));
    if (!isnan(r->detectable))
        cells[at->detectable] = shown(r->detectable, percent_words(d->arena, r->detectable, false));
    cells[at->difference] = table_number(r->mean[DIFF_AFTER] - r->mean[DIFF_BEFORE]);
    cells[at->low] = table_number(r->low);
    cells[at->high] = table_number(r->high);
    cells[at->p] = table_number(r->p);
    cells[at->p_corrected] = p_cell(d->arena, r->p_corrected);
}

static const char *verdict_words(const struct diff *d, const struct diff_result *r, size_t metric)
{
    if (r->verdict == DIFF_FOLLOWS)
        return arena_printf(d->arena, "follows from %s", r->cause->label);
    bool is_found = r->verdict == DIFF_HIGHER || r->verdict == DIFF_LOWER;
    if (is_found && d->metrics[metric].role == DIFF_ADJUSTED)
        return arena_printf(d->arena, "%s than the rest", verdicts[r->verdict]);
    return verdicts[r->verdict];
}

static void add_row(const struct diff *d, const struct diff_row *row, size_t metric, bool is_text, struct table *table,
                    const struct diff_layout *at)
{
    const struct diff_result *r = &row->results[metric];
    struct table_cell *cells = table_row(table, row->kind);
    cells[at->label] = table_words(row->label);
    cells[at->metric] = table_words(d->metrics[metric].name);
    cells[at->unit] = table_words(unit_of(&d->metrics[metric]));
    add_numbers(d, r, d->metrics[metric].unit, table, at, cells);
    if (is_text && !isnan(r->low) && r->mean[DIFF_BEFORE] > 0)
        cells[at->interval] = table_words(interval_words(d->arena, r));
    const char *verdict = is_text ? verdict_words(d, r, metric) : verdicts[r->verdict];
    cells[at->verdict] = table_words(verdict == NULL ? verdicts[r->verdict] : verdict);
    cells[at->cause] = table_words(r->cause == NULL ? "" : r->cause->label);
    cells[at->class_name] = table_words(row->names.class_name);
    cells[at->method] = table_words(row->names.method);
    cells[at->descriptor] = table_words(row->names.descriptor);
}

/* Own time that is nearly all of the time. */
static bool says_the_same(const struct diff_result *time, const struct diff_result *self)
{
    return time->verdict == self->verdict && self->mean[DIFF_AFTER] >= NEARLY_ALL * time->mean[DIFF_AFTER];
}

/* What a person wants to see: the time, and what else differs by itself. */
static bool is_shown(const struct diff *d, const struct diff_row *row, size_t metric, bool is_text)
{
    const struct diff_result *r = &row->results[metric];
    if (isnan(r->mean[DIFF_BEFORE]) && isnan(r->mean[DIFF_AFTER]))
        return false;
    if (!is_text || d->options->all || d->metrics[metric].role == DIFF_TIME)
        return true;
    if (d->metrics[metric].role == DIFF_SHARE) /* it stands in for a time that is not known */
        return row->results[DIFF_TIME].is_partial;
    if (d->metrics[metric].role == DIFF_SELF && says_the_same(&row->results[DIFF_TIME], r))
        return false;
    return (r->verdict == DIFF_HIGHER || r->verdict == DIFF_LOWER);
}

/* ---- metadata and notes ---- */

static void add_side(const struct diff *d, enum diff_side side, struct table *table)
{
    static const char *const keys[] = { "before", "after" };
    const char *list = "";
    for (size_t i = 0; i < d->options->n_traces[side]; i++)
        list = arena_printf(d->arena, "%s%s%s", list, i == 0 ? "" : ", ", d->options->paths[side][i]);
    table_metadata_words(table, keys[side], list,
                         list == NULL ? NULL : arena_printf(d->arena, "%-8s %s", keys[side], list));
}

/* "own times 4 to 12 %"; NULL: none is tested. */
static const char *detectable_words(const struct diff *d, enum diff_role role, bool is_whole, const char *name)
{
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < d->n_rows; i++) {
        const struct diff_result *r = &d->rows[i].results[role];
        if (isnan(r->detectable) || (strcmp(d->rows[i].kind, "total") == 0) != is_whole)
            continue;
        least = fmin(least, r->detectable);
        most = fmax(most, r->detectable);
    }
    if (!(least <= most))
        return NULL;
    const char *from = percent_words(d->arena, least, false), *to = percent_words(d->arena, most, false);
    return least == most ? arena_printf(d->arena, "%s %s %%", name, to)
                         : arena_printf(d->arena, "%s %s to %s %%", name, from, to);
}

/* What these runs could have shown. */
static void add_detectable(const struct diff *d, struct table *table)
{
    const char *items[] = { detectable_words(d, DIFF_TIME, true, "whole process"),
                            detectable_words(d, DIFF_SELF, false, "own times"),
                            detectable_words(d, DIFF_ADJUSTED, false, "adjusted") };
    const char *list = NULL;
    for (size_t i = 0; i < sizeof items / sizeof items[0]; i++)
        if (items[i] != NULL)
            list = list == NULL ? items[i] : arena_printf(d->arena, "%s, %s", list, items[i]);
    const char *text =
        list == NULL ? NULL : arena_printf(d->arena, "detectable (with a probability of 80 %%)  %s", list);
    if (text != NULL)
        table_metadata_words(table, "detectable", list, text);
    if (isnan(d->common))
        return;
    table_metadata_number(table, "common_change", d->common,
                          arena_printf(d->arena,
                                       "adjusted  changes of own time are relative to their median, %+.1f %%, which a "
                                       "faster or slower machine may explain",
                                       100 * d->common));
}

static void add_metadata(const struct diff *d, struct table *table)
{
    bool is_within = d->options->n_traces[DIFF_BEFORE] == 1;
    add_side(d, DIFF_BEFORE, table);
    add_side(d, DIFF_AFTER, table);
    table_metadata_words(table, "clock", d->clock == PHASES_CPU ? "cpu" : "wall", NULL);
    table_metadata_words(
        table, "variation", is_within ? "calls" : "runs",
        is_within
            ? "compared by the variation of calls within one run of each side; the number of calls is not tested"
            : "compared by the variation between runs: Welch's t-test of logarithms over the traces of each side");
    if (d->is_paired)
        table_metadata_words(table, "pairs", "turns",
                             "in pairs  the traces were made in turns, and the two of a pair are alike: what varies is "
                             "their difference");
    table_metadata_words(table, "correction", "fdr",
                         arena_printf(d->arena,
                                      "verdict  given where p is below 0.05, corrected for all rows (false discovery "
                                      "rate), and the change is %.4g %% or more",
                                      100 * d->options->least));
    table_metadata_number(table, "least", d->options->least, NULL);
    add_detectable(d, table);
}

/* Each of the traces has stack samples. */
static bool are_sampled(const struct diff *d)
{
    bool all = true;
    for (int side = DIFF_BEFORE; side < DIFF_SIDES; side++)
        for (size_t i = 0; i < d->options->n_traces[side]; i++)
            all = all && (d->sampled[side] >> i & 1) != 0;
    return all;
}

static void add_notes(const struct diff *d, struct table *table)
{
    const char *before = d->modes[DIFF_BEFORE], *after = d->modes[DIFF_AFTER];
    if (d->options->n_traces[DIFF_BEFORE] == 1) {
        table_note(table, "one run of each side does not show how runs differ (JIT, memory layout, the machine); give "
                          "several traces (--before, --after)");
        table_note(table, "methods with fewer than five calls and the JVM's own threads have no interval");
    }
    const char *load = diff_load_note(d);
    if (load != NULL)
        table_note(table, load);
    if (before == NULL || after == NULL || strcmp(before, after) != 0)
        table_note(table, "the traces are recordings of different kinds (all methods, phases, live), whose probes cost "
                          "different times");
    if (d->has_simulated)
        table_note(table, d->has_real ? "some traces have a simulated processor and an emulator's times: only their "
                                        "numbers of calls are compared with the other traces"
                                      : "cycles, instructions and misses are simulated; times are an emulator's");
    if (d->has_live && d->options->n_traces[DIFF_BEFORE] == 1)
        table_note(table, "of one live run on each side only times of phases with probes are tested: probes cover "
                          "another part of the warm-up in each run, and what the JIT inlines moves samples");
    if (d->has_live)
        table_note(table, are_sampled(d) ? "stack samples divide the time that no probe measured; numbers of calls are "
                                           "not compared where a method had probes for a part of a live recording"
                                         : "methods that had probes for a part of a live recording are compared by "
                                           "their share of the time meanwhile, time per call, CPI and misses only");
    if (d->clocks_differ)
        table_note(table, "the CPU time of one trace is unknown; its wall time is used instead");
}

int diff_table(const struct diff *d, bool is_text, struct table *table, struct err *err)
{
    struct diff_layout at;
    table_begin(table, d->arena);
    add_metadata(d, table);
    add_columns(table, is_text, &at);
    int was = 0;
    for (size_t i = 0; i < d->n_rows; i++) {
        const char *kind = d->rows[i].kind;
        int is = strcmp(kind, "total") == 0 ? 0 : strcmp(kind, "phase") == 0 ? 1 : 2;
        size_t first = table->n_rows;
        for (size_t m = 0; m < d->n_metrics; m++)
            if (is_shown(d, &d->rows[i], m, is_text))
                add_row(d, &d->rows[i], m, is_text, table, &at);
        if (first < table->n_rows) {
            table->rows[first].after_rule = is != was && first > 0;
            was = is;
        }
    }
    add_notes(d, table);
    return table->is_broken ? err_set(err, "out of memory for a table of %zu rows", d->n_rows) : 0;
}

const char *diff_words(struct arena *arena, const struct diff_result *result)
{
    const char *how = result->verdict == DIFF_HIGHER ? "rose" : "fell";
    const char *p = result->p_corrected < 0.0001 ? "< 0.0001" : arena_printf(arena, "= %.4f", result->p_corrected);
    if (isnan(result->change))
        return arena_printf(arena, "%s from nothing (p %s)", how, p);
    return arena_printf(arena, "%s by %.1f %% (p %s)", how, fabs(100 * result->change), p);
}
