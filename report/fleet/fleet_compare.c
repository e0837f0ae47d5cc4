#include "report/fleet/fleet_queries.h"

#include "core/base/text.h"
#include "phases/samples/significance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS          9
#define PHASES_OF_FACTOR 8 /* fewer tell no factor that a run's phases have in common */

/* No column has the name of what it is made of: ClickHouse takes such a name for the new one.
 * Recordings with --simulate have the times of the emulator. */
#define MINE_QUERY                                                                                \
    "WITH mine AS (SELECT service, phase, kind, run, CASE WHEN %s THEN 0 ELSE 1 END AS side, "    \
    "sum(calls) AS n_calls, sum(called_ns) AS in_calls, sum(cpu_ns) AS cpu, sum(self_ns) AS own " \
    "FROM phases WHERE (%s OR %s) AND %s AND simulated IS NULL GROUP BY service, phase, kind, run, side) "

#define COMPARE_QUERY                                                                                               \
    MINE_QUERY                                                                                                      \
    ", whole AS (SELECT run, sum(own)::DOUBLE AS all_ns FROM mine GROUP BY run), "                                  \
    "services AS (SELECT service AS of_service, sum(own)::DOUBLE AS all_ns FROM mine GROUP BY service), "           \
    "heavy AS (SELECT service, phase, count(n_calls) > 0 AS is_called FROM mine "                                   \
    "JOIN services ON service IS NOT DISTINCT FROM of_service WHERE kind IN ('phase', 'sampled') "                  \
    "GROUP BY service, phase HAVING sum(cpu) >= %.17g * any_value(all_ns)), "                                       \
    "each AS (SELECT service, phase, side, run, sum(in_calls)::DOUBLE / nullif(sum(n_calls), 0) AS per_call, "      \
    "sum(own)::DOUBLE AS self FROM mine WHERE kind IN ('phase', 'sampled') GROUP BY service, phase, side, run), "   \
    "v AS (SELECT each.service AS service, each.phase AS phase, side, run, NOT is_called AS is_share, "             \
    "CASE WHEN is_called THEN per_call ELSE self / all_ns END AS value "                                            \
    "FROM each JOIN heavy ON each.phase = heavy.phase AND each.service IS NOT DISTINCT FROM heavy.service "         \
    "JOIN whole USING (run)), "                                                                                     \
    "logs AS (SELECT service, phase, side, run, is_share, ln(value) AS y, "                                         \
    "ln(value) - avg(ln(value)) OVER (PARTITION BY service, phase) AS apart FROM v WHERE value > 0), "              \
    "common AS (SELECT run, side, CASE WHEN count(*) >= %d THEN median(apart) ELSE 0 END AS factor FROM logs "      \
    "WHERE NOT is_share GROUP BY run, side), "                                                                      \
    "compared AS (SELECT service, phase, is_share::INTEGER AS what, side, "                                         \
    "y - CASE WHEN is_share THEN 0 ELSE coalesce(factor, 0) END AS z FROM logs LEFT JOIN common USING (run, side) " \
    "UNION ALL SELECT NULL, 'all phases', %d, side, factor FROM common) "                                           \
    "SELECT service, phase, what, count(z) FILTER (WHERE side = 0), avg(z) FILTER (WHERE side = 0), "               \
    "var_samp(z) FILTER (WHERE side = 0), count(z) FILTER (WHERE side = 1), avg(z) FILTER (WHERE side = 1), "       \
    "var_samp(z) FILTER (WHERE side = 1) FROM compared GROUP BY service, phase, what ORDER BY ALL"

#define RUNS_QUERY \
    MINE_QUERY     \
    "SELECT count(DISTINCT run) FILTER (WHERE side = 0), count(DISTINCT run) FILTER (WHERE side = 1) FROM mine"

/* "version=1.2" as a condition, the arena's; NULL with *err set. */
static const char *condition_of(const struct fleet_engine *engine, struct arena *arena, const char *side,
                                const char *option, struct err *err)
{
    static const char *const keys[] = { "version", "service", "host", "jdk", "gc", "cpu_model", "run" };
    const char *equals = side == NULL ? NULL : strchr(side, '=');
    for (size_t i = 0; equals != NULL && i < sizeof keys / sizeof keys[0]; i++) {
        if (strlen(keys[i]) != (size_t)(equals - side) || strncmp(keys[i], side, strlen(keys[i])) != 0)
            continue;
        const char *literal = fleet_engine_literal(engine, arena, equals + 1);
        const char *sql = literal == NULL ? NULL : arena_printf(arena, "coalesce(%s = %s, false)", keys[i], literal);
        if (sql == NULL)
            err_set(err, "out of memory for a query");
        return sql;
    }
    if (side == NULL)
        err_set(err, "%s is not given", option);
    else
        err_set(err, "'%s' selects no runs", side);
    err_next(err, "give %s version=NAME, or one of service, host, jdk, gc, cpu_model, run", option);
    return NULL;
}

static int check_runs(const struct fleet_compare_options *o, const struct fleet_result *result, struct err *err)
{
    for (size_t side = 0; side < 2; side++) {
        long n = result->values[side] == NULL ? 0 : strtol(result->values[side], NULL, 10);
        if (n >= FLEET_RUNS_LEAST)
            continue;
        const char *runs = side == 0 ? o->before : o->after;
        err_set(err, "'%s' has %ld run%s", runs, n, text_plural((uint64_t)n));
        if (n == 0)
            return err_next(err, "list them: mmprof fleet sql DIR 'SELECT DISTINCT service, %.*s FROM phases'",
                            (int)strcspn(runs, "="), runs);
        return err_next(err, "record at least %d runs of each side: one run does not show how runs differ",
                        FLEET_RUNS_LEAST);
    }
    return 0;
}

static struct moments moments_of(const char *const *values)
{
    struct moments moments = { .n = values[0] == NULL ? 0 : strtoul(values[0], NULL, 10) };
    if (moments.n >= 2 && values[1] != NULL && values[2] != NULL) {
        moments.mean = strtod(values[1], NULL);
        moments.squares = strtod(values[2], NULL) * (double)(moments.n - 1);
    }
    return moments;
}

/* Returns whether the row can be compared. */
static bool compare_row(const char *const *row, struct fleet_difference *to)
{
    struct moments groups[2] = { moments_of(row + 3), moments_of(row + 6) };
    struct pairwise pairwise = { .n_groups = 0 };
    if (groups[0].n < FLEET_RUNS_LEAST || groups[1].n < FLEET_RUNS_LEAST)
        return false;
    pairwise_begin(&pairwise, groups, 2);
    struct pairwise_difference d = pairwise_compare(&pairwise, &groups[0], &groups[1]);
    *to = (struct fleet_difference){ .service = row[0],
                                     .phase = row[1],
                                     .of = row[2] == NULL ? FLEET_OF_CALL
                                                          : (enum fleet_difference_of)strtol(row[2], NULL, 10),
                                     .n_before = (double)groups[0].n,
                                     .n_after = (double)groups[1].n,
                                     .before = exp(groups[0].mean),
                                     .after = exp(groups[1].mean),
                                     .ratio = exp(d.difference),
                                     .low = exp(d.difference - d.half),
                                     .high = exp(d.difference + d.half),
                                     .p = pairwise_p(&d) };
    return !isnan(to->p);
}

static int least_p_first(const void *a, const void *b)
{
    const struct fleet_difference *x = a, *y = b;
    return (x->p > y->p) - (x->p < y->p);
}

double fleet_correct(double before, double p, size_t rank, size_t n)
{
    return fmin(1, fmax(before, p * (double)(n - rank)));
}

static void correct(struct fleet_difference *differences, size_t n)
{
    qsort(differences, n, sizeof *differences, least_p_first);
    for (size_t i = 0; i < n; i++)
        differences[i].p = fleet_correct(i == 0 ? 0 : differences[i - 1].p, differences[i].p, i, n);
}

int fleet_compare(struct fleet_engine *engine, const struct fleet_compare_options *o, struct arena *arena,
                  struct fleet_difference **differences, size_t *n, struct err *err)
{
    struct fleet_result runs, result;
    const char *before = condition_of(engine, arena, o->before, "--before", err);
    const char *after = before == NULL ? NULL : condition_of(engine, arena, o->after, "--after", err);
    const char *service = o->service == NULL ? "" : fleet_engine_literal(engine, arena, o->service);
    if (after == NULL)
        return -1;
    const char *only = service == NULL      ? NULL
                       : o->service == NULL ? "true"
                                            : arena_printf(arena, "service = %s", service);
    const char *count = only == NULL ? NULL : arena_printf(arena, RUNS_QUERY, before, before, after, only);
    const char *sql = only == NULL ? NULL
                                   : arena_printf(arena, COMPARE_QUERY, before, before, after, only, o->weight,
                                                  PHASES_OF_FACTOR, FLEET_OF_ALL);
    if (count == NULL || sql == NULL)
        return err_set(err, "out of memory for a query");
    if (fleet_engine_query(engine, count, arena, &runs, err) < 0 || check_runs(o, &runs, err) < 0 ||
        fleet_engine_query(engine, sql, arena, &result, err) < 0)
        return -1;
    *differences = arena_alloc(arena, (result.n_rows + 1) * sizeof **differences);
    if (*differences == NULL)
        return err_set(err, "out of memory for %zu phases", result.n_rows);
    *n = 0;
    for (size_t i = 0; i < result.n_rows; i++)
        *n += compare_row(result.values + i * COLUMNS, *differences + *n);
    correct(*differences, *n);
    return 0;
}
