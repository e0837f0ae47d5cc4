/*
 * What answers in SQL: DuckDB, from its shared library, which is looked for when it is needed; or a ClickHouse server.
 */
#ifndef REPORT_FLEET_FLEET_ENGINE_H
#define REPORT_FLEET_FLEET_ENGINE_H

#include "core/base/arena.h"
#include "core/base/err.h"

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

/* The same of a ClickHouse server: url and password_file as of fleet_clickhouse_open. */
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
 * A text as an SQL literal with its quotes, in the arena.  In ClickHouse's a backslash escapes what
 * follows, in DuckDB's it is a character like others.  engine: NULL: DuckDB.
 */
const char *fleet_engine_literal(const struct fleet_engine *engine, struct arena *arena, const char *text);
const char *fleet_literal(struct arena *arena, const char *text); /* DuckDB's */
const char *fleet_clickhouse_literal(struct arena *arena, const char *text);

/* For those that read answers: room for one, in the arena; and the bytes of a statement without what ends it. */
void fleet_result_make(struct fleet_result *result, size_t n_columns, size_t n_rows, struct arena *arena);
size_t fleet_statement_bytes(const char *sql);

/*
 * ClickHouse's answers: TabSeparatedWithNamesAndTypes.
 *
 * Source: https://clickhouse.com/docs/interfaces/formats/TabSeparatedWithNamesAndTypes
 */

/*
 * Read an answer: a line of names, one of types, and a line for each row.  Where a line has too few fields the next
 * one's follow: it is the server's, and only read.  All of *result is the arena's.
 */
void fleet_tsv_read(const char *answer, struct arena *arena, struct fleet_result *result);

/* ---- Requests over HTTP by libcurl, which is loaded when it is needed ---- */

struct fleet_http;

/* user, password: for the server; password may be NULL.  Returns 0, or -1 with *err set: there is no libcurl. */
int fleet_http_open(struct fleet_http **http, const char *user, const char *password, struct err *err);
void fleet_http_close(struct fleet_http *http); /* NULL is fine */

/* From now on a request may take so long; 10 minutes before. */
void fleet_http_limit(struct fleet_http *http, long seconds);

/*
 * POST a body of n bytes, or with path a file's content, and read the answer.
 *
 * answer  with a closing NUL, for free(); NULL where -1 is returned
 * status  of the answer, as 200
 *
 * Returns 0, or -1 with *err set: the server cannot be reached, the file cannot be read.
 */
int fleet_http_post(struct fleet_http *http, const char *url, const void *body, size_t n, const char *path,
                    char **answer, long *status, struct err *err);

/* A text as a part of a URL's query, in the arena. */
const char *fleet_http_escape(struct arena *arena, const char *text);

/* ---- A ClickHouse server, asked over HTTP by libcurl, which is loaded when it is needed ---- */

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

/*
 * Work that may take too long: it is done in a thread of its own, asked to end after a time, and left alone if it does
 * not.
 */

enum fleet_watched { FLEET_WATCHED_DONE, FLEET_WATCHED_STOPPED, FLEET_WATCHED_LOST };

struct fleet_work {
    void (*work)(void *context);
    void (*interrupt)(void *context); /* asks it to end, from another thread */
    void *context;                    /* the work's own from LOST on: nobody else may touch or free it */
    double limit_s, grace_s;          /* until it is asked, and from then on until it is lost */
};

/*
 * Returns 0 and *watched: DONE; STOPPED: it was asked to end, and has; LOST: it goes on until the process ends.  Or -1
 * with *err set: there is no thread for it.
 */
int fleet_watch(const struct fleet_work *work, enum fleet_watched *watched, struct err *err);

#endif
