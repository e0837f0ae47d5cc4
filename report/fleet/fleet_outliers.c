#include "report/fleet/fleet_queries.h"

#include "phases/samples/significance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAD_TO_DEVIATION 1.4826 /* of normal values */
#define MAD_EFFICIENCY   0.37
#define PHASES_LEAST     8 /* fewer tell no factor that a run's phases have in common */

#define GROUP "PARTITION BY service, jdk, cpu_model"

#define RUN_COLUMNS                                                              \
    "service, jdk, cpu_model, run, any_value(host) AS host, any_value(version) " \
    "AS version"

/* The row 'total' has the events of the whole process; those of phases have what they call in them, too. */
#define CPI_RUNS                                                                                          \
    "runs AS (SELECT " RUN_COLUMNS ", ln(nullif(sum(CASE WHEN instructions IS NOT NULL THEN cycles END) " \
    "FILTER (WHERE kind = 'total' AND counted_by = 'hardware'), 0) "                                      \
    "/ nullif(sum(CASE WHEN cycles IS NOT NULL THEN instructions END) "                                   \
    "FILTER (WHERE kind = 'total' AND counted_by = 'hardware'), 0)) AS y "                                \
    "FROM phases WHERE %s GROUP BY service, jdk, cpu_model, run), "

#define CALL_TIME_RUNS                                                                                     \
    "calls_of AS (SELECT " RUN_COLUMNS ", phase, ln(nullif(sum(called_ns), 0) / nullif(sum(calls), 0)) "   \
    "AS per_call FROM phases WHERE %s AND kind = 'phase' AND simulated IS NULL "                           \
    "GROUP BY service, jdk, cpu_model, run, phase), "                                                      \
    "apart AS (SELECT service, jdk, cpu_model, run, host, version, "                                       \
    "per_call - median(per_call) OVER (" GROUP ", phase) AS d FROM calls_of WHERE per_call IS NOT NULL), " \
    "runs AS (SELECT " RUN_COLUMNS ", CASE WHEN count(d) >= " PHASES_TEXT " THEN median(d) END AS y "      \
    "FROM apart GROUP BY service, jdk, cpu_model, run), "

#define TEXT_OF(number)  #number
#define TEXT_OF_(number) TEXT_OF(number)
#define PHASES_TEXT      TEXT_OF_(PHASES_LEAST)

#define SPREADS                                                                                        \
    "middles AS (SELECT *, median(y) OVER (" GROUP ") AS middle, count(y) OVER (" GROUP ") AS n_runs " \
    "FROM runs), "                                                                                     \
    "spreads AS (SELECT *, median(abs(y - middle)) OVER (" GROUP ") AS mad FROM middles) "             \
    "SELECT service, version, host, run, jdk, cpu_model, y, middle, mad, n_runs FROM spreads ORDER BY run"

enum { AT_SERVICE, AT_VERSION, AT_HOST, AT_RUN, AT_JDK, AT_CPU_MODEL, AT_Y, AT_MIDDLE, AT_MAD, AT_N, COLUMNS };

int fleet_measure_parse(const char *text, enum fleet_measure *measure, struct err *err)
{
    if (text == NULL || strcmp(text, "cpi") == 0)
        return *measure = FLEET_CPI, 0;
    if (strcmp(text, "call-time") == 0)
        return *measure = FLEET_CALL_TIME, 0;
    err_set(err, "unknown measure '%s'", text);
    return err_next(err, "give --measure cpi or --measure call-time");
}

static double number_of(const char *value)
{
    return value == NULL ? NAN : strtod(value, NULL);
}

/* Returns whether the run can be judged; else it is counted by why not. */
static bool judge(const char *const *row, struct fleet_outliers *all, struct fleet_outlier *to)
{
    double y = number_of(row[AT_Y]), middle = number_of(row[AT_MIDDLE]), mad = number_of(row[AT_MAD]);
    double n = number_of(row[AT_N]);
    bool is_uncounted = !isfinite(y), is_few = !(n >= FLEET_GROUP_LEAST), is_alike = !(mad > 0);
    all->n_uncounted += is_uncounted;
    all->n_few += !is_uncounted && is_few;
    all->n_alike += !is_uncounted && !is_few && is_alike;
    if (is_uncounted || is_few || is_alike)
        return false;
    double mads = (y - middle) / (MAD_TO_DEVIATION * mad);
    *to = (struct fleet_outlier){ .service = row[AT_SERVICE],
                                  .version = row[AT_VERSION],
                                  .host = row[AT_HOST],
                                  .run = row[AT_RUN],
                                  .jdk = row[AT_JDK],
                                  .cpu_model = row[AT_CPU_MODEL],
                                  .value = exp(y),
                                  .median = exp(middle),
                                  .mads = mads,
                                  .n_runs = n,
                                  .p = distribution_t_tails(mads, MAD_EFFICIENCY * (n - 1)) };
    return true;
}

static int least_p_first(const void *a, const void *b)
{
    const struct fleet_outlier *x = a, *y = b;
    return (x->p > y->p) - (x->p < y->p);
}

static int no_values(const struct fleet_outliers_options *o, struct err *err)
{
    if (o->measure == FLEET_CPI) {
        err_set(err, "no run has cycles and instructions that hardware counted");
        return err_next(err, "record where 'mmprof list' has both, or compare by --measure call-time");
    }
    err_set(err, "no run has %d phases whose calls were recorded", PHASES_LEAST);
    return err_next(err, "record with 'mmprof record --phases' or '--live', or compare by --measure cpi");
}

int fleet_outliers_find(struct fleet_engine *engine, const struct fleet_outliers_options *o, struct arena *arena,
                        struct fleet_outliers *outliers, struct err *err)
{
    struct fleet_result result;
    const char *name = o->service == NULL ? "" : fleet_engine_literal(engine, arena, o->service);
    const char *only = name == NULL ? NULL : o->service == NULL ? "true" : arena_printf(arena, "service = %s", name);
    const char *sql = only == NULL              ? NULL
                      : o->measure == FLEET_CPI ? arena_printf(arena, "WITH " CPI_RUNS SPREADS, only)
                                                : arena_printf(arena, "WITH " CALL_TIME_RUNS SPREADS, only);
    *outliers = (struct fleet_outliers){ .n = 0 };
    if (sql == NULL)
        return err_set(err, "out of memory for a query");
    if (fleet_engine_query(engine, sql, arena, &result, err) < 0)
        return -1;
    outliers->runs = arena_alloc(arena, (result.n_rows + 1) * sizeof *outliers->runs);
    if (outliers->runs == NULL)
        return err_set(err, "out of memory for %zu runs", result.n_rows);
    for (size_t i = 0; i < result.n_rows; i++)
        outliers->n += judge(result.values + i * COLUMNS, outliers, &outliers->runs[outliers->n]);
    if (result.n_rows == outliers->n_uncounted)
        return no_values(o, err);
    qsort(outliers->runs, outliers->n, sizeof *outliers->runs, least_p_first);
    for (size_t i = 0; i < outliers->n; i++)
        outliers->runs[i].p = fleet_correct(i == 0 ? 0 : outliers->runs[i - 1].p, outliers->runs[i].p, i, outliers->n);
    return 0;
}
