#include "report/diff.h"

#include <math.h>
#include <string.h>

struct layout {
    size_t label, metric, before, after, change, interval, p, verdict;
    size_t unit, difference, low, high, p_corrected, class_name, method, descriptor;
};

static const char *const verdicts[] = { "-", "none", "higher", "lower", "new", "gone" };

static size_t hidden(struct table *table, const char *key, enum table_unit unit)
{
    size_t column = table_column(table, key, key, unit);
    table->columns[column].not_in_text = true;
    return column;
}

/* The interval is a text; low and high are numbers. */
static void add_columns(struct table *t, bool is_text, struct layout *at)
{
    at->label = table_column(t, "Phase", "label", TABLE_TEXT);
    at->metric = table_column(t, "Metric", "metric", TABLE_TEXT);
    at->before = table_column(t, "Before", "before", TABLE_RATIO);
    at->after = table_column(t, "After", "after", TABLE_RATIO);
    at->change = table_column(t, "Change (%)", "change", TABLE_RATE);
    at->interval = is_text ? table_column(t, "95 % interval", "interval", TABLE_RATE) : 0;
    at->p_corrected = table_column(t, "p", "p_corrected", TABLE_RATIO);
    at->verdict = table_column(t, "Verdict", "verdict", TABLE_TEXT);
    at->unit = hidden(t, "unit", TABLE_TEXT);
    at->difference = hidden(t, "difference", TABLE_RATIO);
    at->low = hidden(t, "low", TABLE_RATIO);
    at->high = hidden(t, "high", TABLE_RATIO);
    at->p = hidden(t, "p", TABLE_RATIO);
    at->class_name = hidden(t, "class", TABLE_TEXT);
    at->method = hidden(t, "method", TABLE_TEXT);
    at->descriptor = hidden(t, "descriptor", TABLE_TEXT);
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

static const char *interval_words(struct arena *arena, const struct diff_result *r)
{
    double before = r->mean[DIFF_BEFORE];
    return arena_printf(arena, "%+.1f .. %+.1f", 100 * r->low / before, 100 * r->high / before);
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
                        const struct layout *at, struct table_cell *cells)
{
    cells[at->before] = table_number_in(table, r->mean[DIFF_BEFORE], unit);
    cells[at->after] = table_number_in(table, r->mean[DIFF_AFTER], unit);
    if (!isnan(r->change))
        cells[at->change] = shown(r->change, arena_printf(d->arena, "%+.1f", 100 * r->change));
    cells[at->difference] = table_number(r->mean[DIFF_AFTER] - r->mean[DIFF_BEFORE]);
    cells[at->low] = table_number(r->low);
    cells[at->high] = table_number(r->high);
    cells[at->p] = table_number(r->p);
    cells[at->p_corrected] = p_cell(d->arena, r->p_corrected);
}

static void add_row(const struct diff *d, const struct diff_row *row, size_t metric, bool is_text, struct table *table,
                    const struct layout *at)
{
    const struct diff_result *r = &row->results[metric];
    struct table_cell *cells = table_row(table, row->kind);
    if (cells == NULL)
        return;
    cells[at->label] = table_words(row->label);
    cells[at->metric] = table_words(d->metrics[metric].name);
    cells[at->unit] = table_words(unit_of(&d->metrics[metric]));
    add_numbers(d, r, d->metrics[metric].unit, table, at, cells);
    if (is_text && !isnan(r->low) && r->mean[DIFF_BEFORE] > 0)
        cells[at->interval] = table_words(interval_words(d->arena, r));
    cells[at->verdict] = table_words(verdicts[r->verdict]);
    cells[at->class_name] = table_words(row->class_name);
    cells[at->method] = table_words(row->method);
    cells[at->descriptor] = table_words(row->descriptor);
}

/* What a person wants to see: the time, and what else differs. */
static bool is_shown(const struct diff *d, const struct diff_row *row, size_t metric, bool is_text)
{
    const struct diff_result *r = &row->results[metric];
    if (isnan(r->mean[DIFF_BEFORE]) && isnan(r->mean[DIFF_AFTER]))
        return false;
    if (!is_text || d->wish->all || d->metrics[metric].role == DIFF_TIME)
        return true;
    return d->metrics[metric].role != DIFF_SHARE && (r->verdict == DIFF_HIGHER || r->verdict == DIFF_LOWER);
}

/* ---- facts and notes ---- */

static void add_side(const struct diff *d, enum diff_side side, struct table *table)
{
    static const char *const keys[] = { "before", "after" };
    const char *list = "";
    for (size_t i = 0; i < d->wish->n_traces[side] && list != NULL; i++)
        list = arena_printf(d->arena, "%s%s%s", list, i == 0 ? "" : ", ", d->wish->paths[side][i]);
    table_fact_words(table, keys[side], list,
                     list == NULL ? NULL : arena_printf(d->arena, "%-8s %s", keys[side], list));
}

static void add_facts(const struct diff *d, struct table *table)
{
    bool is_within = d->wish->n_traces[DIFF_BEFORE] == 1;
    add_side(d, DIFF_BEFORE, table);
    add_side(d, DIFF_AFTER, table);
    table_fact_words(table, "clock", d->clock == PHASES_CPU ? "cpu" : "wall", NULL);
    table_fact_words(table, "variation", is_within ? "calls" : "runs",
                     is_within ? "compared by how calls vary within the one run of each side; number of calls as given"
                               : "compared by how runs vary: Welch's t over the traces of each side");
    table_fact_words(table, "correction", "holm", "verdict  where p is below 0.05, by Holm's correction for all rows");
}

static void add_notes(const struct diff *d, struct table *table)
{
    const char *before = d->modes[DIFF_BEFORE], *after = d->modes[DIFF_AFTER];
    if (d->wish->n_traces[DIFF_BEFORE] == 1) {
        table_note(table, "one run of each side does not tell how runs differ (JIT, memory layout, the machine): "
                          "several traces do (--before, --after)");
        table_note(table, "what has fewer than five calls, and the JVM's own threads, have no interval");
    }
    if (before == NULL || after == NULL || strcmp(before, after) != 0)
        table_note(table,
                   "the traces are recordings of different kinds (all methods, phases, live): probes cost some of "
                   "them more");
    if (d->has_simulated)
        table_note(table, d->has_real ? "some traces are of a simulated processor and an emulator's time: what is "
                                        "compared with the others is only how often methods are called"
                                      : "cycles, instructions and misses are simulated; times are an emulator's");
    if (d->has_live)
        table_note(table, "of methods that a live recording switched off, only time per call, CPI and misses are "
                          "compared");
    if (d->clocks_differ)
        table_note(table, "CPU time is not known of a trace: wall time stands in there");
}

int diff_table(const struct diff *d, bool is_text, struct table *table, struct err *err)
{
    struct layout at;
    table_begin(table, d->arena);
    add_facts(d, table);
    add_columns(table, is_text, &at);
    bool was_phase = true;
    for (size_t i = 0; i < d->n_rows; i++) {
        bool is_phase = strcmp(d->rows[i].kind, "phase") == 0;
        size_t first = table->n_rows;
        for (size_t m = 0; m < d->n_metrics; m++)
            if (is_shown(d, &d->rows[i], m, is_text))
                add_row(d, &d->rows[i], m, is_text, table, &at);
        if (first < table->n_rows) {
            table->rows[first].after_rule = was_phase && !is_phase && first > 0;
            was_phase = is_phase;
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
