#include "report/fleet/fleet_files.h"

#include "core/base/file_sync.h"
#include "core/base/hash.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define COPY_BYTES 65536
#define BESIDE     ".adding-" /* so begin the names of copies that are being written */
#define KILLED_S   3600       /* nothing was written to one for so long */

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
    int rc = from < 0 ? fail(err, "read", path) : to < 0 ? fail(err, "write", beside) : 0;
    if (rc == 0 && copy_file(from, to, &hash) < 0)
        rc = fail(err, "copy", path);
    if (from >= 0)
        close(from);
    if (to >= 0 && close(to) < 0 && rc == 0)
        rc = fail(err, "write", beside);
    if (rc < 0)
        return -1;
    snprintf(plain, sizeof plain, "%016" PRIx64 FLEET_SUFFIX, hash);
    snprintf(name, sizeof name, "%s/%s", directory, plain);
    if (access(name, F_OK) == 0 || is_replaced(there, plain))
        return 0;
    return rename(beside, name) < 0 || file_sync(directory) < 0 ? fail(err, "write", name) : 1;
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
    snprintf(beside, sizeof beside, "%s/" BESIDE "%d", directory, (int)getpid());
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
        if (strncmp(entry->d_name, BESIDE, strlen(BESIDE)) == 0 &&
            fstatat(dirfd(entries), entry->d_name, &is, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(is.st_mode) &&
            is.st_mtime < time(NULL) - KILLED_S)
            unlinkat(dirfd(entries), entry->d_name, 0);
    if (entries != NULL)
        closedir(entries);
}
