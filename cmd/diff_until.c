#include "cmd/diff_parts.h"

#include "phases/samples/significance.h"

#define RUNS_MAX 1000

enum { CPU, WALL, STEADY, METRICS };

struct until_running {
    const struct diff_until *options;
    struct versions *versions;
    struct rerun rerun;
    regex_t iterations;
    size_t window;
    double cov_limit;
    double *values[METRICS][VERSIONS_MAX]; /* by run; the arena's */
    struct moments groups[VERSIONS_MAX];   /* of logarithms of what decides */
    size_t n_cold, n_steady, first_sum;    /* runs that never got steady, and those that have; iterations before */
};

/* ---- options ---- */

static int parse_runs(const char *text, struct rerun *rerun, struct err *err)
{
    char *end;
    rerun->runs_least = strtoul(text, &end, 10);
    rerun->runs_most = *end == ':' ? strtoul(end + 1, &end, 10) : rerun->runs_least;
    if (*end == '\0' && text[0] >= '0' && text[0] <= '9' && rerun->runs_least >= 2 && rerun->runs_most <= RUNS_MAX &&
        rerun->runs_least <= rerun->runs_most)
        return 0;
    err_set(err, "malformed number of runs '%s'", text);
    return err_next(err, "give the minimum and maximum per version, 2 to %d: --runs 5:30", RUNS_MAX);
}

static int parse_steady(struct until_running *r, struct err *err)
{
    char *end;
    const char *text = r->options->steady;
    r->window = strtoul(text, &end, 10);
    r->cov_limit = *end == ':' ? strtod(end + 1, &end) : 0.02;
    if (*end == '%' && end[1] == '\0') {
        r->cov_limit /= 100;
        end++;
    }
    if (*end == '\0' && text[0] >= '0' && text[0] <= '9' && r->window >= 2 && r->cov_limit > 0)
        return 0;
    err_set(err, "malformed steady state '%s'", text);
    return err_next(err, "give a number of iterations, and their coefficient of variation: --steady 10:2%%");
}

static int parse_iterations(struct until_running *r, struct err *err)
{
    char why[200];
    const char *text = r->options->iterations;
    int rc = text == NULL ? 0 : regcomp(&r->iterations, text, REG_EXTENDED);
    if (rc == 0 && (text == NULL || r->iterations.re_nsub > 0))
        return 0;
    if (rc != 0)
        regerror(rc, &r->iterations, why, sizeof why);
    else
        regfree(&r->iterations);
    err_set(err, "malformed expression '%s': %s", text, rc != 0 ? why : "it has no parentheses");
    return err_next(err, "put parentheses around the number: --iterations 'in ([0-9.]+) msec'");
}

/* What there will be of each run. */
static void make_series(struct until_running *r)
{
    static const char *const names[METRICS] = { "CPU time", "wall time", "iteration" };
    struct versions *v = r->versions;
    struct versions_series *series = arena_alloc(v->arena, METRICS * sizeof *series);
    for (size_t m = 0; m < METRICS; m++) {
        if (m == STEADY && r->options->iterations == NULL)
            continue;
        struct versions_series *s = &series[v->n_series++];
        *s = (struct versions_series){ .kind = "total",
                                       .label = m == STEADY ? "steady state" : "process",
                                       .metric = names[m],
                                       .unit = m == STEADY ? TABLE_RATIO : TABLE_NS,
                                       .is_main = true };
        for (size_t i = 0; i < v->n_versions; i++)
            s->values[i] = r->values[m][i];
    }
    v->series = series;
}

static int begin(struct until_running *r, struct err *err)
{
    r->rerun.n_versions = r->versions->n_versions;
    r->rerun.until = r->options->until;
    if (parse_runs(r->options->runs, &r->rerun, err) < 0 || parse_steady(r, err) < 0)
        return -1;
    if (r->options->directory != NULL && r->rerun.runs_most > DIFF_TRACES_MAX) {
        err_set(err, "%zu runs of each are too many to compare as traces", (size_t)r->rerun.runs_most);
        return err_next(err, "give --runs %zu:%d at most with --record", (size_t)r->rerun.runs_least, DIFF_TRACES_MAX);
    }
    if (r->options->directory != NULL && diff_record_begin(r->options->directory, err) < 0)
        return -1;
    for (size_t m = 0; m < METRICS; m++)
        for (size_t i = 0; i < r->versions->n_versions; i++)
            r->values[m][i] = arena_alloc(r->versions->arena, r->rerun.runs_most * sizeof *r->values[m][i]);
    rerun_begin(&r->rerun);
    make_series(r);
    return versions_check_gate(r->versions, err) < 0 ? -1 : parse_iterations(r, err);
}

/* ---- runs ---- */

static int take_steady(struct until_running *r, const char *command, const struct measured_run *run, double *value,
                       struct err *err)
{
    struct steady steady;
    if (!steady_find(run->iterations, run->n_iterations, r->window, r->cov_limit, &steady)) {
        err_set(err, "'%s' printed %zu iterations that match '%s'", command, run->n_iterations, r->options->iterations);
        return err_next(err, "let it run at least %zu iterations, or give a smaller --steady", r->window);
    }
    *value = steady.mean;
    r->n_cold += !steady.is_reached;
    r->n_steady += steady.is_reached;
    r->first_sum += steady.is_reached ? steady.first : 0;
    return 0;
}

/* The command of a run that is recorded. */
static const char *recorded(const struct until_running *r, size_t version, size_t run)
{
    struct arena *arena = r->versions->arena;
    const char *path = diff_record_path(arena, r->options->directory, r->versions->names[version], run);
    return diff_record_command(arena, path, r->versions->what[version]);
}

/* One run of a version, which counts from the second round on. */
static int run_version(struct until_running *r, size_t version, bool counts, struct err *err)
{
    struct measured_run run;
    const char *command = r->versions->what[version];
    bool has_iterations = r->options->iterations != NULL;
    size_t at = r->versions->n_runs[version];
    int rc = 0;
    if (counts && r->options->directory != NULL) {
        command = recorded(r, version, at + 1);
    }
    if (measured_run(command, has_iterations ? &r->iterations : NULL, &run, err) < 0)
        return -1;
    if (counts) {
        double steady = NAN;
        if (has_iterations)
            rc = take_steady(r, command, &run, &steady, err);
        r->values[CPU][version][at] = run.cpu_ns;
        r->values[WALL][version][at] = run.wall_ns;
        r->values[STEADY][version][at] = steady;
        moments_add(&r->groups[version], log(has_iterations ? steady : r->options->by_wall ? run.wall_ns : run.cpu_ns));
        r->versions->n_runs[version]++;
    }
    measured_run_free(&run);
    return rc;
}

static void print_progress(const struct until_running *r)
{
    if (r->options->is_quiet || !isatty(STDERR_FILENO))
        return;
    fprintf(stderr, "\rmmprof diff: %zu runs of each", r->versions->n_runs[0]);
    if (!isnan(r->rerun.half))
        fprintf(stderr, ", \u00b1%.1f %%, until %.3g %%\033[K", 100 * r->rerun.half, 100 * r->rerun.until);
}

/* In turns, every other round in reverse; what the first ones find in no cache is in it for all others. */
static int run_all(struct until_running *r, struct err *err)
{
    size_t n = r->versions->n_versions;
    for (size_t round = 0; round == 0 || rerun_again(&r->rerun, r->groups); round++) {
        for (size_t i = 0; i < n; i++)
            if (run_version(r, round % 2 == 0 ? i : n - 1 - i, round > 0, err) < 0)
                return -1;
        print_progress(r);
    }
    if (!r->options->is_quiet && isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K");
    return 0;
}

/* ---- results ---- */

static const char *interval_words(const struct until_running *r)
{
    const char *of = r->options->iterations != NULL ? "the time of an iteration"
                     : r->options->by_wall          ? "wall time"
                                                    : "CPU time";
    struct arena *arena = r->versions->arena;
    const char *few = r->rerun.half <= r->rerun.until
                          ? ""
                          : arena_printf(arena,
                                         ", still wider than the %.3g %% asked for: allow more runs (--runs), or use "
                                         "a quieter machine",
                                         100 * r->rerun.until);
    return arena_printf(arena, "%zu runs of each, in turns: the %s95 %% interval of %s is \u00b1%.1f %%%s",
                        r->versions->n_runs[0], r->versions->n_versions > 2 ? "widest " : "", of, 100 * r->rerun.half,
                        few);
}

static const char *steady_words(const struct until_running *r)
{
    struct arena *arena = r->versions->arena;
    const char *what = arena_printf(arena, "%zu iterations in a row with a coefficient of variation below %.3g %%",
                                    r->window, 100 * r->cov_limit);
    if (r->n_cold == 0)
        return arena_printf(arena, "steady state: %s, after %.1f others", what,
                            (double)r->first_sum / (double)r->n_steady);
    return arena_printf(arena,
                        "%zu of %zu runs reached no steady state, %s: their %zu iterations that vary least are used",
                        r->n_cold, r->n_cold + r->n_steady, what, r->window);
}

int diff_until_run(const struct diff_until *options, struct versions *v, struct diff_until_end *end, struct err *err)
{
    struct until_running *r = arena_alloc(v->arena, sizeof *r);
    *r = (struct until_running){ .options = options, .versions = v };
    if (begin(r, err) < 0)
        return -1;
    int rc = run_all(r, err);
    if (options->iterations != NULL)
        regfree(&r->iterations);
    if (rc < 0)
        return -1;
    *end = (struct diff_until_end){ .intervals = interval_words(r),
                                    .steady = options->iterations != NULL ? steady_words(r) : NULL,
                                    .is_narrow = r->rerun.half <= r->rerun.until,
                                    .is_steady = r->n_cold == 0 };
    return 0;
}
