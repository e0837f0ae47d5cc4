#include "report/fleet/fleet_files.h"

#include "core/base/hash.h"
#include "core/base/text.h"
#include "core/base/vec.h"
#include "report/fleet/fleet_rows.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX     ".parquet"
#define COPY_BYTES 65536
#define FOOTER_QUERY \
    "SELECT decode(key), decode(value) FROM parquet_kv_metadata(%s) WHERE decode(key) LIKE 'mmprof.schema%%'"

/* ---- what is there ---- */

struct fleet_paths {
    const char **paths; /* owned; the texts are the arena's */
    size_t n, room;
};

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static bool is_table(const FTSENT *entry)
{
    size_t n = strlen(entry->fts_name), m = strlen(SUFFIX);
    return entry->fts_info == FTS_F && entry->fts_name[0] != '.' && n > m &&
           strcmp(entry->fts_name + n - m, SUFFIX) == 0;
}

static int list_files(const char *directory, struct arena *arena, struct fleet_paths *list, struct err *err)
{
    char root[PATH_MAX];
    if (realpath(directory, root) == NULL) {
        err_set(err, "cannot read the directory '%s': %s", directory, strerror(errno));
        return err_next(err, "name the one that 'mmprof fleet add' fills");
    }
    char *const roots[] = { root, NULL };
    FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
    int rc = walk == NULL ? -1 : 0;
    for (FTSENT *entry; rc == 0 && (entry = fts_read(walk)) != NULL;) {
        if (!is_table(entry))
            continue;
        const char *path = arena_text(arena, entry->fts_path, strlen(entry->fts_path));
        rc = path == NULL ? -1 : vec_reserve(list->paths, list->room, list->n + 1);
        if (rc == 0)
            list->paths[list->n++] = path;
    }
    if (walk != NULL)
        fts_close(walk);
    return rc == 0 ? 0 : err_set(err, "out of memory for the files of '%s'", directory);
}

const char *fleet_file_fault(struct fleet_engine *engine, struct arena *arena, const char *path)
{
    struct fleet_result result;
    struct err err;
    const char *literal = fleet_literal(arena, path), *sql = NULL, *schema = NULL, *version = "0";
    if (literal != NULL)
        sql = arena_printf(arena, FOOTER_QUERY, literal);
    if (sql == NULL)
        return "no memory";
    if (fleet_engine_query(engine, sql, arena, &result, &err) < 0)
        return "it is cut, or no Parquet file";
    for (size_t i = 0; i < result.n_rows; i++) {
        const char *key = result.values[2 * i], *value = result.values[2 * i + 1];
        if (key != NULL && value != NULL)
            *(strcmp(key, "mmprof.schema") == 0 ? &schema : &version) = value;
    }
    if (schema == NULL || strcmp(schema, FLEET_SCHEMA) != 0)
        return "mmprof did not write it";
    if (strtol(version, NULL, 10) > FLEET_SCHEMA_VERSION)
        return arena_printf(arena, "it has schema %s, and this mmprof reads %d", version, FLEET_SCHEMA_VERSION);
    return NULL;
}

/* ---- the view ---- */

static void say(FILE *said, const char *path, const char *why, const char *other)
{
    fputs("mmprof: '", said);
    text_print(said, path);
    fprintf(said, "' is skipped: %s", why);
    if (other != NULL)
        text_print(said, other);
    fputs("\n", said);
}

static int make_view(struct fleet_engine *engine, struct arena *arena, const struct fleet_paths *files,
                     const char *columns, struct err *err)
{
    const char *all = "";
    size_t n = 0, room = 0;
    char *text = NULL;
    for (size_t i = 0; i < files->n; i++) {
        const char *name = fleet_literal(arena, files->paths[i]);
        size_t more = name == NULL ? 0 : strlen(name) + 1;
        if (name == NULL || vec_reserve(text, room, n + more + 1) < 0) {
            free(text);
            return err_set(err, "out of memory for %zu files", files->n);
        }
        n += (size_t)snprintf(text + n, room - n, "%s%s", i == 0 ? "" : ",", name);
    }
    all = arena_printf(arena,
                       "CREATE OR REPLACE VIEW phases AS SELECT %s FROM read_parquet([%s], union_by_name = true, "
                       "filename = true)",
                       columns, text == NULL ? "" : text);
    free(text);
    return all == NULL ? err_set(err, "out of memory for %zu files", files->n)
                       : fleet_engine_query(engine, all, NULL, NULL, err);
}

/* Files that have buckets of a run that an earlier one has, too. */
static int skip_doubles(struct fleet_engine *engine, struct arena *arena, struct fleet_paths *files, FILE *said,
                        struct fleet_count *count, struct err *err)
{
    struct fleet_result result;
    if (fleet_engine_query(engine,
                           "WITH r AS (SELECT filename f, run, min(ts) a, max(ts) b FROM phases GROUP BY ALL) "
                           "SELECT y.f, min(x.f) FROM r x JOIN r y ON x.run = y.run AND x.f < y.f AND x.a <= y.b "
                           "AND y.a <= x.b GROUP BY y.f ORDER BY 1",
                           arena, &result, err) < 0)
        return -1;
    for (size_t i = 0; i < result.n_rows; i++) {
        size_t n = 0;
        for (size_t k = 0; k < files->n; k++)
            if (strcmp(files->paths[k], result.values[2 * i]) != 0)
                files->paths[n++] = files->paths[k];
        files->n = n;
        say(said, result.values[2 * i], "it has rows of a run that are in ", result.values[2 * i + 1]);
        count->n_skipped++;
    }
    return 0;
}

static int view_of(struct fleet_engine *engine, struct arena *arena, const char *directory, struct fleet_paths *files,
                   FILE *said, struct fleet_count *count, struct err *err)
{
    size_t n = 0;
    if (list_files(directory, arena, files, err) < 0)
        return -1;
    for (size_t i = 0; i < files->n; i++) {
        const char *fault = fleet_file_fault(engine, arena, files->paths[i]);
        if (fault == NULL)
            files->paths[n++] = files->paths[i];
        else
            say(said, files->paths[i], fault, NULL);
    }
    count->n_skipped = files->n - n;
    files->n = n;
    if (n == 0) {
        err_set(err, "there are no files of mmprof in '%s'", directory);
        return err_next(err, "write some with 'mmprof export --format parquet', and 'mmprof fleet add %s FILE'",
                        directory);
    }
    if (make_view(engine, arena, files, "*", err) < 0 || skip_doubles(engine, arena, files, said, count, err) < 0)
        return -1;
    count->n_used = files->n;
    return make_view(engine, arena, files, "* EXCLUDE (filename) REPLACE (ts AT TIME ZONE 'UTC' AS ts)", err);
}

int fleet_files_view(struct fleet_engine *engine, const char *directory, FILE *said, struct fleet_count *count,
                     struct err *err)
{
    struct arena arena = { NULL, 0 };
    struct fleet_paths files = { NULL, 0, 0 };
    *count = (struct fleet_count){ 0, 0 };
    int rc = view_of(engine, &arena, directory, &files, said, count, err);
    free(files.paths);
    arena_free(&arena);
    return rc;
}

/* ---- files that come ---- */

static int fail(struct err *err, const char *what, const char *path)
{
    err_set(err, "cannot %s '%s': %s", what, path, strerror(errno));
    return err_next(err, "see that the file can be read, and the directory written and not full");
}

/* Copy, and hash what was copied.  Returns 0, or -1 with errno set. */
static int copy_file(int from, int to, uint64_t *hash)
{
    static char bytes[COPY_BYTES];
    ssize_t n;
    *hash = HASH_START;
    while ((n = read(from, bytes, sizeof bytes)) > 0) {
        *hash = hash_text(*hash, bytes, (size_t)n);
        for (ssize_t at = 0, wrote; at < n; at += wrote)
            if ((wrote = write(to, bytes + at, (size_t)(n - at))) < 0)
                return -1;
    }
    return n < 0 || fsync(to) < 0 ? -1 : 0;
}

static int add_copy(const char *directory, const char *path, const char *beside, struct err *err)
{
    char name[PATH_MAX];
    uint64_t hash = 0;
    int from = open(path, O_RDONLY | O_CLOEXEC), to = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    int rc = from < 0 ? fail(err, "read", path) : to < 0 ? fail(err, "write", beside) : 0;
    if (rc == 0 && copy_file(from, to, &hash) < 0)
        rc = fail(err, "copy", path);
    if (from >= 0)
        close(from);
    if (to >= 0 && close(to) < 0 && rc == 0)
        rc = fail(err, "write", beside);
    if (rc < 0)
        return -1;
    snprintf(name, sizeof name, "%s/%016" PRIx64 SUFFIX, directory, hash);
    if (access(name, F_OK) == 0)
        return 0;
    return rename(beside, name) < 0 ? fail(err, "write", name) : 1;
}

int fleet_file_add(const char *directory, const char *path, struct err *err)
{
    char beside[PATH_MAX];
    if (mkdir(directory, 0777) < 0 && errno != EEXIST)
        return fail(err, "make the directory", directory);
    snprintf(beside, sizeof beside, "%s/.adding-%d", directory, (int)getpid());
    unlink(beside); /* of a process that was killed and had the same number */
    int rc = add_copy(directory, path, beside, err);
    unlink(beside);
    return rc;
}
