#include "cmd/lab/lab_command.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int memory_file_open(struct memory_file *file, const char *name, struct arena *arena, struct err *err)
{
    file->fd = memfd_create(name, MFD_CLOEXEC);
    file->path = file->fd < 0 ? NULL : arena_printf(arena, "/proc/%d/fd/%d", (int)getpid(), file->fd);
    return file->path == NULL ? err_set(err, "cannot make a file in memory: %s", strerror(errno)) : 0;
}

char *memory_file_read(const struct memory_file *file, size_t n_most, struct arena *arena, size_t *n)
{
    struct stat status;
    *n = fstat(file->fd, &status) == 0 && status.st_size < (off_t)n_most ? (size_t)status.st_size : 0;
    char *text = *n == 0 ? NULL : arena_alloc(arena, *n + 1);
    return text != NULL && pread(file->fd, text, *n, 0) == (ssize_t)*n ? text : NULL;
}

void memory_file_close(struct memory_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
}
