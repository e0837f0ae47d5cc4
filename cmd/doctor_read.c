/* Files of the machine, as the checks read them. */
#include "cmd/doctor.h"

#include <fcntl.h>

bool doctor_read(const struct doctor *doctor, const char *path, char *text, size_t n)
{
    char full[2048];
    text[0] = '\0';
    if ((size_t)snprintf(full, sizeof full, "%s%s", doctor->root, path) >= sizeof full)
        return false;
    int fd = open(full, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    size_t done = 0;
    ssize_t got;
    while (done < n - 1 && (got = read(fd, text + done, n - 1 - done)) > 0)
        done += (size_t)got;
    close(fd);
    text[done] = '\0';
    return true;
}

bool doctor_read_number(const struct doctor *doctor, const char *path, int64_t *value)
{
    char text[64], *end;
    if (!doctor_read(doctor, path, text, sizeof text))
        return false;
    *value = strtoll(text, &end, 10);
    return end != text;
}
