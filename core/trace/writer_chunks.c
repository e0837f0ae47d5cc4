/* Chunks on their way into the file: what is pending of each type, and what is written of it. */
#include "core/trace/output.h"
#include "core/trace/writer_internal.h"

static int fail(struct trace_writer *writer, int error, struct err *err)
{
    err_set(err, "cannot write '%s': %s", writer->path, strerror(error));
    if (error == ENOSPC || error == EDQUOT)
        err_next(err, "free space, or write elsewhere with -o; what was written so far is readable");
    else if (error == EPIPE)
        err_next(err, "what read this pipe has gone: see why it ended, or write to a file with -o");
    else if (error == ETIMEDOUT)
        err_next(err, "what should read this pipe has not done so for %d s: let it, or write to a file with -o",
                 OUTPUT_TIMEOUT_MS / 1000);
    else if (error == EFBIG)
        err_next(err, "raise the limit on the size of files (ulimit -f), or write elsewhere with -o");
    else
        err_next(err, "write elsewhere with -o; what was written so far is readable");
    writer->failed = true;
    writer->error = *err;
    return -1;
}

int writer_check(const struct trace_writer *writer, struct err *err)
{
    if (!writer->failed || writer->kept != NULL)
        return 0;
    *err = writer->error;
    return -1;
}

/* Where another file follows, the rest of one that cannot be written is lost, and nothing else. */
int writer_drain(struct trace_writer *writer, struct err *err)
{
    if (writer->kept != NULL && writer->failed)
        writer->out_used = 0;
    if (writer->out_used > 0 && output_write(writer->fd, writer->out, writer->out_used) < 0)
        fail(writer, errno, err);
    writer->out_used = 0;
    return writer_check(writer, err);
}

/* Append bytes to the output, however many. */
static int put_out(struct trace_writer *writer, const uint8_t *bytes, size_t n, struct err *err)
{
    writer->n_bytes += n;
    while (n > 0) {
        size_t room = OUT_BYTES - writer->out_used, part = n < room ? n : room;
        memcpy(writer->out + writer->out_used, bytes, part);
        writer->out_used += part;
        bytes += part;
        n -= part;
        if (writer->out_used == OUT_BYTES && writer_drain(writer, err) < 0)
            return -1;
    }
    return 0;
}

static int put_chunk(struct trace_writer *writer, enum chunk_type type, const uint8_t *payload, size_t n,
                     struct err *err)
{
    uint8_t header[CHUNK_HEADER_BYTES];
    encode_header(header, type, type == CHUNK_READINGS ? (unsigned)writer->n_columns : 0, 0, payload, n);
    if (put_out(writer, header, sizeof header, err) < 0)
        return -1;
    return put_out(writer, payload, n, err);
}

/* Write out all that is pending, as chunks.  Returns 0, or -1 with *err set. */
int writer_put_pending(struct trace_writer *writer, struct err *err)
{
    for (unsigned type = 0; type < N_PENDING; type++) {
        size_t n = writer->pending_used[type];
        if (n == 0)
            continue;
        writer->pending_used[type] = 0;
        if (put_chunk(writer, (enum chunk_type)type, writer->pending[type], n, err) < 0)
            return -1;
    }
    return 0;
}

struct sink writer_begin(struct trace_writer *writer, enum chunk_type type)
{
    size_t used = writer->pending_used[type];
    return sink_into(writer->pending[type] + used, PENDING_BYTES - used);
}

int writer_finish(struct trace_writer *writer, enum chunk_type type, const struct sink *s, struct err *err)
{
    writer->pending_used[type] = (size_t)(s->at - writer->pending[type]);
    return writer->pending_used[type] < PENDING_TARGET ? 0 : writer_put_pending(writer, err);
}

int writer_put_file_header(struct trace_writer *writer, struct err *err)
{
    struct sink s = sink_into(writer->out, FILE_HEADER_BYTES);
    sink_bytes(&s, FILE_MAGIC, FILE_MAGIC_BYTES);
    sink_u16le(&s, FORMAT_MAJOR);
    sink_u16le(&s, FORMAT_MINOR);
    sink_u32le(&s, 0);
    writer->n_bytes = writer->out_used = FILE_HEADER_BYTES;
    return writer_drain(writer, err);
}

int writer_put_end(struct trace_writer *writer, uint64_t end_ticks, struct err *err)
{
    uint8_t payload[8];
    store_u64le(payload, end_ticks);
    if (writer_check(writer, err) < 0 || writer_put_pending(writer, err) < 0 ||
        put_chunk(writer, CHUNK_END, payload, sizeof payload, err) < 0 || writer_drain(writer, err) < 0)
        return -1;
    int fd = writer->fd;
    writer->fd = -1;
    if (fd >= 0 && close(fd) < 0 && errno != EINTR)
        fail(writer, errno, err);
    return writer_check(writer, err);
}

uint64_t trace_writer_records(const struct trace_writer *writer)
{
    return writer->n_records;
}
