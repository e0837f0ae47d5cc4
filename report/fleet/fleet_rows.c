#include "report/fleet/fleet_rows.h"

#include "core/base/map.h"
#include "report/event_columns.h"
#include "report/fleet/fleet_weights.h"
#include "report/view/phase_report.h"
#include "report/view/view_pass.h"

enum fleet_column {
    AT_RUN,
    AT_FILE,
    AT_HOST,
    AT_SERVICE,
    AT_VERSION,
    AT_JDK,
    AT_GC,
    AT_CPU_MODEL,
    AT_COUNTED_BY,
    AT_MODEL,
    AT_TS,
    AT_RECORDED,
    AT_KIND,
    AT_PHASE,
    AT_CLASS,
    AT_METHOD,
    AT_PARENT,
    AT_CALLS,
    AT_CALLED,
    AT_CPU,
    AT_SELF,
    AT_OFF_CPU,
    AT_WALL,
    AT_EVENTS,
    N_COLUMNS = AT_EVENTS + 14
};

static const struct parquet_column columns[N_COLUMNS] = {
    [AT_RUN] = { "run", PARQUET_TEXT },
    [AT_FILE] = { "file", PARQUET_NUMBER },
    [AT_HOST] = { "host", PARQUET_TEXT },
    [AT_SERVICE] = { "service", PARQUET_TEXT },
    [AT_VERSION] = { "version", PARQUET_TEXT },
    [AT_JDK] = { "jdk", PARQUET_TEXT },
    [AT_GC] = { "gc", PARQUET_TEXT },
    [AT_CPU_MODEL] = { "cpu_model", PARQUET_TEXT },
    [AT_COUNTED_BY] = { "counted_by", PARQUET_TEXT },
    [AT_MODEL] = { "simulated", PARQUET_TEXT },
    [AT_TS] = { "ts", PARQUET_TIME_US },
    [AT_RECORDED] = { "recorded_ns", PARQUET_NUMBER },
    [AT_KIND] = { "kind", PARQUET_TEXT },
    [AT_PHASE] = { "phase", PARQUET_TEXT },
    [AT_CLASS] = { "class", PARQUET_TEXT },
    [AT_METHOD] = { "method", PARQUET_TEXT },
    [AT_PARENT] = { "parent", PARQUET_TEXT },
    [AT_CALLS] = { "calls", PARQUET_NUMBER },
    [AT_CALLED] = { "called_ns", PARQUET_NUMBER },
    [AT_CPU] = { "cpu_ns", PARQUET_NUMBER },
    [AT_SELF] = { "self_ns", PARQUET_NUMBER },
    [AT_OFF_CPU] = { "off_cpu_ns", PARQUET_NUMBER },
    [AT_WALL] = { "wall_ns", PARQUET_NUMBER },
    [AT_EVENTS] = { "cycles", PARQUET_NUMBER },
    { "instructions", PARQUET_NUMBER },
    { "l1d_misses", PARQUET_NUMBER },
    { "l1d_load_misses", PARQUET_NUMBER },
    { "l1d_store_misses", PARQUET_NUMBER },
    { "l1i_misses", PARQUET_NUMBER },
    { "l2d_misses", PARQUET_NUMBER },
    { "l2d_load_misses", PARQUET_NUMBER },
    { "l2d_store_misses", PARQUET_NUMBER },
    { "l2i_misses", PARQUET_NUMBER },
    { "llc_misses", PARQUET_NUMBER },
    { "dtlb_misses", PARQUET_NUMBER },
    { "itlb_misses", PARQUET_NUMBER },
    { "branch_misses", PARQUET_NUMBER },
};

/* What the event columns are under in the phase table, in the same order. */
static const char *const event_headings[N_COLUMNS - AT_EVENTS] = {
    "cycles",   "instructions", "L1-D", "L1 loads", "L1 stores", "L1-I",  "L2-D",
    "L2 loads", "L2 stores",    "L2-I", "LLC",      "D-TLB",     "I-TLB", "Branches mispredicted",
};

/* A row of the table, and where its whole values and the weights of its buckets are. */
struct fleet_row {
    const struct table_row *of;
    uint32_t weights;
    bool is_method;
    const char *phase, *class_name, *method; /* class_name, method: NULL where it is none */
};

struct fleet_making {
    const struct fleet_options *options;
    struct parquet_writer *writer;
    struct arena *arena;
    struct view_pass pass;
    struct report_source source;
    struct fleet_buckets *buckets;
    struct fleet_weights weights;
    struct fleet_run run;
    struct table *table;
    struct fleet_row *rows; /* by row of the table; the arena's */
    struct event_column events[EVENT_COLUMNS_MAX];
    size_t n_events;
};

/* ---- reading ---- */

static int read_trace(struct fleet_making *m, const char *path, struct err *err)
{
    struct trace_reader *outline = NULL;
    if (trace_outline(&outline, path, m->options->salvage, err) < 0 ||
        fleet_buckets_open(&m->buckets, outline, m->options->bucket_ns, err) < 0) {
        trace_close(outline);
        return -1;
    }
    trace_close(outline);
    struct calltree_observer observer = fleet_buckets_observer(m->buckets);
    struct view_pass_options options = { .path = path,
                                         .salvage = m->options->salvage,
                                         .parts = VIEW_PASS_SAMPLES,
                                         .libraries = folding_read(NULL, m->arena, err),
                                         .observer = &observer };
    if (options.libraries == NULL || view_pass_read(&options, m->arena, &m->pass, err) < 0)
        return -1;
    sampled_tree(&m->pass.source, view_pass_samples(&m->pass, &m->pass.source), false, &m->source);
    return 0;
}

/* ---- which rows there are ---- */

static const struct table_cell *cell_under(const struct fleet_making *m, const struct table_row *row, const char *key)
{
    for (size_t c = 0; c < m->table->n_columns; c++)
        if (strcmp(m->table->columns[c].key, key) == 0)
            return &row->cells[c];
    return NULL;
}

static const char *words_under(const struct fleet_making *m, const struct table_row *row, const char *key)
{
    const struct table_cell *cell = cell_under(m, row, key);
    return cell == NULL || cell->value != TABLE_WORDS ? NULL : cell->words;
}

/* What is not there, NAN. */
static double number_under(const struct fleet_making *m, const struct table_row *row, const char *key)
{
    const struct table_cell *cell = cell_under(m, row, key);
    return cell == NULL || cell->value != TABLE_NUMBER ? NAN : cell->number;
}

static const char *key_of_method(struct arena *arena, const struct method_name *name, size_t *n)
{
    const char *key = method_name_text(arena, name);
    *n = strlen(key);
    return key;
}

/* Rows that are no methods: those of the JVM's parts have weights of their own, time of no thread has that of all. */
static uint32_t weights_of_kind(const struct fleet_making *m, const char *kind)
{
    for (enum vm_part part = VM_PART_GC; part < VM_PARTS; part++)
        if (strcmp(kind, vm_part_key(part)) == 0)
            return m->weights.parts + part;
    return strcmp(kind, "total") == 0 || strcmp(kind, "kernel") == 0 ? m->weights.all : m->weights.outside;
}

static void name_row(const struct fleet_making *m, struct fleet_row *row)
{
    struct method_name name = { words_under(m, row->of, "class"), words_under(m, row->of, "method"),
                                words_under(m, row->of, "descriptor") };
    row->is_method = name.class_name != NULL && name.method != NULL && name.descriptor != NULL;
    row->phase = strcmp(row->of->kind, "kernel") == 0 || strcmp(row->of->kind, "total") == 0
                     ? row->of->kind
                     : words_under(m, row->of, "label");
    if (!row->is_method)
        return;
    const char *full = java_names_display(m->arena, &name, JAVA_NAMES_FULL);
    const char *parameters = java_names_parameters(m->arena, name.descriptor);
    row->class_name = java_names_class(m->arena, name.class_name);
    row->method = name.method;
    row->phase = arena_printf(m->arena, "%s%s", full, parameters);
}

/* The methods of the tree that are rows.  Returns the array by method, the arena's. */
static uint32_t *find_methods(const struct fleet_making *m, uint32_t *n_methods)
{
    struct map rows = { .arena = m->arena };
    const struct calltree *tree = m->source.tree;
    uint32_t *row_of = arena_alloc(m->arena, (tree->n_methods + (size_t)1) * sizeof *row_of);
    size_t n;
    *n_methods = 0;
    for (size_t i = 0; i < m->table->n_rows; i++) {
        struct method_name name = { words_under(m, m->rows[i].of, "class"), words_under(m, m->rows[i].of, "method"),
                                    words_under(m, m->rows[i].of, "descriptor") };
        if (!m->rows[i].is_method)
            continue;
        const char *key = key_of_method(m->arena, &name, &n);
        m->rows[i].weights = (*n_methods)++;
        map_put(&rows, key, n, m->rows[i].weights);
    }
    for (uint32_t i = 0; i < tree->n_methods; i++) {
        struct method_name name = report_name(&m->source, i);
        const char *key = key_of_method(m->arena, &name, &n);
        const uint32_t *row = map_get(&rows, key, n);
        row_of[i] = row == NULL ? CALLTREE_NONE : *row;
    }
    map_free(&rows);
    return row_of;
}

static int make_rows(struct fleet_making *m, struct err *err)
{
    struct report_row_options options = { .sort = "time", .min_share = m->options->min_share, .all = true };
    uint32_t n_methods;
    m->table = arena_alloc(m->arena, sizeof *m->table);
    if (report_make(&m->source, m->pass.totals, m->pass.n_totals, &options, m->table, err) < 0)
        return -1;
    m->rows = arena_alloc(m->arena, (m->table->n_rows + 1) * sizeof *m->rows);
    for (size_t i = 0; i < m->table->n_rows; i++) {
        m->rows[i].of = &m->table->rows[i];
        name_row(m, &m->rows[i]);
    }
    const uint32_t *row_of = find_methods(m, &n_methods);
    if (fleet_weights_find(&m->source, m->buckets, row_of, n_methods, &m->weights, err) < 0)
        return -1;
    for (size_t i = 0; i < m->table->n_rows; i++)
        if (!m->rows[i].is_method)
            m->rows[i].weights = weights_of_kind(m, m->table->rows[i].kind);
    return 0;
}

/* ---- what stands in them ---- */

struct spread {
    double whole;          /* NAN: not counted */
    const double *weights; /* by bucket; the arena's */
};

/* A whole value up to a share of it, so that the parts of all buckets add up to it. */
static int64_t part_between(const struct spread *spread, uint32_t bucket)
{
    double before = bucket == 0 ? 0 : spread->weights[bucket - 1], whole = round(spread->whole);
    return (int64_t)(round(whole * spread->weights[bucket]) - round(whole * before));
}

/* By bucket: the share of the weights up to its end. */
static const double *sum_weights(const struct fleet_making *m, uint32_t row, const size_t *words, size_t n)
{
    uint32_t n_buckets = m->weights.n_buckets;
    double *shares = arena_alloc(m->arena, n_buckets * sizeof *shares), sum = 0;
    for (int attempt = 0; sum <= 0 && attempt < 3; attempt++)
        for (uint32_t b = 0; b < n_buckets; b++) {
            const double *at = fleet_weights_at(&m->weights, row, b);
            for (size_t i = 0; attempt == 0 && i < n; i++)
                sum += at[words[i]];
            sum += attempt == 1 ? at[FLEET_TOTAL] : attempt == 2 ? fleet_bucket_recorded_ns(m->buckets, b) : 0;
            shares[b] = sum;
        }
    for (uint32_t b = 0; b < n_buckets; b++)
        shares[b] = sum > 0 ? shares[b] / sum : 1;
    return shares;
}

static struct spread spread_of(const struct fleet_making *m, const struct fleet_row *row, double whole, size_t word)
{
    return (struct spread){ whole, isnan(whole) ? NULL : sum_weights(m, row->weights, &word, 1) };
}

/* The measured event of an event column, or NULL. */
static const struct event_column *event_under(const struct fleet_making *m, size_t i)
{
    for (size_t e = 0; e < m->n_events; e++)
        if (strcmp(m->events[e].heading, event_headings[i]) == 0 && m->events[e].why[0] == '\0' &&
            m->events[e].n_recorded > 0)
            return &m->events[e];
    return NULL;
}

static struct spread spread_event(const struct fleet_making *m, const struct fleet_row *row, size_t i)
{
    const struct event_column *event = event_under(m, i);
    double whole = event == NULL ? NAN : number_under(m, row->of, event->name);
    size_t words[ESTIMATE_GROUPS_MAX], n = 0;
    for (; event != NULL && n < event->n_recorded; n++)
        words[n] = FLEET_WEIGHTS + event->recorded[n].column;
    return (struct spread){ whole, isnan(whole) ? NULL : sum_weights(m, row->weights, words, n) };
}

/* Its whole values, by column; those that were not counted are NAN. */
static void find_spreads(const struct fleet_making *m, const struct fleet_row *row, struct spread spreads[N_COLUMNS])
{
    bool is_total = strcmp(row->of->kind, "total") == 0, is_wall = m->source.clock == PHASES_WALL;
    bool is_called = strcmp(row->of->kind, "phase") == 0 || is_total;
    double self = number_under(m, row->of, "self_ns"), calls = is_called ? number_under(m, row->of, "calls") : NAN;
    double cpu = is_total ? self : number_under(m, row->of, "total_ns");
    double off = is_total ? NAN : calls * number_under(m, row->of, "off_cpu_ns_per_call");
    for (size_t c = 0; c < N_COLUMNS; c++)
        spreads[c].whole = NAN;
    spreads[AT_CALLS] = spread_of(m, row, calls, FLEET_CALLED);
    double called = is_wall || is_total ? NAN : calls * number_under(m, row->of, "ns_per_call");
    spreads[AT_CALLED] = spread_of(m, row, called, FLEET_TOTAL);
    spreads[AT_CPU] = spread_of(m, row, is_wall ? NAN : cpu, FLEET_TOTAL);
    spreads[AT_SELF] = spread_of(m, row, is_wall || is_total ? NAN : self, FLEET_SELF);
    spreads[AT_OFF_CPU] = spread_of(m, row, off, FLEET_OFF);
    if (is_wall)
        spreads[AT_WALL] = spread_of(m, row, cpu, FLEET_TOTAL);
    for (size_t i = 0; i < N_COLUMNS - AT_EVENTS; i++)
        spreads[AT_EVENTS + i] = spread_event(m, row, i);
}

static struct parquet_value text_value(const char *text)
{
    return (struct parquet_value){ .is_there = text != NULL, .text = text };
}

static struct parquet_value number_value(int64_t number)
{
    return (struct parquet_value){ .is_there = true, .number = number };
}

static void fill_run(const struct fleet_making *m, struct parquet_value *values)
{
    const struct fleet_run *run = &m->run;
    bool is_counted = false;
    for (size_t i = 0; i < N_COLUMNS - AT_EVENTS; i++)
        is_counted = is_counted || event_under(m, i) != NULL;
    values[AT_RUN] = text_value(run->run);
    values[AT_FILE] = number_value(run->file);
    values[AT_HOST] = text_value(run->host);
    values[AT_SERVICE] = text_value(run->service);
    values[AT_VERSION] = text_value(run->version);
    values[AT_JDK] = text_value(run->jdk);
    values[AT_GC] = text_value(run->gc);
    values[AT_CPU_MODEL] = text_value(run->cpu_model);
    values[AT_COUNTED_BY] = text_value(!is_counted ? NULL : run->simulated != NULL ? "simulation" : "hardware");
    values[AT_MODEL] = text_value(run->simulated);
}

static void fill_row(const struct fleet_making *m, const struct fleet_row *row, struct parquet_value *values)
{
    uint32_t parent = row->is_method ? m->weights.parent[row->weights] : CALLTREE_NONE;
    values[AT_KIND] = text_value(row->of->kind);
    values[AT_PHASE] = text_value(row->phase);
    values[AT_CLASS] = text_value(row->class_name);
    values[AT_METHOD] = text_value(row->method);
    values[AT_PARENT] = text_value(NULL);
    for (size_t i = 0; parent != CALLTREE_NONE && i < m->table->n_rows; i++)
        if (m->rows[i].is_method && m->rows[i].weights == parent)
            values[AT_PARENT] = text_value(m->rows[i].phase);
}

/* A bucket's values.  Returns whether there is anything in it. */
static bool fill_bucket(const struct fleet_making *m, const struct spread *spreads, uint32_t bucket,
                        struct parquet_value *values)
{
    bool is_any = false;
    values[AT_TS] = number_value(fleet_bucket_start_us(m->buckets, bucket));
    values[AT_RECORDED] = number_value((int64_t)fleet_bucket_recorded_ns(m->buckets, bucket));
    for (size_t c = AT_CALLS; c < N_COLUMNS; c++) {
        values[c] = (struct parquet_value){ .is_there = !isnan(spreads[c].whole) };
        values[c].number = values[c].is_there ? part_between(&spreads[c], bucket) : 0;
        is_any = is_any || values[c].number != 0;
    }
    if (values[AT_CPU].is_there && values[AT_OFF_CPU].is_there)
        values[AT_WALL] = number_value(values[AT_CPU].number + values[AT_OFF_CPU].number);
    return is_any;
}

static int write_rows(struct fleet_making *m, struct err *err)
{
    struct parquet_value values[N_COLUMNS] = { { false, 0, NULL } };
    m->n_events = event_columns(m->source.reader, m->source.tree, m->events);
    fill_run(m, values);
    for (size_t i = 0; i < m->table->n_rows; i++) {
        struct spread spreads[N_COLUMNS];
        find_spreads(m, &m->rows[i], spreads);
        fill_row(m, &m->rows[i], values);
        for (uint32_t b = 0; b < m->weights.n_buckets; b++)
            if (fill_bucket(m, spreads, b, values) && parquet_row(m->writer, values, err) < 0)
                return -1;
    }
    return 0;
}

/* ---- the whole ---- */

const struct parquet_column *fleet_rows_columns(size_t *n)
{
    *n = N_COLUMNS;
    return columns;
}

int fleet_rows_open(struct parquet_writer **writer, FILE *out, const struct fleet_options *options, struct err *err)
{
    char version[16], bucket[32];
    snprintf(version, sizeof version, "%d", FLEET_SCHEMA_VERSION);
    snprintf(bucket, sizeof bucket, "%.0f", options->bucket_ns);
    if (parquet_open(writer, out, columns, N_COLUMNS, err) < 0)
        return -1;
    parquet_metadata(*writer, "mmprof.schema", FLEET_SCHEMA);
    parquet_metadata(*writer, "mmprof.schema_version", version);
    parquet_metadata(*writer, "mmprof.version", MMPROF_VERSION);
    parquet_metadata(*writer, "mmprof.bucket_ns", bucket);
    return 0;
}

int fleet_rows_add(struct parquet_writer *writer, const char *path, const struct fleet_options *options,
                   struct err *err)
{
    struct arena arena = { NULL, 0 };
    struct fleet_making m = { .options = options, .writer = writer, .arena = &arena };
    int rc = read_trace(&m, path, err);
    if (rc == 0)
        fleet_run_find(m.source.reader, options, &arena, &m.run);
    if (rc == 0)
        rc = make_rows(&m, err) < 0 ? -1 : write_rows(&m, err);
    fleet_weights_free(&m.weights);
    fleet_buckets_close(m.buckets);
    view_pass_close(&m.pass);
    arena_free(&arena);
    return rc;
}
