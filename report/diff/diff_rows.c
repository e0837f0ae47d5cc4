/* Rows of values, from what the report says of a trace, and how calls vary. */
#include "report/diff/diff_internal.h"

#include "core/trace/recording_info.h"

#define FIRST_ROWS 64

/* A row that was recorded for less of what ran than this is not compared as if it were all. */
#define RECORDED_MIN 0.99

/* Times of phases in live runs of one program differ by so much (standard deviation) beyond what calls and samples
 * tell: by 13 % in eight recordings of two programs on a busy machine. */
#define LIVE_DEVIATION 0.15

static const char *keep(const struct diff_reading *r, const char *text)
{
    return arena_text(r->diff->arena, text, strlen(text));
}

/* ---- metrics ---- */

static void add_metric(struct diff_reading *r, const char *name, const char *key, enum table_unit unit,
                       enum diff_role role)
{
    struct diff *d = r->diff;
    if (map_get(&r->metrics, key, strlen(key)) != NULL || d->n_metrics == DIFF_METRICS_MAX)
        return;
    d->metrics[d->n_metrics] = (struct diff_metric){ keep(r, name), keep(r, key), unit, role, false };
    map_put(&r->metrics, key, strlen(key), (uint32_t)d->n_metrics++);
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
static void add_metrics(struct diff_reading *r)
{
    add_metric(r, "time", "total_ns", TABLE_NS, DIFF_TIME);
    add_metric(r, "self", "self_ns", TABLE_NS, DIFF_SELF);
    add_metric(r, "adjusted", "adjusted_ns", TABLE_NS, DIFF_ADJUSTED);
    add_metric(r, "share", "time_share", TABLE_SHARE, DIFF_SHARE);
    add_metric(r, "calls", "calls", TABLE_COUNT, DIFF_CALLS);
    add_metric(r, "time/call", "ns_per_call", TABLE_NS, DIFF_PER_CALL);
    for (size_t c = 0; c < r->table.n_columns; c++) {
        const struct table_column *column = &r->table.columns[c];
        if (is_rate(column) && has_number(&r->table, c))
            add_metric(r, column->heading, column->key, column->unit, DIFF_RATE);
    }
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

static struct diff_value *new_values(const struct diff_reading *r, size_t n_traces)
{
    size_t n = n_traces * DIFF_METRICS_MAX;
    struct diff_value *values = arena_alloc(r->diff->arena, n * sizeof *values);
    for (size_t i = 0; i < n; i++)
        values[i] = (struct diff_value){ NAN, NAN, 0, false };
    return values;
}

static void make_room(struct diff *d)
{
    if (d->n_rows < d->rows_room)
        return;
    size_t room = d->rows_room == 0 ? FIRST_ROWS : d->rows_room * 2;
    struct diff_row *rows = arena_alloc(d->arena, room * sizeof *rows);
    if (d->n_rows > 0)
        memcpy(rows, d->rows, d->n_rows * sizeof *rows);
    d->rows = rows;
    d->rows_room = room;
}

static struct diff_row *new_row(struct diff_reading *r, const char *kind, const char *label,
                                const struct method_name *name)
{
    struct diff *d = r->diff;
    make_room(d);
    struct diff_row *row = &d->rows[d->n_rows];
    *row = (struct diff_row){ .kind = keep(r, kind),
                              .label = keep(r, label),
                              .names.class_name = keep(r, name->class_name),
                              .names.method = keep(r, name->method),
                              .names.descriptor = keep(r, name->descriptor),
                              .order = d->n_rows,
                              .values = { new_values(r, d->options->n_traces[DIFF_BEFORE]),
                                          new_values(r, d->options->n_traces[DIFF_AFTER]) } };
    return row;
}

/* The same method in another run: hidden classes have another address there. */
static const char *key_of(struct diff_reading *r, const char *kind, const struct method_name *name)
{
    return arena_printf(&r->local, "%s %s %s", kind, java_names_display(&r->local, name, JAVA_NAMES_FULL),
                        name->descriptor);
}

static struct diff_row *find_row(struct diff_reading *r, const char *kind, const char *label,
                                 const struct method_name *name)
{
    const char *key = key_of(r, kind, name);
    const uint32_t *known = map_get(&r->rows, key, strlen(key));
    if (known != NULL)
        return &r->diff->rows[*known];
    struct diff_row *row = new_row(r, kind, label, name);
    map_put(&r->rows, key, strlen(key), (uint32_t)r->diff->n_rows++);
    return row;
}

/* ---- values ---- */

static bool adds_up(const struct diff_metric *metric)
{
    return metric->role != DIFF_PER_CALL && metric->role != DIFF_RATE;
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

/* The variance of a value over batches of calls; of own time it is not known where that is not all. */
static void add_variance(const struct diff_reading *r, const struct diff_metric *metric, uint32_t method,
                         struct diff_value *value)
{
    for (size_t i = 0; i < r->pass.metrics.options.n_metrics; i++) {
        bool is_time = r->pass.metrics.options.metrics[i].is_time;
        bool is_it = metric->role == DIFF_RATE ? strcmp(r->pass.metrics.of[i].key, metric->key) == 0
                                               : is_time && metric->role != DIFF_CALLS && metric->role != DIFF_ADJUSTED;
        if (!is_it)
            continue;
        struct statistics_error error = statistics_error_of(r->pass.statistics, method, i);
        double relative = error.variance == 0 ? 0 : error.variance / (error.value * error.value);
        double rest = metric->role == DIFF_SHARE ? 1 - value->value : 1; /* what is 100 % changes, too */
        value->variance = value->value * value->value * relative * rest * rest;
        value->df = error.df;
    }
}

#define DEVIATIONS 1.96  /* of the interval of 95 % */
#define SAMPLES_DF 100.0 /* their intervals have what few samples need in them */

/* Where stack samples divide the time, they tell how far off that may be, on top of how calls vary. */
static void add_sampled_variance(const struct diff_reading *r, const struct diff_metric *metric,
                                 const struct table_cell *cells, struct diff_value *value)
{
    bool is_self = metric->role == DIFF_SELF;
    double share = number(&r->table, cells, is_self ? "self_share" : "time_share"),
           error = number(&r->table, cells, is_self ? "self_share_error" : "time_share_error");
    if ((metric->role != DIFF_TIME && metric->role != DIFF_SHARE && !is_self) || isnan(error) || !(share > 0))
        return;
    double deviation = value->value * error / share / DEVIATIONS, variance = deviation * deviation;
    bool has_calls = value->variance > 0;
    value->df = has_calls ? fmin(value->df, SAMPLES_DF) : SAMPLES_DF;
    value->variance = variance + (has_calls ? value->variance : 0);
}

/* The method of a table's row; CALLTREE_NONE: it is none. */
static uint32_t method_of(const struct map *methods, struct diff_reading *r, const struct method_name *name)
{
    const char *key = method_name_text(&r->local, name);
    const uint32_t *method = map_get(methods, key, strlen(key));
    return method == NULL ? CALLTREE_NONE : *method;
}

/* Without the mark of partial calls: the next trace may have none. */
static const char *label_of(struct diff_reading *r, const char *label)
{
    size_t n = strlen(label);
    bool is_marked = n > 2 && strcmp(label + n - 2, " +") == 0;
    return is_marked ? arena_text(&r->local, label, n - 2) : label;
}

/* Does a live recording say something of a method? */
static bool knows_live(struct diff_reading *r, uint32_t method)
{
    struct info_live_method told;
    return method != CALLTREE_NONE && info_read(r->source.reader, INFO_LIVE_METHOD, method, r->source.arena, &told) > 0;
}

/* The method had probes for a part of the time: its time and calls are of that, its share of what ran meanwhile. */
static bool is_recorded_partly(const struct diff_reading *r, const struct table_row *row)
{
    return number(&r->table, row->cells, "recorded_share") < RECORDED_MIN; /* not where that is not known */
}

static bool is_live(const struct diff_reading *r)
{
    const char *mode = info_text(r->source.reader, INFO_RECORDING_MODE);
    return mode != NULL && strcmp(mode, "live") == 0;
}

/*
 * Of one live run only times of phases are tested, with how runs differ in their variance, too.  Calls are of the part
 * of the warm-up in which the method had probes, which is another one in the next run.  Which method a sample is in
 * depends on what the JIT inlined: methods of 0.4 % of the time had 6 % of it in the next run.
 */
static void limit_live_tests(const struct diff_reading *r, const struct table_row *row, bool is_partly,
                             struct diff_value *values)
{
    bool is_divided = r->source.sampled != NULL, is_sampled = strcmp(row->kind, "sampled") == 0;
    for (size_t i = 0; r->with_statistics && is_live(r) && i < r->diff->n_metrics; i++) {
        const struct diff_metric *metric = &r->diff->metrics[i];
        bool is_of_part = is_partly && (!adds_up(metric) || (!is_divided && metric->role == DIFF_SHARE));
        bool is_own = is_divided && metric->role == DIFF_SELF;
        double deviation = LIVE_DEVIATION * values[i].value;
        if (is_of_part || is_sampled || is_own)
            values[i].variance = NAN;
        else if (metric->role != DIFF_CALLS)
            values[i].variance += deviation * deviation;
    }
}

static void take_values(const struct diff_reading *r, const struct table_row *row, uint32_t method,
                        struct diff_value *values)
{
    const struct diff *d = r->diff;
    struct diff_value fresh[DIFF_METRICS_MAX] = { { 0 } };
    bool is_partly = is_recorded_partly(r, row), is_first = isnan(values[0].value) && !values[0].is_partial;
    bool is_divided = r->source.sampled != NULL; /* then its time and share are of all that ran */
    for (size_t i = 0; i < d->n_metrics; i++) {
        fresh[i] = (struct diff_value){ table_value(&r->table, row->cells, &d->metrics[i]), NAN, 0, false };
        bool is_of_all = is_divided ? d->metrics[i].role != DIFF_CALLS : d->metrics[i].role == DIFF_SHARE;
        if (is_partly && adds_up(&d->metrics[i]) && !is_of_all)
            fresh[i] = (struct diff_value){ NAN, NAN, 0, true };
        else if (method != CALLTREE_NONE && r->with_statistics)
            add_variance(r, &d->metrics[i], method, &fresh[i]);
    }
    if (method == CALLTREE_NONE) /* all of it is its own */
        fresh[DIFF_SELF].value = NAN;
    if (fresh[DIFF_SELF].value != fresh[DIFF_TIME].value)
        fresh[DIFF_SELF].variance = NAN;
    for (size_t i = 0; is_divided && r->with_statistics && i < d->n_metrics; i++)
        add_sampled_variance(r, &d->metrics[i], row->cells, &fresh[i]);
    limit_live_tests(r, row, is_partly, fresh);
    if (is_first)
        memcpy(values, fresh, d->n_metrics * sizeof *values);
    else
        merge_values(d, fresh, values);
}

static void take_row(struct diff_reading *r, const struct table_row *row, const struct map *methods)
{
    const struct table *table = &r->table;
    struct method_name name = { words(table, row->cells, "class"), words(table, row->cells, "method"),
                                words(table, row->cells, "descriptor") };
    bool is_sampled = strcmp(row->kind, "sampled") == 0, is_total = strcmp(row->kind, "total") == 0;
    bool is_method = is_sampled || strcmp(row->kind, "phase") == 0;
    const char *label = is_total ? "whole process" : label_of(r, words(table, row->cells, "label"));
    /* What is in no method: nobody can say what it is; and what may be the host's doing. */
    if (strcmp(row->kind, "application") == 0 || strcmp(row->kind, "switches") == 0 ||
        strcmp(row->kind, "before") == 0 || strcmp(row->kind, "more") == 0)
        return;
    if (!is_method) /* they have no name but their kind's */
        name = (struct method_name){ "", "", "" };
    struct diff_row *to = find_row(r, is_method ? "phase" : row->kind, label, &name);
    uint32_t method = is_method ? method_of(methods, r, &name) : CALLTREE_NONE;
    take_values(r, row, method, to->values[r->side] + r->trace * DIFF_METRICS_MAX);
}

/* ---- what had probes ---- */

static void note_method(struct diff_reading *r, const struct method_name *name)
{
    const char *key = key_of(r, "phase", name);
    const uint32_t *known = map_get(&r->measured, key, strlen(key));
    if (known != NULL) {
        r->where[*known].traces[r->side] |= UINT64_C(1) << r->trace;
        return;
    }
    if (r->n_where == r->where_room) {
        size_t room = r->where_room == 0 ? FIRST_ROWS : r->where_room * 2;
        struct diff_measured *where = arena_alloc(r->diff->arena, room * sizeof *where);
        if (r->n_where > 0)
            memcpy(where, r->where, r->n_where * sizeof *where);
        r->where = where;
        r->where_room = room;
    }
    map_put(&r->measured, key, strlen(key), (uint32_t)r->n_where);
    r->where[r->n_where++].traces[r->side] = UINT64_C(1) << r->trace;
}

/* Traces define the methods that got probes, called or not; those of live recordings others, too. */
static void note_measured(struct diff_reading *r)
{
    for (uint32_t i = 0; i < trace_n_methods(r->source.reader); i++) {
        if (trace_method(r->source.reader, i) == NULL || (is_live(r) && !knows_live(r, i)))
            continue;
        struct method_name name = report_name(&r->source, i);
        note_method(r, &name);
    }
}

/* ---- all rows of a trace, and of all ---- */

/* Ids of methods by their names. */
static void map_methods(struct diff_reading *r, struct map *methods)
{
    for (size_t i = 0; i < r->n_totals; i++) {
        struct method_name name = report_name(&r->source, r->totals[i].method);
        const char *key = method_name_text(&r->local, &name);
        map_put(methods, key, strlen(key), r->totals[i].method);
    }
}

void diff_rows_take(struct diff_reading *r)
{
    struct map methods = { .arena = &r->local };
    add_metrics(r);
    map_methods(r, &methods);
    note_measured(r);
    for (size_t i = 0; i < r->table.n_rows; i++)
        take_row(r, &r->table.rows[i], &methods);
    map_free(&methods);
}

size_t diff_rows_find(struct diff_reading *r, uint32_t method)
{
    struct method_name name = report_name(&r->source, method);
    const char *key = key_of(r, "phase", &name);
    const uint32_t *row = map_get(&r->rows, key, strlen(key));
    return row == NULL ? SIZE_MAX : *row;
}

static bool is_unknown(const struct diff_value *values)
{
    return isnan(values[DIFF_TIME].value) && !values[DIFF_TIME].is_partial;
}

/*
 * A method that had probes in a run which never called it took no time there, and one that no stack sample met.  So
 * did one whose class a run did not load, where all that is to be recorded was known before, and other runs of the side
 * did.
 */
static void fill_zeros(const struct diff *d, const struct diff_row *row, enum diff_side side)
{
    bool is_live = d->modes[side] == NULL || strcmp(d->modes[side], "live") == 0;
    for (size_t i = 0; i < d->options->n_traces[side]; i++) {
        bool has_probes = (row->measured[side] >> i & 1) != 0, is_sampled = (d->sampled[side] >> i & 1) != 0;
        bool may_be_called = !has_probes && (is_live || row->measured[side] == 0);
        if (!is_unknown(diff_value_of(row, side, i, 0)) || (may_be_called && !is_sampled))
            continue;
        for (size_t m = 0; m < d->n_metrics; m++)
            if (adds_up(&d->metrics[m]) && d->metrics[m].role != DIFF_ADJUSTED &&
                !(may_be_called && d->metrics[m].role == DIFF_CALLS))
                diff_value_of(row, side, i, m)->value = 0;
    }
}

void diff_rows_finish(struct diff_reading *r)
{
    const struct diff *d = r->diff;
    for (size_t i = 0; i < d->n_rows; i++) {
        struct diff_row *row = &d->rows[i];
        struct method_name name = row->names;
        if (strcmp(row->kind, "phase") != 0)
            continue;
        const char *key = key_of(r, "phase", &name);
        const uint32_t *known = map_get(&r->measured, key, strlen(key));
        for (int side = DIFF_BEFORE; side < DIFF_SIDES && known != NULL; side++)
            row->measured[side] = r->where[*known].traces[side];
        fill_zeros(d, row, DIFF_BEFORE);
        fill_zeros(d, row, DIFF_AFTER);
    }
    arena_free(&r->local);
}
