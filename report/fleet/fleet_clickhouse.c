/* Source: https://clickhouse.com/docs/interfaces/http */
#include "report/fleet/fleet_engine.h"

#include "core/base/hash.h"
#include "core/base/xalloc.h"
#include "report/fleet/fleet_rows.h"

#define SCHEME      "clickhouse://"
#define FORMAT      " FORMAT TabSeparatedWithNamesAndTypes"
#define HTTP_OK     200
#define LEAST_MAJOR 24 /* of all queries, which were tried on 26 */
#define READ_BYTES  65536
#define LIMIT_MAX_S 1000000

/* As in SQL, a join that finds nothing has NULL, and what NULL is cast to is NULL. */
#define OWN_SETTINGS "join_use_nulls=1&cast_keep_nullable=1"

struct fleet_clickhouse {
    struct fleet_http *http;
    struct arena arena;
    const char *base;    /* http://HOST:PORT/; the arena's */
    const char *version; /* the same; NULL: it is being asked for */
    long limit_s;        /* for a statement; 0: the server's */
};

/* ---- answers, of either engine; ClickHouse's are TabSeparatedWithNamesAndTypes ---- */

size_t fleet_statement_bytes(const char *sql)
{
    size_t n = strlen(sql);
    while (n > 0 && strchr("; \t\r\n", sql[n - 1]) != NULL)
        n--;
    return n;
}

void fleet_result_make(struct fleet_result *result, size_t n_columns, size_t n_rows, struct arena *arena)
{
    *result = (struct fleet_result){ .n_columns = n_columns, .n_rows = n_rows };
    result->names = arena_alloc(arena, (n_columns + 1) * sizeof *result->names);
    result->types = arena_alloc(arena, (n_columns + 1) * sizeof *result->types);
    result->values = arena_alloc(arena, (n_rows * n_columns + 1) * sizeof *result->values);
}

static enum fleet_type type_of(const char *name)
{
    static const char *const wrappers[] = { "Nullable(", "LowCardinality(" };
    for (size_t i = 0; i < sizeof wrappers / sizeof wrappers[0]; i++)
        if (strncmp(name, wrappers[i], strlen(wrappers[i])) == 0)
            return type_of(name + strlen(wrappers[i]));
    if (strncmp(name, "Int", 3) == 0 || strncmp(name, "UInt", 4) == 0)
        return strncmp(name, "Interval", 8) == 0 ? FLEET_TEXT : FLEET_WHOLE;
    return strncmp(name, "Float", 5) == 0 || strncmp(name, "Decimal", 7) == 0 ? FLEET_REAL : FLEET_TEXT;
}

/* The next field of a line, unescaped in place; *at moves behind it.  NULL: it is NULL. */
static const char *take_field(char **at, bool *is_last)
{
    static const char escapes[] = "b\bf\fr\rn\nt\t0\0'''\\\\\\";
    char *start = *at, *to = start;
    size_t n = strcspn(start, "\t\n");
    bool is_null = n == 2 && start[0] == '\\' && start[1] == 'N';
    for (size_t i = 0; i < n; i++) {
        const char *found = start[i] == '\\' && i + 1 < n ? strchr("bfrnt0'\\", start[i + 1]) : NULL;
        if (found != NULL) {
            char c = start[++i];
            const char *pair = escapes;
            while (pair[0] != c && pair < escapes + sizeof escapes - 2)
                pair += 2;
            *to++ = pair[0] == c ? pair[1] : c;
        } else {
            *to++ = start[i];
        }
    }
    *is_last = start[n] != '\t';
    *at = start + n + (start[n] != '\0');
    *to = '\0';
    return is_null ? NULL : start;
}

static size_t count_bytes(const char *text, char byte, bool in_first_line)
{
    size_t n = 0;
    for (; *text != '\0' && !(in_first_line && *text == '\n'); text++)
        n += *text == byte;
    return n;
}

/* A copy in the arena is cut into fields. */
void fleet_tsv_read(const char *answer, struct arena *arena, struct fleet_result *result)
{
    char *at = arena_text(arena, answer, strlen(answer));
    size_t n_lines = count_bytes(answer, '\n', false), n_columns = count_bytes(answer, '\t', true) + 1;
    size_t n_rows = n_lines < 2 ? 0 : n_lines - 2, n_most = strlen(answer) / n_columns; /* a byte for each field */
    bool is_last;
    fleet_result_make(result, n_columns, n_rows < n_most ? n_rows : n_most, arena);
    for (size_t c = 0; c < result->n_columns; c++) {
        const char *name = take_field(&at, &is_last);
        result->names[c] = name == NULL ? "" : name;
    }
    for (size_t c = 0; c < result->n_columns; c++) {
        const char *name = take_field(&at, &is_last);
        result->types[c] = type_of(name == NULL ? "" : name);
    }
    for (size_t i = 0; i < result->n_rows * result->n_columns; i++)
        result->values[i] = take_field(&at, &is_last);
}

/* ---- requests ---- */

#define GRACE_S 5 /* for the server to say that time is over */

void fleet_clickhouse_limit(struct fleet_clickhouse *s, double seconds)
{
    s->limit_s = seconds < 1 ? 1 : seconds < LIMIT_MAX_S ? (long)seconds : LIMIT_MAX_S;
    fleet_http_limit(s->http, s->limit_s + GRACE_S);
}

#define TIMEOUT_EXCEEDED "159" /* its number in all versions */
#define SEE_PORT         "see that it runs, and that --engine has the port of HTTP (8123)"

/* What the server said: its first line, and what to do where that is known. */
static int tell_failure(const struct fleet_clickhouse *s, long status, const char *answer, struct err *err)
{
    err_set(err, "ClickHouse: %.*s", (int)strcspn(answer, "\r\n"), answer);
    if (status == 401 || status == 403 || strstr(answer, "AUTHENTICATION_FAILED") != NULL)
        return err_next(err, "give clickhouse://USER@HOST:PORT and --password-file FILE");
    if (strstr(answer, "Code: " TIMEOUT_EXCEEDED) != NULL) {
        err_set(err, "the query takes longer than %ld s", s->limit_s);
        return err_next(err, "give it more time with --timeout, or ask for less");
    }
    return s->version != NULL ? -1 : err_next(err, SEE_PORT);
}

static int post(struct fleet_clickhouse *s, const char *query, const char *body, const char *path, char **answer,
                struct err *err)
{
    long status = 0;
    const char *url = arena_printf(&s->arena, "%s?wait_end_of_query=1%s", s->base, query);
    struct err why;
    if (fleet_http_post(s->http, url, body, body == NULL ? 0 : strlen(body), path, answer, &status, &why) < 0) {
        err_set(err, "ClickHouse at '%s': %s", s->base, why.text);
        return err_next(err, SEE_PORT);
    }
    if (status == HTTP_OK)
        return 0;
    tell_failure(s, status, *answer, err);
    free(*answer);
    *answer = NULL;
    return -1;
}

int fleet_clickhouse_query(struct fleet_clickhouse *s, const char *sql, bool reads_only, struct arena *arena,
                           struct fleet_result *result, struct err *err)
{
    char *answer;
    const char *body =
        arena_printf(&s->arena, "%.*s\n%s", (int)fleet_statement_bytes(sql), sql, result == NULL ? "" : FORMAT);
    const char *settings = reads_only ? "&readonly=1" : "&" OWN_SETTINGS;
    if (result == NULL || s->version == NULL) /* the database is being made, or the version asked for */
        settings = "";
    else
        settings = arena_printf(&s->arena, "&database=mmprof&max_execution_time=%ld%s", s->limit_s, settings);
    if (post(s, settings, body, NULL, &answer, err) < 0)
        return -1;
    if (result != NULL)
        fleet_tsv_read(answer, arena, result);
    free(answer);
    return 0;
}

/* ---- the server ---- */

static int parse_url(struct fleet_clickhouse *s, const char *url, const char **user, struct err *err)
{
    const char *at = strncmp(url, SCHEME, strlen(SCHEME)) == 0 ? url + strlen(SCHEME) : NULL;
    const char *sign = at == NULL ? NULL : strchr(at, '@');
    const char *host = sign == NULL ? at : sign + 1;
    if (host == NULL || *host == '\0' || strpbrk(host, "/?#@ ") != NULL || strchr(host, ':') == NULL) {
        err_set(err, "'%s' is not a server", url);
        return err_next(err, "give --engine clickhouse://HOST:PORT, with the port of HTTP (8123)");
    }
    *user = sign == NULL ? "default" : arena_text(&s->arena, at, (size_t)(sign - at));
    s->base = arena_printf(&s->arena, "http://%s/", host);
    return 0;
}

static int read_password(const char *path, char *password, size_t room, struct err *err)
{
    FILE *file = path == NULL ? NULL : fopen(path, "r");
    password[0] = '\0';
    if (path == NULL)
        return 0;
    if (file == NULL || (fgets(password, (int)room, file) == NULL && ferror(file) != 0)) {
        err_set(err, "cannot read the password in '%s': %s", path, strerror(errno));
        if (file != NULL)
            fclose(file);
        return err_next(err, "write it into a file of one line that only you can read");
    }
    fclose(file);
    password[strcspn(password, "\r\n")] = '\0';
    return 0;
}

static int connect_to(struct fleet_clickhouse *s, const char *url, const char *password_file, struct err *err)
{
    struct fleet_result result;
    const char *user = NULL;
    char password[256];
    if (parse_url(s, url, &user, err) < 0 || read_password(password_file, password, sizeof password, err) < 0 ||
        fleet_http_open(&s->http, user, password, err) < 0 ||
        fleet_clickhouse_query(s, "SELECT version()", true, &s->arena, &result, err) < 0)
        return -1;
    s->version = result.n_rows == 1 && result.n_columns == 1 ? result.values[0] : NULL;
    if (s->version != NULL)
        return 0;
    err_set(err, "'%s' is not a ClickHouse server: it gives no version", url);
    return err_next(err, SEE_PORT);
}

int fleet_clickhouse_check_version(const struct fleet_clickhouse *s, struct err *err)
{
    if (strtol(s->version, NULL, 10) >= LEAST_MAJOR)
        return 0;
    err_set(err, "the server is ClickHouse %s, whose SQL lacks what this needs (WITH, and Parquet)", s->version);
    return err_next(err, "use ClickHouse %d or later; 'mmprof fleet sql' asks any version", LEAST_MAJOR);
}

int fleet_clickhouse_open(struct fleet_clickhouse **server, const char *url, const char *password_file, struct err *err)
{
    struct fleet_clickhouse *s = *server = xcalloc(1, sizeof *s);
    if (connect_to(s, url, password_file, err) == 0)
        return 0;
    fleet_clickhouse_close(s);
    *server = NULL;
    return -1;
}

void fleet_clickhouse_close(struct fleet_clickhouse *s)
{
    if (s == NULL)
        return;
    fleet_http_close(s->http);
    arena_free(&s->arena);
    free(s);
}

/* ---- tables ---- */

/* A row that is inserted again replaces itself: its key is what it is of.  A bridge method and the one that it calls
 * may have one name, as their parameters are the same. */
#define KEY "(ifNull(service, ''), phase, ts, run, ifNull(file, 1), kind, ifNull(parent, ''))"

/* Rows that have their place in time, as those of a directory: fleet_files.c. */
#define IN_TIME                                                                                                       \
    "ts <= now64(6) + INTERVAL 10 MINUTE AND ifNull(toUnixTimestamp64Micro(ts) >= intDiv(toInt64OrNull(extract(run, " \
    "'-([0-9]+)$')), 1000) - (SELECT max(bucket_us) FROM mmprof.files), 1)"

static const char *columns_sql(struct arena *arena)
{
    size_t n;
    const struct parquet_column *columns = fleet_rows_columns(&n);
    const char *sql = "";
    for (size_t i = 0; i < n; i++) {
        const char *name = columns[i].name;
        bool is_key = strcmp(name, "run") == 0 || strcmp(name, "phase") == 0 || strcmp(name, "kind") == 0;
        const char *type = columns[i].kind == PARQUET_TIME_US  ? "DateTime64(6, 'UTC')"
                           : columns[i].kind == PARQUET_NUMBER ? "Nullable(Int64)"
                           : is_key                            ? "LowCardinality(String)"
                                                               : "LowCardinality(Nullable(String))";
        sql = arena_printf(arena, "%s%s%s %s", sql, i == 0 ? "" : ", ", name, type);
    }
    return sql;
}

int fleet_clickhouse_create(struct fleet_clickhouse *s, struct err *err)
{
    const char *const statements[] = {
        "CREATE DATABASE IF NOT EXISTS mmprof",
        arena_printf(&s->arena,
                     "CREATE TABLE IF NOT EXISTS mmprof.phase_rows (%s) ENGINE = ReplacingMergeTree "
                     "PARTITION BY toYYYYMMDD(ts) ORDER BY " KEY,
                     columns_sql(&s->arena)),
        "CREATE TABLE IF NOT EXISTS mmprof.files (name String, added DateTime DEFAULT now(), bucket_us Int64 DEFAULT "
        "0) "
        "ENGINE = ReplacingMergeTree ORDER BY name",
        "ALTER TABLE mmprof.files ADD COLUMN IF NOT EXISTS bucket_us Int64 DEFAULT 60000000",
        "CREATE OR REPLACE VIEW mmprof.phases AS SELECT * FROM mmprof.phase_rows FINAL WHERE " IN_TIME,
    };
    if (fleet_clickhouse_check_version(s, err) < 0)
        return -1;
    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++)
        if (fleet_clickhouse_query(s, statements[i], false, NULL, NULL, err) < 0)
            return -1;
    return 0;
}

/* ---- files ---- */

static int hash_file(const char *path, uint64_t *hash, struct err *err)
{
    char bytes[READ_BYTES];
    FILE *file = fopen(path, "r");
    size_t n;
    *hash = HASH_START;
    if (file == NULL)
        return err_set(err, "cannot read '%s': %s", path, strerror(errno));
    while ((n = fread(bytes, 1, sizeof bytes, file)) > 0)
        *hash = hash_text(*hash, bytes, n);
    bool is_broken = ferror(file) != 0;
    fclose(file);
    return is_broken ? err_set(err, "cannot read '%s'", path) : 0;
}

int fleet_clickhouse_add(struct fleet_clickhouse *s, const char *path, double bucket_ns, struct err *err)
{
    struct fleet_result result;
    uint64_t hash;
    char *answer, sql[160];
    if (hash_file(path, &hash, err) < 0)
        return -1;
    snprintf(sql, sizeof sql, "SELECT count() FROM mmprof.files WHERE name = '%016" PRIx64 "'", hash);
    if (fleet_clickhouse_query(s, sql, false, &s->arena, &result, err) < 0)
        return -1;
    if (result.n_rows == 1 && result.values[0] != NULL && strcmp(result.values[0], "0") != 0)
        return 0;
    const char *query = fleet_http_escape(&s->arena, "INSERT INTO mmprof.phase_rows FORMAT Parquet");
    query = arena_printf(&s->arena, "&input_format_skip_unknown_fields=1&query=%s", query);
    if (post(s, query, NULL, path, &answer, err) < 0)
        return -1;
    free(answer);
    snprintf(sql, sizeof sql, "INSERT INTO mmprof.files (name, bucket_us) VALUES ('%016" PRIx64 "', %.0f)", hash,
             ceil(bucket_ns / 1e3));
    return fleet_clickhouse_query(s, sql, false, NULL, NULL, err) < 0 ? -1 : 1;
}
