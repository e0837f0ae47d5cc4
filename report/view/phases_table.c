#include "report/view/phases_table.h"

#include <stdlib.h>
#include <string.h>

/* The order of a table: largest share first, then by name of the trace, so that equal runs print equally. */
struct phases_order {
    double share;
    uint64_t total_ticks;
    size_t i; /* into totals */
};

static int by_share(const void *a, const void *b)
{
    const struct phases_order *x = a, *y = b;
    if (x->share != y->share)
        return x->share < y->share ? 1 : -1;
    return (x->i > y->i) - (x->i < y->i);
}

/* Since when it was recorded, and what part of the application's time passed then. */
static struct recorded recorded(const struct phases_report *report, size_t i)
{
    const struct report_source *source = report->source;
    enum activity_kind kind = source->clock == PHASES_WALL ? ACTIVITY_WALL : ACTIVITY_APPLICATION;
    struct recorded window = recorded_of(source->tree, report->totals[i].method, kind);
    recorded_hold(&window, (double)phases_total_ticks(&report->totals[i], source->clock), (double)report->all_ticks);
    return window;
}

/* Of the application's time while it was recorded, as the report has it of the process'. */
static double share_of(const struct phases_report *report, size_t i)
{
    double all = recorded(report, i).share * (double)report->all_ticks;
    return all <= 0 ? 0 : (double)phases_total_ticks(&report->totals[i], report->source->clock) / all;
}

/* The rows to show, sorted; NULL: no memory. */
static struct phases_order *sorted(const struct phases_report *report, bool only_chosen, double min_share, size_t *n)
{
    struct phases_order *order = arena_alloc(report->source->arena, (report->n_totals + 1) * sizeof *order);
    *n = 0;
    for (size_t i = 0; order != NULL && i < report->n_totals; i++) {
        uint64_t ticks = phases_total_ticks(&report->totals[i], report->source->clock);
        double share = share_of(report, i);
        if ((!only_chosen || report->choice->is_chosen[i]) && share >= min_share)
            order[(*n)++] = (struct phases_order){ share, ticks, i };
    }
    if (order != NULL)
        qsort(order, *n, sizeof *order, by_share);
    return order;
}

static const char *estimate_words(struct arena *arena, double ratio)
{
    return ratio < 0 ? "unknown" : report_percent(arena, ratio);
}

static void add_thresholds(const struct phases_report *report, struct table *table)
{
    const struct phases_choice *choice = report->choice;
    struct arena *arena = report->source->arena;
    const char *given = choice->weight_given && choice->grain_given ? "as given"
                        : choice->weight_given                      ? "grain searched"
                        : choice->grain_given                       ? "weight searched"
                                                                    : "searched";
    table_metadata_number(table, "weight", choice->weight, NULL);
    table_metadata_number(table, "grain", choice->grain, NULL);
    table_metadata_number(table, "budget", report->options->budget, NULL);
    table_metadata_number(table, "phases", (double)choice->n_chosen, NULL);
    table_metadata_number(table, "methods", (double)report->n_totals, NULL);
    table_metadata_words(table, NULL, NULL,
                         arena_printf(arena, "phases   %zu of %zu methods: weight %s, grain %s (%s, budget %s)",
                                      choice->n_chosen, report->n_totals, report_percent(arena, choice->weight),
                                      report_percent(arena, choice->grain), given,
                                      report_percent(arena, report->options->budget)));
}

static void add_estimates(const struct phases_report *report, struct table *table)
{
    const struct budget_estimates *estimates = &report->choice->estimates;
    struct arena *arena = report->source->arena;
    const char *each = report->pair_ns > 0 ? arena_printf(arena, " (at %.3g ns a call)", report->pair_ns) : "";
    if (estimates->time_ratio >= 0)
        table_metadata_number(table, "estimate_time", estimates->time_ratio, NULL);
    if (estimates->invocations_ratio >= 0)
        table_metadata_number(table, "estimate_invocations", estimates->invocations_ratio, NULL);
    table_metadata_number(table, "pair_ns", report->pair_ns, NULL);
    table_metadata_words(table, NULL, NULL,
                         arena_printf(arena, "overhead time %s%s, calls %s (the thesis' estimate)",
                                      estimate_words(arena, estimates->time_ratio), each,
                                      estimate_words(arena, estimates->invocations_ratio)));
    if (report->choice->over_budget)
        table_note(table, "no thresholds keep the budget; these cost least (a larger --budget selects more)");
    if (estimates->time_ratio < 0)
        table_note(table, "the cost of a probe was not calibrated: the overhead in time is unknown, and the budget "
                          "limits the share of calls (the thesis' estimate)");
}

#define RECORDED 12 /* the column */

static void fill_row(const struct phases_report *report, const struct phases_order *order, const char *label,
                     const struct table *table, struct table_cell *cells)
{
    const struct calltree_total *total = &report->totals[order->i];
    struct method_name name = report_name(report->source, total->method);
    struct recorded window = recorded(report, order->i);
    double ns = report_ns(report->source, order->total_ticks);
    double self_ns = report_ns(report->source, phases_self_ticks(total, report->source->clock));
    const struct table_cell values[] = { table_words(label),
                                         table_number(ns),
                                         table_quotient(ns, (double)total->calls),
                                         table_number((double)total->calls),
                                         table_number(order->share),
                                         table_number(self_ns),
                                         table_number((double)total->unwinds),
                                         table_number((double)total->n_open),
                                         table_words(report->choice->is_chosen[order->i] ? "yes" : "no"),
                                         table_words(name.class_name),
                                         table_words(name.method),
                                         table_words(name.descriptor),
                                         table_number(report_ns(report->source, window.ticks)) };
    memcpy(cells, values, sizeof values);
    if (!table->columns[RECORDED].not_in_text)
        cells[RECORDED].words = report_recorded_text(report->source, &window);
}

static bool is_partly(const struct phases_report *report)
{
    bool is = false;
    for (size_t i = 0; i < report->n_totals && !is; i++) {
        struct recorded window = recorded(report, i);
        is = report_is_partly(report->source, &window);
    }
    return is;
}

static void add_columns(const struct phases_report *report, struct table *table)
{
    table_column(table, report->all ? "Method" : "Phase", "label", TABLE_TEXT);
    table_column(table, "Total", "total_ns", TABLE_NS);
    table_column(table, "Per call", "per_call_ns", TABLE_NS);
    table_column(table, "Calls", "calls", TABLE_COUNT);
    table_column(table, "Share (%)", "share", TABLE_SHARE);
    table_column(table, "Self", "self_ns", TABLE_NS);
    table->columns[table_column(table, "Thrown", "unwinds", TABLE_COUNT)].not_in_text = !report->all;
    table->columns[table_column(table, "Open", "open_calls", TABLE_COUNT)].not_in_text = !report->all;
    table->columns[table_column(table, "Phase", "phase", TABLE_TEXT)].not_in_text = !report->all;
    table_data_column(table, "class", TABLE_TEXT);
    table_data_column(table, "method", TABLE_TEXT);
    table_data_column(table, "descriptor", TABLE_TEXT);
    table->columns[table_column(table, "Recorded", "recorded_ns", TABLE_NS)].not_in_text = !is_partly(report);
}

static int no_memory(const struct phases_report *report, struct err *err)
{
    return err_set(err, "out of memory for a table of %zu methods", report->n_totals);
}

int phases_table(const struct phases_report *report, struct table *table, struct err *err)
{
    const struct report_source *source = report->source;
    size_t n;
    struct phases_order *order = sorted(report, !report->all, report->min_share, &n);
    uint32_t *methods = arena_alloc(source->arena, (n + 1) * sizeof *methods);
    if (order == NULL || methods == NULL)
        return no_memory(report, err);
    for (size_t i = 0; i < n; i++)
        methods[i] = report->totals[order[i].i].method;
    const char **labels = report_labels(source, methods, n);
    if (labels == NULL)
        return no_memory(report, err);
    table_begin(table, source->arena);
    report_metadata(source, table);
    add_thresholds(report, table);
    add_estimates(report, table);
    report_losses(source, table);
    add_columns(report, table);
    uint64_t n_open = 0;
    for (size_t i = 0; i < n; i++) {
        const struct calltree_total *total = &report->totals[order[i].i];
        const char *label = total->n_open == 0 ? labels[i] : arena_printf(source->arena, "%s +", labels[i]);
        struct table_cell *cells = table_row(table, "method");
        if (cells == NULL || label == NULL)
            return no_memory(report, err);
        fill_row(report, &order[i], label, table, cells);
        n_open += total->n_open;
    }
    size_t n_smaller = (report->all ? report->n_totals : report->choice->n_chosen) - n;
    if (n_smaller > 0)
        table_note(table,
                   arena_printf(source->arena, "%zu more methods have less than %s of the time each (--min-share 0)",
                                n_smaller, report_percent(source->arena, report->min_share)));
    if (!table->columns[RECORDED].not_in_text)
        table_note(table, "Share (%) is of the application's time while a method was recorded (Recorded)");
    if (n_open > 0)
        table_note(table, "+ marks methods with calls that had not returned at the end");
    return 0;
}

int phases_rows(const struct phases_report *report, struct phases_file *file, struct err *err)
{
    const struct report_source *source = report->source;
    const struct phases_choice *choice = report->choice;
    size_t n;
    struct phases_order *order = sorted(report, true, 0, &n);
    struct phases_file_row *rows = arena_alloc(source->arena, (n + 1) * sizeof *rows);
    if (order == NULL || rows == NULL)
        return no_memory(report, err);
    size_t n_rows = 0;
    for (size_t i = 0; i < n; i++) {
        const struct calltree_total *total = &report->totals[order[i].i];
        struct method_name name = report_name(source, total->method);
        if (name.class_name[0] == '\0') /* not described: nobody could instrument it */
            continue;
        double ns = report_ns(source, order[i].total_ticks);
        rows[n_rows++] = (struct phases_file_row){ name, ns, ns / (double)total->calls, order[i].share, total->calls };
    }
    *file = (struct phases_file){ .trace = source->path,
                                  .clock = report_clock_key(source->clock),
                                  .total_ns = report_ns(source, report->all_ticks),
                                  .weight = choice->weight,
                                  .grain = choice->grain,
                                  .budget = report->options->budget,
                                  .invocations_ratio = choice->estimates.invocations_ratio,
                                  .time_ratio = choice->estimates.time_ratio,
                                  .pair_ns = report->pair_ns,
                                  .rows = rows,
                                  .n_rows = n_rows };
    return 0;
}

int phases_threads(const struct phases_report *report, struct table *table, struct err *err)
{
    const struct report_source *source = report->source;
    const struct calltree *tree = source->tree;
    table_begin(table, source->arena);
    report_metadata(source, table);
    report_losses(source, table);
    table_column(table, "Thread", "thread", TABLE_TEXT);
    table_column(table, "tid", "tid", TABLE_TEXT);
    table_column(table, "Part", "part", TABLE_TEXT);
    table_column(table, "CPU time", "cpu_ns", TABLE_NS);
    table_column(table, "CPU (%)", "cpu_share", TABLE_SHARE);
    table_column(table, "Wall time", "wall_ns", TABLE_NS);
    table_column(table, "Probes", "probe_ns", TABLE_NS);
    table_column(table, "Calls lost", "calls_lost", TABLE_COUNT);
    for (uint32_t i = 0; i < tree->n_threads; i++) {
        const struct calltree_thread *thread = &tree->threads[i];
        const struct trace_thread *known = trace_thread(source->reader, i);
        struct table_cell *cells = thread->is_known ? table_row(table, "thread") : NULL;
        if (cells == NULL)
            continue;
        const struct table_cell values[] = {
            table_words(known != NULL ? known->name : arena_printf(source->arena, "(thread %u)", i)),
            table_words(known != NULL ? arena_printf(source->arena, "%d", known->tid) : ""),
            table_words(vm_part_name(thread->part)),
            table_number(report_ns(source, thread->cpu_ticks)),
            table_quotient((double)thread->cpu_ticks, (double)tree->cpu_ticks),
            table_number(report_ns(source, thread->wall_ticks)),
            table_number(report_ns(source, thread->probe_ticks)),
            table_number((double)thread->n_lost)
        };
        memcpy(cells, values, sizeof values);
    }
    return table->is_broken ? no_memory(report, err) : 0;
}
