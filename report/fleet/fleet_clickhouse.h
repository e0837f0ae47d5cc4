/*
 * A ClickHouse server, asked over HTTP by libcurl, which is loaded when it is needed.
 */
#ifndef REPORT_FLEET_FLEET_CLICKHOUSE_H
#define REPORT_FLEET_FLEET_CLICKHOUSE_H

#include "report/fleet/fleet_engine.h"

struct fleet_clickhouse;

/*
 * Ask the server for its version, and remember how to reach it.
 *
 * url            clickhouse://[USER@]HOST:PORT
 * password_file  whose first line is the password; NULL: none
 *
 * Returns 0 and *server for fleet_clickhouse_close, or -1 with *err set: there is no libcurl, or no answer of a server.
 */
int fleet_clickhouse_open(struct fleet_clickhouse **server, const char *url, const char *password_file,
                          struct err *err);
void fleet_clickhouse_close(struct fleet_clickhouse *server); /* NULL is fine */

/* Does it know the SQL of mmprof's own questions and tables?  Returns 0, or -1 with *err set: it is too old. */
int fleet_clickhouse_check_version(const struct fleet_clickhouse *server, struct err *err);

/* From now on a statement may take so long, by the server's clock and by ours. */
void fleet_clickhouse_limit(struct fleet_clickhouse *server, double seconds);

/* Run a statement; result may be NULL.  reads_only: the server refuses all that changes anything. */
int fleet_clickhouse_query(struct fleet_clickhouse *server, const char *sql, bool reads_only, struct arena *arena,
                           struct fleet_result *result, struct err *err);

/* Make the database mmprof with its tables and the view 'phases', where they are not there.  An old server is refused.
 */
int fleet_clickhouse_create(struct fleet_clickhouse *server, struct err *err);

/*
 * Insert a file of rows, whose buckets are so long.  What was inserted before, under its content's name, is left; rows
 * that come twice count once, and those that have no place in time are not in the view.
 * Returns 1, 0: it was there, or -1 with *err set.
 */
int fleet_clickhouse_add(struct fleet_clickhouse *server, const char *path, double bucket_ns, struct err *err);

#endif
