#include "report/fleet/fleet_queries.h"

#include "report/fleet/fleet_files.h"
#include "test/unit/fleet_maker.h"
#include "test/unit/tap.h"

#include <math.h>
#include <sys/stat.h>

enum { RUNS = 100, SEEDS = 20, PHASES = 10, ODD_RUN = 17 };

/* What a case's runs are; the odd one is run 17. */
struct experiment {
    const char *name;
    int n_runs;
    double odd_cpi, odd_time; /* factors of run 17; 0: as all */
    double spread;
    const char *counted_by;
    bool two_models; /* run 50 and later are of another CPU model, with twice the CPI */
};

static struct err err;
static struct arena arena;
static struct fleet_engine *engine;

static void write_run(struct fleet_maker *maker, const struct experiment *e, int r)
{
    char run[32], phase[16];
    snprintf(run, sizeof run, "r%d", r);
    bool is_odd = r == ODD_RUN, is_other = e->two_models && r >= RUNS / 2;
    double cpi =
        0.8 * (is_other ? 2 : 1) * exp(e->spread * fleet_noise()) * (is_odd && e->odd_cpi > 0 ? e->odd_cpi : 1);
    double time = exp(e->spread * fleet_noise()) * (is_odd && e->odd_time > 0 ? e->odd_time : 1);
    struct fleet_made row = { .run = run,
                              .service = "shop",
                              .version = "1",
                              .jdk = "21",
                              .cpu_model = is_other ? "B" : "A",
                              .counted_by = e->counted_by,
                              .simulated = e->counted_by != NULL && e->counted_by[0] == 's' ? "M" : NULL,
                              .ts = 60000000,
                              .kind = "total",
                              .phase = "total",
                              .calls = -1,
                              .called_ns = -1,
                              .cpu_ns = 1000000000,
                              .self_ns = -1,
                              .cycles = e->counted_by == NULL ? -1 : (int64_t)(1e9 * cpi),
                              .instructions = e->counted_by == NULL ? -1 : 1000000000 };
    fleet_maker_row(maker, &row);
    row.kind = "phase";
    row.cycles *= 7; /* with what it calls: must not be added up */
    for (int p = 0; p < PHASES; p++) {
        snprintf(phase, sizeof phase, "p%d", p);
        row.phase = phase;
        row.calls = 100;
        row.called_ns = row.cpu_ns = row.self_ns = (int64_t)(1e7 * (p + 1) * time * exp(0.02 * fleet_noise()));
        fleet_maker_row(maker, &row);
    }
}

/* Returns whether a view is made of it. */
static bool make_runs(const struct experiment *e, int seed)
{
    struct fleet_maker maker;
    struct fleet_count count;
    const char *scratch = getenv("SCRATCH");
    const char *at = arena_printf(&arena, "%s/%s-%d", scratch == NULL ? "/tmp" : scratch, e->name, seed);
    mkdir(at, 0777);
    fleet_maker_open(&maker, arena_printf(&arena, "%s/f.parquet", at));
    fleet_noise_seed(seed);
    for (int r = 0; r < e->n_runs; r++)
        write_run(&maker, e, r);
    fleet_maker_close(&maker, "1");
    return CHECK("the files are a table", fleet_files_view(engine, at, false, stdout, &count, &err) == 0);
}

struct answer {
    size_t n_odd, n_others;
    struct fleet_outliers last;
    int rc;
};

static struct answer find(const struct experiment *e, int seed, enum fleet_measure measure)
{
    struct answer answer = { .rc = -1 };
    const struct fleet_outliers_options options = { .measure = measure };
    if (!make_runs(e, seed) || (answer.rc = fleet_outliers_find(engine, &options, &arena, &answer.last, &err)) < 0)
        return answer;
    for (size_t i = 0; i < answer.last.n; i++)
        if (answer.last.runs[i].p < FLEET_SIGNIFICANCE)
            *(strcmp(answer.last.runs[i].run, "r17") == 0 ? &answer.n_odd : &answer.n_others) += 1;
    return answer;
}

static void test_found(enum fleet_measure measure, const struct experiment *e)
{
    size_t n_odd = 0, n_others = 0;
    for (int seed = 1; seed <= SEEDS; seed++) {
        struct answer answer = find(e, seed, measure);
        n_odd += answer.n_odd;
        n_others += answer.n_others;
    }
    printf("# %s: found %zu of %d, others %zu\n", e->name, n_odd, SEEDS, n_others);
    CHECK_NUMBER("a run that is unlike the others is found with every seed", n_odd, SEEDS);
    CHECK_NUMBER("and no other", n_others, 0);
}

static void test_cpi(void)
{
    static const struct experiment cpi = { "cpi", RUNS, 1.5, 0, 0.05, "hardware", true };
    static const struct experiment time = { "call-time", RUNS, 0, 1.5, 0.05, NULL, false };
    test_found(FLEET_CPI, &cpi);
    test_found(FLEET_CALL_TIME, &time);
    struct answer answer = find(&cpi, 1, FLEET_CPI);
    const struct fleet_outlier *odd = answer.last.n == 0 ? NULL : &answer.last.runs[0];
    CHECK("the median is that of its own CPU model", odd != NULL && odd->median > 0.76 && odd->median < 0.84);
    CHECK("and its CPI that of the whole process", odd != NULL && odd->value > 0.95 && odd->value < 1.5);
    CHECK_NUMBER("runs of its group are counted", odd == NULL ? 0 : odd->n_runs, RUNS / 2);
}

static void test_refused(void)
{
    static const struct experiment none = { "uncounted", RUNS, 0, 0, 0.05, NULL, false };
    static const struct experiment simulated = { "simulated", RUNS, 0, 0, 0.05, "simulation", false };
    static const struct experiment few = { "few", 9, 0, 0, 0.05, "hardware", false };
    static const struct experiment alike = { "alike", 20, 3, 0, 0, "hardware", false };
    CHECK("without hardware counts it is said how to compare by time",
          find(&none, 1, FLEET_CPI).rc < 0 && strstr(err.text, "--measure call-time"));
    CHECK("simulated counts are none", find(&simulated, 1, FLEET_CPI).rc < 0);
    CHECK("nor are times of a simulation", find(&simulated, 1, FLEET_CALL_TIME).rc < 0);
    struct answer answer = find(&few, 1, FLEET_CPI);
    CHECK("nine runs are too few, and counted", answer.rc == 0 && answer.last.n == 0 && answer.last.n_few == 9);
    answer = find(&alike, 1, FLEET_CPI);
    CHECK("runs that are all alike tell no spread", answer.rc == 0 && answer.last.n == 0 && answer.last.n_alike == 20);
    enum fleet_measure measure;
    CHECK("another measure is refused", fleet_measure_parse("ipc", &measure, &err) < 0);
}

int main(void)
{
    CHECK("a p is multiplied by the tests that are left",
          fabs(fleet_correct(0, 0.01, 0, 4) - 0.04) < 1e-12 && fabs(fleet_correct(0.04, 0.011, 1, 4) - 0.04) < 1e-12);
    CHECK("and is at most 1", fleet_correct(0.5, 0.9, 2, 4) == 1);
    if (fleet_engine_open(&engine, getenv("MMPROF_DUCKDB") == NULL ? "build/libduckdb.so" : NULL, &err) < 0) {
        SKIP("outliers are found", "there is no DuckDB: 'make duckdb' brings it");
        return tap_done();
    }
    test_cpi();
    test_refused();
    fleet_engine_close(engine);
    arena_free(&arena);
    return tap_done();
}
