#include "core/agent/lab/count_entries.h"

#include "core/base/words.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

int counted_file_take(const char *path, const char *first_line)
{
    struct stat status;
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    const ssize_t n = (ssize_t)strlen(first_line);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &status) == 0 && status.st_size == 0 &&
        write(fd, first_line, (size_t)n) == n)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

char *counted_file_word(char *to, const char *word)
{
    to += words_escape(to, word[0] == '\0' ? "-" : word);
    *to++ = ' ';
    return to;
}

void counted_file_plain_class(char *signature)
{
    size_t n = strlen(signature);
    if (signature[0] != 'L' || n < 2)
        return;
    memmove(signature, signature + 1, n - 2);
    signature[n - 2] = '\0';
}
