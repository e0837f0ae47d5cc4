/*
 * Address traces from bytes: as they are; and as the contents of a chunk of each kind, behind checksums that are right.
 * What is made of them: objects by last use, and live bytes.
 */
#include "report/view/last_uses.h"
#include "report/view/live_bytes.h"

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

static void read_uses(const void *bytes, size_t n)
{
    struct memtrace_reader *reader;
    struct last_uses uses;
    struct err err;
    if (memtrace_open_bytes(&reader, bytes, n, &err) < 0)
        return;
    if (last_uses_read(&uses, reader, "bytes", &err) == 0)
        last_uses_free(&uses);
    memtrace_close(reader);
}

static void read_live(const void *bytes, size_t n)
{
    struct memtrace_reader *reader;
    struct live_bytes live;
    struct live_points points;
    struct err err;
    if (memtrace_open_bytes(&reader, bytes, n, &err) < 0)
        return;
    if (live_bytes_read(&live, reader, &err) == 0) {
        live_points_find(&live, &points);
        live_points_free(&points);
        live_bytes_free(&live);
    }
    memtrace_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const uint8_t totals[] = { MEMTRACE_TOTALS, 100, 0 };
    char *bytes = NULL;
    size_t n_bytes = 0;
    read_all(data, n);
    for (enum memtrace_chunk kind = MEMTRACE_ENTRIES; kind <= MEMTRACE_END; kind++) {
        FILE *out = open_memstream(&bytes, &n_bytes);
        if (out == NULL)
            return 0;
        memtrace_write_header(out);
        memtrace_write_chunk(out, kind, data, n);
        if (kind == MEMTRACE_ENTRIES) /* a whole trace, but for the sums */
            memtrace_write_chunk(out, MEMTRACE_END, totals, sizeof totals);
        fclose(out);
        read_all(bytes, n_bytes);
        read_uses(bytes, n_bytes);
        read_live(bytes, n_bytes);
        free(bytes);
    }
    return 0;
}
