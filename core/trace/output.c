#include "core/trace/output.h"

#include "core/base/plain_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#define STEP_MS 20

int output_open(const char *path)
{
    const struct timespec pause = { 0, STEP_MS * 1000000 };
    struct stat status;
    int how = 0, fd;
    /* A pipe opened like this fails where its other end is closed, and does not block where it is full. */
    if (stat(path, &status) == 0 && S_ISFIFO(status.st_mode))
        how = O_NONBLOCK;
    for (int waited = 0; (fd = plain_file_create(path, how)) < 0; waited += STEP_MS) {
        if (how == 0 || errno != ENXIO || waited >= OUTPUT_TIMEOUT_MS)
            return -1;
        nanosleep(&pause, NULL);
    }
    return fd;
}

static int wait_for_room(int fd)
{
    struct pollfd room = { .fd = fd, .events = POLLOUT };
    int rc = poll(&room, 1, OUTPUT_TIMEOUT_MS);
    if (rc == 0)
        errno = ETIMEDOUT;
    return rc > 0 || (rc < 0 && errno == EINTR) ? 0 : -1;
}

int output_write(int fd, const void *bytes, size_t n)
{
    for (const char *at = bytes; n > 0;) {
        ssize_t wrote = write(fd, at, n);
        if (wrote < 0 && (errno == EAGAIN ? wait_for_room(fd) < 0 : errno != EINTR))
            return -1;
        if (wrote > 0) {
            at += wrote;
            n -= (size_t)wrote;
        }
    }
    return 0;
}
