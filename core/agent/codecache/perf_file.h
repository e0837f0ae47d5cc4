/*
 * The file of names for perf: a line for each piece of code, 'START BYTES NAME', the numbers in hexadecimal.
 *
 * It is made in a directory that anybody may write to: private (mode 0600), under a name of its own first, and put into
 * its place only where there is nothing, or an older file of the same user.  Links are never followed.
 *
 * Not for several threads at a time: the caller has a lock.
 */
#ifndef CORE_AGENT_PERF_FILE_H
#define CORE_AGENT_PERF_FILE_H

#include "core/base/std.h"
#include "core/base/err.h"

#define PERF_FILE_LINE_BYTES    1024                /* of longer names, the end is left out */
#define PERF_FILE_PENDING_BYTES ((size_t)65536)     /* lines wait for a flush, at most so many */
#define PERF_FILE_BYTES_MAX     (UINT64_C(1) << 28) /* some millions of lines; nothing is written beyond */
#define PERF_FILE_PATH_BYTES    256

struct perf_file {
    int fd; /* owned; -1: closed */
    uint32_t n_lines;
    uint64_t n_bytes; /* in the file: whole lines */
    size_t n_pending;
    char path[PERF_FILE_PATH_BYTES];
    char pending[PERF_FILE_PENDING_BYTES];
};

/*
 * Make an empty file; an older one of the same user is replaced.  Returns 0, or -1 with *err set: something else has
 * that name, or it cannot be made; nothing is left then.
 */
int perf_file_open(struct perf_file *file, const char *path, struct err *err);

/*
 * Add a line; characters that would end it are replaced.  It is in the file after the next flush.  Returns 0, or -1
 * with *err set: the whole lines that fitted are in it, and it is to be closed.
 */
int perf_file_add(struct perf_file *file, uint64_t start, uint64_t n_bytes, const char *name, struct err *err);
int perf_file_flush(struct perf_file *file, struct err *err);

/* Without a flush. */
void perf_file_close(struct perf_file *file);

#endif
