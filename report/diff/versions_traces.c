/*
 * Traces of several versions: they are read as if the first version were before, and all others after a change, and
 * what was read is divided by version again.
 */
#include "report/diff/diff_internal.h"
#include "core/base/text.h"
#include "report/diff/versions.h"

static int check(const size_t *n_traces, const struct versions *v, struct err *err)
{
    size_t n = 0;
    for (size_t i = 0; i < v->n_versions; i++) {
        n += i == 0 ? 0 : n_traces[i];
        if (n_traces[i] >= 2)
            continue;
        err_set(err, "'%s' has %zu trace%s", v->names[i], n_traces[i], text_plural(n_traces[i]));
        return err_next(err, "name two or more traces of each version: more than two versions are compared by the "
                             "variation between runs");
    }
    if (n <= DIFF_TRACES_MAX)
        return 0;
    err_set(err, "more than %d traces of the versions after the first", DIFF_TRACES_MAX);
    return err_next(err, "name fewer traces of each version");
}

/* The traces of all versions but the first. */
static const char **join(struct arena *arena, const char *const *const paths[VERSIONS_MAX], const size_t *n_traces,
                         size_t n_versions, size_t *n)
{
    const char **joined = arena_alloc(arena, DIFF_TRACES_MAX * sizeof *joined);
    *n = 0;
    for (size_t i = 1; i < n_versions; i++) {
        memcpy(joined + *n, paths[i], n_traces[i] * sizeof *joined);
        *n += n_traces[i];
    }
    return joined;
}

/* The values of a row by version. */
static const double *values_of(const struct diff *d, const struct diff_row *row, size_t metric, enum diff_side side,
                               size_t first, size_t n)
{
    double *values = arena_alloc(d->arena, n * sizeof *values);
    for (size_t i = 0; i < n; i++)
        values[i] = diff_value_of(row, side, first + i, metric)->value;
    return values;
}

static void add_series(const struct diff *d, const struct diff_row *row, size_t metric, const struct versions *v,
                       struct versions_series *s)
{
    *s = (struct versions_series){ .kind = row->kind,
                                   .label = row->label,
                                   .metric = d->metrics[metric].name,
                                   .unit = d->metrics[metric].unit,
                                   .is_main = d->metrics[metric].role == DIFF_TIME || d->options->all,
                                   .names = row->names };
    for (size_t i = 0, first = 0; i < v->n_versions; i++) {
        s->values[i] = values_of(d, row, metric, i == 0 ? DIFF_BEFORE : DIFF_AFTER, first, v->n_runs[i]);
        first += i == 0 ? 0 : v->n_runs[i];
    }
}

int versions_of_traces(const struct diff_row_options *options, const char *const *const paths[VERSIONS_MAX],
                       const size_t *n_traces, struct versions *v, struct err *err)
{
    struct diff *d = arena_alloc(v->arena, sizeof *d);
    struct diff_row_options *both = arena_alloc(v->arena, sizeof *both);
    if (check(n_traces, v, err) < 0)
        return -1;
    *both = *options;
    both->paths[DIFF_BEFORE] = paths[0];
    both->n_traces[DIFF_BEFORE] = n_traces[0];
    both->paths[DIFF_AFTER] = join(v->arena, paths, n_traces, v->n_versions, &both->n_traces[DIFF_AFTER]);
    if (diff_read(d, both, v->arena, err) < 0)
        return -1;
    diff_compare(d);
    struct versions_series *series = arena_alloc(v->arena, (d->n_rows * d->n_metrics + 1) * sizeof *series);
    memcpy(v->n_runs, n_traces, v->n_versions * sizeof *n_traces);
    for (size_t i = 0; i < d->n_rows; i++)
        for (size_t m = 0; m < d->n_metrics; m++)
            if (d->metrics[m].role != DIFF_ADJUSTED)
                add_series(d, &d->rows[i], m, v, &series[v->n_series++]);
    v->series = series;
    return 0;
}
