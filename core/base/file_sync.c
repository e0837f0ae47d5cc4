#include "core/base/plain_file.h"

#include "core/base/std.h"

#include <fcntl.h>

int file_sync(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), rc = fd < 0 ? -1 : fsync(fd), why = errno;
    if (fd >= 0)
        close(fd);
    errno = why;
    return rc;
}
