/* The comparison as a table. */
#include "report/diff/diff_internal.h"

#define NEARLY_ALL   0.95
#define FRACTION_MAX 10.0 /* more is not printed as per cent */

static const char *const verdicts[] = {
    "-", "not shown", "small", "higher", "lower", "follows", "new", "gone", "not measured before", "not measured after"
};

/* A metric of a row, as it is printed. */
struct diff_line {
    const char *label, *metric, *unit, *verdict, *cause, *interval;
    struct table_cell before, after, change, detectable, p_corrected;
    double difference, low, high, p;
    struct method_name names;
};

enum { IN_TEXT = 1, IN_DATA = 2 };

/* The interval is a text; low and high are numbers. */
static const struct table_column columns[] = {
    { "label", "Phase", TABLE_TEXT, FROM(struct diff_line, label) },
    { "metric", "Metric", TABLE_TEXT, FROM(struct diff_line, metric) },
    { "before", "Before", TABLE_RATIO, FROM(struct diff_line, before) },
    { "after", "After", TABLE_RATIO, FROM(struct diff_line, after) },
    { "change", "Change (%)", TABLE_RATE, FROM(struct diff_line, change) },
    { "interval", "95 % interval", TABLE_RATE, FROM(struct diff_line, interval), .when = IN_TEXT },
    { "detectable", "Detectable (%)", TABLE_RATE, FROM(struct diff_line, detectable) },
    { "p_corrected", "p", TABLE_RATIO, FROM(struct diff_line, p_corrected) },
    { "verdict", "Verdict", TABLE_TEXT, FROM(struct diff_line, verdict) },
    { "unit", "unit", TABLE_TEXT, FROM(struct diff_line, unit), .width = COLUMN_DATA },
    { "difference", "difference", TABLE_RATIO, FROM(struct diff_line, difference), .width = COLUMN_DATA },
    { "low", "low", TABLE_RATIO, FROM(struct diff_line, low), .width = COLUMN_DATA },
    { "high", "high", TABLE_RATIO, FROM(struct diff_line, high), .width = COLUMN_DATA },
    { "p", "p", TABLE_RATIO, FROM(struct diff_line, p), .width = COLUMN_DATA },
    { "cause", "cause", TABLE_TEXT, FROM(struct diff_line, cause), .width = COLUMN_DATA },
    { "class", "class", TABLE_TEXT, FROM(struct diff_line, names.class_name), .width = COLUMN_DATA },
    { "method", "method", TABLE_TEXT, FROM(struct diff_line, names.method), .width = COLUMN_DATA },
    { "descriptor", "descriptor", TABLE_TEXT, FROM(struct diff_line, names.descriptor), .width = COLUMN_DATA },
};

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
    return arena_printf(arena, "%s .. %s", percent_words(arena, r->low / before, true),
                        percent_words(arena, r->high / before, true));
}

const char *diff_unit_key(enum table_unit unit)
{
    return unit == TABLE_NS      ? "ns"
           : unit == TABLE_SHARE ? "share"
           : unit == TABLE_COUNT ? "count"
           : unit == TABLE_RATE  ? "per_1000_instructions"
                                 : "ratio";
}

struct table_cell diff_shown(double number, const char *words)
{
    struct table_cell cell = table_number(number);
    cell.words = isnan(number) ? NULL : words;
    return cell;
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

static void add_row(const struct diff *d, const struct diff_row *row, size_t metric, bool is_text, struct table *table)
{
    const struct diff_result *r = &row->results[metric];
    const struct diff_metric *of = &d->metrics[metric];
    bool has_interval = !isnan(r->low) && r->mean[DIFF_BEFORE] > 0;
    const struct diff_line line = {
        .label = row->label,
        .metric = of->name,
        .unit = diff_unit_key(of->unit),
        .before = table_number_in(table, r->mean[DIFF_BEFORE], of->unit),
        .after = table_number_in(table, r->mean[DIFF_AFTER], of->unit),
        .change = diff_shown(r->change, percent_words(d->arena, r->change, true)),
        .detectable = diff_shown(r->detectable, percent_words(d->arena, r->detectable, false)),
        .difference = r->mean[DIFF_AFTER] - r->mean[DIFF_BEFORE],
        .low = r->low,
        .high = r->high,
        .p = r->p,
        .p_corrected = diff_shown(
            r->p_corrected, r->p_corrected < 0.0001 ? "< 0.0001" : arena_printf(d->arena, "%.4f", r->p_corrected)),
        .interval = has_interval ? interval_words(d->arena, r) : NULL,
        .verdict = is_text ? verdict_words(d, r, metric) : verdicts[r->verdict],
        .cause = r->cause == NULL ? "" : r->cause->label,
        .names = row->names
    };
    table_add(table, row->kind, &line);
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
    table_metadata_words(table, keys[side], list, arena_printf(d->arena, "%-8s %s", keys[side], list));
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
    if (list != NULL)
        table_metadata_words(table, "detectable", list,
                             arena_printf(d->arena, "detectable (with a probability of 80 %%)  %s", list));
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

void diff_table(const struct diff *d, bool is_text, struct table *table)
{
    table_begin(table, d->arena);
    add_metadata(d, table);
    TABLE_COLUMNS(table, columns, is_text ? IN_TEXT : IN_DATA);
    int was = 0;
    for (size_t i = 0; i < d->n_rows; i++) {
        const char *kind = d->rows[i].kind;
        int is = strcmp(kind, "total") == 0 ? 0 : strcmp(kind, "phase") == 0 ? 1 : 2;
        size_t first = table->n_rows;
        for (size_t m = 0; m < d->n_metrics; m++)
            if (is_shown(d, &d->rows[i], m, is_text))
                add_row(d, &d->rows[i], m, is_text, table);
        if (first < table->n_rows) {
            table->rows[first].after_rule = is != was && first > 0;
            was = is;
        }
    }
    add_notes(d, table);
}

const char *diff_words(struct arena *arena, const struct diff_result *result)
{
    const char *how = result->verdict == DIFF_HIGHER ? "rose" : "fell";
    const char *p = result->p_corrected < 0.0001 ? "< 0.0001" : arena_printf(arena, "= %.4f", result->p_corrected);
    if (isnan(result->change))
        return arena_printf(arena, "%s from nothing (p %s)", how, p);
    return arena_printf(arena, "%s by %.1f %% (p %s)", how, fabs(100 * result->change), p);
}
