/* Files of the machine, as the checks read them. */
#include "cmd/doctor.h"

#include "core/jvm/process.h"

bool doctor_read(const struct doctor *doctor, const char *path, char *text, size_t n)
{
    char full[2048];
    text[0] = '\0';
    return (size_t)snprintf(full, sizeof full, "%s%s", doctor->root, path) < sizeof full &&
           jvm_read_file(full, text, n) >= 0;
}

bool doctor_read_number(const struct doctor *doctor, const char *path, int64_t *value)
{
    char text[64], *end;
    if (!doctor_read(doctor, path, text, sizeof text))
        return false;
    *value = strtoll(text, &end, 10);
    return end != text;
}
