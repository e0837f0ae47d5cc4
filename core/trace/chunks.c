#include "core/trace/chunks.h"

#include "core/base/xalloc.h"

#define READ_BYTES         ((size_t)256 * 1024)
#define BUFFER_FIRST_BYTES ((size_t)16 * 1024) /* enough for a small trace */
#define BUFFER_BYTES       (CHUNK_HEADER_BYTES + CHUNK_PAYLOAD_MAX + READ_BYTES)

static size_t buffered(const struct chunk_source *source)
{
    return (size_t)(source->end - source->at);
}

static void consume(struct chunk_source *source, size_t n)
{
    source->at += n;
    source->offset += n;
}

/* Read at most n bytes.  Returns their number, 0 at the end of the input, or -1 with *err set. */
static ssize_t read_some(struct chunk_source *source, uint8_t *bytes, size_t n, struct err *err)
{
    if (source->fd < 0) {
        size_t part = n < source->n_memory ? n : source->n_memory;
        if (part > 0)
            memcpy(bytes, source->memory, part);
        source->memory += part;
        source->n_memory -= part;
        return (ssize_t)part;
    }
    ssize_t got;
    do
        got = read(source->fd, bytes, n);
    while (got < 0 && errno == EINTR);
    return got < 0 ? err_set(err, "cannot read '%s': %s", source->name, strerror(errno)) : got;
}

/* Take the full buffer once the first one has been full. */
static void grow(struct chunk_source *source, size_t n)
{
    if (n <= source->buffer_bytes && source->end != source->buffer + source->buffer_bytes)
        return;
    size_t at = (size_t)(source->at - source->buffer), end = (size_t)(source->end - source->buffer);
    source->buffer = xrealloc(source->buffer, BUFFER_BYTES + RECORD_MAX_BYTES);
    source->buffer_bytes = BUFFER_BYTES;
    source->at = source->buffer + at;
    source->end = source->buffer + end;
}

/* Have n bytes at source->at, or as many as there are.  Returns 0, or -1 with *err set. */
static int fill(struct chunk_source *source, size_t n, struct err *err)
{
    size_t have = buffered(source);
    if (have >= n || source->at_eof)
        return 0;
    if (source->buffer_bytes < BUFFER_BYTES)
        grow(source, n);
    memmove(source->buffer, source->at, have);
    while (have < n && !source->at_eof) {
        size_t room = source->buffer_bytes - have;
        ssize_t got = read_some(source, source->buffer + have, room < READ_BYTES ? room : READ_BYTES, err);
        if (got < 0)
            return -1;
        source->at_eof = got == 0;
        have += (size_t)got;
    }
    source->at = source->buffer;
    source->end = source->buffer + have;
    memset(source->buffer + have, 0, RECORD_MAX_BYTES); /* may be decoded before it is seen to be past the end */
    return 0;
}

static int check_file_header(struct chunk_source *source, struct err *err)
{
    if (fill(source, FILE_HEADER_BYTES, err) < 0)
        return -1;
    struct cursor c = cursor_over(source->at, buffered(source));
    const uint8_t *magic = cursor_bytes(&c, FILE_MAGIC_BYTES);
    if (magic == NULL || memcmp(magic, FILE_MAGIC, FILE_MAGIC_BYTES) != 0) {
        err_set(err, "'%s' is not a trace", source->name);
        return err_next(err, "name a file that 'mmprof record' wrote");
    }
    unsigned major = cursor_u16le(&c), minor = cursor_u16le(&c);
    uint32_t zero = cursor_u32le(&c);
    if (c.bad) {
        err_set(err, "'%s' ends within its first %d bytes: nothing was recorded", source->name, FILE_HEADER_BYTES);
        return err_next(err, "record again");
    }
    if (major < 1 || major > FORMAT_MAJOR) {
        err_set(err, "'%s' has format %u.%u; this mmprof reads 1.x to %d.x", source->name, major, minor, FORMAT_MAJOR);
        return err_next(err, "read it with the mmprof that wrote it");
    }
    if (zero != 0 && chunks_damaged(source, FILE_HEADER_BYTES - 4, "its header is not whole", err) < 0)
        return -1;
    consume(source, FILE_HEADER_BYTES);
    return 0;
}

int chunks_open(struct chunk_source *source, int fd, const void *memory, size_t n_memory, const char *name,
                bool salvage, struct err *err)
{
    memset(source, 0, sizeof *source);
    source->fd = fd;
    source->memory = memory;
    source->n_memory = n_memory;
    source->salvage = salvage;
    source->name = xstrdup(name);
    source->buffer = xmalloc(BUFFER_FIRST_BYTES + RECORD_MAX_BYTES);
    source->buffer_bytes = BUFFER_FIRST_BYTES;
    source->at = source->end = source->buffer;
    return check_file_header(source, err);
}

void chunks_close(struct chunk_source *source)
{
    if (source->fd >= 0)
        close(source->fd);
    free(source->buffer);
    free(source->name);
}

int chunks_damaged(struct chunk_source *source, uint64_t offset, const char *what, struct err *err)
{
    if (source->salvage) {
        source->n_damaged++;
        return 0;
    }
    err_set(err, "'%s' is damaged at byte %" PRIu64 ": %s", source->name, offset, what);
    return err_next(err, "use --salvage to skip what is damaged and read the rest");
}

static bool parse_header(const uint8_t *bytes, struct chunk *chunk)
{
    struct cursor c = cursor_over(bytes, CHUNK_HEADER_BYTES);
    uint32_t magic = cursor_u32le(&c);
    chunk->type = (enum chunk_type)cursor_u8(&c);
    chunk->flags = cursor_u8(&c);
    cursor_u16le(&c);
    chunk->thread = cursor_u32le(&c);
    chunk->payload_bytes = cursor_u32le(&c);
    chunk->payload_crc = cursor_u32le(&c);
    return magic == CHUNK_MAGIC && cursor_u32le(&c) == checksum(bytes, CHUNK_SIGNED_BYTES) &&
           chunk->payload_bytes <= CHUNK_PAYLOAD_MAX;
}

/*
 * Go to the next good header after source->at.  A payload is searched too: bytes may be missing, so that its length
 * says nothing.  Returns 1, 0 when there is none (everything is consumed), or -1 with *err set.
 */
static int resynchronise(struct chunk_source *source, struct err *err)
{
    struct chunk chunk;
    for (consume(source, 1);;) {
        if (fill(source, CHUNK_HEADER_BYTES, err) < 0)
            return -1;
        size_t have = buffered(source);
        if (have < CHUNK_HEADER_BYTES) {
            consume(source, have);
            return 0;
        }
        size_t n = have - CHUNK_HEADER_BYTES + 1;
        const uint8_t *next = memchr(source->at, CHUNK_MAGIC & 0xff, n);
        consume(source, next == NULL ? n : (size_t)(next - source->at));
        if (next != NULL && parse_header(next, &chunk))
            return 1;
        if (next != NULL)
            consume(source, 1);
    }
}

static bool is_in_outline(enum chunk_type type)
{
    return type == CHUNK_INFO || type == CHUNK_CLOCK || type == CHUNK_COUNTERS || type == CHUNK_THREADS ||
           type == CHUNK_METHODS || type == CHUNK_VALUES || type == CHUNK_CPU_TIMES || type == CHUNK_END;
}

/* Returns whether it could be: a pipe is read through. */
static bool skip(struct chunk_source *source, size_t n)
{
    size_t have = buffered(source);
    if (have < n && (source->fd < 0 || lseek(source->fd, (off_t)(n - have), SEEK_CUR) < 0))
        return false;
    consume(source, have < n ? have : n);
    source->offset += have < n ? n - have : 0;
    return true;
}

/* The chunk at source->at.  Returns 1, 0 when it is not whole, 2 when it is damaged (*what says how), or -1. */
static int take_chunk(struct chunk_source *source, struct chunk *chunk, const char **what, struct err *err)
{
    if (fill(source, CHUNK_HEADER_BYTES, err) < 0)
        return -1;
    if (buffered(source) < CHUNK_HEADER_BYTES)
        return 0;
    *what = "no chunk begins here, or its header is damaged";
    if (!parse_header(source->at, chunk))
        return 2;
    size_t size_bytes = CHUNK_HEADER_BYTES + chunk->payload_bytes;
    if (source->is_outline && !is_in_outline(chunk->type) && skip(source, size_bytes))
        return take_chunk(source, chunk, what, err);
    if (fill(source, size_bytes, err) < 0)
        return -1;
    if (buffered(source) < size_bytes)
        return 0;
    *what = "the checksum of a chunk is wrong";
    if (checksum(source->at + CHUNK_HEADER_BYTES, chunk->payload_bytes) != chunk->payload_crc)
        return 2;
    chunk->payload = source->at + CHUNK_HEADER_BYTES;
    chunk->offset = source->offset;
    consume(source, size_bytes);
    return 1;
}

int chunks_next(struct chunk_source *source, struct chunk *chunk, struct err *err)
{
    for (;;) {
        const char *what = "";
        int rc = take_chunk(source, chunk, &what, err);
        if (rc == 1 || rc < 0 || (rc == 0 && (!source->salvage || buffered(source) == 0)))
            return rc;
        if (rc == 2 && chunks_damaged(source, source->offset, what, err) < 0)
            return -1;
        int found = resynchronise(source, err);
        if (found <= 0)
            return found;
        if (rc == 0) /* it did not end the file after all: bytes are missing */
            source->n_damaged++;
    }
}
