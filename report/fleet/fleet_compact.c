#include "report/fleet/fleet_files.h"

#include "core/base/plain_file.h"
#include "core/base/hash.h"
#include "report/fleet/fleet_rows.h"

#include <fcntl.h>
#include <fts.h>
#include <dirent.h>
#include <sys/file.h>
#include <sys/stat.h>

#define DAY_S      86400
#define BESIDE     ".compacting"
#define COPY_BYTES 65536
#define ADDING     ".adding-" /* so begin the names of copies that are being written */
#define KILLED_S   3600       /* nothing was written to one for so long */

#define DAYS_QUERY                                                                                     \
    "SELECT filename, epoch_us(min(ts)) // 86400000000, epoch_us(max(ts)) // 86400000000 FROM phases " \
    "GROUP BY filename"

#define DAY_ROWS                                                                                         \
    "FROM read_parquet([%s], union_by_name = true) WHERE ts >= make_timestamptz(%ld * 86400000000) AND " \
    "ts < make_timestamptz(%ld * 86400000000)"

#define COPY_QUERY                                                                                                  \
    "COPY (SELECT * " DAY_ROWS " ORDER BY service, phase, ts, run, kind) TO %s (FORMAT parquet, COMPRESSION zstd, " \
    "KV_METADATA {'mmprof.schema': '" FLEET_SCHEMA "', 'mmprof.schema_version': '%d', 'mmprof.version': "           \
    "'" MMPROF_VERSION "', 'mmprof.bucket_ns': '%.0f', '" FLEET_REPLACES_KEY "': %s})"

struct compact_source {
    struct fleet_file *file; /* borrowed */
    long first, last;        /* days since 1970 that it has rows of */
    bool is_source, is_old;
};

struct compacting {
    struct fleet_engine *engine;
    struct arena *arena;
    struct fleet_listing listing;
    struct compact_source *sources; /* by file of the listing; the arena's */
    long cutoff;                    /* the first day that stays */
    const char *beside;             /* the directory that is being made */
    const char *spill;              /* where a sort has what the memory does not hold */
    struct fleet_compacted *out;
};

static int fail(struct err *err, const char *what, const char *path)
{
    err_set(err, "cannot %s '%s': %s", what, path, strerror(errno));
    return err_next(err, "see that the directory can be written and is not full");
}

static void remove_tree(const char *path)
{
    char copy[PATH_MAX];
    snprintf(copy, sizeof copy, "%s", path);
    char *const roots[] = { copy, NULL };
    FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    for (FTSENT *entry; walk != NULL && (entry = fts_read(walk)) != NULL;)
        if (entry->fts_info == FTS_DP)
            rmdir(entry->fts_accpath);
        else if (entry->fts_info != FTS_D)
            unlink(entry->fts_accpath);
    if (walk != NULL)
        fts_close(walk);
}

/* ---- what becomes one ---- */

static int find_days(struct compacting *c, struct err *err)
{
    struct fleet_result result;
    if (fleet_engine_query(c->engine, DAYS_QUERY, c->arena, &result, err) < 0)
        return -1;
    c->sources = arena_alloc(c->arena, (c->listing.n + 1) * sizeof *c->sources);
    for (size_t i = 0; i < c->listing.n; i++)
        c->sources[i] = (struct compact_source){ .file = &c->listing.files[i], .first = 1, .last = 0 };
    for (size_t r = 0; r < result.n_rows; r++) {
        const char *const *row = result.values + 3 * r;
        for (size_t i = 0; row[0] != NULL && row[1] != NULL && row[2] != NULL && i < c->listing.n; i++)
            if (strcmp(c->listing.files[i].path, row[0]) == 0) {
                c->sources[i].first = strtol(row[1], NULL, 10);
                c->sources[i].last = strtol(row[2], NULL, 10);
            }
    }
    return 0;
}

static bool is_whole(const struct compact_source *s)
{
    return fleet_file_is_used(s->file) && !s->file->has_wrong && s->first <= s->last;
}

static bool share_days(const struct compact_source *a, const struct compact_source *b)
{
    return a->first <= b->last && b->first <= a->last;
}

/* Files that are not compacted, and the compacted ones of the same days. */
static void choose_sources(struct compacting *c)
{
    for (size_t i = 0; i < c->listing.n; i++) {
        struct compact_source *s = &c->sources[i];
        s->is_old = is_whole(s) && s->last < c->cutoff;
        s->is_source = is_whole(s) && !s->is_old && s->file->replaces == NULL;
    }
    for (size_t i = 0; i < c->listing.n; i++) {
        struct compact_source *s = &c->sources[i];
        bool is_other = is_whole(s) && !s->is_old && s->file->replaces != NULL;
        for (size_t k = 0; is_other && !s->is_source && k < c->listing.n; k++)
            s->is_source =
                c->sources[k].is_source && c->sources[k].file->replaces == NULL && share_days(s, &c->sources[k]);
    }
}

/* ---- new files ---- */

static bool has_day(const struct compact_source *s, long day)
{
    return s->is_source && s->first <= day && day <= s->last;
}

/* The names of a day's sources for read_parquet and, with those that compacted ones had replaced, for the footer. */
static void name_sources(struct compacting *c, long day, const char **names, const char **replaces, double *bucket_ns)
{
    size_t name_bytes = 1, line_bytes = 1, at = 0, line_at = 0;
    for (size_t i = 0; i < c->listing.n; i++) {
        const struct fleet_file *file = c->sources[i].file;
        name_bytes += has_day(&c->sources[i], day) ? 2 * strlen(file->path) + 3 : 0;
        line_bytes += strlen(file->name) + 1 + (file->replaces == NULL ? 0 : strlen(file->replaces) + 1);
    }
    char *name = arena_alloc(c->arena, name_bytes), *lines = arena_alloc(c->arena, line_bytes);
    *bucket_ns = 0;
    for (size_t i = 0; i < c->listing.n; i++) {
        const struct fleet_file *file = c->sources[i].file;
        if (!has_day(&c->sources[i], day))
            continue;
        at += (size_t)snprintf(name + at, name_bytes - at, "%s%s", at == 0 ? "" : ",",
                               fleet_literal(c->arena, file->path));
        line_at +=
            (size_t)snprintf(lines + line_at, line_bytes - line_at, "%s%s%s%s", line_at == 0 ? "" : "\n", file->name,
                             file->replaces == NULL ? "" : "\n", file->replaces == NULL ? "" : file->replaces);
        *bucket_ns = file->bucket_ns > *bucket_ns ? file->bucket_ns : *bucket_ns;
    }
    *names = name;
    *replaces = fleet_literal(c->arena, lines);
}

static double count_rows(struct compacting *c, const char *sql, struct err *err)
{
    struct fleet_result result;
    if (fleet_engine_query(c->engine, sql, c->arena, &result, err) < 0)
        return -1;
    return result.n_rows == 1 && result.values[0] != NULL ? strtod(result.values[0], NULL) : -1;
}

static const char *day_path(const struct compacting *c, long day)
{
    char date[32];
    time_t begin_s = (time_t)(day * DAY_S);
    struct tm utc;
    if (gmtime_r(&begin_s, &utc) == NULL || strftime(date, sizeof date, "%Y-%m-%d", &utc) == 0)
        snprintf(date, sizeof date, "%ld", day);
    return arena_printf(c->arena, "%s/day-%s" FLEET_SUFFIX, c->beside, date);
}

/* Write what the day's sources have of it, if they have anything.  Returns 0, or -1 with *err set. */
static int write_day(struct compacting *c, long day, struct err *err)
{
    const char *names, *replaces;
    double bucket_ns;
    const char *path = day_path(c, day), *to = fleet_literal(c->arena, path);
    name_sources(c, day, &names, &replaces, &bucket_ns);
    double n = count_rows(c, arena_printf(c->arena, "SELECT count(*) " DAY_ROWS, names, day, day + 1), err);
    if (n <= 0)
        return n < 0 ? -1 : 0;
    const char *sql =
        arena_printf(c->arena, COPY_QUERY, names, day, day + 1, to, FLEET_SCHEMA_VERSION, bucket_ns, replaces);
    if (fleet_engine_query(c->engine, sql, NULL, NULL, err) < 0)
        return err_next(err, "see that there is room for it: a compaction needs as much as the files have");
    double wrote = count_rows(c, arena_printf(c->arena, "SELECT count(*) FROM read_parquet(%s)", to), err);
    if (wrote != n)
        return err_set(err, "'%s' has %.0f rows of %.0f: nothing is removed", path, wrote, n);
    c->out->n_rows += n;
    c->out->n_after++;
    return file_sync(path) < 0 ? fail(err, "write", path) : 0;
}

static int write_days(struct compacting *c, struct err *err)
{
    long first = 0, last = -1;
    for (size_t i = 0; i < c->listing.n; i++) {
        const struct compact_source *s = &c->sources[i];
        if (!s->is_source)
            continue;
        first = last < first || s->first < first ? s->first : first;
        last = s->last > last ? s->last : last;
        c->out->n_before++;
    }
    for (long day = first > c->cutoff ? first : c->cutoff; day <= last; day++) {
        bool is_there = false;
        for (size_t i = 0; i < c->listing.n && !is_there; i++)
            is_there = has_day(&c->sources[i], day);
        if (is_there && write_day(c, day, err) < 0)
            return -1;
    }
    return 0;
}

/* All of them come at once. */
static int put_in_place(struct compacting *c, struct err *err)
{
    char name[64];
    struct timespec now;
    struct tm utc;
    clock_gettime(CLOCK_REALTIME, &now);
    strftime(name, sizeof name, FLEET_COMPACTED "%Y%m%dT%H%M%S", gmtime_r(&now.tv_sec, &utc));
    const char *to = arena_printf(c->arena, "%s/%s.%09ld", c->listing.root, name, now.tv_nsec);
    if (file_sync(c->beside) < 0 || rename(c->beside, to) < 0 || file_sync(c->listing.root) < 0)
        return fail(err, "write", to);
    return 0;
}

/* ---- the whole ---- */

/* A directory of compacted files goes with the last of them. */
static void remove_file(const struct fleet_listing *listing, const struct fleet_file *file)
{
    char path[PATH_MAX];
    unlink(file->path);
    snprintf(path, sizeof path, "%s", file->path);
    char *slash = strrchr(path, '/');
    bool is_compacted = strncmp(file->name, FLEET_COMPACTED, strlen(FLEET_COMPACTED)) == 0;
    if (is_compacted && slash != NULL && (size_t)(slash - path) > strlen(listing->root)) {
        *slash = '\0';
        rmdir(path);
    }
}

static int compact(struct compacting *c, FILE *said, struct fleet_count *count, struct err *err)
{
    if (fleet_files_raw_view(c->engine, c->arena, &c->listing, said, count, err) < 0 || find_days(c, err) < 0)
        return -1;
    choose_sources(c);
    if (mkdir(c->beside, 0777) < 0)
        return fail(err, "make the directory", c->beside);
    if (write_days(c, err) < 0 || (c->out->n_after > 0 && put_in_place(c, err) < 0))
        return -1;
    for (size_t i = 0; i < c->listing.n; i++) {
        if (c->sources[i].is_source || c->sources[i].is_old || c->listing.files[i].is_replaced)
            remove_file(&c->listing, &c->listing.files[i]);
        c->out->n_removed += c->sources[i].is_old;
    }
    return file_sync(c->listing.root) < 0 ? fail(err, "write", c->listing.root) : 0;
}

/* What a compaction that was killed left behind goes, and a sort that needs more than the memory spills beside. */
static int begin(struct compacting *c, struct err *err)
{
    c->beside = arena_printf(c->arena, "%s/" BESIDE, c->listing.root);
    c->spill = arena_printf(c->arena, "%s-spill", c->beside);
    const char *sql = arena_printf(c->arena, "SET temp_directory = %s", fleet_literal(c->arena, c->spill));
    remove_tree(c->beside);
    remove_tree(c->spill);
    fleet_add_tidy(c->listing.root);
    return fleet_engine_query(c->engine, sql, NULL, NULL, err);
}

static int lock(const char *directory, struct err *err)
{
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return fail(err, "read the directory", directory);
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    close(fd);
    err_set(err, "'%s' is being compacted by another process", directory);
    return err_next(err, "wait until it is done");
}

int fleet_compact(struct fleet_engine *engine, const char *directory, double keep_s, bool checks_values, FILE *said,
                  struct fleet_count *count, struct fleet_compacted *compacted, struct err *err)
{
    struct arena arena = { NULL, 0 };
    struct compacting c = { .engine = engine, .arena = &arena, .out = compacted };
    *compacted = (struct fleet_compacted){ 0 };
    *count = (struct fleet_count){ 0 };
    c.cutoff = keep_s <= 0 ? LONG_MIN : (long)(((double)time(NULL) - keep_s) / DAY_S);
    int fd = lock(directory, err);
    int rc = fd < 0 ? -1 : fleet_listing_read(engine, directory, &arena, &c.listing, err);
    if (rc == 0 && checks_values)
        rc = fleet_listing_check_values(engine, &arena, &c.listing, err);
    if (rc == 0 && (rc = begin(&c, err)) == 0) {
        rc = compact(&c, said, count, err);
        remove_tree(c.beside);
        rmdir(c.spill);
    }
    fleet_listing_free(&c.listing);
    arena_free(&arena);
    if (fd >= 0)
        close(fd);
    return rc;
}

/* ---- files that come in ---- */

static int fail_copy(struct err *err, const char *what, const char *path)
{
    err_set(err, "cannot %s '%s': %s", what, path, strerror(errno));
    return err_next(err, "see that the file can be read, and the directory written and not full");
}

/* Copy, and hash what was copied.  Returns 0, or -1 with errno set. */
static int copy_file(int from, int to, uint64_t *hash)
{
    char bytes[COPY_BYTES];
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

/* Has a compacted file the rows of a file of this name? */
static bool is_replaced(const struct fleet_listing *there, const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; there != NULL && i < there->n; i++) {
        const char *at = there->files[i].fault == NULL ? there->files[i].replaces : NULL;
        for (; at != NULL && (at = strstr(at, name)) != NULL; at++)
            if ((at == there->files[i].replaces || at[-1] == '\n') && (at[n] == '\0' || at[n] == '\n'))
                return true;
    }
    return false;
}

static int add_copy(const char *directory, const char *path, const char *beside, const struct fleet_listing *there,
                    struct err *err)
{
    char name[PATH_MAX], plain[32];
    uint64_t hash = 0;
    int from = open(path, O_RDONLY | O_CLOEXEC), to = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    int rc = from < 0 ? fail_copy(err, "read", path) : to < 0 ? fail_copy(err, "write", beside) : 0;
    if (rc == 0 && copy_file(from, to, &hash) < 0)
        rc = fail_copy(err, "copy", path);
    if (from >= 0)
        close(from);
    if (to >= 0 && close(to) < 0 && rc == 0)
        rc = fail_copy(err, "write", beside);
    if (rc < 0)
        return -1;
    snprintf(plain, sizeof plain, "%016" PRIx64 FLEET_SUFFIX, hash);
    snprintf(name, sizeof name, "%s/%s", directory, plain);
    if (access(name, F_OK) == 0 || is_replaced(there, plain))
        return 0;
    return rename(beside, name) < 0 || file_sync(directory) < 0 ? fail_copy(err, "write", name) : 1;
}

/* With those that it is in.  Returns 0, or -1 with errno set. */
static int make_directory(const char *directory)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", directory);
    for (char *slash = strchr(path + 1, '/'); path[0] != '\0' && slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0777);
        *slash = '/';
    }
    return mkdir(path, 0777) < 0 && errno != EEXIST ? -1 : 0;
}

int fleet_file_add(const char *directory, const char *path, const struct fleet_listing *there, struct err *err)
{
    char beside[PATH_MAX];
    if (make_directory(directory) < 0) {
        err_set(err, "cannot make the directory '%s': %s", directory, strerror(errno));
        return err_next(err, "choose another one, or make it as a user who may");
    }
    snprintf(beside, sizeof beside, "%s/" ADDING "%d", directory, (int)getpid());
    unlink(beside); /* of a process that was killed and had the same number */
    int rc = add_copy(directory, path, beside, there, err);
    unlink(beside);
    return rc;
}

void fleet_add_tidy(const char *directory)
{
    DIR *entries = opendir(directory);
    struct stat is;
    for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;)
        if (strncmp(entry->d_name, ADDING, strlen(ADDING)) == 0 &&
            fstatat(dirfd(entries), entry->d_name, &is, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(is.st_mode) &&
            is.st_mtime < time(NULL) - KILLED_S)
            unlinkat(dirfd(entries), entry->d_name, 0);
    if (entries != NULL)
        closedir(entries);
}
