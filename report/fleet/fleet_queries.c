#include "report/fleet/fleet_queries.h"

#include "core/base/text.h"
#include "phases/samples/significance.h"

/* ---- select ---- */

/*
 * Rows become few at once: an engine keeps what a query uses twice in memory.  'called' is a word of SQL.  Of two
 * methods of one name, as a bridge method and the one that it calls, the inner one's time is in the outer one's.
 */
#define SELECT_QUERY                                                                                     \
    "WITH mine AS (SELECT service, phase, kind, run, sum(self_ns) AS self_of, "                          \
    "sum(CASE WHEN coalesce(parent, '') <> phase THEN cpu_ns END) AS cpu_of, "                           \
    "sum(CASE WHEN coalesce(parent, '') <> phase THEN calls END) AS calls_of, "                          \
    "sum(CASE WHEN coalesce(parent, '') <> phase THEN called_ns END) AS in_calls_of "                    \
    "FROM phases WHERE %s GROUP BY service, phase, kind, run), "                                         \
    "whole AS (SELECT service, sum(self_of)::DOUBLE AS all_ns FROM mine GROUP BY service), "             \
    "summed AS (SELECT service, phase, sum(cpu_of)::DOUBLE AS cpu, sum(self_of)::DOUBLE AS self, "       \
    "sum(calls_of)::BIGINT AS calls, sum(in_calls_of)::DOUBLE AS in_calls, count(DISTINCT run) AS runs " \
    "FROM mine WHERE kind IN ('phase', 'sampled') GROUP BY service, phase) "                             \
    "SELECT summed.service, phase, cpu / all_ns AS time_share, self / all_ns AS self_share, calls, "     \
    "in_calls / calls AS ns_per_call, runs "                                                             \
    "FROM summed JOIN whole ON summed.service IS NOT DISTINCT FROM whole.service "                       \
    "WHERE cpu >= %.17g * all_ns AND in_calls >= %.17g * calls AND calls > 0 ORDER BY summed.service, cpu DESC, phase"

#define DAYS_QUERY                                                                                                   \
    "WITH mine AS (SELECT service, phase, version, CAST(ts AS DATE) AS day_of, kind, sum(self_ns) AS own, "          \
    "sum(CASE WHEN coalesce(parent, '') <> phase THEN called_ns END) AS in_calls, "                                  \
    "sum(CASE WHEN coalesce(parent, '') <> phase THEN calls END) AS n_calls, "                                       \
    "sum(CASE WHEN coalesce(parent, '') <> phase THEN cpu_ns END) AS cpu FROM phases WHERE %s "                      \
    "GROUP BY service, phase, version, day_of, kind), "                                                              \
    "whole AS (SELECT service AS s, version AS v, day_of AS d, sum(own) AS all_ns FROM mine GROUP BY s, v, d) "      \
    "SELECT service, phase, version, CAST(day_of AS VARCHAR) AS day, in_calls / nullif(n_calls, 0) AS ns_per_call, " \
    "cpu / nullif(all_ns, 0) AS share FROM mine JOIN whole ON service IS NOT DISTINCT FROM s "                       \
    "AND version IS NOT DISTINCT FROM v AND day_of = d WHERE kind IN ('phase', 'sampled') "                          \
    "ORDER BY service, phase, version, day"

/* A condition, the arena's. */
static const char *condition_of(const struct fleet_engine *engine, struct arena *arena, const char *service)
{
    return service == NULL ? "true" : arena_printf(arena, "service = %s", fleet_engine_literal(engine, arena, service));
}

const char *fleet_days_sql(const struct fleet_engine *engine, struct arena *arena, const char *service)
{
    return arena_printf(arena, DAYS_QUERY, condition_of(engine, arena, service));
}

const char *fleet_select_sql(const struct fleet_engine *engine, struct arena *arena, const char *service, double weight,
                             double grain_ns)
{
    return arena_printf(arena, SELECT_QUERY, condition_of(engine, arena, service), weight, grain_ns);
}

/* ---- compare ---- */

#define COMPARED_COLUMNS 9
#define PHASES_LEAST     8 /* fewer tell no factor that a run's phases have in common */

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
static const char *side_of(const struct fleet_engine *engine, struct arena *arena, const char *side, const char *option,
                           struct err *err)
{
    static const char *const keys[] = { "version", "service", "host", "jdk", "gc", "cpu_model", "run" };
    const char *equals = side == NULL ? NULL : strchr(side, '=');
    for (size_t i = 0; equals != NULL && i < sizeof keys / sizeof keys[0]; i++) {
        if (strlen(keys[i]) != (size_t)(equals - side) || strncmp(keys[i], side, strlen(keys[i])) != 0)
            continue;
        return arena_printf(arena, "coalesce(%s = %s, false)", keys[i],
                            fleet_engine_literal(engine, arena, equals + 1));
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

static int least_difference_first(const void *a, const void *b)
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
    qsort(differences, n, sizeof *differences, least_difference_first);
    for (size_t i = 0; i < n; i++)
        differences[i].p = fleet_correct(i == 0 ? 0 : differences[i - 1].p, differences[i].p, i, n);
}

int fleet_compare(struct fleet_engine *engine, const struct fleet_compare_options *o, struct arena *arena,
                  struct fleet_difference **differences, size_t *n, struct err *err)
{
    struct fleet_result runs, result;
    const char *before = side_of(engine, arena, o->before, "--before", err);
    const char *after = before == NULL ? NULL : side_of(engine, arena, o->after, "--after", err);
    const char *only = condition_of(engine, arena, o->service);
    if (after == NULL)
        return -1;
    const char *count = arena_printf(arena, RUNS_QUERY, before, before, after, only);
    const char *sql =
        arena_printf(arena, COMPARE_QUERY, before, before, after, only, o->weight, PHASES_LEAST, FLEET_OF_ALL);
    if (fleet_engine_query(engine, count, arena, &runs, err) < 0 || check_runs(o, &runs, err) < 0 ||
        fleet_engine_query(engine, sql, arena, &result, err) < 0)
        return -1;
    *differences = arena_alloc(arena, (result.n_rows + 1) * sizeof **differences);
    *n = 0;
    for (size_t i = 0; i < result.n_rows; i++)
        *n += compare_row(result.values + i * COMPARED_COLUMNS, *differences + *n);
    correct(*differences, *n);
    return 0;
}

/* ---- outliers ---- */

#define MAD_TO_DEVIATION 1.4826 /* of normal values */
#define MAD_EFFICIENCY   0.37

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

static int least_outlier_first(const void *a, const void *b)
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
    const char *only = condition_of(engine, arena, o->service);
    const char *sql = o->measure == FLEET_CPI ? arena_printf(arena, "WITH " CPI_RUNS SPREADS, only)
                                              : arena_printf(arena, "WITH " CALL_TIME_RUNS SPREADS, only);
    *outliers = (struct fleet_outliers){ .n = 0 };
    if (fleet_engine_query(engine, sql, arena, &result, err) < 0)
        return -1;
    outliers->runs = arena_alloc(arena, (result.n_rows + 1) * sizeof *outliers->runs);
    for (size_t i = 0; i < result.n_rows; i++)
        outliers->n += judge(result.values + i * COLUMNS, outliers, &outliers->runs[outliers->n]);
    if (result.n_rows == outliers->n_uncounted)
        return no_values(o, err);
    qsort(outliers->runs, outliers->n, sizeof *outliers->runs, least_outlier_first);
    for (size_t i = 0; i < outliers->n; i++)
        outliers->runs[i].p = fleet_correct(i == 0 ? 0 : outliers->runs[i - 1].p, outliers->runs[i].p, i, outliers->n);
    return 0;
}
