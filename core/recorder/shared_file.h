/*
 * Files without a name that are shared with the target, which may be hostile: sealed so that it cannot shrink them
 * under our mappings (SIGBUS), nor change what it is only to read.
 */
#ifndef CORE_RECORDER_SHARED_FILE_H
#define CORE_RECORDER_SHARED_FILE_H

#include "core/base/std.h"
#include "core/base/err.h"

/* Each returns a descriptor, close-on-exec, or -1 with *err set. */

/* Of n_bytes for ever, to be mapped. */
int shared_file_make(const char *name, size_t n_bytes, struct err *err);

/* The target appends to it.  It is read by pread, never mapped: it only grows, but has holes where they are made. */
int shared_file_log(const char *name, struct err *err);

/* These n bytes for ever. */
int shared_file_text(const char *name, const void *bytes, size_t n, struct err *err);

#endif
