/*
 * For tests: an address trace of entries alone.
 */
#ifndef TEST_UNIT_MEMTRACE_ENTRIES_H
#define TEST_UNIT_MEMTRACE_ENTRIES_H

#include "core/emu/memtrace/memtrace.h"

#include <stdlib.h>

/* *bytes is for free(), when the reader is closed.  time: of the end.  NULL with *err set: it does not open. */
static inline struct memtrace_reader *memtrace_entries(const struct memtrace_entry *entries, size_t n, uint64_t time,
                                                       char **bytes, struct err *err)
{
    static uint8_t chunk[1 << 19];
    struct memtrace_reader *reader = NULL;
    size_t n_bytes = 0;
    FILE *out = open_memstream(bytes, &n_bytes);
    struct sink s = sink_into(chunk, sizeof chunk);
    memtrace_write_header(out);
    for (size_t i = 0; i < n; i++)
        memtrace_put(&s, &entries[i]);
    memtrace_write_chunk(out, MEMTRACE_ENTRIES, chunk, (size_t)(s.at - chunk));
    s = sink_into(chunk, sizeof chunk);
    memtrace_put(&s, &(struct memtrace_entry){ .kind = MEMTRACE_TOTALS, .time = time });
    memtrace_write_chunk(out, MEMTRACE_END, chunk, (size_t)(s.at - chunk));
    fclose(out);
    return memtrace_open_bytes(&reader, *bytes, n_bytes, err) < 0 ? NULL : reader;
}

#endif
