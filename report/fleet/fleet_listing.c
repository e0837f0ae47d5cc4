#include "report/fleet/fleet_files.h"

#include "core/base/map.h"
#include "core/base/xalloc.h"
#include "report/fleet/fleet_rows.h"
#include "report/fleet/parquet_pages.h"

#include <fts.h>

#define PATTERN_CHARACTERS "*?[\\\n" /* DuckDB takes such a name for those of several files */

#define FOOTERS_QUERY                                                                    \
    "SELECT file_name, decode(key), decode(value) FROM parquet_kv_metadata([%s]) WHERE " \
    "decode(key) LIKE 'mmprof.%%'"

/* Reads each value. */
#define WHOLE_QUERY "SELECT bit_xor(hash(f)) FROM read_parquet([%s], union_by_name = true) f"

bool fleet_file_is_used(const struct fleet_file *file)
{
    return file->fault == NULL && !file->is_replaced;
}

void fleet_listing_free(struct fleet_listing *listing)
{
    free(listing->files);
    listing->files = NULL;
    listing->n = listing->room = 0;
}

/* ---- names ---- */

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static bool is_hidden(const FTSENT *entry)
{
    return entry->fts_level > 0 && entry->fts_name[0] == '.';
}

static bool is_table(const FTSENT *entry)
{
    size_t n = strlen(entry->fts_name), m = strlen(FLEET_SUFFIX);
    return n > m && strcmp(entry->fts_name + n - m, FLEET_SUFFIX) == 0;
}

/* A link may lead out of the directory, or to a file that is there by its own name. */
static const char *path_fault(const char *path, unsigned short kind)
{
    if (strpbrk(path, PATTERN_CHARACTERS) != NULL)
        return "its name would be a pattern";
    if (kind == FTS_SL || kind == FTS_SLNONE)
        return "it is a symbolic link";
    return kind != FTS_F ? "it is no file" : access(path, R_OK) < 0 ? "it cannot be read: no permission" : NULL;
}

static void add_path(struct fleet_listing *listing, struct arena *arena, const char *path, const char *fault)
{
    const char *copy = arena_text(arena, path, strlen(path));
    *xpush(listing->files, listing->room, listing->n) =
        (struct fleet_file){ .path = copy, .name = copy + strlen(listing->root) + 1, .fault = fault };
}

/* A directory is not added itself, but one that cannot be read may have any number of files. */
static void add_entry(struct fleet_listing *listing, struct arena *arena, const FTSENT *entry)
{
    if (entry->fts_info == FTS_DNR)
        add_path(listing, arena, entry->fts_path, "the directory cannot be read");
    else if (entry->fts_info != FTS_D && entry->fts_info != FTS_DP && is_table(entry))
        add_path(listing, arena, entry->fts_path, path_fault(entry->fts_path, entry->fts_info));
}

static int walk_files(const char *directory, struct arena *arena, struct fleet_listing *listing, struct err *err)
{
    char root[PATH_MAX];
    if (realpath(directory, root) == NULL) {
        err_set(err, "cannot read the directory '%s': %s", directory, strerror(errno));
        return err_next(err, "name the one that 'mmprof fleet add' fills");
    }
    char *const roots[] = { root, NULL };
    listing->root = arena_text(arena, root, strlen(root));
    FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
    for (FTSENT *entry; walk != NULL && (entry = fts_read(walk)) != NULL;) {
        if (is_hidden(entry))
            fts_set(walk, entry, FTS_SKIP);
        else if (entry->fts_level > 0)
            add_entry(listing, arena, entry);
    }
    if (walk == NULL || fts_close(walk) < 0)
        return err_set(err, "cannot read the directory '%s': %s", directory, strerror(errno));
    return 0;
}

/* ---- footers ---- */

static const char *names_of(const struct fleet_file *files, size_t n, struct arena *arena)
{
    size_t size = 1, at = 0;
    for (size_t i = 0; i < n; i++)
        size += 2 * strlen(files[i].path) + 3;
    char *list = arena_alloc(arena, size);
    for (size_t i = 0; i < n; i++)
        if (fleet_file_is_used(&files[i]))
            at +=
                (size_t)snprintf(list + at, size - at, "%s%s", at == 0 ? "" : ",", fleet_literal(arena, files[i].path));
    return list;
}

const char *fleet_listing_sql(const struct fleet_listing *listing, struct arena *arena)
{
    return names_of(listing->files, listing->n, arena);
}

/* Only where 'compact' makes files: one that somebody adds has no say over the others, which would be removed. */
static bool may_replace(const struct fleet_file *file)
{
    return strncmp(file->name, FLEET_COMPACTED, strlen(FLEET_COMPACTED)) == 0 && strchr(file->name, '/') != NULL;
}

/* What the footers of some of the files say, by key; of one that is not among them nothing. */
static void take_footers(const struct fleet_result *result, struct fleet_file *files, size_t n, struct arena *arena,
                         const char **schemas, const char **versions)
{
    struct map numbers = { .arena = arena };
    for (size_t i = 0; i < n; i++)
        map_put(&numbers, files[i].path, strlen(files[i].path), (uint32_t)i);
    for (size_t r = 0; r < result->n_rows; r++) {
        const char *path = result->values[3 * r], *key = result->values[3 * r + 1], *value = result->values[3 * r + 2];
        const uint32_t *i = path == NULL ? NULL : map_get(&numbers, path, strlen(path));
        if (i == NULL || key == NULL || value == NULL)
            continue;
        if (strcmp(key, "mmprof.schema") == 0)
            schemas[*i] = value;
        else if (strcmp(key, "mmprof.schema_version") == 0)
            versions[*i] = value;
        else if (strcmp(key, "mmprof.bucket_ns") == 0)
            files[*i].bucket_ns = strtod(value, NULL);
        else if (strcmp(key, FLEET_REPLACES_KEY) == 0 && may_replace(&files[*i]))
            files[*i].replaces = value;
    }
    map_free(&numbers);
}

static const char *fault_of(struct arena *arena, const char *schema, const char *version)
{
    if (schema == NULL || strcmp(schema, FLEET_SCHEMA) != 0)
        return "mmprof did not write it";
    if (version != NULL && strtol(version, NULL, 10) > FLEET_SCHEMA_VERSION)
        return arena_printf(arena, "it has schema %s, and this mmprof reads %d", version, FLEET_SCHEMA_VERSION);
    return NULL;
}

/* Returns whether all of them can be read. */
static bool read_footers(struct fleet_engine *engine, struct arena *arena, struct fleet_file *files, size_t n)
{
    struct fleet_result result;
    struct err ignored;
    const char **schemas = arena_alloc(arena, n * sizeof *schemas),
               **versions = arena_alloc(arena, n * sizeof *versions);
    const char *sql = arena_printf(arena, FOOTERS_QUERY, names_of(files, n, arena));
    if (fleet_engine_query(engine, sql, arena, &result, &ignored) < 0)
        return false;
    take_footers(&result, files, n, arena, schemas, versions);
    for (size_t i = 0; i < n; i++)
        if (files[i].fault == NULL)
            files[i].fault = fault_of(arena, schemas[i], versions[i]);
    return true;
}

/* Returns 0, or -1: no time. */
static int read_all_footers(struct fleet_engine *engine, struct arena *arena, struct fleet_file *files, size_t n)
{
    if (n == 0 || read_footers(engine, arena, files, n))
        return 0;
    if (fleet_engine_is_late(engine))
        return -1;
    if (n == 1) {
        files->fault = files->fault != NULL ? files->fault : "it is cut, or no Parquet file";
        return 0;
    }
    /* One that is no Parquet file fails the query of all: halves find it. */
    return read_all_footers(engine, arena, files, n / 2) < 0 ||
                   read_all_footers(engine, arena, files + n / 2, n - n / 2) < 0
               ? -1
               : 0;
}

static int too_late(const char *path, struct err *err)
{
    err_set(err, "reading the files of '%s' took too long", path);
    return err_next(err, "give it more time with --timeout, or merge files with 'mmprof fleet compact'");
}

/* ---- values ---- */

/* Returns 0, or -1: no time.  As with footers, halves find the file for which all fail. */
static int check_values(struct fleet_engine *engine, struct arena *arena, struct fleet_file *files, size_t n)
{
    struct err why = { "" };
    const char *names = names_of(files, n, arena);
    if (names[0] == '\0' || fleet_engine_query(engine, arena_printf(arena, WHOLE_QUERY, names), NULL, NULL, &why) == 0)
        return 0;
    if (fleet_engine_is_late(engine))
        return -1;
    if (n == 1) {
        files->fault = arena_printf(arena, "it is damaged: %.*s", (int)strcspn(why.text, "\n"), why.text);
        return 0;
    }
    return check_values(engine, arena, files, n / 2) < 0 || check_values(engine, arena, files + n / 2, n - n / 2) < 0
               ? -1
               : 0;
}

int fleet_listing_check_values(struct fleet_engine *engine, struct arena *arena, struct fleet_listing *listing,
                               struct err *err)
{
    for (size_t i = 0; i < listing->n; i++)
        if (fleet_file_is_used(&listing->files[i]) && parquet_is_damaged(listing->files[i].path))
            listing->files[i].fault = "it is damaged: a page does not fit its checksum";
    return check_values(engine, arena, listing->files, listing->n) == 0 ? 0 : too_late(listing->root, err);
}

bool fleet_listing_may_be_damaged(const struct err *err)
{
    static const char *const kinds[] = { "Invalid Error", "Invalid Input Error", "IO Error", "INTERNAL Error" };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strncmp(err->text, kinds[i], strlen(kinds[i])) == 0)
            return true;
    return false;
}

/* ---- compacted files ---- */

static void find_replaced(struct fleet_listing *listing, struct arena *arena)
{
    struct map numbers = { .arena = arena };
    for (size_t i = 0; i < listing->n; i++)
        map_put(&numbers, listing->files[i].name, strlen(listing->files[i].name), (uint32_t)i);
    for (size_t i = 0; i < listing->n; i++) {
        const struct fleet_file *file = &listing->files[i];
        const char *line = file->fault == NULL ? file->replaces : NULL;
        for (size_t n; line != NULL && *line != '\0'; line += n + (line[n] == '\n')) {
            n = strcspn(line, "\n");
            uint32_t *number = map_get(&numbers, line, n);
            if (number != NULL && *number != i)
                listing->files[*number].is_replaced = true;
        }
    }
    map_free(&numbers);
}

int fleet_listing_read(struct fleet_engine *engine, const char *directory, struct arena *arena,
                       struct fleet_listing *listing, struct err *err)
{
    *listing = (struct fleet_listing){ .n = 0 };
    if (walk_files(directory, arena, listing, err) < 0)
        return -1;
    if (read_all_footers(engine, arena, listing->files, listing->n) < 0)
        return too_late(directory, err);
    find_replaced(listing, arena);
    return 0;
}

int fleet_listing_one(struct fleet_engine *engine, const char *path, struct arena *arena, struct fleet_listing *listing,
                      struct err *err)
{
    *listing = (struct fleet_listing){ .root = "" };
    *xpush(listing->files, listing->room, listing->n) =
        (struct fleet_file){ .path = path, .name = "", .fault = path_fault(path, FTS_F) };
    return read_all_footers(engine, arena, listing->files, 1) == 0
               ? fleet_listing_check_values(engine, arena, listing, err)
               : too_late(path, err);
}
