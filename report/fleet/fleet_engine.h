/*
 * What answers in SQL: DuckDB, from its shared library, which is looked for when it is needed; or a ClickHouse server.
 */
#ifndef REPORT_FLEET_FLEET_ENGINE_H
#define REPORT_FLEET_FLEET_ENGINE_H

#include "core/base/arena.h"
#include "core/base/err.h"

#include <stdbool.h>
#include <stddef.h>

#define FLEET_ENGINE_VARIABLE "MMPROF_DUCKDB"

enum fleet_type { FLEET_TEXT, FLEET_WHOLE, FLEET_REAL };

struct fleet_result {
    size_t n_columns, n_rows;
    const char **names; /* all are the arena's */
    enum fleet_type *types;
    const char **values; /* by row, then column: as DuckDB prints them; NULL: NULL */
};

struct fleet_engine;

/*
 * Load the library and open a database in memory.
 *
 * library  its path, or NULL: that of the environment, beside this program, or in /usr/local/lib.
 *
 * Returns 0 and *engine for fleet_engine_close, or -1 with *err set.
 */
int fleet_engine_open(struct fleet_engine **engine, const char *library, struct err *err);

/* The same of a ClickHouse server: url and password_file as of fleet_clickhouse_open (fleet_clickhouse.h). */
int fleet_engine_connect(struct fleet_engine **engine, const char *url, const char *password_file, struct err *err);

/* Does it know the SQL of mmprof's own questions?  Returns 0, or -1 with *err set: it is a server that is too old. */
int fleet_engine_check_version(const struct fleet_engine *engine, struct err *err);
void fleet_engine_close(struct fleet_engine *engine);

/* Run a statement; result may be NULL.  Returns 0, or -1 with *err set to the engine's words. */
int fleet_engine_query(struct fleet_engine *engine, const char *sql, struct arena *arena, struct fleet_result *result,
                       struct err *err);

/*
 * From now on a statement that takes longer than this fails, and so does one that needs more than 2 GB in this process.
 * One of DuckDB's that does not end when it is asked to goes on until the process ends: nothing more may be asked, and
 * fleet_engine_close leaves it.  Returns 0, or -1 with *err set.
 */
int fleet_engine_limit(struct fleet_engine *engine, double seconds, struct err *err);

/* Whether a query took longer than the limit: its failure says nothing of the files. */
bool fleet_engine_is_late(const struct fleet_engine *e);

/*
 * From now on statements read files of this directory only, load nothing and change no setting.
 * Returns 0, or -1 with *err set.
 */
int fleet_engine_confine(struct fleet_engine *engine, const char *directory, struct err *err);

/* Is it one statement that only reads?  A server looks when it is asked (reads_only).  Returns 0, or -1 with *err set.
 */
int fleet_engine_check_select(struct fleet_engine *engine, const char *sql, struct err *err);

/*
 * A text as an SQL literal with its quotes, in the arena; NULL: no memory.  In ClickHouse's a backslash escapes what
 * follows, in DuckDB's it is a character like others.  engine: NULL: DuckDB.
 */
const char *fleet_engine_literal(const struct fleet_engine *engine, struct arena *arena, const char *text);
const char *fleet_literal(struct arena *arena, const char *text); /* DuckDB's */
const char *fleet_clickhouse_literal(struct arena *arena, const char *text);

#endif
