/*
 * mmprof fleet: the rows of many JVMs, in a directory of Parquet files.
 *
 *     $ mmprof fleet add rows shop-1.parquet shop-2.parquet
 *     $ mmprof fleet select --service shop rows
 *     fleet    2 files, 0 skipped; at least 0.5 % of a service's CPU time, and 100 us a call
 *
 *     Service  Phase                                   Time (%)  Self (%)   Calls  Time/call  Runs
 *     --------------------------------------------------------------------------------------------
 *     shop     org.sunflow.core.accel.KDTree.build...     24.18     11.20  13,741     152 us     2
 */
#include "cmd/trace_argument.h"
#include "report/fleet/fleet_compare.h"
#include "report/fleet/fleet_files.h"
#include "report/fleet/fleet_queries.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX     4096
#define WEIGHT        0.005
#define GRAIN_S       100e-6
#define WHOLE_MAX     9007199254740992.0 /* 2^53: larger ones are no doubles */
#define NS_PER_SECOND 1e9
#define STATUS_BROKEN 2 /* as of 'mmprof diff' */

struct fleet_arguments {
    struct display display;
    const char *words[WORDS_MAX]; /* what to do, and with what */
    size_t n;
    const char *service, *library, *before, *after;
    double weight, grain_s, fail_on; /* fail_on: negative: not given */
    bool csv, json, strict, all;
};

struct fleet_command_run {
    const struct fleet_arguments *arguments;
    struct arena arena;
    struct fleet_engine *engine;
    struct fleet_count count;
    struct table *table;
};

static int parse(int argc, char **argv, struct fleet_arguments *a, bool *done, struct err *err)
{
    const struct options_row rows[] = {
        { 0, "service", "NAME", OPTION_TEXT, &a->service, "select, compare: only this service" },
        { 0, "weight", "SHARE", OPTION_FRACTION, &a->weight,
          "select, compare: a phase has at least this share of the CPU time (0.5%)" },
        { 0, "grain", "TIME", OPTION_SECONDS, &a->grain_s, "select: and at least this time per call (0.1ms)" },
        { 0, "before", "KEY=NAME", OPTION_TEXT, &a->before, "compare: these runs, as version=1.2" },
        { 0, "after", "KEY=NAME", OPTION_TEXT, &a->after, "compare: with these" },
        { 0, "all", NULL, OPTION_FLAG, &a->all, "compare: print what does not differ, too" },
        { 0, "fail-on", "SHARE", OPTION_FRACTION, &a->fail_on,
          "compare: exit with status 2 if a phase got slower by more" },
        { 0, "duckdb", "FILE", OPTION_TEXT, &a->library,
          "DuckDB's libduckdb.so (" FLEET_ENGINE_VARIABLE ", beside mmprof, /usr/local/lib)" },
        { 0, "strict", NULL, OPTION_FLAG, &a->strict, "fail if a file is skipped" },
        { 0, "csv", NULL, OPTION_FLAG, &a->csv, "print the table as CSV" },
        { 0, "json", NULL, OPTION_FLAG, &a->json, "print the table as JSON" },
        DISPLAY_ROW(&a->display),
        { 0 },
    };
    return command_parse_traces(
        "fleet add DIR FILE... | select|compare [OPTIONS] DIR | sql [OPTIONS] DIR 'SELECT ...'",
        "Asks the rows of many JVMs ('mmprof export --format parquet') by DuckDB. 'add' copies files into a\n"
        "directory, 'select' finds the phases of each service over all of its runs, 'compare' those that\n"
        "differ between two versions, and 'sql' answers a question of your own: the table is 'phases', and\n"
        "mmprof.parquet(5) describes its columns.",
        rows, argc, argv, a->words, WORDS_MAX, &a->n, done, err);
}

/* ---- tables ---- */

/* How a column of an answer is printed; of one that is not among them DuckDB's own words stand. */
struct answer_column {
    const char *name, *heading;
    enum table_unit unit;
};

static enum table_unit unit_of(const struct answer_column *known, size_t n_known, const char *name,
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
                      const struct answer_column *known, size_t n_known, struct err *err)
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
        for (size_t c = 0; cells != NULL && c < result->n_columns; c++)
            cells[c] = cell_of(result->values[r * result->n_columns + c], result->types[c], is_known[c]);
    }
    return 0;
}

/* ---- what is done ---- */

static int open_files(struct fleet_command_run *run, struct err *err)
{
    const struct fleet_arguments *a = run->arguments;
    run->table = arena_alloc(&run->arena, sizeof *run->table);
    if (run->table == NULL)
        return err_set(err, "out of memory for a table");
    table_begin(run->table, &run->arena);
    if (fleet_engine_open(&run->engine, a->library, err) < 0 ||
        fleet_files_view(run->engine, a->words[1], stderr, &run->count, err) < 0)
        return -1;
    return fleet_engine_confine(run->engine, a->words[1], err);
}

/* Returns the exit status, or -1 with *err set. */
static int print_answer(struct fleet_command_run *run, struct err *err)
{
    struct fleet_arguments a = *run->arguments;
    if (command_print_table(run->table, a.csv, a.json, &a.display, err) < 0)
        return -1;
    return a.strict && run->count.n_skipped > 0 ? 1 : 0;
}

static const char *files_text(struct fleet_command_run *run, const char *more)
{
    return arena_printf(&run->arena, "fleet    %zu file%s, %zu skipped%s", run->count.n_used,
                        run->count.n_used == 1 ? "" : "s", run->count.n_skipped, more);
}

static int run_sql(struct fleet_command_run *run, struct err *err)
{
    struct fleet_result result;
    const char *sql = run->arguments->words[2];
    if (open_files(run, err) < 0 || fleet_engine_check_select(run->engine, sql, err) < 0 ||
        fleet_engine_query(run->engine, sql, &run->arena, &result, err) < 0 ||
        fill_table(run, &result, NULL, 0, err) < 0)
        return -1;
    table_metadata_number(run->table, "files", (double)run->count.n_used, files_text(run, ""));
    return print_answer(run, err);
}

static int run_select(struct fleet_command_run *run, struct err *err)
{
    static const struct answer_column columns[] = {
        { "service", "Service", TABLE_TEXT },      { "phase", "Phase", TABLE_TEXT },
        { "time_share", "Time (%)", TABLE_SHARE }, { "self_share", "Self (%)", TABLE_SHARE },
        { "calls", "Calls", TABLE_COUNT },         { "ns_per_call", "Time/call", TABLE_NS },
        { "runs", "Runs", TABLE_COUNT },
    };
    struct fleet_result result;
    char grain[64];
    if (open_files(run, err) < 0)
        return -1;
    const char *sql = fleet_select_sql(&run->arena, run->arguments->service, run->arguments->weight,
                                       run->arguments->grain_s * NS_PER_SECOND);
    if (sql == NULL)
        return err_set(err, "out of memory for a query");
    if (fleet_engine_query(run->engine, sql, &run->arena, &result, err) < 0 ||
        fill_table(run, &result, columns, sizeof columns / sizeof columns[0], err) < 0)
        return -1;
    table_format_ns(run->arguments->grain_s * NS_PER_SECOND, grain, sizeof grain);
    const char *rule = arena_printf(&run->arena, "; at least %.3g %% of a service's CPU time, and %s a call",
                                    100 * run->arguments->weight, grain);
    table_metadata_number(run->table, "files", (double)run->count.n_used, files_text(run, rule == NULL ? "" : rule));
    return print_answer(run, err);
}

static void print_difference(struct fleet_command_run *run, const struct fleet_difference *d)
{
    struct table_cell *cells = table_row(run->table, "row");
    if (cells == NULL)
        return;
    static const enum table_unit units[] = { TABLE_NS, TABLE_SHARE, TABLE_RATIO };
    static const char *const names[] = { "time/call", "share", "factor" };
    enum table_unit unit = units[d->of];
    cells[0] = d->service == NULL ? table_unmeasured() : table_words(d->service);
    cells[1] = table_words(d->phase);
    cells[2] = table_words(names[d->of]);
    cells[3] = table_number_in(run->table, d->before, unit);
    cells[4] = table_number_in(run->table, d->after, unit);
    cells[5] = table_number(d->ratio);
    cells[6] = isnan(d->low) ? table_unmeasured() : table_number(d->low);
    cells[7] = isnan(d->high) ? table_unmeasured() : table_number(d->high);
    cells[8] = table_number(d->p);
    cells[9] = table_number(d->n_before);
    cells[10] = table_number(d->n_after);
}

/* Returns how many differ; *is_broken: one got slower by more than --fail-on. */
static size_t fill_differences(struct fleet_command_run *run, const struct fleet_difference *differences, size_t n,
                               bool *is_broken)
{
    static const struct answer_column columns[] = {
        { "service", "Service", TABLE_TEXT },
        { "phase", "Phase", TABLE_TEXT },
        { "metric", "What", TABLE_TEXT },
        { "before", "Before", TABLE_RATIO },
        { "after", "After", TABLE_RATIO },
        { "ratio", "Ratio", TABLE_RATIO },
        { "ratio_low", "Low", TABLE_RATIO },
        { "ratio_high", "High", TABLE_RATIO },
        { "p", "p", TABLE_RATIO },
        { "runs_before", "Runs", TABLE_COUNT },
        { "runs_after", "Runs", TABLE_COUNT },
    };
    const struct fleet_arguments *a = run->arguments;
    size_t n_differ = 0;
    for (size_t c = 0; c < sizeof columns / sizeof columns[0]; c++)
        table_column(run->table, columns[c].heading, columns[c].name, columns[c].unit);
    for (size_t i = 0; i < n; i++) {
        bool differs = differences[i].p < FLEET_SIGNIFICANCE;
        n_differ += differs;
        *is_broken = *is_broken || (differs && a->fail_on >= 0 && differences[i].ratio > 1 + a->fail_on);
        if (differs || a->all)
            print_difference(run, &differences[i]);
    }
    return n_differ;
}

static int run_compare(struct fleet_command_run *run, struct err *err)
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
    table_metadata_number(run->table, "files", (double)run->count.n_used, files_text(run, tests == NULL ? "" : tests));
    table_metadata_number(run->table, "tests", (double)n, NULL);
    int rc = print_answer(run, err);
    return rc == 0 && is_broken ? STATUS_BROKEN : rc;
}

/* Files that are none are named and left out. */
static int run_add(struct fleet_command_run *run, struct err *err)
{
    const struct fleet_arguments *a = run->arguments;
    size_t n_added = 0, n_skipped = 0;
    if (fleet_engine_open(&run->engine, a->library, err) < 0)
        return -1;
    for (size_t i = 2; i < a->n; i++) {
        const char *fault = fleet_file_fault(run->engine, &run->arena, a->words[i]);
        int added = fault != NULL ? 0 : fleet_file_add(a->words[1], a->words[i], err);
        if (fault != NULL)
            fprintf(stderr, "mmprof: '%s' is not added: %s\n", a->words[i], fault);
        if (added < 0)
            return -1;
        n_added += added > 0;
        n_skipped += fault != NULL;
    }
    printf("%zu added, %zu there already, %zu not added\n", n_added, a->n - 2 - n_added - n_skipped, n_skipped);
    return a->strict && n_skipped > 0 ? 1 : 0;
}

static const struct {
    const char *name, *usage;
    size_t least, most; /* words, its name one of them */
    int (*run)(struct fleet_command_run *run, struct err *err);
} actions[] = {
    { "add", "mmprof fleet add DIR FILE...", 3, WORDS_MAX, run_add },
    { "select", "mmprof fleet select DIR", 2, 2, run_select },
    { "compare", "mmprof fleet compare --before version=A --after version=B DIR", 2, 2, run_compare },
    { "sql", "mmprof fleet sql DIR 'SELECT ...'", 3, 3, run_sql },
};

static int run_action(struct fleet_command_run *run, struct err *err)
{
    const struct fleet_arguments *a = run->arguments;
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++) {
        if (strcmp(actions[i].name, a->words[0]) != 0)
            continue;
        if (a->n >= actions[i].least && a->n <= actions[i].most)
            return actions[i].run(run, err);
        err_set(err, "'fleet %s' takes other arguments", a->words[0]);
        return err_next(err, "run %s", actions[i].usage);
    }
    if (strcmp(a->words[0], DEFAULT_TRACE) == 0)
        err_set(err, "nothing is said to do with a fleet");
    else
        err_set(err, "'%s' is nothing that can be done with a fleet", a->words[0]);
    return err_next(err, "give add, select, compare or sql: see 'mmprof fleet --help'");
}

int command_fleet(int argc, char **argv, struct err *err)
{
    static struct fleet_arguments arguments = {
        .weight = WEIGHT, .grain_s = GRAIN_S, .fail_on = -1, .display = DISPLAY_PLAIN
    };
    struct fleet_command_run run = { .arguments = &arguments };
    bool done;
    if (parse(argc, argv, &arguments, &done, err) < 0)
        return -1;
    int rc = done ? 0 : run_action(&run, err);
    fleet_engine_close(run.engine);
    arena_free(&run.arena);
    return rc;
}
