#include "report/view/tables.h"

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

/* The rows to show, sorted. */
static struct phases_order *sorted(const struct phases_report *report, bool only_chosen, double min_share, size_t *n)
{
    struct phases_order *order = arena_alloc(report->source->arena, (report->n_totals + 1) * sizeof *order);
    *n = 0;
    for (size_t i = 0; i < report->n_totals; i++) {
        uint64_t ticks = phases_total_ticks(&report->totals[i], report->source->clock);
        double share = share_of(report, i);
        if ((!only_chosen || report->choice->is_chosen[i]) && share >= min_share)
            order[(*n)++] = (struct phases_order){ share, ticks, i };
    }
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

static bool is_partly(const struct phases_report *report)
{
    bool is = false;
    for (size_t i = 0; i < report->n_totals && !is; i++) {
        struct recorded window = recorded(report, i);
        is = report_is_partly(report->source, &window);
    }
    return is;
}

/* A row as it is printed. */
struct phase_line {
    const char *label, *phase;
    struct method_name name;
    double ns, calls, per_call_ns, share, self_ns, unwinds, n_open;
    struct table_cell recorded;
};

#define PHASE(member) FROM(struct phase_line, member)
#define ONLY_PHASES   1u /* conditions */
#define ALL_METHODS   2u
#define PARTLY        4u /* some row was recorded for a part of the time */

static const struct table_column phase_columns[] = {
    { "label", "Method", TABLE_TEXT, PHASE(label), .when = ALL_METHODS },
    { "label", "Phase", TABLE_TEXT, PHASE(label), .when = ONLY_PHASES },
    { "total_ns", "Total", TABLE_NS, PHASE(ns) },
    { "per_call_ns", "Per call", TABLE_NS, PHASE(per_call_ns) },
    { "calls", "Calls", TABLE_COUNT, PHASE(calls) },
    { "share", "Share (%)", TABLE_SHARE, PHASE(share) },
    { "self_ns", "Self", TABLE_NS, PHASE(self_ns) },
    { "unwinds", "Thrown", TABLE_COUNT, PHASE(unwinds), .text_when = ALL_METHODS },
    { "open_calls", "Open", TABLE_COUNT, PHASE(n_open), .text_when = ALL_METHODS },
    { "phase", "Phase", TABLE_TEXT, PHASE(phase), .text_when = ALL_METHODS },
    { "class", "class", TABLE_TEXT, PHASE(name.class_name), .width = COLUMN_DATA },
    { "method", "method", TABLE_TEXT, PHASE(name.method), .width = COLUMN_DATA },
    { "descriptor", "descriptor", TABLE_TEXT, PHASE(name.descriptor), .width = COLUMN_DATA },
    { "recorded_ns", "Recorded", TABLE_NS, PHASE(recorded), .text_when = PARTLY },
};

static void add_row(const struct phases_report *report, const struct phases_order *order, const char *label,
                    bool is_partly, struct table *table)
{
    const struct report_source *source = report->source;
    const struct calltree_total *total = &report->totals[order->i];
    struct recorded window = recorded(report, order->i);
    struct phase_line line = { .label = total->n_open == 0 ? label : arena_printf(source->arena, "%s +", label),
                               .phase = report->choice->is_chosen[order->i] ? "yes" : "no",
                               .name = report_name(source, total->method),
                               .ns = report_ns(source, order->total_ticks),
                               .calls = (double)total->calls,
                               .share = order->share,
                               .self_ns = report_ns(source, phases_self_ticks(total, source->clock)),
                               .unwinds = (double)total->unwinds,
                               .n_open = (double)total->n_open,
                               .recorded = table_number(report_ns(source, window.ticks)) };
    struct calltree_whole whole = calltree_whole_of(total);
    double whole_ticks = source->clock == PHASES_CPU ? whole.cpu_ticks : whole.wall_ticks;
    line.per_call_ns = whole.calls > 0 ? report_ns(source, (uint64_t)whole_ticks) / whole.calls : NAN;
    if (is_partly)
        line.recorded.words = report_recorded_text(source, &window);
    table_add(table, "method", &line);
}

void phases_table(const struct phases_report *report, struct table *table)
{
    const struct report_source *source = report->source;
    size_t n;
    uint64_t n_open = 0;
    bool has_partly = is_partly(report);
    struct phases_order *order = sorted(report, !report->all, report->min_share, &n);
    uint32_t *methods = arena_alloc(source->arena, (n + 1) * sizeof *methods);
    for (size_t i = 0; i < n; i++)
        methods[i] = report->totals[order[i].i].method;
    const char **labels = report_labels(source, methods, n);
    table_begin(table, source->arena);
    report_metadata(source, table);
    add_thresholds(report, table);
    add_estimates(report, table);
    report_losses(source, table);
    TABLE_COLUMNS(table, phase_columns, (report->all ? ALL_METHODS : ONLY_PHASES) | (has_partly ? PARTLY : 0));
    for (size_t i = 0; i < n; i++) {
        add_row(report, &order[i], labels[i], has_partly, table);
        n_open += report->totals[order[i].i].n_open;
    }
    size_t n_smaller = (report->all ? report->n_totals : report->choice->n_chosen) - n;
    if (n_smaller > 0)
        table_note(table,
                   arena_printf(source->arena, "%zu more methods have less than %s of the time each (--min-share 0)",
                                n_smaller, report_percent(source->arena, report->min_share)));
    if (has_partly)
        table_note(table, "Share (%) is of the application's time while a method was recorded (Recorded)");
    if (n_open > 0)
        table_note(table, REPORT_PARTIAL_MARK);
}

void phases_rows(const struct phases_report *report, struct phases_file *file)
{
    const struct report_source *source = report->source;
    const struct phases_choice *choice = report->choice;
    size_t n;
    struct phases_order *order = sorted(report, true, 0, &n);
    struct phases_file_row *rows = arena_alloc(source->arena, (n + 1) * sizeof *rows);
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
}

/* A thread's row. */
struct thread_line {
    const char *name, *tid, *part;
    double cpu_ns, cpu_share, wall_ns, probe_ns;
    uint64_t n_lost;
};

static const struct table_column thread_columns[] = {
    { "thread", "Thread", TABLE_TEXT, FROM(struct thread_line, name) },
    { "tid", "tid", TABLE_TEXT, FROM(struct thread_line, tid) },
    { "part", "Part", TABLE_TEXT, FROM(struct thread_line, part) },
    { "cpu_ns", "CPU time", TABLE_NS, FROM(struct thread_line, cpu_ns) },
    { "cpu_share", "CPU (%)", TABLE_SHARE, FROM(struct thread_line, cpu_share) },
    { "wall_ns", "Wall time", TABLE_NS, FROM(struct thread_line, wall_ns) },
    { "probe_ns", "Probes", TABLE_NS, FROM(struct thread_line, probe_ns) },
    { "calls_lost", "Calls lost", TABLE_COUNT, FROM(struct thread_line, n_lost) },
};

void phases_threads(const struct phases_report *report, struct table *table)
{
    const struct report_source *source = report->source;
    const struct calltree *tree = source->tree;
    table_begin(table, source->arena);
    report_metadata(source, table);
    report_losses(source, table);
    TABLE_COLUMNS(table, thread_columns, 0);
    for (uint32_t i = 0; i < tree->n_threads; i++) {
        const struct calltree_thread *thread = &tree->threads[i];
        const struct trace_thread *known = trace_thread(source->reader, i);
        const struct thread_line line = {
            .name = known != NULL ? known->name : arena_printf(source->arena, "(thread %u)", i),
            .tid = known != NULL ? arena_printf(source->arena, "%d", known->tid) : "",
            .part = vm_part_name(thread->part),
            .cpu_ns = report_ns(source, thread->cpu_ticks),
            .cpu_share = (double)thread->cpu_ticks / (double)tree->cpu_ticks,
            .wall_ns = report_ns(source, thread->wall_ticks),
            .probe_ns = report_ns(source, thread->probe_ticks),
            .n_lost = thread->n_lost,
        };
        if (thread->is_known)
            table_add(table, "thread", &line);
    }
}

/* ---- thresholds ---- */

struct sweep_line {
    double weight, grain, n_methods, n_calls, of_calls, of_time; /* NAN: not known */
};

static const struct table_column sweep_columns[] = {
    { "weight", "Weight", TABLE_RATIO, FROM(struct sweep_line, weight) },
    { "grain", "Grain", TABLE_RATIO, FROM(struct sweep_line, grain) },
    { "phases", "Phases", TABLE_COUNT, FROM(struct sweep_line, n_methods) },
    { "calls", "Calls", TABLE_COUNT, FROM(struct sweep_line, n_calls) },
    { "estimate_invocations", "Of all calls (%)", TABLE_SHARE, FROM(struct sweep_line, of_calls) },
    { "estimate_time", "Of the time (%)", TABLE_SHARE, FROM(struct sweep_line, of_time) },
};

static void add_thresholds_row(const struct sweep *sweep, size_t w, size_t g, const struct budget_base *base,
                               struct table *table)
{
    const struct sweep_cell *cell = sweep_at(sweep, w, g);
    struct budget_estimates estimates = budget_estimate(base, cell->n_calls);
    const struct sweep_line line = { .weight = sweep->weights[w],
                                     .grain = sweep->grains[g],
                                     .n_methods = (double)cell->n_methods,
                                     .n_calls = (double)cell->n_calls,
                                     .of_calls = estimates.invocations_ratio < 0 ? NAN : estimates.invocations_ratio,
                                     .of_time = estimates.time_ratio < 0 ? NAN : estimates.time_ratio };
    table_add(table, "thresholds", &line);
}

void sweep_table(const struct report_source *source, const struct sweep *sweep, const struct budget_base *base,
                 struct table *table)
{
    table_begin(table, source->arena);
    report_metadata(source, table);
    table_metadata_number(table, "pair_ns", base->pair_ns, NULL);
    TABLE_COLUMNS(table, sweep_columns, 0);
    for (size_t w = 0; w < sweep->n_weights; w++)
        for (size_t g = 0; g < sweep->n_grains; g++)
            add_thresholds_row(sweep, w, g, base, table);
    report_losses(source, table);
}
