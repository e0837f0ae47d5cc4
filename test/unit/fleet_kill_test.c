/*
 * Processes that change a fleet's directory are killed at any moment: each works, and looks, in a process of its own.
 */
#include "report/fleet/fleet_files.h"
#include "test/unit/fleet_maker.h"
#include "test/unit/tap.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FILES = 40, ROWS = 50, ROUNDS = 8, UNKNOWN = 255 };

#define DAY_1 (INT64_C(20000) * 86400000000)

static struct err err;
static struct arena arena;
static char directory[200];

static const char *path_of(const char *name)
{
    return arena_printf(&arena, "%s/%s", directory, name);
}

static const char *file_of(int i)
{
    return path_of(arena_printf(&arena, "from/%d.parquet", i));
}

static void write_files(void)
{
    char run[16];
    mkdir(path_of("from"), 0777);
    for (int f = 0; f < FILES; f++) {
        struct fleet_maker maker;
        fleet_maker_open(&maker, file_of(f));
        snprintf(run, sizeof run, "r%d", f);
        for (int i = 0; i < ROWS; i++)
            fleet_maker_row(&maker, &(struct fleet_made){ .run = run,
                                                          .service = "shop",
                                                          .ts = DAY_1 + (f % 3) * 86400000000 + i * INT64_C(60000000),
                                                          .kind = "phase",
                                                          .phase = "p",
                                                          .self_ns = 1 });
        fleet_maker_close(&maker, "1");
    }
}

/* ---- in processes of their own ---- */

static struct fleet_engine *open_engine(void)
{
    struct fleet_engine *engine;
    const char *library = getenv("MMPROF_DUCKDB") == NULL ? "build/libduckdb.so" : NULL;
    return fleet_engine_open(&engine, library, &err) < 0 ? NULL : engine;
}

/* A byte goes through the pipe for each file that is there. */
static int add_all(int told)
{
    for (int i = 0; i < FILES; i++)
        if (fleet_file_add(path_of("to"), file_of(i), NULL, &err) < 0 || write(told, "", 1) != 1)
            return 1;
    return 0;
}

static int compact(int told)
{
    struct fleet_engine *engine = open_engine();
    struct fleet_compacted done;
    struct fleet_count count;
    if (engine == NULL || write(told, "", 1) != 1)
        return 1;
    return fleet_compact(engine, path_of("to"), -1, false, stdout, &count, &done, &err) < 0;
}

/* How many runs are there with all of their rows; UNKNOWN: a file is not whole, a run has too few rows or too many. */
static int count_runs(int told)
{
    struct fleet_engine *engine = open_engine();
    struct fleet_result result;
    struct fleet_count count = { 0 };
    (void)told;
    if (engine == NULL || fleet_files_view(engine, path_of("to"), false, stdout, &count, &err) < 0 ||
        fleet_engine_query(engine, "SELECT count(*), min(n), max(n) FROM (SELECT count(*) n FROM phases GROUP BY run)",
                           &arena, &result, &err) < 0)
        return engine != NULL && strstr(err.text, "there are no files") != NULL ? 0 : UNKNOWN;
    bool is_whole = strtol(result.values[1], NULL, 10) == ROWS && strtol(result.values[2], NULL, 10) == ROWS;
    return is_whole && count.n_skipped == 0 ? (int)strtol(result.values[0], NULL, 10) : UNKNOWN;
}

/* Run it and kill it so long after it told that it is under way.  Returns its status, or -1: it was killed. */
static int run(int (*what)(int told), long kill_us, int *n_told)
{
    int told[2], status = 0;
    char byte;
    if (pipe(told) < 0)
        return UNKNOWN;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        close(told[0]);
        _exit(what(told[1]));
    }
    close(told[1]);
    *n_told = 0;
    if (kill_us >= 0) {
        *n_told += read(told[0], &byte, 1) == 1;
        nanosleep(&(struct timespec){ .tv_nsec = kill_us * 1000 }, NULL);
        kill(pid, SIGKILL);
    }
    while (read(told[0], &byte, 1) == 1)
        ++*n_told;
    close(told[0]);
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* ---- the tests ---- */

static void clean(void)
{
    const char *command = arena_printf(&arena, "rm -rf '%s'", path_of("to"));
    if (system(command) != 0)
        printf("# '%s' failed\n", command);
}

static void test_add(void)
{
    int n_killed = 0, n_lost = 0, n_told, ignored;
    for (int i = 0; i < ROUNDS; i++) {
        clean();
        n_killed += run(add_all, (long)(fleet_noise_even() * 20000), &n_told) < 0;
        int n = run(count_runs, -1, &ignored);
        n_lost += n == UNKNOWN || n < n_told;
    }
    printf("# %d of %d were killed under way\n", n_killed, ROUNDS);
    CHECK("adding is killed at different moments", n_killed >= 2);
    CHECK_NUMBER("all that was added is there, and each file whole", n_lost, 0);
    CHECK_NUMBER("adding goes on where it was", run(add_all, -1, &n_told), 0);
    CHECK_NUMBER("up to the last file", run(count_runs, -1, &ignored), FILES);
}

static void test_compact(void)
{
    int n_killed = 0, n_lost = 0, ignored;
    for (int i = 0; i < ROUNDS; i++) {
        run(add_all, -1, &ignored);
        n_killed += run(compact, (long)(fleet_noise_even() * 100000), &ignored) < 0;
        n_lost += run(count_runs, -1, &ignored) != FILES;
    }
    printf("# %d of %d were killed under way\n", n_killed, ROUNDS);
    CHECK("compacting is killed at different moments", n_killed >= 2);
    CHECK_NUMBER("each row is there once", n_lost, 0);
    CHECK_NUMBER("the next one ends", run(compact, -1, &ignored), 0);
    CHECK_NUMBER("with all of them", run(count_runs, -1, &ignored), FILES);
}

int main(void)
{
    const char *scratch = getenv("SCRATCH");
    snprintf(directory, sizeof directory, "%s", scratch == NULL ? "/tmp" : scratch);
    if (access(getenv("MMPROF_DUCKDB") == NULL ? "build/libduckdb.so" : getenv("MMPROF_DUCKDB"), R_OK) < 0) {
        SKIP("nothing whole is lost", "there is no DuckDB: 'make duckdb' brings it");
        return tap_done();
    }
    fleet_noise_seed(1);
    write_files();
    test_add();
    test_compact();
    arena_free(&arena);
    return tap_done();
}
