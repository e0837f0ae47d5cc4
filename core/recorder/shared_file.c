#include "core/recorder/shared_file.h"

#include <fcntl.h>
#include <sys/mman.h>

static int fail(int fd, const char *name, size_t n_bytes, struct err *err)
{
    int why = errno;
    if (fd >= 0)
        close(fd);
    err_set(err, "cannot make the shared memory '%s' (%.1f MB): %s", name, (double)n_bytes / 1e6, strerror(why));
    return err_next(err, why == EFBIG ? "give a smaller --buffer, or raise the limit on the size of files (ulimit -f)"
                                      : "give a smaller --buffer");
}

int shared_file_make(const char *name, size_t n_bytes, struct err *err)
{
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd >= 0 && ftruncate(fd, (off_t)n_bytes) == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        return fd;
    return fail(fd, name, n_bytes, err);
}

int shared_file_log(const char *name, struct err *err)
{
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd >= 0 && fcntl(fd, F_SETFL, O_APPEND) == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL) == 0)
        return fd;
    return fail(fd, name, 0, err);
}

int shared_file_text(const char *name, const void *bytes, size_t n, struct err *err)
{
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd >= 0 && write(fd, bytes, n) == (ssize_t)n && lseek(fd, 0, SEEK_SET) == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) == 0)
        return fd;
    return fail(fd, name, n, err);
}
