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
#include "cmd/fleet/fleet_command.h"
#include "core/base/text.h"
#include "report/fleet/fleet_files.h"
#include "report/fleet/fleet_engine.h"

#define WEIGHT    0.005
#define GRAIN_S   100e-6
#define TIMEOUT_S 120

static int parse(int argc, char **argv, struct fleet_arguments *a, bool *done, struct err *err)
{
    const struct options_row rows[] = {
        { 0, "service", "NAME", OPTION_TEXT, &a->service, "select, compare, outliers: only this service" },
        { 0, "weight", "SHARE", OPTION_FRACTION, &a->weight,
          "select, compare: a phase has at least this share of the CPU time (0.5%)" },
        { 0, "min-call", "TIME", OPTION_SECONDS, &a->grain_s, "select: and at least this time per call (0.1ms)" },
        { 0, "before", "KEY=NAME", OPTION_TEXT, &a->before, "compare: these runs, as version=1.2" },
        { 0, "after", "KEY=NAME", OPTION_TEXT, &a->after, "compare: with these" },
        { 0, "measure", "NAME", OPTION_TEXT, &a->measure,
          "outliers: cpi, or call-time: CPU time per call of all phases (cpi)" },
        { 0, "all", NULL, OPTION_FLAG, &a->all, "compare, outliers: print what does not differ, too" },
        { 0, "fail-on", "SHARE", OPTION_FRACTION, &a->fail_on,
          "compare, outliers: exit with status 2 if a phase or run is slower by more" },
        OPTIONS_OLD("grain", "min-call"),
        { 0, "keep", "TIME", OPTION_SECONDS, &a->keep_s, "compact: remove days that ended longer ago, as 30d" },
        { 0, "duckdb", "FILE", OPTION_TEXT, &a->library,
          "DuckDB's libduckdb.so (" FLEET_ENGINE_VARIABLE ", beside mmprof, /usr/local/lib)" },
        { 0, "engine", "URL", OPTION_TEXT, &a->server,
          "ask a ClickHouse server in place of DIR: clickhouse://[USER@]HOST:PORT" },
        { 0, "password-file", "FILE", OPTION_TEXT, &a->password_file, "a file with that user's password" },
        { 0, "timeout", "TIME", OPTION_SECONDS, &a->timeout_s, "select, compare, outliers, sql: give up then (2min)" },
        { 0, "strict", NULL, OPTION_FLAG, &a->strict, "fail if a file or a row is skipped" },
        { 0, "html", "FILE", OPTION_TEXT, &a->html,
          "select: write a page of the phases over days and versions to FILE" },
        { 0, "csv", NULL, OPTION_FLAG, &a->csv, "print the table as CSV" },
        { 0, "json", NULL, OPTION_FLAG, &a->json, "print the table as JSON" },
        DISPLAY_ROW(&a->display),
        { 0 },
    };
    return command_parse_traces(
        "fleet add DIR FILE... | select|compare|outliers|compact [OPTIONS] DIR | sql [OPTIONS] DIR 'SELECT ...'",
        "Asks the rows of many JVMs ('mmprof export --format parquet') by DuckDB. 'add' copies files into a\n"
        "directory, 'select' finds the phases of each service over all of its runs, 'compare' those that\n"
        "differ between two versions, 'outliers' the runs that are unlike the others of their service; 'sql'\n"
        "answers a question of your own: the table is 'phases', and mmprof.parquet(5) describes its columns.\n"
        "'compact' makes a sorted file for each day of many small ones, and removes old days.",
        rows, argc, argv, a->words, FLEET_WORDS_MAX, &a->n, done, err);
}

/* Where files go: a directory, or a server. */
struct fleet_target {
    struct fleet_listing there;
    struct fleet_clickhouse *server; /* NULL: it is a directory */
};

static int open_target(struct fleet_command_run *run, struct fleet_target *to, struct err *err)
{
    const struct fleet_arguments *a = run->arguments;
    if (fleet_engine_open(&run->engine, a->library, err) < 0)
        return -1;
    if (a->server == NULL)
        fleet_add_tidy(a->words[1]);
    if (a->server != NULL)
        return fleet_clickhouse_open(&to->server, a->server, a->password_file, err) < 0
                   ? -1
                   : fleet_clickhouse_create(to->server, err);
    return access(a->words[1], F_OK) < 0 ? 0
                                         : fleet_listing_read(run->engine, a->words[1], &run->arena, &to->there, err);
}

static void say_fault(const char *path, const char *fault)
{
    fputs("mmprof: '", stderr);
    text_print(stderr, path);
    fprintf(stderr, "' is not added: %s\n", fault);
}

/* A server's tables get rows of a wrong clock, too, but no answer has them: they are told of now. */
static int add_to_server(struct fleet_command_run *run, const struct fleet_target *to, struct fleet_listing *listing,
                         struct err *err)
{
    const struct fleet_file *file = &listing->files[0];
    struct fleet_count count;
    int added = fleet_clickhouse_add(to->server, file->path, file->bucket_ns, err);
    if (added <= 0)
        return added;
    if (fleet_files_raw_view(run->engine, &run->arena, listing, stderr, &count, err) < 0)
        return -1;
    run->count.n_rows_skipped += count.n_rows_skipped;
    return 1;
}

/* Returns 1, 0: it is there already, or none (*is_skipped, which was told), or -1 with *err set. */
static int add_one(struct fleet_command_run *run, const struct fleet_target *to, const char *path, bool *is_skipped,
                   struct err *err)
{
    struct fleet_listing listing;
    int rc = fleet_listing_one(run->engine, path, &run->arena, &listing, err);
    const char *fault = rc < 0 ? NULL : listing.files[0].fault;
    *is_skipped = fault != NULL;
    if (fault != NULL)
        say_fault(path, fault);
    else if (rc == 0)
        rc = to->server != NULL ? add_to_server(run, to, &listing, err)
                                : fleet_file_add(run->arguments->words[1], path, &to->there, err);
    fleet_listing_free(&listing);
    return rc;
}

/* Files that are none are named and left out. */
static int add_files(struct fleet_command_run *run, const struct fleet_target *to, size_t *n_added, size_t *n_skipped,
                     struct err *err)
{
    const struct fleet_arguments *a = run->arguments;
    for (size_t i = 2; i < a->n; i++) {
        bool is_skipped;
        int added = add_one(run, to, a->words[i], &is_skipped, err);
        if (added < 0)
            return -1;
        *n_added += added > 0;
        *n_skipped += is_skipped;
    }
    return 0;
}

static int run_add(struct fleet_command_run *run, struct err *err)
{
    const struct fleet_arguments *a = run->arguments;
    struct fleet_target to = { .server = NULL };
    size_t n_added = 0, n_skipped = 0;
    int rc = open_target(run, &to, err) < 0 ? -1 : add_files(run, &to, &n_added, &n_skipped, err);
    fleet_listing_free(&to.there);
    fleet_clickhouse_close(to.server);
    if (rc < 0)
        return -1;
    printf("%zu added, %zu there already, %zu not added\n", n_added, a->n - 2 - n_added - n_skipped, n_skipped);
    return a->strict && (n_skipped > 0 || run->count.n_rows_skipped > 0) ? 1 : 0;
}

static int run_compact(struct fleet_command_run *run, struct err *err)
{
    const struct fleet_arguments *a = run->arguments;
    struct fleet_compacted done;
    if (a->server != NULL) {
        err_set(err, "a server compacts its tables itself");
        return err_next(err, "leave --engine out, or see ALTER TABLE ... MODIFY TTL in ClickHouse's manual");
    }
    if (fleet_engine_open(&run->engine, a->library, err) < 0 ||
        fleet_compact(run->engine, a->words[1], a->keep_s, run->checks_values, stderr, &run->count, &done, err) < 0)
        return -1;
    printf("%zu file%s became %zu, of %.0f rows; %zu removed, %zu skipped\n", done.n_before, text_plural(done.n_before),
           done.n_after, done.n_rows, done.n_removed, run->count.n_skipped);
    return a->strict && (run->count.n_skipped > 0 || run->count.n_rows_skipped > 0) ? 1 : 0;
}

static const struct {
    const char *name, *usage;
    size_t least, most; /* words, its name one of them */
    int (*run)(struct fleet_command_run *run, struct err *err);
} actions[] = {
    { "add", "mmprof fleet add DIR FILE...", 3, FLEET_WORDS_MAX, run_add },
    { "select", "mmprof fleet select DIR", 2, 2, fleet_command_select },
    { "compare", "mmprof fleet compare --before version=A --after version=B DIR", 2, 2, fleet_command_compare },
    { "outliers", "mmprof fleet outliers DIR", 2, 2, fleet_command_outliers },
    { "compact", "mmprof fleet compact DIR", 2, 2, run_compact },
    { "sql", "mmprof fleet sql DIR 'SELECT ...'", 3, 3, fleet_command_sql },
};

/* An option that the action does not read would be forgotten in silence. */
static int check_options(const struct fleet_arguments *a, struct err *err)
{
    const struct {
        bool is_given; /* with another value than the default */
        const char *option, *actions;
    } rows[] = {
        { a->service != NULL, "--service", "select, compare, outliers" },
        { a->weight != WEIGHT, "--weight", "select, compare" },
        { a->grain_s != GRAIN_S, "--min-call", "select" },
        { a->before != NULL, "--before", "compare" },
        { a->after != NULL, "--after", "compare" },
        { a->measure != NULL, "--measure", "outliers" },
        { a->all, "--all", "compare, outliers" },
        { a->fail_on >= 0, "--fail-on", "compare, outliers" },
        { a->keep_s >= 0, "--keep", "compact" },
        { a->timeout_s != TIMEOUT_S, "--timeout", "select, compare, outliers, sql" },
        { a->html != NULL, "--html", "select" },
        { a->csv, "--csv", "select, compare, outliers, sql" },
        { a->json, "--json", "select, compare, outliers, sql" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].is_given && strstr(rows[i].actions, a->words[0]) == NULL) {
            err_set(err, "%s is not an option of 'fleet %s'", rows[i].option, a->words[0]);
            return err_next(err, "leave it out: it belongs to %s", rows[i].actions);
        }
    if (a->password_file == NULL || a->server != NULL)
        return 0;
    err_set(err, "--password-file needs a server");
    return err_next(err, "add --engine clickhouse://USER@HOST:PORT, or leave it out");
}

/* Footers say which files are whole; where one is not for all that, the question is asked again without it. */
static int run_twice(struct fleet_command_run *run, int (*action)(struct fleet_command_run *run, struct err *err),
                     struct err *err)
{
    int rc = action(run, err);
    if (rc >= 0 || run->arguments->server != NULL || !fleet_listing_may_be_damaged(err))
        return rc;
    fputs("mmprof: a file may be damaged: checking all files\n", stderr);
    fleet_engine_close(run->engine);
    arena_free(&run->arena);
    *run = (struct fleet_command_run){ .arguments = run->arguments, .checks_values = true };
    return action(run, err);
}

static int run_action(struct fleet_command_run *run, struct err *err)
{
    const struct fleet_arguments *a = run->arguments;
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++) {
        if (strcmp(actions[i].name, a->words[0]) != 0)
            continue;
        if (a->n >= actions[i].least && a->n <= actions[i].most)
            return check_options(a, err) < 0 ? -1 : run_twice(run, actions[i].run, err);
        err_set(err, "'fleet %s' takes other arguments", a->words[0]);
        return err_next(err, "run %s%s", actions[i].usage,
                        a->server != NULL ? ", with --engine URL and without DIR" : "");
    }
    if (strcmp(a->words[0], DEFAULT_TRACE) == 0)
        err_set(err, "no action given");
    else
        err_set(err, "'fleet' has no action '%s'", a->words[0]);
    return err_next(err, "give add, select, compare, outliers, compact or sql: see 'mmprof fleet --help'");
}

/* A server takes the place of the directory among the words. */
static int place_server(struct fleet_arguments *a, struct err *err)
{
    if (a->server == NULL)
        return 0;
    if (a->n == FLEET_WORDS_MAX)
        return err_set(err, "more than %d words", FLEET_WORDS_MAX - 1);
    for (size_t i = a->n++; i > 1; i--)
        a->words[i] = a->words[i - 1];
    a->words[1] = "";
    return 0;
}

int command_fleet(int argc, char **argv, struct err *err)
{
    static struct fleet_arguments arguments = { .weight = WEIGHT,
                                                .grain_s = GRAIN_S,
                                                .fail_on = -1,
                                                .keep_s = -1,
                                                .timeout_s = TIMEOUT_S,
                                                .display = DISPLAY_PLAIN };
    struct fleet_command_run run = { .arguments = &arguments };
    bool done;
    if (parse(argc, argv, &arguments, &done, err) < 0)
        return -1;
    int rc = done ? 0 : place_server(&arguments, err) < 0 ? -1 : run_action(&run, err);
    fleet_engine_close(run.engine);
    arena_free(&run.arena);
    return rc;
}
