#include "report/export/export_protobuf.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define WIRE_VARINT 0
#define WIRE_BYTES  2
#define VARINT_MAX  10

void protobuf_free(struct protobuf *message)
{
    free(message->bytes);
    memset(message, 0, sizeof *message);
}

void protobuf_clear(struct protobuf *message)
{
    message->n = 0;
}

static bool make_room(struct protobuf *message, size_t n)
{
    if (message->is_broken)
        return false;
    if (message->room - message->n >= n)
        return true;
    size_t room = (message->n + n) * 2;
    uint8_t *bytes = realloc(message->bytes, room);
    message->is_broken = bytes == NULL;
    if (bytes == NULL)
        return false;
    message->bytes = bytes;
    message->room = room;
    return true;
}

static void put_varint(struct protobuf *message, uint64_t value)
{
    if (!make_room(message, VARINT_MAX))
        return;
    for (; value >= 0x80; value >>= 7)
        message->bytes[message->n++] = (uint8_t)(value | 0x80);
    message->bytes[message->n++] = (uint8_t)value;
}

static size_t varint_size(uint64_t value)
{
    size_t n = 1;
    for (; value >= 0x80; value >>= 7)
        n++;
    return n;
}

void protobuf_number(struct protobuf *message, uint32_t field, uint64_t value)
{
    if (value == 0)
        return;
    put_varint(message, field << 3 | WIRE_VARINT);
    put_varint(message, value);
}

void protobuf_bytes(struct protobuf *message, uint32_t field, const void *bytes, size_t n)
{
    put_varint(message, field << 3 | WIRE_BYTES);
    put_varint(message, n);
    if (n == 0 || !make_room(message, n))
        return;
    memcpy(message->bytes + message->n, bytes, n);
    message->n += n;
}

void protobuf_numbers(struct protobuf *message, uint32_t field, const uint64_t *values, size_t n)
{
    size_t size = 0;
    for (size_t i = 0; i < n; i++)
        size += varint_size(values[i]);
    put_varint(message, field << 3 | WIRE_BYTES);
    put_varint(message, size);
    for (size_t i = 0; i < n; i++)
        put_varint(message, values[i]);
}

/* ---- gzip ---- */

#define GZIP_WINDOW (15 + 16) /* zlib's way to ask for gzip's header */

struct gzip {
    z_stream stream;
    FILE *out;
    bool is_broken;
    uint8_t buffer[1 << 16];
};

struct gzip *gzip_open(FILE *out)
{
    struct gzip *gzip = calloc(1, sizeof *gzip);
    if (gzip == NULL)
        return NULL;
    gzip->out = out;
    if (deflateInit2(&gzip->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) == Z_OK)
        return gzip;
    free(gzip);
    return NULL;
}

static void push(struct gzip *gzip, int how)
{
    do {
        gzip->stream.next_out = gzip->buffer;
        gzip->stream.avail_out = sizeof gzip->buffer;
        int rc = deflate(&gzip->stream, how);
        size_t n = sizeof gzip->buffer - gzip->stream.avail_out;
        if (rc == Z_STREAM_ERROR || fwrite(gzip->buffer, 1, n, gzip->out) != n)
            gzip->is_broken = true;
    } while (!gzip->is_broken && gzip->stream.avail_out == 0);
}

void gzip_write(struct gzip *gzip, const struct protobuf *message)
{
    if (message->is_broken || message->n > UINT32_MAX)
        gzip->is_broken = true;
    if (gzip->is_broken || message->n == 0)
        return;
    gzip->stream.next_in = message->bytes;
    gzip->stream.avail_in = (uInt)message->n;
    push(gzip, Z_NO_FLUSH);
}

int gzip_close(struct gzip *gzip, struct err *err)
{
    if (!gzip->is_broken)
        push(gzip, Z_FINISH);
    bool is_broken = gzip->is_broken;
    deflateEnd(&gzip->stream);
    free(gzip);
    return is_broken ? err_set(err, "cannot write the profile: no memory, or no room") : 0;
}
