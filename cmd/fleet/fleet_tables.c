/* What 'mmprof fleet' answers: tables. */
#include "cmd/fleet/fleet_command.h"
#include "cmd/output_file.h"
#include "core/base/text.h"
#include "report/fleet/fleet_queries.h"
#include "report/html/html.h"

#define CHARTS_MAX 60
#define WHOLE_MAX  9007199254740992.0 /* 2^53: larger ones are no doubles */

/* How a column of an answer is printed; of one that is not among them the engine's own words stand. */
struct fleet_answer_column {
    const char *name, *heading;
    enum table_unit unit;
};

/* ---- tables ---- */

static enum table_unit unit_of(const struct fleet_answer_column *known, size_t n_known, const char *name,
                               enum fleet_type type, const char **heading)
{
    *heading = name;
    for (size_t i = 0; i < n_known; i++)
        if (strcmp(known[i].name, name) == 0) {
            *heading = known[i].heading;
            return known[i].unit;
        }
    return type == FLEET_TEXT ? TABLE_TEXT : type == FLEET_WHOLE ? TABLE_COUNT : TABLE_RATIO;
}

static struct table_cell cell_of(const char *value, enum fleet_type type, bool is_known)
{
    if (value == NULL)
        return table_unmeasured();
    double number = type == FLEET_TEXT ? 0 : strtod(value, NULL);
    if (type == FLEET_TEXT || (type == FLEET_WHOLE && (number > WHOLE_MAX || number < -WHOLE_MAX)))
        return table_words(value);
    struct table_cell cell = table_number(number);
    cell.words = is_known || type == FLEET_WHOLE ? NULL : value;
    return cell;
}

static int fill_table(struct fleet_command_run *run, const struct fleet_result *result,
                      const struct fleet_answer_column *known, size_t n_known, struct err *err)
{
    bool is_known[TABLE_COLUMNS_MAX];
    if (result->n_columns > TABLE_COLUMNS_MAX) {
        err_set(err, "the answer has %zu columns", result->n_columns);
        return err_next(err, "select at most %d", TABLE_COLUMNS_MAX);
    }
    for (size_t c = 0; c < result->n_columns; c++) {
        const char *heading;
        enum table_unit unit = unit_of(known, n_known, result->names[c], result->types[c], &heading);
        is_known[c] = heading != result->names[c];
        table_column(run->table, heading, result->names[c], unit);
    }
    for (size_t r = 0; r < result->n_rows; r++) {
        struct table_cell *cells = table_row(run->table, "row");
        for (size_t c = 0; c < result->n_columns; c++)
            cells[c] = cell_of(result->values[r * result->n_columns + c], result->types[c], is_known[c]);
    }
    return 0;
}

/* Make the table, and the view of the directory's files; from then on only these are read. */
static int open_engine(struct fleet_command_run *run, struct err *err)
{
    const struct fleet_arguments *a = run->arguments;
    run->table = arena_alloc(&run->arena, sizeof *run->table);
    table_begin(run->table, &run->arena);
    if (a->server != NULL)
        return fleet_engine_connect(&run->engine, a->server, a->password_file, err) < 0
                   ? -1
                   : fleet_engine_limit(run->engine, a->timeout_s, err);
    if (fleet_engine_open(&run->engine, a->library, err) < 0 ||
        fleet_engine_limit(run->engine, a->timeout_s, err) < 0 ||
        fleet_files_view(run->engine, a->words[1], run->checks_values, stderr, &run->count, err) < 0)
        return -1;
    return fleet_engine_confine(run->engine, a->words[1], err);
}

/* The same, for a question of mmprof's own. */
static int open_files(struct fleet_command_run *run, struct err *err)
{
    return open_engine(run, err) < 0 ? -1 : fleet_engine_check_version(run->engine, err);
}

static const char *rows_text(struct fleet_command_run *run)
{
    double n = run->count.n_rows_skipped;
    return n <= 0 ? "" : arena_printf(&run->arena, ", %.0f row%s skipped", n, text_plural((uint64_t)n));
}

/* What became of the files, and more words, stand above the table. */
static void describe_files(struct fleet_command_run *run, const char *more)
{
    const struct fleet_arguments *a = run->arguments;
    const struct fleet_count *count = &run->count;
    if (a->server != NULL) {
        table_metadata_words(run->table, "engine", a->server,
                             arena_printf(&run->arena, "fleet    %s%s", a->server, more));
        return;
    }
    const char *text = arena_printf(&run->arena, "fleet    %zu file%s, %zu skipped%s%s", count->n_used,
                                    text_plural(count->n_used), count->n_skipped, rows_text(run), more);
    table_metadata_number(run->table, "files", (double)count->n_used, text);
    table_metadata_number(run->table, "files_skipped", (double)count->n_skipped, NULL);
    table_metadata_number(run->table, "rows_skipped", count->n_rows_skipped, NULL);
}

/* Returns the exit status, or -1. */
static int print_table(struct fleet_command_run *run, struct err *err)
{
    struct fleet_arguments a = *run->arguments;
    const struct fleet_count *count = &run->count;
    if (command_print_table(run->table, a.csv, a.json, &a.display, err) < 0)
        return -1;
    return a.strict && (count->n_skipped > 0 || count->n_rows_skipped > 0) ? 1 : 0;
}

static int print_answer(struct fleet_command_run *run, const char *more, struct err *err)
{
    describe_files(run, more);
    return print_table(run, err);
}

int fleet_command_sql(struct fleet_command_run *run, struct err *err)
{
    struct fleet_result result;
    const char *sql = run->arguments->words[2];
    if (open_engine(run, err) < 0 || fleet_engine_check_select(run->engine, sql, err) < 0 ||
        fleet_engine_query(run->engine, sql, &run->arena, &result, err) < 0 ||
        fill_table(run, &result, NULL, 0, err) < 0)
        return -1;
    return print_answer(run, "", err);
}

/* ---- the page of 'select --html' ---- */

static bool is_same(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* The points of the selected phases, in their order. */
static void choose_points(const struct fleet_result *selected, const struct fleet_result *days,
                          struct html_fleet_point *points, size_t *n)
{
    *n = 0;
    for (size_t s = 0; s < selected->n_rows && s < CHARTS_MAX; s++) {
        const char *const *phase = selected->values + s * selected->n_columns;
        for (size_t d = 0; d < days->n_rows; d++) {
            const char *const *day = days->values + d * days->n_columns;
            if (is_same(day[0], phase[0]) && is_same(day[1], phase[1]))
                points[(*n)++] = (struct html_fleet_point){ .service = day[0],
                                                            .phase = day[1],
                                                            .version = day[2],
                                                            .day = day[3],
                                                            .ns_per_call = day[4] == NULL ? NAN : strtod(day[4], NULL),
                                                            .share = day[5] == NULL ? NAN : strtod(day[5], NULL) };
        }
    }
}

static int write_page(const struct html_fleet *page, const char *pattern, struct err *err)
{
    char path[PATH_MAX];
    struct output_file file;
    if (output_file_name(pattern, "--html", 0, path, err) < 0 || output_file_open(&file, path, "--html", err) < 0)
        return -1;
    return output_file_close(&file, html_fleet_write(page, file.out, err), err);
}

/* Ask for the selected phases by day and version, and write the page; table: as text has it. */
static int write_fleet_page(struct fleet_command_run *run, const struct fleet_result *selected,
                            const struct table *table, struct err *err)
{
    const struct fleet_arguments *a = run->arguments;
    const char *sql = fleet_days_sql(run->engine, &run->arena, a->service);
    struct html_fleet page = { .of = a->server != NULL ? a->server : a->words[1],
                               .table = table,
                               .arena = &run->arena };
    struct fleet_result days;
    if (fleet_engine_query(run->engine, sql, &run->arena, &days, err) < 0)
        return -1;
    struct html_fleet_point *points = arena_alloc(&run->arena, (days.n_rows + 1) * sizeof *points);
    choose_points(selected, &days, points, &page.n_points);
    page.points = points;
    return write_page(&page, a->html, err);
}

int fleet_command_select(struct fleet_command_run *run, struct err *err)
{
    static const struct fleet_answer_column columns[] = {
        { "service", "Service", TABLE_TEXT },      { "phase", "Phase", TABLE_TEXT },
        { "time_share", "Time (%)", TABLE_SHARE }, { "self_share", "Self (%)", TABLE_SHARE },
        { "calls", "Calls", TABLE_COUNT },         { "ns_per_call", "Time/call", TABLE_NS },
        { "runs", "Runs", TABLE_COUNT },
    };
    struct fleet_result result;
    char grain[64];
    if (open_files(run, err) < 0)
        return -1;
    const char *sql = fleet_select_sql(run->engine, &run->arena, run->arguments->service, run->arguments->weight,
                                       run->arguments->grain_s * FLEET_NS_PER_SECOND);
    if (fleet_engine_query(run->engine, sql, &run->arena, &result, err) < 0 ||
        fill_table(run, &result, columns, sizeof columns / sizeof columns[0], err) < 0)
        return -1;
    table_format_ns(run->arguments->grain_s * FLEET_NS_PER_SECOND, grain, sizeof grain);
    const char *rule = arena_printf(&run->arena, "; at least %.3g %% of a service's CPU time, and %s a call",
                                    100 * run->arguments->weight, grain);
    describe_files(run, rule);
    if (result.n_rows == 0)
        table_note(run->table,
                   "no phase reaches that: lower --weight or --min-call; to list the services: mmprof fleet "
                   "sql DIR \"SELECT DISTINCT service FROM phases\"");
    if (run->arguments->html != NULL && write_fleet_page(run, &result, run->table, err) < 0)
        return -1;
    return print_table(run, err);
}

struct difference_row {
    const char *service, *phase, *metric;
    struct table_cell before, after;
    double ratio, low, high, p, n_before, n_after;
};

static const struct table_column difference_columns[] = {
    { "service", "Service", TABLE_TEXT, FROM(struct difference_row, service) },
    { "phase", "Phase", TABLE_TEXT, FROM(struct difference_row, phase) },
    { "metric", "What", TABLE_TEXT, FROM(struct difference_row, metric) },
    { "before", "Before", TABLE_RATIO, FROM(struct difference_row, before) },
    { "after", "After", TABLE_RATIO, FROM(struct difference_row, after) },
    { "ratio", "Ratio", TABLE_RATIO, FROM(struct difference_row, ratio) },
    { "ratio_low", "Low", TABLE_RATIO, FROM(struct difference_row, low) },
    { "ratio_high", "High", TABLE_RATIO, FROM(struct difference_row, high) },
    { "p", "p", TABLE_RATIO, FROM(struct difference_row, p) },
    { "runs_before", "Runs", TABLE_COUNT, FROM(struct difference_row, n_before) },
    { "runs_after", "Runs", TABLE_COUNT, FROM(struct difference_row, n_after) },
};

static void print_difference(struct fleet_command_run *run, const struct fleet_difference *d)
{
    static const enum table_unit units[] = { TABLE_NS, TABLE_SHARE, TABLE_RATIO };
    static const char *const names[] = { "time/call", "share", "factor" };
    const struct difference_row row = { .service = d->service,
                                        .phase = d->phase,
                                        .metric = names[d->of],
                                        .before = table_number_in(run->table, d->before, units[d->of]),
                                        .after = table_number_in(run->table, d->after, units[d->of]),
                                        .ratio = d->ratio,
                                        .low = d->low,
                                        .high = d->high,
                                        .p = d->p,
                                        .n_before = d->n_before,
                                        .n_after = d->n_after };
    table_add(run->table, "row", &row);
}

/* Returns how many differ; *is_broken: one got slower by more than --fail-on. */
static size_t fill_differences(struct fleet_command_run *run, const struct fleet_difference *differences, size_t n,
                               bool *is_broken)
{
    const struct fleet_arguments *a = run->arguments;
    size_t n_differ = 0;
    TABLE_COLUMNS(run->table, difference_columns, 0);
    for (size_t i = 0; i < n; i++) {
        bool differs = differences[i].p < FLEET_SIGNIFICANCE;
        n_differ += differs;
        *is_broken = *is_broken || (differs && a->fail_on >= 0 && differences[i].ratio > 1 + a->fail_on);
        if (differs || a->all)
            print_difference(run, &differences[i]);
    }
    return n_differ;
}

int fleet_command_compare(struct fleet_command_run *run, struct err *err)
{
    const struct fleet_arguments *a = run->arguments;
    const struct fleet_compare_options options = { a->before, a->after, a->service, a->weight };
    struct fleet_difference *differences;
    size_t n;
    bool is_broken = false;
    if (open_files(run, err) < 0 || fleet_compare(run->engine, &options, &run->arena, &differences, &n, err) < 0)
        return -1;
    size_t n_differ = fill_differences(run, differences, n, &is_broken);
    const char *tests = arena_printf(&run->arena, "; %zu of %zu phases differ between %s and %s (Welch's t over runs)",
                                     n_differ, n, a->before, a->after);
    table_metadata_number(run->table, "tests", (double)n, NULL);
    int rc = print_answer(run, tests, err);
    return rc == 0 && is_broken ? FLEET_STATUS_BROKEN : rc;
}

/* ---- outliers ---- */

static const struct table_column outlier_columns[] = {
    { "service", "Service", TABLE_TEXT, FROM(struct fleet_outlier, service) },
    { "run", "Run", TABLE_TEXT, FROM(struct fleet_outlier, run) },
    { "version", "Version", TABLE_TEXT, FROM(struct fleet_outlier, version) },
    { "jdk", "JDK", TABLE_TEXT, FROM(struct fleet_outlier, jdk) },
    { "cpu_model", "CPU", TABLE_TEXT, FROM(struct fleet_outlier, cpu_model) },
    { "value", "Value", TABLE_RATIO, FROM(struct fleet_outlier, value) },
    { "median", "Median", TABLE_RATIO, FROM(struct fleet_outlier, median) },
    { "mads", "MADs", TABLE_RATIO, FROM(struct fleet_outlier, mads) },
    { "p", "p", TABLE_RATIO, FROM(struct fleet_outlier, p) },
    { "runs", "Runs", TABLE_COUNT, FROM(struct fleet_outlier, n_runs) },
};

/* Runs that were not judged, and why. */
static void note_unjudged(struct fleet_command_run *run, const struct fleet_outliers *found, enum fleet_measure measure)
{
    const struct {
        size_t n;
        const char *why;
    } notes[] = {
        { found->n_uncounted, measure == FLEET_CPI ? "no cycles and instructions that hardware counted"
                                                   : "too few phases whose calls were recorded" },
        { found->n_few, "fewer than 10 others of the same service, JDK and CPU model to compare with" },
        { found->n_alike, "half of the service's runs have the same value, so the spread is unknown" },
    };
    for (size_t i = 0; i < sizeof notes / sizeof notes[0]; i++) {
        if (notes[i].n > 0)
            table_doubt(run->table, arena_printf(&run->arena, "%zu run%s %s", notes[i].n,
                                                 notes[i].n == 1 ? " has" : "s have", notes[i].why));
    }
}

/* Returns how many there are; *is_broken: one is slower by more than --fail-on. */
static size_t fill_outliers(struct fleet_command_run *run, const struct fleet_outliers *found, bool *is_broken)
{
    const struct fleet_arguments *a = run->arguments;
    size_t n = 0;
    TABLE_COLUMNS(run->table, outlier_columns, 0);
    for (size_t i = 0; i < found->n; i++) {
        const struct fleet_outlier *o = &found->runs[i];
        bool is_outlier = o->p < FLEET_SIGNIFICANCE;
        n += is_outlier;
        *is_broken = *is_broken || (is_outlier && a->fail_on >= 0 && o->value > o->median * (1 + a->fail_on));
        if (is_outlier || a->all)
            table_add(run->table, "row", o);
    }
    return n;
}

int fleet_command_outliers(struct fleet_command_run *run, struct err *err)
{
    const struct fleet_arguments *a = run->arguments;
    struct fleet_outliers_options options = { .service = a->service };
    struct fleet_outliers found;
    bool is_broken = false;
    if (fleet_measure_parse(a->measure, &options.measure, err) < 0 || open_files(run, err) < 0 ||
        fleet_outliers_find(run->engine, &options, &run->arena, &found, err) < 0)
        return -1;
    size_t n = fill_outliers(run, &found, &is_broken);
    const char *what = options.measure == FLEET_CPI ? "cycles per instruction" : "time per call over what is usual";
    const char *rule = arena_printf(
        &run->arena, "; %zu of %zu runs are outliers by %s (MAD of service, JDK, CPU model)", n, found.n, what);
    note_unjudged(run, &found, options.measure);
    table_metadata_number(run->table, "tests", (double)found.n, NULL);
    int rc = print_answer(run, rule, err);
    return rc == 0 && is_broken ? FLEET_STATUS_BROKEN : rc;
}
