#include "report/fleet/fleet_files.h"

#include "core/base/text.h"

#define RAW_COLUMNS  "*"
#define USER_COLUMNS "* EXCLUDE (filename) REPLACE (ts AT TIME ZONE 'UTC' AS ts)"

#define AHEAD "INTERVAL 10 MINUTE" /* so much a host's clock may be ahead of this one's */

/* Rows that have their place in time; a run's name ends with its start in ns. */
#define START_US "try_cast(regexp_extract(run, '-([0-9]+)$', 1) AS BIGINT) // 1000"
#define IN_TIME  "(ts <= TIMESTAMPTZ '%s' + " AHEAD " AND coalesce(epoch_us(ts) >= (" START_US ") - %.0f, true))"

#define WRONG_QUERY                                                                            \
    "SELECT filename, run, count(*), min(ts) AT TIME ZONE 'UTC', max(ts) AT TIME ZONE 'UTC', " \
    "bool_or(ts > TIMESTAMPTZ '%s' + " AHEAD ") FROM phases WHERE NOT " IN_TIME " GROUP BY ALL ORDER BY ALL"

/* What is looked at of each run in each file. */
#define SPANS_QUERY                                                                                                \
    "CREATE OR REPLACE TEMP TABLE spans AS SELECT filename, run, file, min(ts) AS a, max(ts) AS b, count(*) AS n " \
    "FROM phases GROUP BY ALL"

#define ANY_WRONG_QUERY \
    "SELECT count(*) FROM spans WHERE b > TIMESTAMPTZ '%s' + " AHEAD " OR epoch_us(a) < (" START_US ") - %.0f"

/* Of which file of a run's rows are taken: a compacted one, or the first one by name. */
#define DOUBLES_QUERY                                                                                                 \
    "CREATE OR REPLACE TEMP TABLE doubles AS "                                                                        \
    "WITH r AS (SELECT *, NOT starts_with(filename, %s) AS later FROM spans) "                                        \
    "SELECT y.filename, y.run, y.file, any_value(y.n) AS n_rows, min(x.filename) AS other FROM r x JOIN r y ON "      \
    "x.run = y.run AND x.file IS NOT DISTINCT FROM y.file AND x.a <= y.b AND y.a <= x.b AND (x.later, x.filename) < " \
    "(y.later, y.filename) GROUP BY ALL"

#define TOLD_QUERY                                                                                                 \
    "SELECT d.filename, count(*), min(other), any_value(n), sum(n_rows), count(DISTINCT run) FROM doubles d JOIN " \
    "(SELECT filename, "                                                                                           \
    "count(DISTINCT (run, file)) AS n FROM phases WHERE filename IN (SELECT filename FROM doubles) GROUP BY "      \
    "filename) f "                                                                                                 \
    "ON d.filename = f.filename GROUP BY d.filename ORDER BY 1"

/* Files that mmprof wrote before recordings went on in several have no such column. */
#define NO_FILE "UNION ALL BY NAME SELECT NULL::BIGINT AS file WHERE false"

struct viewing {
    struct fleet_engine *engine;
    struct arena *arena;
    struct fleet_listing *listing;
    struct fleet_count *count;
    FILE *said;
    bool has_doubles;
    const char *in_time; /* a condition; NULL: all rows are */
};

/* ---- the view ---- */

static void say(const struct viewing *v, const char *path, const char *what, const char *other)
{
    fputs("mmprof: '", v->said);
    text_print(v->said, path);
    fprintf(v->said, "' %s", what);
    if (other != NULL)
        text_print(v->said, other);
    fputs("\n", v->said);
}

static struct fleet_file *file_of(const struct viewing *v, const char *path)
{
    for (size_t i = 0; path != NULL && i < v->listing->n; i++)
        if (strcmp(v->listing->files[i].path, path) == 0)
            return &v->listing->files[i];
    return NULL;
}

static int make_view(const struct viewing *v, const char *columns, struct err *err)
{
    const char *names = fleet_listing_sql(v->listing, v->arena);
    const char *doubles =
        !v->has_doubles ? ""
                        : " ANTI JOIN doubles ON f.filename = doubles.filename AND f.run = doubles.run AND f.file IS "
                          "NOT DISTINCT FROM doubles.file";
    const char *sql =
        arena_printf(v->arena,
                     "CREATE OR REPLACE VIEW phases AS SELECT %s FROM (SELECT * FROM "
                     "read_parquet([%s], union_by_name = true, filename = true) " NO_FILE ") f%s WHERE %s",
                     columns, names, doubles, v->in_time == NULL ? "true" : v->in_time);
    return fleet_engine_query(v->engine, sql, NULL, NULL, err);
}

static size_t count_used(const struct fleet_listing *listing)
{
    size_t n = 0;
    for (size_t i = 0; i < listing->n; i++)
        n += fleet_file_is_used(&listing->files[i]);
    return n;
}

/* ---- clocks ---- */

static double widest_bucket_us(const struct fleet_listing *listing)
{
    double ns = 0;
    for (size_t i = 0; i < listing->n; i++)
        if (fleet_file_is_used(&listing->files[i]) && listing->files[i].bucket_ns > ns)
            ns = listing->files[i].bucket_ns;
    return ceil(ns / 1e3);
}

static void tell_wrong(struct viewing *v, const char *const *row)
{
    struct fleet_file *file = file_of(v, row[0]);
    bool is_future = row[5] != NULL && strcmp(row[5], "true") == 0;
    const char *what =
        arena_printf(v->arena, "has %s row%s of %s to %s, %s: they are skipped, of run ", row[2],
                     strcmp(row[2], "1") == 0 ? "" : "s", row[3] == NULL ? "" : row[3], row[4] == NULL ? "" : row[4],
                     is_future ? "in the future" : "before their run began");
    v->count->n_rows_skipped += strtod(row[2], NULL);
    if (file != NULL)
        file->has_wrong = true;
    say(v, row[0], what, row[1]);
}

static int skip_wrong_times(struct viewing *v, struct err *err)
{
    struct fleet_result now, result;
    if (fleet_engine_query(v->engine, "SELECT now()::TIMESTAMPTZ::VARCHAR", v->arena, &now, err) < 0)
        return -1;
    double bucket_us = widest_bucket_us(v->listing);
    const char *any = arena_printf(v->arena, ANY_WRONG_QUERY, now.values[0], bucket_us);
    const char *in_time = arena_printf(v->arena, IN_TIME, now.values[0], bucket_us);
    const char *sql = arena_printf(v->arena, WRONG_QUERY, now.values[0], now.values[0], bucket_us);
    if (fleet_engine_query(v->engine, SPANS_QUERY, NULL, NULL, err) < 0 ||
        fleet_engine_query(v->engine, any, v->arena, &result, err) < 0)
        return -1;
    if (strcmp(result.values[0], "0") == 0)
        return 0;
    if (fleet_engine_query(v->engine, sql, v->arena, &result, err) < 0)
        return -1;
    for (size_t i = 0; i < result.n_rows; i++)
        tell_wrong(v, result.values + i * result.n_columns);
    v->in_time = in_time;
    return make_view(v, RAW_COLUMNS, err) < 0 ? -1 : fleet_engine_query(v->engine, SPANS_QUERY, NULL, NULL, err);
}

/* ---- doubles ---- */

static void tell_double(struct viewing *v, const char *const *row)
{
    struct fleet_file *file = file_of(v, row[0]);
    bool is_whole = strcmp(row[1], row[3]) == 0;
    const char *some = arena_printf(v->arena, "has rows of %s run%s that are skipped: they are in ", row[5],
                                    strcmp(row[5], "1") == 0 ? "" : "s");
    say(v, row[0], is_whole ? "is skipped: it has rows of a run that are in " : some, row[2]);
    if (file != NULL && is_whole)
        file->fault = "its rows are in others";
    if (file != NULL)
        file->has_wrong = true;
    v->has_doubles = v->has_doubles || !is_whole;
    v->count->n_skipped += is_whole;
    v->count->n_rows_skipped += is_whole || row[4] == NULL ? 0 : strtod(row[4], NULL);
}

static int skip_doubles(struct viewing *v, struct err *err)
{
    struct fleet_result result;
    const char *compacted = arena_printf(v->arena, "%s/" FLEET_COMPACTED, v->listing->root);
    const char *sql = arena_printf(v->arena, DOUBLES_QUERY, fleet_literal(v->arena, compacted));
    if (fleet_engine_query(v->engine, sql, NULL, NULL, err) < 0 ||
        fleet_engine_query(v->engine, TOLD_QUERY, v->arena, &result, err) < 0)
        return -1;
    for (size_t i = 0; i < result.n_rows; i++)
        tell_double(v, result.values + i * result.n_columns);
    return 0;
}

/* ---- the whole ---- */

static int view_of(struct viewing *v, const char *columns, struct err *err)
{
    for (size_t i = 0; i < v->listing->n; i++) {
        const struct fleet_file *file = &v->listing->files[i];
        if (file->fault != NULL)
            say(v, file->path, arena_printf(v->arena, "is skipped: %s", file->fault), NULL);
        v->count->n_skipped += file->fault != NULL;
    }
    if (count_used(v->listing) == 0) {
        err_set(err, "there are no files of mmprof in '%s'", v->listing->root);
        return err_next(err, "write some with 'mmprof export --format parquet', and 'mmprof fleet add %s FILE'",
                        v->listing->root);
    }
    if (make_view(v, RAW_COLUMNS, err) < 0 || skip_wrong_times(v, err) < 0 || skip_doubles(v, err) < 0)
        return -1;
    v->count->n_used = count_used(v->listing);
    return make_view(v, columns, err);
}

int fleet_files_raw_view(struct fleet_engine *engine, struct arena *arena, struct fleet_listing *listing, FILE *said,
                         struct fleet_count *count, struct err *err)
{
    struct viewing v = { .engine = engine, .arena = arena, .listing = listing, .count = count, .said = said };
    *count = (struct fleet_count){ 0 };
    return view_of(&v, RAW_COLUMNS, err);
}

int fleet_files_view(struct fleet_engine *engine, const char *directory, bool checks_values, FILE *said,
                     struct fleet_count *count, struct err *err)
{
    struct arena arena = { NULL, 0 };
    struct fleet_listing listing;
    *count = (struct fleet_count){ 0 };
    int rc = fleet_listing_read(engine, directory, &arena, &listing, err);
    struct viewing v = { .engine = engine, .arena = &arena, .listing = &listing, .count = count, .said = said };
    if (rc == 0 && checks_values)
        rc = fleet_listing_check_values(engine, &arena, &listing, err);
    if (rc == 0)
        rc = view_of(&v, USER_COLUMNS, err);
    fleet_listing_free(&listing);
    arena_free(&arena);
    return rc;
}
