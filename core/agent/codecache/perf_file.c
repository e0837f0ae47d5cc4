#include "core/agent/codecache/perf_file.h"

#include "core/base/utf8.h"

#include <fcntl.h>
#include <sys/stat.h>

/* Is there something that may be replaced?  Returns -1 with *err set when there is something that may not. */
static int check(const char *path, bool *is_there, struct err *err)
{
    struct stat status;
    *is_there = lstat(path, &status) == 0;
    if (!*is_there)
        return errno == ENOENT ? 0 : err_set(err, "cannot look at '%s': %s", path, strerror(errno));
    if (S_ISREG(status.st_mode) && status.st_uid == geteuid())
        return 0;
    return err_set(err, "'%s' is there already, and is %s: it is left alone", path,
                   S_ISLNK(status.st_mode)   ? "a symbolic link"
                   : S_ISREG(status.st_mode) ? "another user's"
                                             : "no regular file");
}

/*
 * Where nothing was, nothing is replaced that came meanwhile.  The last step does not follow links in any case, and
 * where names are protected as in /tmp (mode 1777) nobody else can exchange what check() saw.
 */
static int publish(const char *made, const char *path, bool is_there, struct err *err)
{
    int rc = is_there ? rename(made, path) : link(made, path);
    if (rc < 0)
        err_set(err, "cannot make '%s': %s", path, strerror(errno));
    if (rc < 0 || !is_there)
        unlink(made);
    return rc;
}

int perf_file_open(struct perf_file *file, const char *path, struct err *err)
{
    char made[PERF_FILE_PATH_BYTES + 8];
    bool is_there;
    file->fd = -1;
    file->n_lines = 0;
    file->n_bytes = file->n_pending = 0;
    if (strlen(path) >= sizeof file->path)
        return err_set(err, "'%s' is too long a name", path);
    memcpy(file->path, path, strlen(path) + 1);
    if (check(path, &is_there, err) < 0)
        return -1;
    snprintf(made, sizeof made, "%s.XXXXXX", path);
    file->fd = mkostemp(made, O_CLOEXEC); /* O_EXCL, mode 0600 */
    if (file->fd < 0)
        return err_set(err, "cannot make '%s': %s", made, strerror(errno));
    if (publish(made, path, is_there, err) < 0) {
        perf_file_close(file);
        return -1;
    }
    return 0;
}

/* So much of what was pending is written: the whole lines of it stay. */
static int fail(struct perf_file *file, size_t done, const char *why, struct err *err)
{
    while (done > 0 && file->pending[done - 1] != '\n')
        done--;
    file->n_bytes += done;
    if (ftruncate(file->fd, (off_t)file->n_bytes) < 0)
        why = strerror(errno);
    return err_set(err, "cannot write '%s' beyond %" PRIu64 " bytes: %s", file->path, file->n_bytes, why);
}

int perf_file_flush(struct perf_file *file, struct err *err)
{
    size_t done = 0;
    if (file->n_bytes + file->n_pending > PERF_FILE_BYTES_MAX)
        return fail(file, 0, "it is as large as it may be", err);
    while (done < file->n_pending) {
        ssize_t n = write(file->fd, file->pending + done, file->n_pending - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail(file, done, n < 0 ? strerror(errno) : "there is no room", err);
        done += (size_t)n;
    }
    file->n_bytes += file->n_pending;
    file->n_pending = 0;
    return 0;
}

/* A name in a class file may have any character but a few: as UTF-8, and '?' for control characters.  The new end. */
static char *put_clean(char *to, const char *room_end, const char *text)
{
    const char *end = text + strlen(text);
    while (text < end) {
        char one[UTF8_BYTES_MAX] = { 0 };
        uint32_t character = utf8_take(&text, end);
        size_t n = (size_t)(utf8_put(one, utf8_is_control(character) ? '?' : character) - one);
        if ((size_t)(room_end - to) <= n) /* the line feed needs room, too */
            break;
        memcpy(to, one, n);
        to += n;
    }
    return to;
}

int perf_file_add(struct perf_file *file, uint64_t start, uint64_t n_bytes, const char *name, struct err *err)
{
    if (sizeof file->pending - file->n_pending < PERF_FILE_LINE_BYTES && perf_file_flush(file, err) < 0)
        return -1;
    char *line = file->pending + file->n_pending;
    int n = snprintf(line, PERF_FILE_LINE_BYTES, "%" PRIx64 " %" PRIx64 " ", start, n_bytes);
    char *end = put_clean(line + n, line + PERF_FILE_LINE_BYTES, name);
    *end = '\n';
    file->n_pending += (size_t)(end + 1 - line);
    file->n_lines++;
    return 0;
}

void perf_file_close(struct perf_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
}
