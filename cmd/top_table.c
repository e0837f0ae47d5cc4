#include "cmd/top_table.h"

#include "core/base/xalloc.h"
#include "core/recorder/recorder.h"
#include "report/format/table.h"
#include "symbolize/java_names.h"

struct top_row {
    const char *label;
    double ns, calls, call_ns, cpi; /* of the interval; NAN: not known */
    double share, per_s;            /* of its CPU time; calls of its wall time */
    double key;                     /* by which rows are sorted, largest first; equal ones by label */
    uint64_t all_calls;
    double all_ns;
};

static const struct {
    char letter;
    const char *name;
} sorts[TOP_SORTS] = { { 't', "time" }, { 'c', "calls" }, { 'p', "call" }, { 'i', "cpi" }, { 'n', "name" } };

int top_sort_parse(const char *text, enum top_sort *sort)
{
    for (size_t i = 0; i < TOP_SORTS; i++)
        if (strcmp(text, sorts[i].name) == 0 || (text[0] == sorts[i].letter && text[1] == '\0')) {
            *sort = (enum top_sort)i;
            return 0;
        }
    return -1;
}

void top_table_free(struct top_table *top)
{
    free(top->before);
    top->before = NULL;
}

/* After a recompilation window, or a trial, figures begin anew. */
static uint64_t since(uint64_t now, uint64_t before)
{
    return now >= before ? now - before : now;
}

/* now: the figures of the method with this index. */
static void fill_row(const struct top_table *top, const struct live_session *session, size_t index,
                     const struct live_account *now, struct top_row *row)
{
    static const struct live_account none;
    const struct live_account *before = index < top->n_before ? &top->before[index] : &none;
    double ns_per_tick = session->status.ns_per_tick;
    row->all_calls = now->calls;
    row->all_ns = (double)now->cpu_ticks * ns_per_tick;
    row->ns = (double)since(now->cpu_ticks, before->cpu_ticks) * ns_per_tick;
    row->calls = (double)since(now->calls, before->calls);
    row->call_ns = now->calls == 0 ? NAN : row->all_ns / (double)now->calls;
    double instructions = (double)since(now->counters[1], before->counters[1]);
    row->cpi = !session->has_cpi || instructions <= 0
                   ? NAN
                   : (double)since(now->counters[0], before->counters[0]) / instructions;
    const double keys[TOP_SORTS] = { row->ns, row->calls, row->call_ns, row->cpi, 0 };
    row->key = isnan(keys[top->sort]) ? -1 : keys[top->sort];
}

/* The rows of those that are measured. */
static struct top_row *make_rows(const struct top_table *top, struct live_session *session, struct arena *arena,
                                 size_t *n)
{
    const struct live_method *methods = session->live->methods.all;
    size_t n_methods = session->live->methods.n, n_rows = 0;
    struct method_name *names = arena_alloc(arena, (n_methods + 1) * sizeof *names);
    struct top_row *rows = arena_alloc(arena, (n_methods + 1) * sizeof *rows);
    for (size_t i = 0; i < n_methods; i++) {
        if (!live_method_has_figures(&session->live->methods, &methods[i]))
            continue;
        const struct live_account figures = live_method_figures(&session->live->methods, &methods[i]);
        fill_row(top, session, i, &figures, &rows[n_rows]);
        names[n_rows++] = (struct method_name){ methods[i].class_name, methods[i].name, methods[i].descriptor };
    }
    const char **labels = java_names_labels(arena, names, n_rows);
    for (size_t i = 0; i < n_rows; i++)
        rows[i].label = labels[i];
    *n = n_rows;
    return rows;
}

static int compare(const void *a, const void *b)
{
    const struct top_row *x = a, *y = b;
    return x->key < y->key ? 1 : x->key > y->key ? -1 : strcmp(x->label, y->label);
}

static const char *stage_text(const struct live_session *session, struct arena *arena)
{
    static const char *const texts[] = { "waiting for the agent", "taking samples", "changing classes",
                                         "waiting for the JIT compiler", "measuring" };
    if (session->options.samples_only)
        return arena_printf(arena, "not instrumented: the JVM writes a class archive (%s)", session->archive);
    if (session->live->chooser.skipped_ns > 0)
        return arena_printf(arena, "not instrumented: %.1f s of JIT compilation would be lost",
                            (double)session->live->chooser.skipped_ns / 1e9);
    return texts[session->live->stage];
}

/* How to have phases where no class is changed. */
static void add_way_out(const struct live_session *session, struct table *table, struct arena *arena)
{
    double skipped_s = (double)session->live->chooser.skipped_ns / 1e9;
    char option[4200];
    if (skipped_s <= 0)
        return;
    recorder_prepare_option(option, sizeof option);
    table_metadata_words(table, "prepare", "",
                         arena_printf(arena, "next: to measure phases, start the JVM with %s, or add --recompile %.0f",
                                      option, ceil(skipped_s * 1.2)));
}

static void add_head(const struct top_table *top, struct live_session *session, const struct live_cost *cost,
                     struct table *table, struct arena *arena)
{
    size_t n = session->live->methods.n, n_enabled = 0;
    double wall_ns = (double)(session->status.monotonic_ns - top->before_ns);
    double cpu_ns = (double)(session->status.process_cpu_ns - top->before_cpu_ns);
    const struct live_method *methods = session->live->methods.all;
    for (size_t i = 0; i < n; i++)
        n_enabled += methods[i].state == LIVE_ENABLED;
    double own_ns = (double)(session->status.own_cpu_ns - top->before_own_ns);
    table_metadata_words(table, "head", "",
                         arena_printf(arena, "JVM %d: %.1f s, %.2f CPUs, %s", (int)session->status.pid,
                                      (double)(session->status.monotonic_ns - session->status.start_ns) / 1e9,
                                      wall_ns <= 0 ? 0 : cpu_ns / wall_ns, stage_text(session, arena)));
    add_way_out(session, table, arena);
    table_metadata_words(
        table, "cost", "",
        arena_printf(arena, "%zu methods measured, %zu switched off; probes %.2f %%, mmprof %.2f %% of the CPU time",
                     n_enabled, n - n_enabled, cost->probes_now * 100, cpu_ns <= 0 ? 0 : own_ns / cpu_ns * 100));
    if (top->has_keys)
        table_metadata_words(table, "keys", "",
                             arena_printf(arena, "by %s; keys: t time, c calls, p time per call, i CPI, n name, q quit",
                                          sorts[top->sort].name));
}

static const struct table_column columns[] = {
    { "cpu_share", "Time (%)", TABLE_SHARE, FROM(struct top_row, share) },
    { "calls_per_s", "Calls/s", TABLE_RATE, FROM(struct top_row, per_s) },
    { "ns_per_call", "Time/call", TABLE_NS, FROM(struct top_row, call_ns) },
    { "cpi", "CPI", TABLE_RATIO, FROM(struct top_row, cpi), .is_told = true }, /* by doctor and report */
    { "calls", "Calls", TABLE_COUNT, FROM(struct top_row, all_calls) },
    { "total_ns", "Time", TABLE_NS, FROM(struct top_row, all_ns) },
    { "phase", "Phase", TABLE_TEXT, FROM(struct top_row, label) },
};

/* Shares and rates are of the time that figures cover. */
static void add_rows(const struct top_table *top, const struct live_session *session, const struct live_cost *cost,
                     struct top_row *rows, size_t n, struct table *table)
{
    double wall_ns =
        (double)(session->status.monotonic_ns - top->before_ns) - (double)(cost->left_out_ns - top->before_out_ns);
    double cpu_ns = (double)(session->status.process_cpu_ns - top->before_cpu_ns) -
                    (double)(cost->left_out_cpu_ns - top->before_out_cpu_ns);
    TABLE_COLUMNS(table, columns, 0);
    for (size_t i = 0; i < n; i++) {
        rows[i].share = cpu_ns == 0 ? NAN : rows[i].ns / cpu_ns;
        rows[i].per_s = wall_ns == 0 ? NAN : rows[i].calls * 1e9 / wall_ns;
        table_add(table, "phase", &rows[i]);
    }
}

void top_table_begin(struct top_table *top, const struct live_session *session)
{
    const struct live_cost cost = live_cost(session->live);
    const struct live_methods *methods = &session->live->methods;
    xgrow(top->before, top->before_room, methods->n);
    top->n_before = methods->n;
    for (size_t i = 0; i < methods->n; i++)
        top->before[i] = live_method_figures(methods, &methods->all[i]);
    top->before_ns = session->status.monotonic_ns;
    top->before_cpu_ns = session->status.process_cpu_ns;
    top->before_own_ns = session->status.own_cpu_ns;
    top->before_out_ns = cost.left_out_ns;
    top->before_out_cpu_ns = cost.left_out_cpu_ns;
}

char *top_table_text(struct top_table *top, struct live_session *session, struct err *err)
{
    struct arena arena = { NULL, 0 };
    struct table table;
    size_t n;
    const struct live_cost cost = live_cost(session->live);
    struct top_row *rows = make_rows(top, session, &arena, &n);
    qsort(rows, n, sizeof *rows, compare);
    table_begin(&table, &arena);
    add_head(top, session, &cost, &table, &arena);
    add_rows(top, session, &cost, rows, n, &table);
    top_table_begin(top, session);
    char *text = table_text(&table, err);
    arena_free(&arena);
    return text;
}
