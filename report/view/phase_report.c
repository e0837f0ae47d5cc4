
#include "core/base/text.h"
#include "core/trace/recording_info.h"
#include "report/sampled_parts.h"
#include "report/view/report_internal.h"

static bool is_phase_recording(const struct report_source *source)
{
    const char *mode = info_text(source->reader, INFO_RECORDING_MODE);
    return mode != NULL && strcmp(mode, "phases") == 0;
}

/* Probes in all methods cost so little: there is nothing to choose. */
#define BUDGET 0.01

static bool is_cheap(const struct budget_base *base, uint64_t n_calls)
{
    double time_ratio = budget_estimate(base, n_calls).time_ratio;
    return time_ratio >= 0 && time_ratio <= BUDGET;
}

/* Which methods are rows, before their share is looked at. */
static int choose(struct making *making, const struct calltree_total *totals, size_t n, const bool **is_chosen,
                  struct err *err)
{
    const struct report_source *source = making->source;
    uint64_t all_ticks = phases_all_ticks(source->tree, source->clock);
    *is_chosen = NULL;
    if (making->options->all || is_phase_recording(source) || n == 0 || all_ticks == 0)
        return 0;
    struct phases_criteria options = { source->clock, -1, -1, BUDGET };
    struct budget_base base = phases_budget_base(source->tree, all_ticks, report_knows_invocations(source->reader));
    struct phases_choice choice;
    if (is_cheap(&base, source->tree->n_calls + source->tree->n_lost))
        return 0;
    if (phases_select(totals, n, all_ticks, &base, &options, source->arena, &choice, err) < 0)
        return -1;
    *is_chosen = choice.is_chosen;
    return 0;
}

static int by_share(const void *a, const void *b)
{
    const struct report_ranked *x = a, *y = b;
    if (x->share != y->share)
        return x->share < y->share ? 1 : -1;
    return (x->total->method > y->total->method) - (x->total->method < y->total->method);
}

/* Outer rows are among the first ones instead of the last others, which they take a third of the places of. */
static void keep_outer(struct report_ranked *ranked, size_t n, size_t top)
{
    size_t last = top, n_moved = 0;
    for (size_t i = top; i < n && n_moved < top / 3; i++) {
        if (!ranked[i].is_outer)
            continue;
        while (last > 0 && ranked[last - 1].is_outer)
            last--;
        if (last == 0)
            return;
        struct report_ranked other = ranked[--last];
        ranked[last] = ranked[i];
        ranked[i] = other;
        n_moved++;
    }
}

/* The rows are those with most time; the rest is one row. */
static void take_rows(struct making *making, struct report_ranked *ranked, size_t n)
{
    size_t top = making->options->top;
    qsort(ranked, n, sizeof *ranked, by_share);
    if (top > 0 && top < n)
        keep_outer(ranked, n, top);
    for (size_t i = 0; i < n; i++) {
        making->rows[i] = ranked[i].total;
        making->ticks[i] = ranked[i].ticks;
    }
    making->n_rows = top == 0 || n <= top ? n : top;
    making->n_more = n - making->n_rows;
    for (size_t i = 0; i < making->n_rows; i++) {
        struct recorded recorded = report_recorded(making->source, making->rows[i]->method);
        making->is_partly = making->is_partly || (!sampled_alone(making->source, making->rows[i]) &&
                                                  report_is_partly(making->source, &recorded));
    }
    if (making->n_more == 0)
        return;
    struct arena *arena = making->source->arena;
    const char *least = making->options->min_share > 0 ? arena_printf(arena, " with at least %s of the time",
                                                                      report_percent(arena, making->options->min_share))
                                                       : "";
    table_note(making->table, arena_printf(arena, "not shown: %zu method%s%s (--top 0)", making->n_more,
                                           text_plural(making->n_more), least == NULL ? "" : least));
}

/* A method that was recorded: its time and share. */
static struct report_ranked ranked_of(const struct making *making, const struct calltree_total *total)
{
    double ticks = (double)phases_total_ticks(total, making->source->clock), all = (double)making->shares.all_ticks;
    struct recorded recorded = report_recorded(making->source, total->method);
    recorded_hold(&recorded, ticks, all);
    if (making->method_ticks != NULL) {
        ticks = making->method_ticks[total->method];
        recorded.share = 1;
    }
    double share = recorded.share > 0 && all > 0 ? ticks / (recorded.share * all) : 0;
    return (struct report_ranked){ total, ticks, share, false };
}

static int rank(struct making *making, const struct calltree_total *totals, size_t n, struct report_ranked *ranked,
                size_t *n_ranked, struct err *err)
{
    const bool *is_chosen;
    double least = making->options->min_share;
    if (choose(making, totals, n, &is_chosen, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        struct report_ranked one = ranked_of(making, &totals[i]);
        if ((is_chosen == NULL || is_chosen[i]) && one.share >= least)
            ranked[(*n_ranked)++] = one;
    }
    if (making->method_ticks != NULL)
        report_add_sampled(making, ranked, n_ranked);
    return 0;
}

static int choose_rows(struct making *making, const struct calltree_total *totals, size_t n, struct err *err)
{
    const struct report_source *source = making->source;
    size_t n_ranked = 0, n_methods = (size_t)source->tree->n_methods + 1;
    struct calltree_total *ended; /* where samples say so */
    uint32_t *row_of = arena_alloc(source->arena, n_methods * sizeof *row_of);
    struct report_ranked *ranked = arena_alloc(source->arena, n_methods * sizeof *ranked);
    making->rows = arena_alloc(source->arena, n_methods * sizeof *making->rows);
    making->ticks = arena_alloc(source->arena, n_methods * sizeof *making->ticks);
    if (source->sampled != NULL) {
        calltree_totals(source->sampled->ended, VM_PART_APPLICATION, source->arena, &ended, &n);
        totals = ended;
    }
    /* The shares' denominator does not depend on the rows. */
    shares_compute(source, row_of, 0, &making->shares);
    if (source->sampled != NULL)
        report_find_times(making, totals, n);
    if (rank(making, totals, n, ranked, &n_ranked, err) < 0)
        return -1;
    if (making->options->fold != NULL)
        report_fold(making, ranked, &n_ranked);
    for (uint32_t i = 0; i < source->tree->n_methods; i++)
        row_of[i] = CALLTREE_NONE;
    take_rows(making, ranked, n_ranked);
    for (size_t i = 0; i < n_ranked; i++)
        row_of[making->rows[i]->method] = (uint32_t)i;
    shares_compute(source, row_of, n_ranked, &making->shares);
    if (source->sampled != NULL)
        report_find_errors(making, row_of);
    return 0;
}

int report_make_joined(const struct report_trace *traces, size_t n_traces, const struct report_row_options *options,
                       struct table *table, struct err *err)
{
    const struct report_source *source = traces[0].source;
    struct making *making = arena_alloc(source->arena, sizeof *making);
    *making = (struct making){ .source = source, .options = options, .table = table };
    table_begin(table, source->arena);
    report_find_events(making);
    if (choose_rows(making, traces[0].totals, traces[0].n_totals, err) < 0)
        return -1;
    report_find_readings(making);
    if (report_join(making, traces + 1, n_traces - 1, err) < 0)
        return -1;
    report_metadata(source, table);
    sampled_shapes_find(source, &making->shapes);
    report_accounts(making);
    report_columns(making);
    if (report_phase_rows(making, err) < 0)
        return -1;
    report_other_rows(making);
    report_notes(making);
    return 0;
}

int report_make(const struct report_source *source, const struct calltree_total *totals, size_t n_totals,
                const struct report_row_options *options, struct table *table, struct err *err)
{
    return report_make_joined(&(struct report_trace){ source, totals, n_totals }, 1, options, table, err);
}

static int most_time_first(const void *a, const void *b)
{
    const struct report_row *x = a, *y = b;
    if (x->ticks != y->ticks)
        return x->ticks < y->ticks ? 1 : -1;
    return (x->total->method > y->total->method) - (x->total->method < y->total->method);
}

int report_rows(const struct report_source *source, const struct calltree_total *totals, size_t n_totals,
                const struct report_row_options *options, struct report_row **rows, size_t *n_rows, struct err *err)
{
    struct table notes; /* of rows that were cut; not printed */
    struct making making = { .source = source, .options = options, .table = &notes };
    table_begin(&notes, source->arena);
    if (choose_rows(&making, totals, n_totals, err) < 0)
        return -1;
    size_t n = *n_rows = making.n_rows;
    const char **labels = report_row_labels(&making);
    *rows = arena_alloc(source->arena, (n + 1) * sizeof **rows);
    for (size_t i = 0; i < n; i++)
        (*rows)[i] =
            (struct report_row){ making.rows[i], labels[i], making.ticks[i], (double)making.shares.self_ticks[i] };
    qsort(*rows, n, sizeof **rows, most_time_first);
    return 0;
}
