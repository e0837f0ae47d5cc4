/* The file that a trace is written to.  It may be a pipe: nobody waits for ever for one who does not read it. */
#ifndef CORE_TRACE_OUTPUT_H
#define CORE_TRACE_OUTPUT_H

#include "core/base/std.h"

#define OUTPUT_TIMEOUT_MS 10000

/* Returns a descriptor, or -1 with errno set: ENXIO when nobody opens the other end of a pipe in time. */
int output_open(const char *path);

/* Write all of it.  Returns 0, or -1 with errno set: ETIMEDOUT when nobody reads the pipe for that time. */
int output_write(int fd, const void *bytes, size_t n);

#endif
