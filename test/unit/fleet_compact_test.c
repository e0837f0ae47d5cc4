#include "report/fleet/fleet_files.h"

#include "report/fleet/fleet_queries.h"
#include "test/unit/fleet_maker.h"
#include "test/unit/tap.h"

#include <fcntl.h>
#include <glob.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DAY_US 86400000000
#define DAY_1  (INT64_C(20000) * DAY_US) /* in 2024 */

static struct err err;
static struct arena arena;
static struct fleet_engine *engine;
static struct fleet_count count;
static char directory[200];
static char *said;

static const char *path_of(const char *name)
{
    return arena_printf(&arena, "%s/%s", directory, name);
}

static void write_rows(const char *name, const char *run, const char *service, int64_t ts, int n)
{
    struct fleet_maker maker;
    fleet_maker_open(&maker, path_of(name));
    for (int i = 0; i < n; i++)
        fleet_maker_row(&maker, &(struct fleet_made){ .run = run,
                                                      .service = service,
                                                      .version = "1",
                                                      .ts = ts + i * INT64_C(60000000),
                                                      .kind = "phase",
                                                      .phase = i % 2 == 0 ? "b" : "a",
                                                      .calls = 1000,
                                                      .called_ns = 1000000000,
                                                      .cpu_ns = 1000000000,
                                                      .self_ns = 1000000000,
                                                      .cycles = -1,
                                                      .instructions = -1 });
    fleet_maker_close(&maker, "1");
}

/* The values of an answer with blanks between them, of the directory's files. */
static const char *asked(const char *name, const char *sql)
{
    struct fleet_result result;
    const char *text = "";
    size_t n;
    free(said);
    FILE *out = open_memstream(&said, &n);
    int rc = fleet_files_view(engine, path_of(name), false, out, &count, &err);
    fclose(out);
    if (rc < 0 || fleet_engine_query(engine, sql, &arena, &result, &err) < 0)
        return err.text;
    for (size_t i = 0; i < result.n_rows * result.n_columns; i++)
        text = arena_printf(&arena, "%s%s%s", text, i == 0 ? "" : " ",
                            result.values[i] == NULL ? "NULL" : result.values[i]);
    return text;
}

#define ROWS "SELECT count(*), sum(self_ns) // 1000000000 FROM phases"

static size_t count_files(const char *pattern)
{
    glob_t found;
    size_t n = glob(path_of(pattern), 0, NULL, &found) == 0 ? found.gl_pathc : 0;
    globfree(&found);
    return n;
}

static struct fleet_compacted compact(const char *name, double keep_s)
{
    struct fleet_compacted done = { 0 };
    FILE *out = fopen("/dev/null", "w");
    if (fleet_compact(engine, path_of(name), keep_s, false, out, &count, &done, &err) < 0)
        CHECK_TEXT("a compaction succeeds", err.text, "");
    fclose(out);
    return done;
}

static void test_compact(void)
{
    mkdir(path_of("c"), 0777);
    write_rows("c/1.parquet", "r1", "shop", DAY_1, 10);
    write_rows("c/2.parquet", "r2", "bank", DAY_1, 10);
    write_rows("c/3.parquet", "r3", "shop", DAY_1 + DAY_US - 5 * INT64_C(60000000), 10);
    write_rows("c/cut.parquet", "r4", "shop", DAY_1, 10);
    CHECK("a file is cut", truncate(path_of("c/cut.parquet"), 100) == 0);
    mkdir(path_of("c/.compacting"), 0777);
    write_rows("c/.compacting/half.parquet", "r5", "shop", DAY_1, 10);
    struct fleet_compacted done = compact("c", -1);
    CHECK("files become one for each day", done.n_before == 3 && done.n_after == 2 && done.n_rows == 30);
    CHECK_NUMBER("and are gone", count_files("c/[0-9].parquet"), 0);
    CHECK_NUMBER("what cannot be read stays", count_files("c/cut.parquet"), 1);
    CHECK_NUMBER("what a compaction that was killed left behind goes", count_files("c/.compacting*"), 0);
    CHECK_TEXT("no row is lost", asked("c", ROWS), "30 30");
    CHECK_TEXT("they are sorted",
               asked("c", "SELECT string_agg(service || phase, ' ') FROM (SELECT service, phase FROM phases LIMIT 12)"),
               "banka banka banka banka banka bankb bankb bankb bankb bankb shopa shopa");
    CHECK_TEXT("and their columns are as they were",
               asked("c", "SELECT typeof(min(ts)), typeof(min(calls)), "
                          "min(version), min(cycles) FROM phases"),
               "TIMESTAMP BIGINT 1 NULL");
    done = compact("c", -1);
    CHECK("to compact again does nothing",
          done.n_before == 0 && done.n_after == 0 && count_files("c/compacted-*") == 1);
    write_rows("c/4.parquet", "r6", "shop", DAY_1 + DAY_US, 10);
    done = compact("c", -1);
    CHECK("what comes later joins its day, and the other stays",
          done.n_before == 2 && done.n_after == 1 && count_files("c/compacted-*/*.parquet") == 2);
    CHECK_TEXT("with all rows", asked("c", ROWS), "40 40");
}

static void test_killed(void)
{
    struct fleet_listing there;
    write_rows("1.parquet", "r1", "shop", DAY_1, 10);
    write_rows("2.parquet", "r2", "shop", DAY_1, 10);
    CHECK("two files are added", fleet_file_add(path_of("k"), path_of("1.parquet"), NULL, &err) == 1 &&
                                     fleet_file_add(path_of("k"), path_of("2.parquet"), NULL, &err) == 1);
    compact("k", -1);
    CHECK_NUMBER("and become one", count_files("k/compacted-*/*.parquet"), 1);
    fleet_file_add(path_of("k"), path_of("1.parquet"), NULL, &err); /* as if it had not been removed */
    CHECK_TEXT("files that were not removed yet are counted once", asked("k", ROWS), "20 20");
    CHECK("and are no fault", count.n_skipped == 0 && said[0] == '\0');
    compact("k", -1);
    CHECK_NUMBER("the next compaction removes them", count_files("k/*.parquet"), 0);
    CHECK_TEXT("and nothing else", asked("k", ROWS), "20 20");
    fleet_listing_read(engine, path_of("k"), &arena, &there, &err);
    CHECK("to add a file again that became another is a no-op",
          fleet_file_add(path_of("k"), path_of("1.parquet"), &there, &err) == 0 && count_files("k/*.parquet") == 0);
    fleet_listing_free(&there);
    int fd = open(path_of("k"), O_RDONLY);
    flock(fd, LOCK_EX);
    struct fleet_compacted done;
    CHECK("two compactions do not run at once",
          fleet_compact(engine, path_of("k"), -1, false, stdout, &count, &done, &err) < 0 &&
              strstr(err.text, "by another"));
    close(fd);
}

static void test_keep(void)
{
    int64_t noon = (int64_t)time(NULL) * 1000000 / DAY_US * DAY_US + DAY_US / 2; /* all rows of a file are of one day */
    write_rows("old.parquet", "r1", "shop", noon - 40 * DAY_US, 10);
    write_rows("new.parquet", "r2", "shop", noon - DAY_US, 10);
    fleet_file_add(path_of("keep"), path_of("old.parquet"), NULL, &err);
    fleet_file_add(path_of("keep"), path_of("new.parquet"), NULL, &err);
    compact("keep", -1);
    CHECK_TEXT("without --keep old days stay", asked("keep", ROWS), "20 20");
    struct fleet_compacted done = compact("keep", 30 * 86400.0);
    CHECK_NUMBER("a day that is older than --keep goes", done.n_removed, 1);
    CHECK_TEXT("and no other", asked("keep", ROWS), "10 10");
    fleet_file_add(path_of("keep"), path_of("old.parquet"), NULL, &err);
    done = compact("keep", 30 * 86400.0);
    CHECK("a file that was not compacted goes as well", done.n_removed == 1 && done.n_after == 0);
}

/* ---- bad input ---- */

static void test_clocks(void)
{
    int64_t now = (int64_t)time(NULL) * 1000000;
    const char *early = arena_printf(&arena, "h-1-%lld", (long long)(DAY_1 + DAY_US) * 1000);
    const char *right = arena_printf(&arena, "h-2-%lld", (long long)(DAY_1 + 30000000) * 1000);
    mkdir(path_of("t"), 0777);
    write_rows("t/early.parquet", early, "shop", DAY_1 + DAY_US - 180000000, 10);
    write_rows("t/future.parquet", "h-3-1", "shop", now + 60000000, 20);
    write_rows("t/right.parquet", right, "shop", DAY_1, 10);
    CHECK_TEXT("rows of a wrong time are skipped",
               asked("t", "SELECT run, count(*) FROM phases GROUP BY run ORDER BY run"),
               arena_printf(&arena, "%s 8 %s 10 h-3-1 10", early, right));
    CHECK_NUMBER("and counted", count.n_rows_skipped, 12);
    CHECK("a run's that lie before its start are named",
          strstr(said, "/early.parquet' has 2 rows of 2024-10-04 23:57:00 "
                       "to 2024-10-04 23:58:00, before their run began"));
    CHECK("and those of the future",
          strstr(said, "/future.parquet' has 10 rows of") && strstr(said, ", in the future"));
    CHECK("one bucket begins before its run does", strstr(said, "right") == NULL);
    compact("t", -1);
    CHECK("files with such rows are not compacted", count_files("t/early.parquet") == 1 &&
                                                        count_files("t/future.parquet") == 1 &&
                                                        count_files("t/right.parquet") == 0);
}

static void test_doubles(void)
{
    struct fleet_maker maker;
    mkdir(path_of("d"), 0777);
    write_rows("d/z.parquet", "r1", "shop", DAY_1, 10);
    compact("d", -1);
    fleet_maker_open(&maker, path_of("d/a.parquet"));
    for (int i = 0; i < 10; i++)
        fleet_maker_row(&maker, &(struct fleet_made){ .run = i % 2 == 0 ? "r1" : "r2",
                                                      .service = "shop",
                                                      .ts = DAY_1 + i * INT64_C(60000000),
                                                      .kind = "phase",
                                                      .phase = "c",
                                                      .self_ns = 1000000000 });
    fleet_maker_close(&maker, "1");
    CHECK_TEXT("of a file that shares a run with a compacted one, the other runs count",
               asked("d", "SELECT run, phase, count(*) FROM phases GROUP BY ALL ORDER BY ALL"), "r1 a 5 r1 b 5 r2 c 5");
    CHECK("that is said, and counted",
          strstr(said, "/a.parquet' has rows of 1 run that are skipped") && count.n_rows_skipped == 5);
    compact("d", -1);
    CHECK_NUMBER("and the file stays", count_files("d/a.parquet"), 1);
}

static void test_hostile(void)
{
    static const char *const names[] = { "'; DROP TABLE phases; --",
                                         "../../../etc/passwd",
                                         "<script>alert(1)</script>",
                                         "a\nb",
                                         "%n%s",
                                         "x' OR '1'='1",
                                         "\x1b[31m",
                                         "$(id)" };
    enum { N = sizeof names / sizeof names[0] };
    const char *path;
    mkdir(path_of("h"), 0777);
    for (int i = 0; i < N; i++)
        write_rows(arena_printf(&arena, "h/%d.parquet", i), arena_printf(&arena, "r%d", i), names[i], DAY_1, 2);
    write_rows("h/[ab]*.parquet", "r99", "shop", DAY_1, 2);
    CHECK_TEXT("a file whose name would be a pattern is skipped",
               asked("h", "SELECT count(DISTINCT service) FROM phases"), "8");
    CHECK("and named", strstr(said, "its name would be a pattern") && count.n_skipped == 1);
    compact("h", -1);
    CHECK_TEXT("labels stay what they are", asked("h", "SELECT count(DISTINCT service), count(*) FROM phases"), "8 16");
    CHECK("and no file is outside",
          count_files("h/compacted-*/day-2024-10-04.parquet") == 1 && count_files("h/*.parquet") == 1);
    for (int i = 0; i < N; i++) {
        path = asked("h", fleet_select_sql(NULL, &arena, names[i], 0, 0));
        CHECK("a service of such a name can be asked for", strncmp(path, names[i], strlen(names[i])) == 0);
    }
}

/* Its footer says that it has the rows of another one, which a compaction would remove. */
static void test_forged(void)
{
    struct fleet_maker maker;
    mkdir(path_of("f"), 0777);
    write_rows("f/a.parquet", "r1", "shop", DAY_1, 2);
    fleet_maker_open(&maker, path_of("f/forged.parquet"));
    fleet_maker_row(&maker,
                    &(struct fleet_made){ .run = "r2", .service = "shop", .ts = DAY_1, .kind = "phase", .phase = "p" });
    parquet_metadata(maker.writer, FLEET_REPLACES_KEY, "a.parquet");
    fleet_maker_close(&maker, "1");
    CHECK_TEXT("a file that 'compact' did not make has no say over others",
               asked("f", "SELECT run, count(*) FROM phases GROUP BY ALL ORDER BY ALL"), "r1 2 r2 1");
    compact("f", -1);
    CHECK_TEXT("nor when they are compacted", asked("f", "SELECT run, count(*) FROM phases GROUP BY ALL ORDER BY ALL"),
               "r1 2 r2 1");
}

int main(void)
{
    const char *scratch = getenv("SCRATCH");
    snprintf(directory, sizeof directory, "%s", scratch == NULL ? "/tmp" : scratch);
    if (fleet_engine_open(&engine, getenv("MMPROF_DUCKDB") == NULL ? "build/libduckdb.so" : NULL, &err) < 0) {
        SKIP("files are compacted", "there is no DuckDB: 'make duckdb' brings it");
        return tap_done();
    }
    test_compact();
    test_killed();
    test_keep();
    test_clocks();
    test_doubles();
    test_hostile();
    test_forged();
    fleet_engine_close(engine);
    arena_free(&arena);
    free(said);
    return tap_done();
}
