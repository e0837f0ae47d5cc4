#include "core/base/plain_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#define LINKS 8  /* that lead from one to the next */
#define TRIES 64 /* while somebody there renames directories */

static int refuse(int fd, int error)
{
    if (fd >= 0)
        close(fd);
    errno = error;
    return -1;
}

/* The next component of a path, or an empty one at its end. */
static const char *next_part(const char **path, char part[NAME_MAX + 1])
{
    *path += strspn(*path, "/");
    size_t n = strcspn(*path, "/");
    snprintf(part, NAME_MAX + 1, "%.*s", (int)(n < NAME_MAX ? n : NAME_MAX), *path);
    *path += n;
    return part;
}

/* For old kernels: a component at a time, none of which is a link or leads upwards. */
static int walk(int root, const char *path, int flags)
{
    char part[NAME_MAX + 1];
    int at = openat(root, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    while (at >= 0 && next_part(&path, part)[0] != '\0') {
        bool is_last = path[strspn(path, "/")] == '\0';
        struct stat status;
        int next = strcmp(part, "..") == 0
                       ? refuse(-1, ELOOP)
                       : openat(at, part, O_PATH | O_NOFOLLOW | O_CLOEXEC | (is_last ? flags : O_DIRECTORY));
        refuse(at, errno);
        if (next >= 0 && (flags & O_NOFOLLOW) == 0 && fstat(next, &status) == 0 && S_ISLNK(status.st_mode))
            return refuse(next, ELOOP);
        at = next;
    }
    return at;
}

int plain_file_find(int root, const char *path, int flags)
{
    const struct open_how how = { .flags = (unsigned)(O_PATH | O_CLOEXEC | flags),
                                  .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
    long fd = -1;
    errno = EAGAIN;
    for (int i = 0; i < TRIES && fd < 0 && errno == EAGAIN; i++)
        fd = syscall(SYS_openat2, root, path, &how, sizeof how);
    if (fd < 0 && (errno == ENOSYS || errno == EPERM)) /* EPERM: container runtimes refuse what they do not know */
        return walk(root, path, flags);
    return (int)fd;
}

static int reopen(int found, uint64_t max_bytes)
{
    char path[40];
    struct stat status;
    if (fstat(found, &status) < 0)
        return -1;
    if (!S_ISREG(status.st_mode))
        return refuse(-1, EMEDIUMTYPE);
    if ((uint64_t)status.st_size > max_bytes)
        return refuse(-1, EFBIG);
    snprintf(path, sizeof path, "/proc/self/fd/%d", found);
    return open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC); /* somebody may hold a lease */
}

int plain_file_reopen(int found)
{
    return reopen(found, PLAIN_FILE_BYTES_MAX);
}

/* Closes what was found. */
static int reopen_only(int found, uint64_t max_bytes)
{
    int fd = found < 0 ? -1 : reopen(found, max_bytes);
    refuse(found, errno);
    return fd;
}

int plain_file_open(int root, const char *path)
{
    return reopen_only(plain_file_find(root, path, 0), PLAIN_FILE_BYTES_MAX);
}

int plain_file_source(const char *folder, const char *path)
{
    char whole[PATH_MAX], part[NAME_MAX + 1];
    for (const char *at = path; next_part(&at, part)[0] != '\0';)
        if (strcmp(part, "..") == 0)
            return refuse(-1, ELOOP);
    if ((size_t)snprintf(whole, sizeof whole, "%s/%s", folder, path) >= sizeof whole)
        return refuse(-1, ENAMETOOLONG);
    return reopen_only(open(whole, O_PATH | O_CLOEXEC), PLAIN_FILE_SOURCE_MAX);
}

ssize_t plain_file_text(int fd, char *text, size_t n)
{
    size_t done = 0;
    ssize_t got = 1;
    while (done < n - 1 && (got = pread(fd, text + done, n - 1 - done, (off_t)done)) > 0)
        done += (size_t)got;
    text[done] = '\0';
    return got < 0 ? -1 : (ssize_t)done;
}

/* ---- writing ---- */

#define CREATE (O_WRONLY | O_CREAT | O_CLOEXEC)

/* Where a link of root's leads: by what it says, or, of one of the kernel's own (/dev/stdout), by itself. */
static int follow(int link, char path[PATH_MAX], int *how)
{
    char text[PATH_MAX], from[PATH_MAX];
    struct stat status;
    struct statfs system;
    if (fstat(link, &status) < 0 || fstatfs(link, &system) < 0)
        return -1;
    if (system.f_type == PROC_SUPER_MAGIC) {
        *how &= ~O_NOFOLLOW;
        return 0;
    }
    errno = ENOLINK;
    if (!S_ISLNK(status.st_mode) || status.st_uid != 0)
        return -1;
    ssize_t n = readlinkat(link, "", text, sizeof text - 1);
    if (n < 0)
        return -1;
    text[n] = '\0';
    memcpy(from, path, PATH_MAX);
    const char *slash = strrchr(from, '/');
    n = snprintf(path, PATH_MAX, "%.*s%s", text[0] == '/' || slash == NULL ? 0 : (int)(slash + 1 - from), from, text);
    errno = ENAMETOOLONG;
    return n < PATH_MAX ? 0 : -1;
}

static int empty(int fd)
{
    struct stat status;
    if (fstat(fd, &status) < 0)
        return refuse(fd, errno);
    if (!S_ISREG(status.st_mode))
        return fd;
    if (status.st_nlink > 1)
        return refuse(fd, EMLINK);
    return ftruncate(fd, 0) == 0 ? fd : refuse(fd, errno);
}

int plain_file_create(const char *path, int flags)
{
    char at[PATH_MAX];
    int how = CREATE | O_NOFOLLOW | flags;
    if (geteuid() != 0)
        return open(path, CREATE | O_TRUNC | flags, 0666);
    if (snprintf(at, sizeof at, "%s", path) >= (int)sizeof at)
        return refuse(-1, ENAMETOOLONG);
    for (int i = 0; i < LINKS; i++) {
        int fd = open(at, how, 0666);
        if (fd >= 0)
            return empty(fd);
        int link = errno == ELOOP ? open(at, O_PATH | O_NOFOLLOW | O_CLOEXEC) : -1;
        if (link < 0)
            return -1;
        int rc = follow(link, at, &how), error = errno;
        close(link);
        if (rc < 0)
            return refuse(-1, error);
    }
    return refuse(-1, ELOOP);
}

const char *plain_file_why(int error)
{
    return error == ENOLINK       ? "it is a link that root did not make"
           : error == EMLINK      ? "the file has another name (a hard link)"
           : error == EMEDIUMTYPE ? "it is no regular file"
           : error == ESTALE      ? "it was deleted or replaced since"
           : error == ENOEXEC     ? "it is no ELF file"
                                  : strerror(error);
}
