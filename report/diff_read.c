/*
 * From traces to rows of values: what the report says of each trace, and how calls vary.
 */
#include "core/base/map.h"
#include "report/call_metrics.h"
#include "report/diff.h"
#include "report/phase_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A table of all methods has that many rows at most; the time of those beyond is next to nothing. */
#define METHODS_MAX 1024

#define FIRST_ROWS 64

struct reading {
    struct diff *diff;
    struct map rows, metrics; /* by text, to indexes */
    enum diff_side side;
    size_t trace; /* of the side's */
    bool with_statistics;
    /* of the trace being read; local: until the next one */
    struct arena local;
    struct report_source source;
    struct table table;
    const struct calltree_total *totals;
    size_t n_totals;
    struct call_metrics calls;
    struct statistics *statistics;
};

static const char *keep(const struct reading *r, const char *text)
{
    return arena_text(r->diff->arena, text, strlen(text));
}

static int no_memory(struct err *err)
{
    return err_set(err, "out of memory for the differences");
}

/* ---- metrics ---- */

static int add_metric(struct reading *r, const char *name, const char *key, enum table_unit unit, enum diff_role role)
{
    struct diff *d = r->diff;
    if (map_get(&r->metrics, key, strlen(key)) != NULL || d->n_metrics == DIFF_METRICS_MAX)
        return 0;
    d->metrics[d->n_metrics] = (struct diff_metric){ keep(r, name), keep(r, key), unit, role };
    if (d->metrics[d->n_metrics].name == NULL || d->metrics[d->n_metrics].key == NULL)
        return -1;
    return map_put(&r->metrics, key, strlen(key), (uint32_t)d->n_metrics++);
}

static bool is_rate(const struct table_column *column)
{
    return strcmp(column->key, "cpi") == 0 ||
           (column->unit == TABLE_RATE && strstr(column->key, "_per_1000_instructions") != NULL &&
            strcmp(column->heading, "low") != 0 && strcmp(column->heading, "high") != 0);
}

static bool has_number(const struct table *table, size_t column)
{
    for (size_t i = 0; i < table->n_rows; i++)
        if (table->rows[i].cells[column].value == TABLE_NUMBER)
            return true;
    return false;
}

/* Those that every trace has, then the rates that some trace has. */
static int add_metrics(struct reading *r)
{
    if (add_metric(r, "time", "total_ns", TABLE_NS, DIFF_TIME) < 0 ||
        add_metric(r, "share", "time_share", TABLE_SHARE, DIFF_SHARE) < 0 ||
        add_metric(r, "calls", "calls", TABLE_COUNT, DIFF_CALLS) < 0 ||
        add_metric(r, "time/call", "ns_per_call", TABLE_NS, DIFF_PER_CALL) < 0)
        return -1;
    for (size_t c = 0; c < r->table.n_columns; c++) {
        const struct table_column *column = &r->table.columns[c];
        if (is_rate(column) && has_number(&r->table, c) &&
            add_metric(r, column->heading, column->key, column->unit, DIFF_RATE) < 0)
            return -1;
    }
    return 0;
}

/* ---- rows ---- */

static const char *words(const struct table *table, const struct table_cell *cells, const char *key)
{
    for (size_t c = 0; c < table->n_columns; c++)
        if (strcmp(table->columns[c].key, key) == 0)
            return cells[c].value == TABLE_WORDS ? cells[c].words : "";
    return "";
}

static double number(const struct table *table, const struct table_cell *cells, const char *key)
{
    for (size_t c = 0; c < table->n_columns; c++)
        if (strcmp(table->columns[c].key, key) == 0)
            return cells[c].value == TABLE_NUMBER ? cells[c].number : NAN;
    return NAN;
}

static struct diff_value *new_values(const struct reading *r, size_t n_traces)
{
    size_t n = n_traces * DIFF_METRICS_MAX;
    struct diff_value *values = arena_alloc(r->diff->arena, n * sizeof *values);
    for (size_t i = 0; values != NULL && i < n; i++)
        values[i] = (struct diff_value){ NAN, NAN, 0, false };
    return values;
}

static int make_room(struct diff *d)
{
    if (d->n_rows < d->rows_room)
        return 0;
    size_t room = d->rows_room == 0 ? FIRST_ROWS : d->rows_room * 2;
    struct diff_row *rows = arena_alloc(d->arena, room * sizeof *rows);
    if (rows == NULL)
        return -1;
    if (d->n_rows > 0)
        memcpy(rows, d->rows, d->n_rows * sizeof *rows);
    d->rows = rows;
    d->rows_room = room;
    return 0;
}

static struct diff_row *new_row(struct reading *r, const char *kind, const char *label, const struct java_name *name)
{
    struct diff *d = r->diff;
    if (make_room(d) < 0)
        return NULL;
    struct diff_row *row = &d->rows[d->n_rows];
    *row = (struct diff_row){ keep(r, kind),
                              keep(r, label),
                              keep(r, name->class_name),
                              keep(r, name->method),
                              keep(r, name->descriptor),
                              false,
                              d->n_rows,
                              { new_values(r, d->wish->n_traces[DIFF_BEFORE]),
                                new_values(r, d->wish->n_traces[DIFF_AFTER]) },
                              NULL };
    bool has_all = row->kind != NULL && row->label != NULL && row->class_name != NULL && row->method != NULL &&
                   row->descriptor != NULL && row->values[DIFF_BEFORE] != NULL && row->values[DIFF_AFTER] != NULL;
    return has_all ? row : NULL;
}

/* The same method in another run: hidden classes have another address there. */
static const char *key_of(struct reading *r, const char *kind, const struct java_name *name)
{
    const char *text = java_names_display(&r->local, name, JAVA_NAMES_FULL);
    return text == NULL ? NULL : arena_printf(&r->local, "%s %s %s", kind, text, name->descriptor);
}

/* The row of a key, or NULL: no memory. */
static struct diff_row *find_row(struct reading *r, const char *kind, const char *label, const struct java_name *name)
{
    const char *key = key_of(r, kind, name);
    const uint32_t *known = key == NULL ? NULL : map_get(&r->rows, key, strlen(key));
    if (known != NULL)
        return &r->diff->rows[*known];
    struct diff_row *row = key == NULL ? NULL : new_row(r, kind, label, name);
    if (row == NULL || map_put(&r->rows, key, strlen(key), (uint32_t)r->diff->n_rows) < 0)
        return NULL;
    r->diff->n_rows++;
    return row;
}

/* ---- values ---- */

static bool adds_up(const struct diff_metric *metric)
{
    return metric->role == DIFF_TIME || metric->role == DIFF_SHARE || metric->role == DIFF_CALLS;
}

/* What one trace says of a row that two of its methods share: classes of two loaders may have one name. */
static void merge_value(const struct diff_metric *metric, const struct diff_value *other, struct diff_value *value)
{
    if (value->is_partial)
        return;
    if (isnan(value->value) || other->is_partial)
        *value = *other;
    else if (adds_up(metric) && !isnan(other->value))
        value->value += other->value;
    value->variance = NAN;
}

static void merge_values(const struct diff *d, const struct diff_value *other, struct diff_value *values)
{
    double time = NAN, calls = NAN;
    for (size_t i = 0; i < d->n_metrics; i++) {
        merge_value(&d->metrics[i], &other[i], &values[i]);
        time = d->metrics[i].role == DIFF_TIME ? values[i].value : time;
        calls = d->metrics[i].role == DIFF_CALLS ? values[i].value : calls;
    }
    for (size_t i = 0; i < d->n_metrics; i++)
        if (d->metrics[i].role == DIFF_PER_CALL && calls > 0)
            values[i].value = time / calls;
}

/* A part of the JVM has no callers: its own time is all of it. */
static double table_value(const struct table *table, const struct table_cell *cells, const struct diff_metric *metric)
{
    double value = number(table, cells, metric->key);
    if (isnan(value) && metric->role == DIFF_TIME)
        return number(table, cells, "self_ns");
    return value;
}

/* The variance of a value over batches of calls. */
static void add_variance(const struct reading *r, const struct diff_metric *metric, uint32_t method,
                         struct diff_value *value)
{
    for (size_t i = 0; i < r->calls.wish.n_metrics; i++) {
        bool is_time = r->calls.wish.metrics[i].is_time;
        bool is_it = metric->role == DIFF_RATE ? strcmp(r->calls.of[i].key, metric->key) == 0
                                               : is_time && metric->role != DIFF_CALLS;
        if (!is_it)
            continue;
        struct statistics_error error = statistics_error_of(r->statistics, method, i);
        double relative = error.variance == 0 ? 0 : error.variance / (error.value * error.value);
        double rest = metric->role == DIFF_SHARE ? 1 - value->value : 1; /* what is 100 % changes, too */
        value->variance = value->value * value->value * relative * rest * rest;
        value->df = error.df;
    }
}

/* The method of a table's row; CALLTREE_NONE: it is none. */
static uint32_t method_of(const struct map *methods, struct reading *r, const struct java_name *name)
{
    const char *key = arena_printf(&r->local, "%s %s %s", name->class_name, name->method, name->descriptor);
    const uint32_t *method = key == NULL ? NULL : map_get(methods, key, strlen(key));
    return method == NULL ? CALLTREE_NONE : *method;
}

/* Without the mark of calls that had not returned: in the next trace they may have. */
static const char *label_of(struct reading *r, const char *label)
{
    size_t n = strlen(label);
    bool is_marked = n > 2 && strcmp(label + n - 2, " +") == 0;
    return is_marked ? arena_text(&r->local, label, n - 2) : label;
}

/* Of a live recording: the method's probes did not stay on until the end. */
static bool is_switched_off(const struct reading *r, uint32_t method)
{
    char key[48];
    snprintf(key, sizeof key, "live.method.%" PRIu32, method);
    const char *fact = method == CALLTREE_NONE ? NULL : trace_info(r->source.reader, key);
    return fact != NULL && strncmp(fact, "armed", 5) != 0;
}

static void take_values(const struct reading *r, const struct table_row *row, uint32_t method,
                        struct diff_value *values)
{
    const struct diff *d = r->diff;
    struct diff_value fresh[DIFF_METRICS_MAX];
    bool is_off = is_switched_off(r, method), is_first = isnan(values[0].value) && !values[0].is_partial;
    for (size_t i = 0; i < d->n_metrics; i++) {
        fresh[i] = (struct diff_value){ table_value(&r->table, row->cells, &d->metrics[i]), NAN, 0, false };
        if (is_off && adds_up(&d->metrics[i]))
            fresh[i] = (struct diff_value){ NAN, NAN, 0, true };
        else if (method != CALLTREE_NONE && r->with_statistics)
            add_variance(r, &d->metrics[i], method, &fresh[i]);
    }
    if (is_first)
        memcpy(values, fresh, d->n_metrics * sizeof *values);
    else
        merge_values(d, fresh, values);
}

static int take_row(struct reading *r, const struct table_row *row, const struct map *methods)
{
    const struct table *table = &r->table;
    struct java_name name = { words(table, row->cells, "class"), words(table, row->cells, "method"),
                              words(table, row->cells, "descriptor") };
    bool is_method = strcmp(row->kind, "phase") == 0, is_total = strcmp(row->kind, "total") == 0;
    const char *label = is_total ? "whole process" : label_of(r, words(table, row->cells, "label"));
    /* What is in no method: nobody can say what it is; and what may be the host's doing. */
    if (strcmp(row->kind, "application") == 0 || strcmp(row->kind, "switches") == 0 ||
        strcmp(row->kind, "before") == 0 || strcmp(row->kind, "more") == 0)
        return 0;
    if (!is_method) /* they have no name but their kind's */
        name = (struct java_name){ "", "", "" };
    struct diff_row *to = label == NULL ? NULL : find_row(r, row->kind, label, &name);
    if (to == NULL)
        return -1;
    uint32_t method = is_method ? method_of(methods, r, &name) : CALLTREE_NONE;
    take_values(r, row, method, to->values[r->side] + r->trace * DIFF_METRICS_MAX);
    return 0;
}

/* ---- a trace ---- */

/* Ids of methods by their names. */
static int map_methods(struct reading *r, struct map *methods)
{
    for (size_t i = 0; i < r->n_totals; i++) {
        struct java_name name = report_name(&r->source, r->totals[i].method);
        const char *key = arena_printf(&r->local, "%s %s %s", name.class_name, name.method, name.descriptor);
        if (key == NULL || map_put(methods, key, strlen(key), r->totals[i].method) < 0)
            return -1;
    }
    return 0;
}

static int take_rows(struct reading *r, struct err *err)
{
    struct map methods = { &r->local, NULL, 0, 0 };
    int rc = add_metrics(r) < 0 || map_methods(r, &methods) < 0 ? -1 : 0;
    for (size_t i = 0; rc == 0 && i < r->table.n_rows; i++)
        rc = take_row(r, &r->table.rows[i], &methods);
    map_free(&methods);
    return rc < 0 ? no_memory(err) : 0;
}

/* Which methods are phases of this trace. */
static int mark_phases(struct reading *r, struct err *err)
{
    struct report_wish wish = { .sort = "time", .min_share = r->diff->wish->min_share };
    const struct calltree_total *const *rows;
    size_t n;
    if (report_rows_of(&r->source, r->totals, r->n_totals, &wish, &rows, &n, err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        struct java_name name = report_name(&r->source, rows[i]->method);
        const char *key = key_of(r, "phase", &name);
        const uint32_t *row = key == NULL ? NULL : map_get(&r->rows, key, strlen(key));
        if (key == NULL)
            return no_memory(err);
        if (row != NULL)
            r->diff->rows[*row].is_phase = true;
    }
    return 0;
}

static int note_mode(struct reading *r, struct err *err)
{
    const char *mode = trace_info(r->source.reader, "recording.mode");
    const char **known = &r->diff->modes[r->side];
    bool is_live = mode != NULL && strcmp(mode, "live") == 0;
    mode = is_live ? "live" : mode != NULL && strcmp(mode, "phases") == 0 ? "phases" : "all";
    r->diff->has_live = r->diff->has_live || is_live;
    if (trace_info(r->source.reader, "simulated") != NULL)
        r->diff->has_simulated = true;
    else
        r->diff->has_real = true;
    if (r->trace == 0)
        *known = mode;
    else if (*known != NULL && strcmp(*known, mode) != 0)
        *known = NULL;
    if (r->source.clock != r->diff->wish->clock) {
        r->diff->clocks_differ = true;
        r->diff->clock = r->source.clock;
    }
    return r->diff->n_rows > UINT32_MAX / 2 ? no_memory(err) : 0;
}

static int take_trace(struct reading *r, struct err *err)
{
    struct report_wish wish = { .sort = "time", .all = true, .top = METHODS_MAX };
    struct calltree_total *totals;
    if (calltree_totals(r->source.tree, VM_PART_APPLICATION, &r->local, &totals, &r->n_totals, err) < 0 ||
        report_make(&r->source, totals, r->n_totals, &wish, &r->table, err) < 0)
        return -1;
    r->totals = totals;
    return note_mode(r, err) < 0 || take_rows(r, err) < 0 || mark_phases(r, err) < 0 ? -1 : 0;
}

static int open_statistics(struct reading *r, const char *path, struct err *err)
{
    if (call_metrics_read(path, r->diff->wish->salvage, r->diff->wish->clock, &r->local, &r->calls, err) < 0)
        return -1;
    r->statistics = statistics_open(&r->calls.wish);
    return r->statistics == NULL ? no_memory(err) : 0;
}

static int read_trace(struct reading *r, const char *path, struct err *err)
{
    struct trace_reader *reader = NULL;
    struct calltree tree = { .n_nodes = 0 };
    struct calltree_observer observer;
    struct calltree_options options = { .max_nodes = 0 };
    int rc = -1;
    r->statistics = NULL;
    if (r->with_statistics) {
        if (open_statistics(r, path, err) < 0)
            goto out;
        observer = statistics_observer(r->statistics);
        options.observer = &observer;
    }
    if (trace_open(&reader, path, r->diff->wish->salvage, err) < 0 || calltree_build(reader, &options, &tree, err) < 0)
        goto out;
    r->source =
        (struct report_source){ path, reader, &tree, report_clock(&tree, r->diff->wish->clock), &r->local, NULL };
    rc = take_trace(r, err);
out:
    statistics_close(r->statistics);
    calltree_free(&tree);
    trace_close(reader);
    arena_free(&r->local);
    return rc;
}

int diff_read(struct diff *diff, const struct diff_wish *wish, struct arena *arena, struct err *err)
{
    size_t n_before = wish->n_traces[DIFF_BEFORE], n_after = wish->n_traces[DIFF_AFTER];
    *diff = (struct diff){ .arena = arena, .wish = wish, .clock = wish->clock };
    if (n_before == 0 || n_after == 0 || (n_before == 1) != (n_after == 1)) {
        err_set(err, "%zu traces before and %zu after cannot be compared", n_before, n_after);
        return err_next(err, "name one trace on each side, or at least two on each: --before A B --after C D");
    }
    struct reading *r = arena_alloc(arena, sizeof *r);
    if (r == NULL)
        return no_memory(err);
    r->diff = diff;
    r->rows.arena = r->metrics.arena = arena;
    r->with_statistics = n_before == 1;
    int rc = 0;
    for (int side = DIFF_BEFORE; rc == 0 && side < DIFF_SIDES; side++)
        for (size_t i = 0; rc == 0 && i < wish->n_traces[side]; i++) {
            r->side = (enum diff_side)side;
            r->trace = i;
            rc = read_trace(r, wish->paths[side][i], err);
        }
    map_free(&r->rows);
    map_free(&r->metrics);
    return rc;
}
