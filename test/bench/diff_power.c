/*
 * How much 'mmprof diff' finds, and how much that is not there:
 *
 *     diff_power drawn N                     of N sets of runs drawn from noise
 *     diff_power recorded N PHASE A ... [-- B ...]     of N sets of 5 + 5 drawn from runs A that were recorded; with 10
 * % more put into PHASE; and against runs B that really have that
 */
#include "report/diff/diff_internal.h"
#include "test/unit/diff_experiment.h"

#include <stdio.h>
#include <stdlib.h>

#define RUNS 5

static int fail(const struct err *err)
{
    fprintf(stderr, "diff_power: %s\n", err->text);
    return 1;
}

static double per_cent(size_t n, size_t of)
{
    return 100 * (double)n / (double)of;
}

/* ---- drawn ---- */

static int print_drawn(size_t n)
{
    static const struct experiment_noise noises[] = {
        { 0, 0.01, 0.1, 0, false, false, false },   { 0, 0.03, 0.1, 0, false, false, false },
        { 0.1, 0.02, 0.1, 0, false, false, false }, { 0.1, 0.03, 0.1, 0, false, false, false },
        { 0.1, 0.03, 0.1, 0, true, true, false },   { 0.1, 0.05, 0.2, 0, true, true, false },
        { 0.1, 0.03, 0.1, 0, true, true, true },    { 0.3, 0.1, 0.3, 0, false, false, false },
    };
    static const size_t runs[] = { 2, 3, 5, 10 };
    struct experiment e = { .random = 1 };
    printf("noise: common  row  part (%%)              runs  false (%%)  found (%%)\n");
    for (size_t i = 0; i < sizeof noises / sizeof noises[0]; i++)
        for (size_t k = 0; k < sizeof runs / sizeof runs[0]; k++) {
            struct experiment_counts counts;
            experiment_many(&e, &noises[i], runs[k], 1.1, n, &counts);
            printf("%13.0f %4.0f %5.0f %-9s%-9s %6zu  %9.1f  %9.1f\n", 100 * noises[i].common, 100 * noises[i].row,
                   100 * noises[i].part, noises[i].has_slopes ? "uneven" : "", noises[i].has_outliers ? "outliers" : "",
                   runs[k], per_cent(counts.n_false, n), per_cent(counts.n_found, n));
        }
    arena_free(&e.arena);
    return 0;
}

/* ---- recorded ---- */

/* The runs of both sides of a comparison that was read: A before, B after. */
struct pool {
    struct arena arena;
    struct diff_row_options options;
    struct diff diff;
    size_t n, n_other;
};

static int read_pool(struct pool *pool, char **paths, size_t n, char **others, size_t n_others, struct err *err)
{
    bool has_others = n_others > 0;
    size_t half = n / 2; /* runs A alone: either half is a side */
    pool->n = n;
    pool->n_other = n_others;
    pool->options = (struct diff_row_options){ .paths = { (const char *const *)paths,
                                                          (const char *const *)(has_others ? others : paths + half) },
                                               .n_traces = { has_others ? n : half, has_others ? n_others : n - half },
                                               .min_share = 0.01,
                                               .least = 0.01 };
    return diff_read(&pool->diff, &pool->options, &pool->arena, err);
}

/* The values of a run: A's are 0 to n - 1, B's follow. */
static const struct diff_value *run_of(const struct pool *pool, const struct diff_row *row, size_t run)
{
    size_t n_before = pool->options.n_traces[DIFF_BEFORE];
    return run < n_before ? row->values[DIFF_BEFORE] + run * DIFF_METRICS_MAX
                          : row->values[DIFF_AFTER] + (run - n_before) * DIFF_METRICS_MAX;
}

/* n different numbers below 'of'. */
static void draw(struct experiment *e, size_t *numbers, size_t n, size_t of)
{
    for (size_t i = 0; i < n; i++) {
        bool is_known = true;
        while (is_known) {
            numbers[i] = (size_t)(experiment_uniform(e) * (double)of);
            is_known = false;
            for (size_t k = 0; k < i; k++)
                is_known = is_known || numbers[k] == numbers[i];
        }
    }
}

/* A comparison of these runs of the pool, not yet made. */
static void take_runs(struct experiment *e, const struct pool *pool, const size_t *before, const size_t *after)
{
    arena_free(&e->arena);
    e->options = pool->options;
    e->options.n_traces[DIFF_BEFORE] = e->options.n_traces[DIFF_AFTER] = RUNS;
    e->diff = pool->diff;
    e->diff.arena = &e->arena;
    e->diff.options = &e->options;
    e->diff.rows = arena_alloc(&e->arena, (e->diff.n_rows + 1) * sizeof *e->diff.rows);
    for (size_t i = 0; i < e->diff.n_rows; i++) {
        struct diff_row *row = &e->diff.rows[i];
        *row = pool->diff.rows[i];
        for (int side = DIFF_BEFORE; side < DIFF_SIDES; side++) {
            row->values[side] = arena_alloc(&e->arena, RUNS * DIFF_METRICS_MAX * sizeof(struct diff_value));
            for (size_t k = 0; k < RUNS; k++) {
                struct diff_value *values = row->values[side] + k * DIFF_METRICS_MAX;
                memcpy(values, run_of(pool, &pool->diff.rows[i], (side == DIFF_BEFORE ? before : after)[k]),
                       DIFF_METRICS_MAX * sizeof *values);
                values[DIFF_ADJUSTED].value = NAN; /* of the whole pool */
            }
        }
    }
}

/* The part of the callee's time that is on behalf of the caller. */
static double part_of(const struct diff *d, size_t caller, size_t callee)
{
    double on_behalf = 0, all = 0;
    for (size_t i = 0; i < d->n_pairs; i++) {
        const struct diff_pair *pair = &d->pairs[i];
        on_behalf += pair->caller == caller && pair->callee == callee ? pair->ns : 0;
        all += pair->caller == callee && pair->callee == callee ? pair->ns : 0;
    }
    return all > 0 ? on_behalf / all : 0;
}

/* 10 % more own time of a phase after: it, its callers and the process take more by that. */
static void put_more(struct diff *d, const char *phase)
{
    const struct diff_row *changed = NULL;
    for (size_t i = 0; i < d->n_rows; i++)
        if (strcmp(d->rows[i].label, phase) == 0)
            changed = &d->rows[i];
    for (size_t k = 0; changed != NULL && k < RUNS; k++) {
        double more = 0.1 * changed->values[DIFF_AFTER][k * DIFF_METRICS_MAX + DIFF_SELF].value;
        for (size_t i = 0; i < d->n_rows; i++) {
            struct diff_value *values = d->rows[i].values[DIFF_AFTER] + k * DIFF_METRICS_MAX;
            bool is_whole = strcmp(d->rows[i].kind, "total") == 0;
            values[DIFF_TIME].value += more * (is_whole ? 1 : part_of(d, d->rows[i].order, changed->order));
            values[DIFF_SELF].value += &d->rows[i] == changed ? more : 0;
        }
    }
}

/* Whether a phase's rise is found in sets of runs that are drawn from the pool. */
struct found {
    size_t n_false, n_put, n_real;
};

static void try_set(struct experiment *e, const struct pool *pool, const char *phase, bool is_real, struct found *found)
{
    size_t numbers[2 * RUNS], others[RUNS];
    draw(e, numbers, 2 * RUNS, pool->n);
    take_runs(e, pool, numbers, numbers + RUNS);
    diff_compare(&e->diff);
    found->n_false += experiment_count(&e->diff) > 0;
    take_runs(e, pool, numbers, numbers + RUNS);
    put_more(&e->diff, phase);
    diff_compare(&e->diff);
    found->n_put += experiment_rose(&e->diff, phase);
    if (!is_real)
        return;
    draw(e, others, RUNS, pool->n_other);
    for (size_t k = 0; k < RUNS; k++)
        others[k] += pool->n;
    take_runs(e, pool, numbers, others);
    diff_compare(&e->diff);
    found->n_real += experiment_rose(&e->diff, phase);
}

/* The standard deviation of logarithms of runs A. */
static double deviation(const struct pool *pool, const struct diff_row *row, enum diff_role role)
{
    double n = 0, sum = 0, squares = 0;
    for (size_t run = 0; run < pool->n; run++) {
        double x = log(run_of(pool, row, run)[role].value);
        n++;
        sum += x;
        squares += x * x;
    }
    return sqrt((squares - sum * sum / n) / (n - 1));
}

static void print_recorded(struct pool *pool, size_t n, const char *changed)
{
    struct experiment e = { .random = 1 };
    struct diff d = pool->diff;
    size_t n_false = 0, n_sets = 0;
    diff_compare(&d); /* which sorts the rows, and sets adjusted values */
    pool->diff = d;
    printf("%-32s  varies by (%%)  adjusted (%%)  found (%%), 10 %% put in  recorded with it\n", "phase");
    for (size_t i = 0; i < d.n_rows; i++) {
        struct found found = { 0, 0, 0 };
        double adjusted = deviation(pool, &d.rows[i], DIFF_ADJUSTED);
        bool is_real = strcmp(d.rows[i].label, changed) == 0 && pool->n_other >= RUNS;
        if (strcmp(d.rows[i].kind, "phase") != 0 || !diff_has_own_time(&d, &d.rows[i]))
            continue;
        for (size_t k = 0; k < n; k++)
            try_set(&e, pool, d.rows[i].label, is_real, &found);
        n_false += found.n_false;
        n_sets += n;
        printf("%-32.32s  %13.1f  %12.1f  %22.1f", d.rows[i].label, 100 * deviation(pool, &d.rows[i], DIFF_SELF),
               100 * adjusted, per_cent(found.n_put, n));
        if (is_real)
            printf("  %16.1f", per_cent(found.n_real, n));
        printf("\n");
    }
    arena_free(&e.arena);
    printf("without a change: %.1f %% of %zu sets of %d + %d say that there is one\n", per_cent(n_false, n_sets),
           n_sets, RUNS, RUNS);
}

static int compare_recorded(size_t n, const char *phase, char **paths, size_t n_paths)
{
    struct pool pool = { .n = 0 };
    struct err err;
    size_t n_first = 0;
    while (n_first < n_paths && strcmp(paths[n_first], "--") != 0)
        n_first++;
    size_t n_others = n_first < n_paths ? n_paths - n_first - 1 : 0;
    if (n_first < 2 * RUNS) {
        fprintf(stderr, "diff_power: %zu runs are too few: %d at least\n", n_first, 2 * RUNS);
        return 1;
    }
    int rc = read_pool(&pool, paths, n_first, paths + n_first + 1, n_others, &err);
    if (rc == 0)
        print_recorded(&pool, n, phase);
    arena_free(&pool.arena);
    return rc < 0 ? fail(&err) : 0;
}

int main(int argc, char **argv)
{
    size_t n = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    if (n > 0 && strcmp(argv[1], "drawn") == 0)
        return print_drawn(n);
    if (n > 0 && argc > 4 && strcmp(argv[1], "recorded") == 0)
        return compare_recorded(n, argv[3], argv + 4, (size_t)argc - 4);
    fprintf(stderr, "usage: diff_power drawn N | diff_power recorded N PHASE TRACE ... [-- TRACE ...]\n");
    return 1;
}
