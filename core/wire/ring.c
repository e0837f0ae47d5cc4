#include "core/wire/ring.h"

#include <fcntl.h>

bool segment_memory_is_strict(void)
{
    char mode = '0';
    int fd = open("/proc/sys/vm/overcommit_memory", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, &mode, 1);
    if (fd >= 0)
        close(fd);
    return n == 1 && mode == '2';
}
