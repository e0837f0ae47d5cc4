#include "cmd/record_parts.h"

#include "cmd/output_file.h"
#include "core/base/text.h"
#include "core/base/xalloc.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#define SUFFIX        ".dat"
#define SAME_NAME_MAX 1000
#define EVERY_LEAST_S 1
#define OLD_AT_ONCE   2 /* a clock that jumps ahead makes all files old: no more are removed with each new one */

/* ---- the options ---- */

/* "100", "24h" or "7d", or "2G". */
static int parse_keep(struct record_files *files, struct err *err)
{
    char *end;
    double number = strtod(files->keep, &end);
    static const struct {
        const char *unit;
        double seconds, bytes;
    } units[] = { { "s", 1, 0 },     { "m", 60, 0 },   { "min", 60, 0 },    { "h", 3600, 0 },
                  { "d", 86400, 0 }, { "K", 0, 1024 }, { "M", 0, 1048576 }, { "G", 0, 1073741824 } };
    bool is_number = end != files->keep && number > 0 && number < 1e12;
    if (is_number && *end == '\0' && number >= 1)
        files->keep_n = (uint64_t)number;
    for (size_t i = 0; is_number && i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i].unit) == 0) {
            files->keep_s = number * units[i].seconds;
            files->keep_bytes = (uint64_t)(number * units[i].bytes);
        }
    if (files->keep_n > 0 || files->keep_s > 0 || files->keep_bytes > 0)
        return 0;
    err_set(err, "bad value '%s' of option --keep", files->keep);
    return err_next(err, "give an age (24h, 7d), a number of files (100), or a size of all of them (2G)");
}

static int check(struct record_files *files, struct err *err)
{
    bool has_others = files->keep != NULL || files->metrics != NULL;
    if (files->labels.n > 0 && files->metrics == NULL) {
        err_set(err, "--label '%s' labels metrics, and there are none", files->labels.items[0]);
        return err_next(err, "add --metrics FILE, or give it to 'mmprof export'");
    }
    if (files->every_s == 0 && !has_others)
        return 0;
    if (files->every_s == 0 || files->output == NULL) {
        err_set(err, files->every_s > 0 ? "--every needs a directory for its files"
                                        : "--keep and --metrics need several files");
        return err_next(err, files->every_s > 0 ? "name a directory with -o" : "add --every 60s -o DIR");
    }
    if (files->every_s < EVERY_LEAST_S) {
        err_set(err, "--every is at least %d s", EVERY_LEAST_S);
        return err_next(err, "give --every 60s or so: each file can be read alone, and takes time to write");
    }
    return files->keep == NULL ? 0 : parse_keep(files, err);
}

/* "DIR" or "DIR/NAME-%t.dat": a last part with a % is the pattern of names. */
static void take_output(struct record_files *files)
{
    const char *name = text_base_name(files->output);
    bool has_pattern = strchr(name, '%') != NULL;
    size_t n = has_pattern ? (size_t)(name - files->output) : strlen(files->output);
    files->pattern = has_pattern ? name : RECORD_FILES_PATTERN;
    snprintf(files->directory, sizeof files->directory, "%.*s", (int)(n == 0 ? 1 : n), n == 0 ? "." : files->output);
}

/* ---- names ---- */

static void escape(char *text, size_t *n, size_t room, const char *from, size_t n_from)
{
    for (size_t i = 0; i < n_from && *n + 4 < room; i++) {
        if (strchr(".[]()*+?{}|^$\\", from[i]) != NULL)
            text[(*n)++] = '\\';
        text[(*n)++] = from[i];
    }
    text[*n] = '\0';
}

/* What the pattern makes here, at any time and of any JVM, with a number behind the second one of a name. */
static void compile_ours(struct record_files *files)
{
    char text[2 * PATH_MAX] = "^", host[256] = "";
    size_t n = 1, n_pattern = strlen(files->pattern);
    bool has_suffix = n_pattern > strlen(SUFFIX) && strcmp(files->pattern + n_pattern - strlen(SUFFIX), SUFFIX) == 0;
    const char *end = files->pattern + n_pattern - (has_suffix ? strlen(SUFFIX) : 0);
    gethostname(host, sizeof host - 1);
    for (const char *at = files->pattern; at < end; at++) {
        const char *stands = at[0] != '%' || at + 1 == end ? NULL
                             : at[1] == 'p'                ? "[0-9]+"
                             : at[1] == 't'                ? "[0-9]{8}-[0-9]{6}"
                                                           : NULL;
        bool is_letter = at[0] == '%' && at + 1 < end && strchr("pth%", at[1]) != NULL;
        if (stands != NULL)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s", stands);
        else if (is_letter && at[1] == 'h')
            escape(text, &n, sizeof text - 64, host, strlen(host));
        else
            escape(text, &n, sizeof text - 64, is_letter ? "%" : at, 1);
        at += is_letter;
    }
    snprintf(text + n, sizeof text - n, "(_[0-9]+)?%s(\\.part)?$", has_suffix ? "\\" SUFFIX : "");
    if (regcomp(&files->ours, text, REG_EXTENDED | REG_NOSUB) != 0)
        out_of_memory();
    files->is_open = true;
}

static bool is_there(const char *path)
{
    char part[PATH_MAX + 8];
    struct stat status;
    snprintf(part, sizeof part, "%s.part", path);
    return lstat(path, &status) == 0 || lstat(part, &status) == 0;
}

/* A clock that was put back makes names that are there: they get a number. */
static int next_name(void *context, pid_t pid, char *path, size_t n, struct err *err)
{
    struct record_files *files = context;
    char name[PATH_MAX], number[16] = "";
    if (output_file_name(files->pattern, "-o", pid, name, err) < 0)
        return -1;
    size_t stem = strlen(name);
    const char *suffix = stem > strlen(SUFFIX) && strcmp(name + stem - strlen(SUFFIX), SUFFIX) == 0 ? SUFFIX : "";
    stem -= strlen(suffix);
    for (int i = 1; i < SAME_NAME_MAX; i++) {
        if (i > 1)
            snprintf(number, sizeof number, "_%d", i);
        if (snprintf(path, n, "%s/%.*s%s%s", files->directory, (int)stem, name, number, suffix) >= (int)n)
            return err_set(err, "the name '%.60s...' is too long", path);
        if (!is_there(path))
            return 0;
    }
    err_set(err, "'%s' and %d more of this name are there", path, SAME_NAME_MAX);
    return err_next(err, "put %%t, the time, into the name that -o gives");
}

/* ---- what stays ---- */

struct old_file {
    char *name; /* owned */
    struct timespec written;
    uint64_t n_bytes;
};

struct old_files {
    struct old_file *all; /* owned; the newest first */
    size_t n, room;
};

static int by_age(const void *a, const void *b)
{
    const struct old_file *x = a, *y = b;
    if (x->written.tv_sec != y->written.tv_sec)
        return x->written.tv_sec > y->written.tv_sec ? -1 : 1;
    if (x->written.tv_nsec != y->written.tv_nsec)
        return x->written.tv_nsec > y->written.tv_nsec ? -1 : 1;
    return -strcmp(x->name, y->name);
}

/* Nothing that has another name, or is no plain file, is ours. */
static void add_old(const struct record_files *files, DIR *directory, const char *name, struct old_files *old)
{
    struct stat status;
    if (regexec(&files->ours, name, 0, NULL, 0) != 0 ||
        fstatat(dirfd(directory), name, &status, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(status.st_mode))
        return;
    xgrow(old->all, old->room, old->n + 1);
    old->all[old->n] = (struct old_file){ xstrdup(name), status.st_mtim, (uint64_t)status.st_size };
    old->n++;
}

static void remove_old(const struct record_files *files)
{
    struct old_files old = { .n = 0 };
    DIR *directory = files->keep == NULL ? NULL : opendir(files->directory);
    uint64_t n_bytes = 0;
    size_t n_removed = 0;
    time_t now = time(NULL);
    if (directory == NULL)
        return;
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;)
        add_old(files, directory, entry->d_name, &old);
    qsort(old.all, old.n, sizeof *old.all, by_age);
    for (size_t i = 0; i < old.n; i++)
        n_bytes += old.all[i].n_bytes;
    for (size_t i = old.n; i-- > 0;) {
        const struct old_file *file = &old.all[i];
        bool is_latest = i == 0; /* it may be the one that is being written */
        bool is_old =
            files->keep_s > 0 && difftime(now, file->written.tv_sec) > files->keep_s && n_removed < OLD_AT_ONCE;
        bool is_much =
            (files->keep_n > 0 && i >= files->keep_n) || (files->keep_bytes > 0 && n_bytes > files->keep_bytes);
        if (!is_latest && (is_old || is_much) && unlinkat(dirfd(directory), file->name, 0) == 0) {
            n_bytes -= file->n_bytes;
            n_removed++;
        }
        free(file->name);
    }
    free(old.all);
    closedir(directory);
}

/* ---- what happens to a file ---- */

static void fails(void *context, const struct err *why)
{
    struct record_files *files = context;
    fprintf(stderr, "mmprof: %.*s: its data are dropped, and the recording goes on; the next file begins in %.0f s\n",
            (int)strcspn(why->text, "\n"), why->text, files->every_s);
    remove_old(files);
}

static void ended(void *context, const char *part, const char *path, const struct err *why)
{
    struct record_files *files = context;
    if (why == NULL) {
        record_finish_file(&files->finish, part, path);
        return;
    }
    unlink(part);
    record_finish_lost(&files->finish);
    remove_old(files);
}

/* On the thread that finishes files: it reads only what does not change any more. */
static void finished(void *context)
{
    remove_old(context);
}

int record_files_open(struct record_files *files, struct err *err)
{
    struct stat status;
    if (check(files, err) < 0)
        return -1;
    if (files->every_s == 0)
        return 0;
    take_output(files);
    if (mkdir(files->directory, 0777) < 0 && (errno != EEXIST || stat(files->directory, &status) < 0 ||
                                              !S_ISDIR(status.st_mode) || access(files->directory, W_OK | X_OK) < 0)) {
        err_set(err, "cannot write into '%s': %s", files->directory,
                errno == EEXIST || errno == 0 ? "it is not a directory" : strerror(errno));
        return err_next(err, "choose another directory with -o");
    }
    files->finish = (struct record_finish){ .metrics = files->metrics, .context = files, .finished = finished };
    if (record_finish_open(&files->finish, &files->labels, err) < 0)
        return -1;
    files->files = (struct recorder_files){
        .every_s = files->every_s, .context = files, .next = next_name, .fails = fails, .ended = ended
    };
    compile_ours(files);
    return 0;
}

void record_files_close(struct record_files *files)
{
    record_finish_close(&files->finish);
    if (files->is_open)
        regfree(&files->ours);
    files->is_open = false;
}
