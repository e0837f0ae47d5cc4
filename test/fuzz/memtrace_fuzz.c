/*
 * Address traces from bytes: as they are; and as the contents of a chunk of each kind, behind checksums that are right.
 */
#include "core/emu/memtrace/memtrace.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void read_all(const void *bytes, size_t n)
{
    struct memtrace_reader *reader;
    struct memtrace_entry entry;
    struct err err;
    if (memtrace_open_bytes(&reader, bytes, n, &err) < 0)
        return;
    while (memtrace_next(reader, &entry, &err) > 0)
        if (entry.kind >= MEMTRACE_KINDS || entry.info >= MEMTRACE_INFO_END || entry.name.n > MEMTRACE_TEXT_BYTES)
            abort();
    memtrace_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char *bytes = NULL;
    size_t n_bytes = 0;
    read_all(data, n);
    for (enum memtrace_chunk kind = MEMTRACE_ENTRIES; kind <= MEMTRACE_END; kind++) {
        FILE *out = open_memstream(&bytes, &n_bytes);
        if (out == NULL)
            return 0;
        memtrace_write_header(out);
        memtrace_write_chunk(out, kind, data, n);
        fclose(out);
        read_all(bytes, n_bytes);
        free(bytes);
    }
    return 0;
}
