#include "core/base/progress.h"

#include "core/base/ticks.h"

#include <stdarg.h>

#define TERMINAL_NS UINT64_C(500000000)
#define ELSE_NS     UINT64_C(10000000000)

void progress_begin(struct progress *progress, FILE *out)
{
    *progress = (struct progress){ .out = out, .is_terminal = out != NULL && isatty(fileno(out)) };
    progress->begin_ns = clock_ns(CLOCK_MONOTONIC);
    progress->next_ns = progress->begin_ns + (progress->is_terminal ? TERMINAL_NS : ELSE_NS);
}

bool progress_is_due(const struct progress *progress)
{
    return progress->out != NULL && clock_ns(CLOCK_MONOTONIC) >= progress->next_ns;
}

void progress_line(struct progress *progress, const char *format, ...)
{
    va_list arguments;
    if (progress->out == NULL)
        return;
    fputs(progress->is_terminal ? "\r" : "mmprof: ", progress->out);
    va_start(arguments, format);
    vfprintf(progress->out, format, arguments);
    va_end(arguments);
    fputs(progress->is_terminal ? "\033[K" : "\n", progress->out);
    fflush(progress->out);
    progress->is_shown = progress->is_terminal;
    progress->next_ns = clock_ns(CLOCK_MONOTONIC) + (progress->is_terminal ? TERMINAL_NS : ELSE_NS);
}

void progress_part(struct progress *progress, const char *what, double part)
{
    if (part <= 0 || !progress_is_due(progress))
        return;
    double passed_s = (double)(clock_ns(CLOCK_MONOTONIC) - progress->begin_ns) / 1e9;
    progress_line(progress, "%s: %.0f %%, some %.0f s left", what, part * 100, passed_s / part * (1 - part));
}

void progress_end(struct progress *progress)
{
    if (progress->is_shown)
        fputs("\r\033[K", progress->out);
    progress->is_shown = false;
}
