/* The report's rows and their order. */
#include "report/view/report_internal.h"

#include "core/base/text.h"

#include <strings.h>

/* ---- rows of phases ---- */

static struct values phase_values(const struct making *making, size_t row, const char *label)
{
    const struct calltree_total *total = making->rows[row];
    const struct calltree *tree = making->source->tree;
    uint64_t ticks = phases_total_ticks(total, making->source->clock);
    double off = (double)total->total_wall_ticks - (double)total->total_cpu_ticks;
    struct calltree_whole whole = calltree_whole_of(total);
    bool is_sampled = sampled_alone(making->source, total), is_ended = report_is_ended(making, row);
    struct recorded recorded = report_recorded(making->source, total->method);
    recorded_hold(&recorded, (double)ticks, (double)making->shares.all_ticks);
    return (struct values){ .label = label,
                            .kind = is_sampled ? "sampled" : "phase",
                            .id = { is_sampled ? ROW_SAMPLED : ROW_PHASE, row },
                            .name = report_name(making->source, total->method),
                            .time_ticks = making->ticks[row],
                            .self_ticks = (double)making->shares.self_ticks[row],
                            .probe_ticks = (double)ticks,
                            .cpu_ticks = (double)total->total_cpu_ticks,
                            .off_cpu_ticks = tree->cpu_is_wall || is_ended || off < 0 ? -1 : off,
                            .calls = (double)total->calls,
                            .whole = whole,
                            .unwinds = (double)total->unwinds,
                            .n_open = (double)total->n_open,
                            .recorded = recorded,
                            .metrics = is_ended ? NULL : total->total_metrics };
}

/* What the rows are sorted by: the column, and whether small comes first for none. */
static int find_sort_column(const struct making *making, size_t *column, struct err *err)
{
    static const struct {
        const char *word, *key;
    } words[] = { { "time", "time_share" },
                  { "self", "self_share" },
                  { "calls", "calls" },
                  { "percall", "ns_per_call" },
                  { "cpi", "cpi" },
                  { "off-cpu", "off_cpu_ns_per_call" },
                  { "page-faults", "page_faults_per_cpu_s" },
                  { "context-switches", "switches_per_cpu_s" } };
    const char *sort = making->options->sort, *key = sort;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        key = strcmp(sort, words[i].word) == 0 ? words[i].key : key;
    for (size_t i = 0; key == sort && i < making->n_events; i++) {
        const struct event_column *event = &making->events[i];
        if (strcasecmp(sort, event->name) == 0 || strcasecmp(sort, event->heading) == 0)
            key = event->role == EVENT_MISSES
                      ? arena_printf(making->source->arena, "%s_per_1000_instructions", event->name)
                  : report_is_hardware(event) ? event->name
                                              : "time_share";
    }
    *column = table_find_column(making->table, key, err);
    return *column < making->table->n_columns ? 0 : -1;
}

struct sortable_row {
    struct table_row row;
    double key, time;
    bool is_known;
};

static int largest_first(const void *a, const void *b)
{
    const struct sortable_row *x = a, *y = b;
    if (x->is_known != y->is_known)
        return x->is_known ? -1 : 1;
    if (x->is_known && x->key != y->key)
        return x->key < y->key ? 1 : -1;
    return (x->time < y->time) - (x->time > y->time);
}

static int sort_rows(struct making *making, struct err *err)
{
    size_t column = 0, n = making->table->n_rows, time = table_find_column(making->table, "time_share", err);
    if (find_sort_column(making, &column, err) < 0)
        return -1;
    struct sortable_row *order = arena_alloc(making->source->arena, (n + 1) * sizeof *order);
    for (size_t i = 0; i < n; i++) {
        const struct table_row *row = &making->table->rows[i];
        order[i] = (struct sortable_row){ *row, row->cells[column].number, row->cells[time].number,
                                          row->cells[column].value == TABLE_NUMBER };
    }
    qsort(order, n, sizeof *order, largest_first);
    for (size_t i = 0; i < n; i++)
        making->table->rows[i] = order[i].row;
    return 0;
}

/* Say of a row that it was counted in a part of its time only; in which trace, if there are several. */
static void add_partly(struct making *making, const struct values *v)
{
    struct arena *arena = making->source->arena;
    for (size_t t = 0; making->has_hardware && !report_is_tiny(making, v) && t <= making->n_others; t++) {
        const struct making *of = t == 0 ? making : &making->others[t - 1];
        double counted = report_counted(of, v->id);
        if (counted < 0 || counted >= 1 - REPORT_UNCOUNTED_MAX)
            continue;
        const char *item = arena_printf(arena, "%s%s in %s%s%s", making->partly == NULL ? "" : ", ", v->label,
                                        report_percent(arena, counted), making->n_others == 0 ? "" : " of ",
                                        making->n_others == 0 ? "" : of->source->path);
        making->partly = making->partly == NULL ? item : arena_printf(arena, "%s%s", making->partly, item);
    }
}

#define LABEL_MOST 64

/* The other end of a row's chain, if it has another name; or CALLTREE_NONE. */
static uint32_t other_end_of(const struct making *making, uint32_t method)
{
    uint32_t other = making->folds == NULL || making->folds[method].n == 0 ? method : making->folds[method].outermost;
    struct method_name a = report_name(making->source, method), b = report_name(making->source, other);
    return strcmp(a.class_name, b.class_name) == 0 && strcmp(a.method, b.method) == 0 ? CALLTREE_NONE : other;
}

static const char *chain_label(const struct making *making, uint32_t method, const char *label, const char *other)
{
    struct arena *arena = making->source->arena;
    uint32_t n = making->folds[method].n;
    if (other == NULL)
        return n == 0 ? label : arena_printf(arena, "%s (+%" PRIu32 " frame%s)", label, n, text_plural(n));
    bool is_short = strlen(other) + strlen(label) <= LABEL_MOST;
    return arena_printf(arena, "%s .. %s", other, is_short ? label : report_name(making->source, method).method);
}

const char **report_row_labels(const struct making *making)
{
    struct arena *arena = making->source->arena;
    size_t n = making->n_rows, n_all = n;
    uint32_t *methods = arena_alloc(arena, (2 * n + 1) * sizeof *methods); /* of the rows, then of chains' other ends */
    size_t *other_end = arena_alloc(arena, (n + 1) * sizeof *other_end);
    for (size_t i = 0; i < n; i++)
        methods[i] = making->rows[i]->method;
    for (size_t i = 0; i < n; i++) {
        uint32_t other = other_end_of(making, methods[i]);
        if (other == CALLTREE_NONE)
            continue;
        other_end[i] = n_all;
        methods[n_all++] = other;
    }
    const char **labels = report_labels(making->source, methods, n_all);
    for (size_t i = 0; making->folds != NULL && i < n; i++)
        labels[i] = chain_label(making, methods[i], labels[i], other_end[i] == 0 ? NULL : labels[other_end[i]]);
    return labels;
}

int report_phase_rows(struct making *making, struct err *err)
{
    const char **labels = report_row_labels(making);
    for (size_t i = 0; i < making->n_rows; i++) {
        const char *label = labels[i];
        if (making->rows[i]->n_open > 0) {
            label = arena_printf(making->source->arena, "%s +", label);
            table_note(making->table, REPORT_PARTIAL_MARK);
        }
        struct values v = phase_values(making, i, label);
        report_row(making, &v, false);
        add_partly(making, &v);
    }
    report_folded_shapes(making);
    return sort_rows(making, err);
}

/* ---- the other rows ---- */

const char *report_kernel_label(const struct shares *shares)
{
    return shares->switches.are_known ? "kernel: exit, rest" : "kernel: switches, exit";
}

/* A row of time and nothing else. */
static void add_time_row(struct making *making, const char *label, const char *kind, enum row_kind of, double ticks,
                         bool after_rule)
{
    const struct values v = {
        .label = label, .kind = kind, .id = { of, 0 }, .time_ticks = ticks, .self_ticks = ticks, .calls = -1
    };
    report_row(making, &v, after_rule);
}

static void add_if_any(struct making *making, const char *label, const char *kind, uint64_t ticks)
{
    if (ticks > 0)
        add_time_row(making, label, kind, ROW_OF_TIME, (double)ticks, false);
}

/* Phases with less time than those above: without this row their time would be missing, or their callers'. */
static void add_more(struct making *making)
{
    double ticks = 0;
    if (making->n_more == 0)
        return;
    for (size_t i = 0; i < making->n_more; i++)
        ticks += (double)making->shares.self_ticks[making->n_rows + i];
    const char *what = making->source->sampled == NULL ? "phase" : "method";
    const char *label =
        arena_printf(making->source->arena, "%zu %s%s more", making->n_more, what, text_plural(making->n_more));
    add_time_row(making, label, "more", ROW_OF_TIME, ticks, making->table->n_rows > 0);
}

/* Faults and switches before the first probes are not told apart, so their rates are of both times. */
static void add_outside(struct making *making)
{
    const struct shares *shares = &making->shares;
    bool is_cpu = making->source->clock == PHASES_CPU;
    double ticks = (double)shares->outside_ticks;
    double cpu_ticks =
        making->source->sampled == NULL ? ticks + (double)shares->before_ticks : (double)shares->outside_cpu_ticks;
    struct values v = { .label = "application, other code",
                        .kind = "application",
                        .id = { ROW_OUTSIDE, 0 },
                        .time_ticks = ticks,
                        .self_ticks = ticks,
                        .cpu_ticks = is_cpu ? cpu_ticks : 0,
                        .calls = -1,
                        .metrics = making->source->tree->n_metrics == 0 ? NULL : shares->outside_metrics };
    report_row(making, &v, making->table->n_rows > 0 && making->n_more == 0);
    if (making->has_readings)
        add_partly(making, &v);
}

static void add_part(struct making *making, enum vm_part part)
{
    const struct shares *shares = &making->shares;
    if (!shares->part_is_known[part])
        return;
    double ticks = (double)shares->part_ticks[part];
    struct values v = { .label = vm_part_name(part),
                        .kind = vm_part_key(part),
                        .id = { ROW_PART, part },
                        .time_ticks = ticks,
                        .self_ticks = ticks,
                        .cpu_ticks = making->source->clock == PHASES_CPU ? ticks : 0,
                        .calls = -1,
                        .metrics = shares->part_metrics[part] };
    report_row(making, &v, false);
    add_partly(making, &v);
}

static void add_total(struct making *making)
{
    const struct calltree *tree = making->source->tree;
    struct values v = { .label = "whole process",
                        .kind = "total",
                        .id = { ROW_TOTAL, 0 },
                        .time_ticks = REPORT_NO_TICKS,
                        .self_ticks = (double)making->shares.all_ticks,
                        .cpu_ticks = (double)tree->cpu_ticks,
                        .calls = making->source->sampled != NULL && tree->n_records == 0 ? -1 : (double)tree->n_calls,
                        .metrics = tree->n_metrics == 0 ? NULL : making->shares.all_metrics };
    report_row(making, &v, true);
}

void report_other_rows(struct making *making)
{
    add_more(making);
    add_outside(making);
    add_if_any(making, "application, other threads", "other_threads", making->shares.other_ticks);
    add_if_any(making, "before the first probes", "before", making->shares.before_ticks);
    add_if_any(making, "application, switches", "switches", making->shares.switch_ticks);
    for (enum vm_part part = VM_PART_GC; part < VM_PART_MMPROF; part++)
        add_part(making, part);
    add_time_row(making, vm_part_name(VM_PART_MMPROF), vm_part_key(VM_PART_MMPROF), ROW_MMPROF,
                 (double)making->shares.probe_ticks + (double)making->shares.part_ticks[VM_PART_MMPROF], false);
    add_if_any(making, report_kernel_label(&making->shares), "kernel", making->shares.kernel_ticks);
    add_total(making);
}
