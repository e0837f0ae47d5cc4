#include "report/fleet/fleet_files.h"

#include "report/fleet/fleet_queries.h"
#include "test/unit/fleet_maker.h"
#include "test/unit/tap.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static struct err err;
static struct arena arena;
static char directory[200];

static const char *path_of(const char *name)
{
    return arena_printf(&arena, "%s/%s", directory, name);
}

/* ---- files ---- */

struct made_row {
    const char *kind, *phase;
    int64_t calls, cpu_ns, self_ns; /* calls: -1: NULL */
};

/* Work has 60 % in calls of 1 ms, tiny 30 % in calls of 1 us, and rare 0.1 %. */
static const struct made_row rows[] = { { "phase", "work", 600, 600000000, 600000000 },
                                        { "phase", "tiny", 300000, 300000000, 300000000 },
                                        { "phase", "rare", 1, 1000000, 1000000 },
                                        { "sampled", "seen", -1, 50000000, 50000000 },
                                        { "gc", "garbage collector", -1, 49000000, 49000000 },
                                        { "total", "total", -1, 1000000000, -1 } };

static void write_one_of(const char *name, int64_t file, const char *run, const char *service, int64_t ts,
                         const char *version)
{
    struct fleet_maker maker;
    fleet_maker_open(&maker, path_of(name));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct made_row *row = &rows[i];
        fleet_maker_row(&maker, &(struct fleet_made){ .run = run,
                                                      .file = file,
                                                      .version = "1",
                                                      .service = service,
                                                      .ts = ts,
                                                      .kind = row->kind,
                                                      .phase = row->phase,
                                                      .calls = row->calls,
                                                      .called_ns = row->calls < 0 ? -1 : row->cpu_ns,
                                                      .cpu_ns = row->cpu_ns,
                                                      .self_ns = row->self_ns,
                                                      .cycles = -1,
                                                      .instructions = -1 });
    }
    fleet_maker_close(&maker, version);
}

static void write_file(const char *name, const char *run, const char *service, int64_t ts, const char *version)
{
    write_one_of(name, 0, run, service, ts, version);
}

static void cut_file(const char *name)
{
    struct stat about;
    if (stat(path_of(name), &about) < 0 || truncate(path_of(name), about.st_size - 3) < 0)
        printf("Bail out! '%s' cannot be cut\n", name);
}

/* ---- adding ---- */

static void test_add(void)
{
    const char *to = path_of("added");
    write_file("a.parquet", "r1", "shop", 0, "1");
    CHECK("a file is added, and its directory made", fleet_file_add(to, path_of("a.parquet"), NULL, &err) == 1);
    CHECK("adding it again does nothing", fleet_file_add(to, path_of("a.parquet"), NULL, &err) == 0);
    CHECK("so are those that it is in", fleet_file_add(path_of("in/it"), path_of("a.parquet"), NULL, &err) == 1);
    CHECK("one that is not there is named",
          fleet_file_add(to, "/nowhere.parquet", NULL, &err) < 0 && strstr(err.text, "'/nowhere.parquet'") != NULL);
    CHECK("no half file is left", access(arena_printf(&arena, "%s/.adding-%d", to, (int)getpid()), F_OK) != 0);
    CHECK("a directory that cannot be made is named",
          fleet_file_add("/proc/none/x", path_of("a.parquet"), NULL, &err) < 0 && strstr(err.text, "next: ") != NULL);
}

static void test_no_library(void)
{
    struct fleet_engine *engine;
    CHECK("without DuckDB one line says how to get it", fleet_engine_open(&engine, "/nowhere/libduckdb.so", &err) < 0 &&
                                                            engine == NULL &&
                                                            strstr(err.text, "next: run 'make duckdb'") != NULL);
    CHECK_TEXT("a text is a literal whatever is in it", fleet_literal(&arena, "a'; DROP TABLE x; --"),
               "'a''; DROP TABLE x; --'");
    CHECK_TEXT("a backslash is one like others in DuckDB's", fleet_literal(&arena, "a\\' OR true --\\"),
               "'a\\'' OR true --\\'");
    CHECK_TEXT("and none that escapes in ClickHouse's", fleet_clickhouse_literal(&arena, "a\\' OR true --\\"),
               "'a\\\\'' OR true --\\\\'");
}

/* ---- questions ---- */

/* An answer's values with blanks between them, "NULL" for none. */
static const char *asked(struct fleet_engine *engine, const char *sql)
{
    struct fleet_result result;
    const char *text = "";
    if (fleet_engine_query(engine, sql, &arena, &result, &err) < 0)
        return err.text;
    for (size_t i = 0; i < result.n_rows * result.n_columns; i++)
        text = arena_printf(&arena, "%s%s%s", text, i == 0 ? "" : " ",
                            result.values[i] == NULL ? "NULL" : result.values[i]);
    return text;
}

static void test_view(struct fleet_engine *engine)
{
    struct fleet_count count;
    char *said = NULL;
    size_t n;
    FILE *out = open_memstream(&said, &n);
    mkdir(path_of("fleet"), 0777);
    mkdir(path_of("fleet/below"), 0777);
    write_file("fleet/a.parquet", "r1", "shop", 60000000, "1");
    write_file("fleet/below/b.parquet", "r2", "shop", 60000000, "1");
    write_file("fleet/c.parquet", "r3", "o'x", 60000000, "1");
    write_file("fleet/cut.parquet", "r4", "shop", 60000000, "1");
    cut_file("fleet/cut.parquet");
    write_file("fleet/double.parquet", "r1", "shop", 60000000, "1");
    write_file("fleet/foreign.parquet", "r5", "shop", 60000000, NULL);
    write_file("fleet/later.parquet", "r1", "shop", 120000000, "1");
    write_file("fleet/newer.parquet", "r6", "shop", 60000000, "2");
    write_file("fleet/.hidden.parquet", "r7", "shop", 60000000, "1");
    int rc = fleet_files_view(engine, path_of("fleet"), false, out, &count, &err);
    fclose(out);
    if (!CHECK("files of a directory and below it are one table", rc == 0 && count.n_used == 4 && count.n_skipped == 4))
        printf("# %s, %zu used, %zu skipped\n", err.text, count.n_used, count.n_skipped);
    CHECK("a file that is cut is named", strstr(said, "/cut.parquet' is skipped: it is cut") != NULL);
    CHECK("and one of another program", strstr(said, "/foreign.parquet' is skipped: mmprof did not write") != NULL);
    CHECK("and one of a newer schema", strstr(said, "/newer.parquet' is skipped: it has schema 2") != NULL);
    CHECK("and one that has rows of another one", strstr(said, "/double.parquet' is skipped: it has rows") != NULL);
    CHECK_TEXT("nothing else is in it, and what is, once",
               asked(engine, "SELECT run, count(*), sum(self_ns) FROM phases GROUP BY run ORDER BY run"),
               "r1 12 2000000000 r2 6 1000000000 r3 6 1000000000");
    CHECK_TEXT("what was not counted is NULL", asked(engine, "SELECT sum(cycles), count(cycles) FROM phases"),
               "NULL 0");
    CHECK_TEXT("moments are told", asked(engine, "SELECT min(ts), max(ts) FROM phases"),
               "1970-01-01 00:01:00 1970-01-01 00:02:00");
    CHECK_TEXT("and lists", asked(engine, "SELECT [1, 2], now() IS NULL;"), "[1, 2] false");
    free(said);
}

/* A bridge method and the method of the same name that it calls. */
static void test_bridge(struct fleet_engine *engine)
{
    const struct fleet_made row = {
        .run = "r1", .service = "shop", .kind = "phase", .phase = "x", .calls = 6, .cycles = -1, .instructions = -1
    };
    struct fleet_made outer = row, inner = row;
    struct fleet_count count;
    struct fleet_maker maker;
    outer.called_ns = outer.cpu_ns = 600000000;
    outer.self_ns = 100000000;
    inner.parent = "x";
    inner.called_ns = inner.cpu_ns = inner.self_ns = 500000000;
    mkdir(path_of("bridge"), 0777);
    fleet_maker_open(&maker, path_of("bridge/a.parquet"));
    fleet_maker_row(&maker, &outer);
    fleet_maker_row(&maker, &inner);
    fleet_maker_close(&maker, "1");
    CHECK("methods of one name are read",
          fleet_files_view(engine, path_of("bridge"), false, stdout, &count, &err) == 0);
    CHECK_TEXT("the time of the one that the other calls is in the other's, and counts once",
               asked(engine, fleet_select_sql(engine, &arena, NULL, 0, 0)), "shop x 1.0 1.0 6 100000000.0 1");
}

/* Its footer is whole, and the bytes of its first column are not. */
static void test_damaged(struct fleet_engine *engine)
{
    struct fleet_count count;
    struct fleet_listing listing;
    char *said = NULL;
    size_t n_said;
    mkdir(path_of("damaged"), 0777);
    write_file("damaged/a.parquet", "r1", "shop", 60000000, "1");
    write_file("damaged/b.parquet", "r2", "shop", 60000000, "1");
    FILE *file = fopen(path_of("damaged/b.parquet"), "r+");
    if (file == NULL || fseek(file, 22, SEEK_SET) < 0 || fwrite("\0\0\0\0\0\0\0\0", 1, 8, file) != 8 ||
        fclose(file) != 0)
        printf("Bail out! a file cannot be damaged\n");
    if (!CHECK("a query fails as it does where a file is damaged",
               fleet_files_view(engine, path_of("damaged"), false, stdout, &count, &err) < 0 &&
                   fleet_listing_may_be_damaged(&err)))
        printf("# %s\n", err.text);
    FILE *out = open_memstream(&said, &n_said);
    int rc = fleet_files_view(engine, path_of("damaged"), true, out, &count, &err);
    fclose(out);
    CHECK("where values are looked at, it is named and skipped",
          rc == 0 && count.n_used == 1 && count.n_skipped == 1 &&
              strstr(said, "/b.parquet' is skipped: it is damaged") != NULL);
    CHECK_TEXT("and what is whole is read", asked(engine, "SELECT min(run), max(run) FROM phases"), "r1 r1");
    CHECK("a file to add is looked at in any case",
          fleet_listing_one(engine, path_of("damaged/b.parquet"), &arena, &listing, &err) == 0 &&
              listing.files[0].fault != NULL && strstr(listing.files[0].fault, "it is damaged") != NULL);
    fleet_listing_free(&listing);
    free(said);
}

/* What a copy that was killed left behind, of now and of yesterday. */
static void test_tidy(void)
{
    const struct timespec yesterday[2] = { { .tv_sec = time(NULL) - 86400 }, { .tv_sec = time(NULL) - 86400 } };
    const char *to = path_of("added"), *old = path_of("added/.adding-1"), *now = path_of("added/.adding-2");
    fclose(fopen(old, "w"));
    fclose(fopen(now, "w"));
    utimensat(AT_FDCWD, old, yesterday, 0);
    fleet_add_tidy(to);
    CHECK("what a copy left behind that was killed long ago is removed", access(old, F_OK) != 0);
    CHECK("one that may be going on is not", access(now, F_OK) == 0);
    unlink(now);
}

/* The second file began in the bucket in which the first one ended. */
static void test_files_of_a_recording(struct fleet_engine *engine)
{
    struct fleet_count count;
    char *said = NULL;
    size_t n_said;
    FILE *out = open_memstream(&said, &n_said);
    mkdir(path_of("parts"), 0777);
    write_one_of("parts/1.parquet", 1, "r1", "shop", 60000000, "1");
    write_one_of("parts/2.parquet", 2, "r1", "shop", 60000000, "1");
    write_one_of("parts/2-again.parquet", 2, "r1", "shop", 60000000, "1");
    int rc = fleet_files_view(engine, path_of("parts"), false, out, &count, &err);
    fclose(out);
    CHECK("files of one recording are one run, and each counts once", rc == 0 && count.n_used == 2);
    CHECK("one that is there twice is named", strstr(said, "' is skipped: it has rows of a run") != NULL);
    CHECK_TEXT("rows of both are in a bucket",
               asked(engine, "SELECT run, count(*), sum(self_ns) FROM phases GROUP BY run"), "r1 12 2000000000");
    free(said);
}

static void test_select(struct fleet_engine *engine)
{
    CHECK_TEXT("phases have the weight and the grain over all runs of a service",
               asked(engine, fleet_select_sql(engine, &arena, NULL, 0.005, 100000)),
               "o'x work 0.6 0.6 600 1000000.0 1 shop work 0.6 0.6 1800 1000000.0 2");
    CHECK_TEXT("one service can be asked of, whatever its name",
               asked(engine, fleet_select_sql(engine, &arena, "o'x", 0, 0)),
               "o'x work 0.6 0.6 600 1000000.0 1 o'x tiny 0.3 0.3 300000 1000.0 1 o'x rare 0.001 0.001 1 1000000.0 1");
    CHECK_TEXT("phases are told by version and day", asked(engine, fleet_days_sql(engine, &arena, "o'x")),
               "o'x rare 1 1970-01-01 1000000.0 0.001 o'x seen 1 1970-01-01 NULL 0.05 "
               "o'x tiny 1 1970-01-01 1000.0 0.3 o'x work 1 1970-01-01 1000000.0 0.6");
    static const char *const hostile[] = { "a\\' OR true --", "\\", "'", "a\n'\n;", "E'\\x27'", "$$", "%s?{x:String}" };
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++)
        CHECK_TEXT("none of a hostile name has", asked(engine, fleet_select_sql(engine, &arena, hostile[i], 0, 0)), "");
    CHECK_TEXT("a service that is none has no phases",
               asked(engine, fleet_select_sql(engine, &arena, "' OR true --", 0, 0)), "");
}

/* ---- two versions ---- */

enum { PHASES = 40, RUNS = 8, BUCKETS = 3, SEEDS = 20 };

/* Runs of version 1 and 2 differ by 5 %, in each its phases by 3 % more; phase 7 takes 1.2 times as long in version 2.
 */
static const char *write_versions(int seed, size_t n_runs)
{
    struct fleet_maker maker;
    const char *at = path_of(arena_printf(&arena, "versions-%d-%zu", seed, n_runs));
    char run[32], phase[16];
    mkdir(at, 0777);
    fleet_maker_open(&maker, arena_printf(&arena, "%s/v.parquet", at));
    fleet_noise_seed(seed);
    for (size_t r = 0; r < 2 * n_runs; r++) {
        double machine = exp(0.05 * fleet_noise());
        snprintf(run, sizeof run, "r%zu", r);
        for (int p = 0; p < PHASES; p++) {
            double planted = p == 7 && r >= n_runs ? 1.2 : 1, ns = 1e8 * machine * planted * exp(0.03 * fleet_noise());
            snprintf(phase, sizeof phase, "p%d", p);
            for (int b = 0; b < BUCKETS; b++)
                fleet_maker_row(&maker, &(struct fleet_made){ .run = run,
                                                              .version = r < n_runs ? "1" : "2",
                                                              .service = "shop",
                                                              .ts = b * 60000000,
                                                              .kind = "phase",
                                                              .phase = phase,
                                                              .calls = 100,
                                                              .called_ns = (int64_t)ns,
                                                              .cpu_ns = (int64_t)ns,
                                                              .self_ns = (int64_t)ns,
                                                              .cycles = -1,
                                                              .instructions = -1 });
        }
    }
    fleet_maker_close(&maker, "1");
    return at;
}

static void test_compare(struct fleet_engine *engine)
{
    struct fleet_compare_options options = { .before = "version=1", .after = "version=2" };
    struct fleet_difference *all = NULL;
    struct fleet_count count;
    size_t n = 0, n_found = 0, n_false = 0, n_held = 0;
    for (int seed = 1; seed <= SEEDS; seed++) {
        if (fleet_files_view(engine, write_versions(seed, RUNS), false, stdout, &count, &err) < 0 ||
            fleet_compare(engine, &options, &arena, &all, &n, &err) < 0)
            printf("# %s\n", err.text);
        for (size_t i = 0; i < n; i++) {
            bool is_planted = strcmp(all[i].phase, "p7") == 0;
            n_found += is_planted && all[i].p < FLEET_SIGNIFICANCE;
            n_false += !is_planted && all[i].p < FLEET_SIGNIFICANCE;
            n_held += is_planted && all[i].low <= 1.2 && all[i].high >= 1.2;
        }
    }
    printf("# found %zu, false %zu of %d, the interval holds in %zu\n", n_found, n_false, SEEDS * (PHASES - 1), n_held);
    CHECK_NUMBER("all phases are compared, and what they have in common", n, PHASES + 1);
    CHECK_NUMBER("a phase that got slower by a fifth is found with every seed", n_found, SEEDS);
    CHECK_NUMBER("and nothing else in 20 experiments", n_false, 0);
    CHECK("the interval has the true ratio in 17 of 20 or more", n_held >= 17);
    CHECK("less than five runs are too few, however many rows they have",
          fleet_files_view(engine, write_versions(1, 4), false, stdout, &count, &err) == 0 &&
              fleet_compare(engine, &options, &arena, &all, &n, &err) < 0 &&
              strstr(err.text, "'version=1' has 4 runs") != NULL);
    options.after = "colour=red";
    CHECK("what tells no runs is refused", fleet_compare(engine, &options, &arena, &all, &n, &err) < 0 &&
                                               strstr(err.text, "give --after version=NAME") != NULL);
    options.after = "version=2' OR true --";
    CHECK("a name is a name",
          fleet_compare(engine, &options, &arena, &all, &n, &err) < 0 && strstr(err.text, "has 4 runs") != NULL);
}

static void test_confined(struct fleet_engine *engine)
{
    static const char *const refused[] = { "DROP VIEW phases",
                                           "SELECT 1; SELECT 2",
                                           "COPY (SELECT 1) TO 'x.csv'",
                                           "SET memory_limit = '9GB'",
                                           "CREATE TABLE x AS SELECT 1",
                                           "",
                                           "SELEC" };
    size_t n_refused = 0;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        n_refused += fleet_engine_check_select(engine, refused[i], &err) < 0;
    CHECK_NUMBER("what does more than read is refused", n_refused, sizeof refused / sizeof refused[0]);
    CHECK("a question is not", fleet_engine_check_select(engine, "WITH x AS (SELECT 1) SELECT * FROM x;", &err) == 0);
    CHECK("the table can be read once all else is closed",
          fleet_engine_confine(engine, path_of("fleet"), &err) == 0 &&
              strcmp(asked(engine, "SELECT count(*) FROM phases"), "24") == 0);
    CHECK("other files cannot",
          strstr(asked(engine, "SELECT * FROM read_text('/etc/passwd')"), "/etc/passwd") != NULL &&
              strstr(err.text, "disabled") != NULL);
    CHECK("nor can settings be changed", strstr(asked(engine, "SET memory_limit = '9GB'"), "locked") != NULL);
}

int main(void)
{
    const char *scratch = getenv("SCRATCH");
    struct fleet_engine *engine;
    struct fleet_count count;
    snprintf(directory, sizeof directory, "%s", scratch == NULL ? "/tmp" : scratch);
    test_add();
    test_tidy();
    test_no_library();
    if (fleet_engine_open(&engine, getenv("MMPROF_DUCKDB") == NULL ? "build/libduckdb.so" : NULL, &err) < 0) {
        SKIP("questions are answered", "there is no DuckDB: 'make duckdb' brings it");
        return tap_done();
    }
    CHECK("an empty directory is an error",
          fleet_files_view(engine, "/proc/self/net", false, stdout, &count, &err) < 0);
    test_bridge(engine);
    test_damaged(engine);
    test_view(engine);
    test_select(engine);
    test_compare(engine);
    test_files_of_a_recording(engine);
    fleet_files_view(engine, path_of("fleet"), false, fopen("/dev/null", "w"), &count, &err);
    test_confined(engine);
    fleet_engine_close(engine);
    arena_free(&arena);
    return tap_done();
}
