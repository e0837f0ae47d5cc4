#include "core/emu/memtrace/memtrace.h"

#include "core/base/xalloc.h"

#include <zlib.h>

struct memtrace_reader {
    FILE *file; /* owned; NULL: bytes */
    struct cursor bytes;
    uint64_t n_read, n_accesses;
    enum memtrace_chunk kind;
    uint8_t *packed, *raw; /* owned: as much as the chunks needed so far */
    size_t packed_room, raw_room;
    struct cursor entries; /* of the chunk: what is left; of accesses, what could not be foretold */
    const uint8_t *flags;
    uint32_t n_flags, thread;
    uint64_t time;
    struct memtrace_coder coder;
    bool has_ended;
};

static int damaged(const struct memtrace_reader *reader, const char *what, struct err *err)
{
    err_set(err, "the address trace is damaged at byte %" PRIu64 ": %s", reader->n_read, what);
    return err_next(err, "record it again; what stands before is whole");
}

/* Returns n, fewer at the end. */
static size_t read_bytes(struct memtrace_reader *reader, void *to, size_t n)
{
    if (reader->file != NULL)
        return fread(to, 1, n, reader->file);
    size_t left = cursor_left(&reader->bytes);
    n = n < left ? n : left;
    const uint8_t *from = cursor_bytes(&reader->bytes, n);
    if (n > 0)
        memcpy(to, from, n);
    return n;
}

static int begin(struct memtrace_reader *reader, const char *path, struct err *err)
{
    uint8_t bytes[MEMTRACE_HEADER_BYTES];
    if (read_bytes(reader, bytes, sizeof bytes) != sizeof bytes || memcmp(bytes, MEMTRACE_MAGIC, 8) != 0) {
        err_set(err, "'%s' is no address trace", path);
        return err_next(err, "name a file that 'mmprof memtrace -o FILE -- java ...' has written");
    }
    struct cursor c = cursor_over(bytes + 8, 4);
    uint32_t version = cursor_u32le(&c);
    if (version == 0 || version > MEMTRACE_VERSION) {
        err_set(err, "'%s' is an address trace of version %" PRIu32 ", and this mmprof reads versions 1 to %d", path,
                version, MEMTRACE_VERSION);
        return err_next(err, "read it with the mmprof that wrote it");
    }
    reader->n_read = sizeof bytes;
    return 0;
}

static int open_either(struct memtrace_reader **opened, FILE *file, struct cursor bytes, const char *path,
                       struct err *err)
{
    struct memtrace_reader *reader = *opened = xcalloc(1, sizeof *reader);
    reader->file = file;
    reader->bytes = bytes;
    if (begin(reader, path, err) == 0)
        return 0;
    memtrace_close(reader);
    *opened = NULL;
    return -1;
}

int memtrace_open(struct memtrace_reader **reader, const char *path, struct err *err)
{
    FILE *file = fopen(path, "re");
    *reader = NULL;
    if (file == NULL)
        return err_set(err, "cannot read '%s': %s", path, strerror(errno));
    return open_either(reader, file, cursor_over("", 0), path, err);
}

int memtrace_open_bytes(struct memtrace_reader **reader, const void *bytes, size_t n, struct err *err)
{
    return open_either(reader, NULL, cursor_over(bytes, n), "bytes", err);
}

void memtrace_close(struct memtrace_reader *reader)
{
    if (reader == NULL)
        return;
    if (reader->file != NULL)
        fclose(reader->file);
    free(reader->packed);
    free(reader->raw);
    free(reader);
}

uint64_t memtrace_bytes(const struct memtrace_reader *reader)
{
    return reader->n_read;
}

/* ---- chunks ---- */

static int begin_accesses(struct memtrace_reader *reader, struct err *err)
{
    struct cursor *c = &reader->entries;
    reader->thread = cursor_below(c, UINT32_MAX);
    reader->time = cursor_varint(c);
    reader->n_flags = cursor_below(c, MEMTRACE_ACCESSES_MAX + 1);
    reader->flags = cursor_bytes(c, reader->n_flags);
    memset(&reader->coder, 0, sizeof reader->coder);
    return c->bad ? damaged(reader, "a chunk's begin", err) : 0;
}

/* Returns 1, 0 at the end, or -1 with *err set. */
static int next_chunk(struct memtrace_reader *reader, struct err *err)
{
    uint8_t header[MEMTRACE_CHUNK_HEADER];
    size_t n = read_bytes(reader, header, sizeof header);
    if (n == 0 && reader->has_ended)
        return 0;
    if (n < sizeof header) {
        err_set(err, "the address trace has no end: the program was killed, or the file is cut");
        return err_next(err, "record it again; what stands before is whole");
    }
    struct cursor c = cursor_over(header, sizeof header);
    uint32_t magic = cursor_u32le(&c), kind = cursor_u32le(&c), n_raw = cursor_u32le(&c), n_packed = cursor_u32le(&c);
    uint32_t sum = cursor_u32le(&c), own_sum = cursor_u32le(&c);
    if (magic != MEMTRACE_CHUNK_MAGIC || own_sum != (uint32_t)crc32(0, header, sizeof header - 4) ||
        kind > MEMTRACE_END || n_raw > MEMTRACE_CHUNK_BYTES || n_packed > MEMTRACE_CHUNK_BYTES || reader->has_ended)
        return damaged(reader, "a chunk's header", err);
    uLongf n_got = n_raw;
    xgrow(reader->packed, reader->packed_room, (size_t)n_packed + 1);
    xgrow(reader->raw, reader->raw_room, (size_t)n_raw + 1);
    if (read_bytes(reader, reader->packed, n_packed) != n_packed)
        return damaged(reader, "the file ends in a chunk", err);
    if (sum != (uint32_t)crc32(0, reader->packed, n_packed) ||
        uncompress(reader->raw, &n_got, reader->packed, n_packed) != Z_OK || n_got != n_raw)
        return damaged(reader, "a chunk's bytes", err);
    reader->n_read += sizeof header + n_packed;
    reader->kind = (enum memtrace_chunk)kind;
    reader->has_ended = kind == MEMTRACE_END;
    reader->entries = cursor_over(reader->raw, n_raw);
    reader->n_flags = 0;
    return kind == MEMTRACE_ACCESSES && begin_accesses(reader, err) < 0 ? -1 : 1;
}

static int next_access(struct memtrace_reader *reader, struct memtrace_entry *entry, struct err *err)
{
    *entry =
        (struct memtrace_entry){ .kind = MEMTRACE_ACCESS, .location = MEMTRACE_NO_NUMBER, .thread = reader->thread };
    memtrace_decode(&reader->coder, *reader->flags++, &reader->entries, entry);
    reader->n_flags--;
    reader->n_accesses++;
    if (reader->entries.bad || (reader->n_flags == 0 && cursor_left(&reader->entries) > 0))
        return damaged(reader, "an access", err);
    reader->time += (entry->info & MEMTRACE_JAVA) != 0;
    entry->time = reader->time;
    return 1;
}

int memtrace_next(struct memtrace_reader *reader, struct memtrace_entry *entry, struct err *err)
{
    int rc = 1;
    while (rc > 0 && reader->n_flags == 0 && cursor_left(&reader->entries) == 0)
        rc = next_chunk(reader, err);
    if (rc <= 0)
        return rc;
    if (reader->kind == MEMTRACE_ACCESSES)
        return reader->n_flags == 0 ? damaged(reader, "an access", err) : next_access(reader, entry, err);
    if (memtrace_get(&reader->entries, entry) < 0 || (entry->kind == MEMTRACE_TOTALS) != (reader->kind == MEMTRACE_END))
        return damaged(reader, "an entry", err);
    if (entry->kind == MEMTRACE_TOTALS && entry->n_accesses != reader->n_accesses)
        return damaged(reader, "accesses are missing", err);
    return 1;
}
