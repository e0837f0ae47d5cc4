/*
 * Other ways into a trace than by its path: for the tests and the fuzzer.
 */
#ifndef CORE_TRACE_READER_H
#define CORE_TRACE_READER_H

#include "core/trace/trace.h"

/* As trace_open, from bytes in memory, borrowed until trace_close; name is for messages. */
int trace_open_bytes(struct trace_reader **reader, const void *bytes, size_t n, const char *name, bool salvage,
                     struct err *err);

/* Before the first event: files of at least so many bytes are read ahead, where there is a second CPU; else not at all.
 */
void trace_read_ahead_from(struct trace_reader *reader, int64_t min_bytes);

#endif
