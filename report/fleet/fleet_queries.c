#include "report/fleet/fleet_queries.h"

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

/* A condition, the arena's, or NULL: no memory. */
static const char *condition_of(const struct fleet_engine *engine, struct arena *arena, const char *service)
{
    const char *literal = service == NULL ? NULL : fleet_engine_literal(engine, arena, service);
    return service == NULL ? "true" : literal == NULL ? NULL : arena_printf(arena, "service = %s", literal);
}

const char *fleet_days_sql(const struct fleet_engine *engine, struct arena *arena, const char *service)
{
    const char *which = condition_of(engine, arena, service);
    return which == NULL ? NULL : arena_printf(arena, DAYS_QUERY, which);
}

const char *fleet_select_sql(const struct fleet_engine *engine, struct arena *arena, const char *service, double weight,
                             double grain_ns)
{
    const char *which = condition_of(engine, arena, service);
    return which == NULL ? NULL : arena_printf(arena, SELECT_QUERY, which, weight, grain_ns);
}
