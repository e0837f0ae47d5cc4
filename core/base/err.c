#include "core/base/err.h"

#include "core/base/std.h"

#include <stdarg.h>

int err_set(struct err *err, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(err->text, sizeof err->text, format, arguments);
    va_end(arguments);
    return -1;
}

int err_next(struct err *err, const char *format, ...)
{
    size_t used = strlen(err->text);
    int n = snprintf(err->text + used, sizeof err->text - used, "\n  next: ");
    if (n < 0 || (size_t)n >= sizeof err->text - used)
        return -1;
    used += (size_t)n;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(err->text + used, sizeof err->text - used, format, arguments);
    va_end(arguments);
    return -1;
}

int err_prefix(struct err *err, const char *prefix)
{
    size_t used = strlen(err->text), n_prefix = strlen(prefix), room = sizeof err->text - 1;
    if (n_prefix + 2 > room)
        return -1;
    if (used + n_prefix + 2 > room)
        used = room - n_prefix - 2;
    memmove(err->text + n_prefix + 2, err->text, used);
    memcpy(err->text, prefix, n_prefix);
    memcpy(err->text + n_prefix, ": ", 2);
    err->text[n_prefix + 2 + used] = '\0';
    return -1;
}
