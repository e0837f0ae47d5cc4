/*
 * Questions to the rows of a fleet (the view 'phases' of fleet_files.h), in the SQL of the engine.
 */
#ifndef REPORT_FLEET_FLEET_QUERIES_H
#define REPORT_FLEET_FLEET_QUERIES_H

#include "report/fleet/fleet_engine.h"

/*
 * The phases of each service over all of its runs: methods that have at least this share of the service's CPU time and,
 * a call, at least this time, both with all that they call.  Columns: service, phase, time_share, self_share, calls,
 * ns_per_call, runs.
 *
 * engine   that is asked; NULL: DuckDB.
 * service  only this one; NULL: all.
 *
 * Returns the query, the arena's, or NULL: no memory.
 * Source: thesis section 3.2.2 (after Huang et al., ISCA 2003).
 */
const char *fleet_select_sql(const struct fleet_engine *engine, struct arena *arena, const char *service, double weight,
                             double grain_ns);

/*
 * The same methods by day (UTC) and version.  Columns: service, phase, version, day (2026-11-28), ns_per_call, share of
 * the service's CPU time of that day and version; of all methods, by service, phase, version and day.
 */
const char *fleet_days_sql(const struct fleet_engine *engine, struct arena *arena, const char *service);

#endif
