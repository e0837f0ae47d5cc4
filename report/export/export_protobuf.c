#include "report/export/export_protobuf.h"

#include "core/base/xalloc.h"

#define WIRE_VARINT 0
#define WIRE_64_BIT 1
#define WIRE_BYTES  2

void protobuf_free(struct protobuf *message)
{
    free(message->bytes);
    memset(message, 0, sizeof *message);
}

void protobuf_clear(struct protobuf *message)
{
    message->n = 0;
}

static void put_byte(struct protobuf *message, uint64_t byte)
{
    *xpush(message->bytes, message->room, message->n) = (uint8_t)byte;
}

static void put_varint(struct protobuf *message, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        put_byte(message, value | 0x80);
    put_byte(message, value);
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

void protobuf_fixed64(struct protobuf *message, uint32_t field, uint64_t value)
{
    put_varint(message, field << 3 | WIRE_64_BIT);
    for (int i = 0; i < 8; i++)
        put_byte(message, value >> (8 * i));
}

void protobuf_head(struct protobuf *message, uint32_t field, size_t n)
{
    put_varint(message, field << 3 | WIRE_BYTES);
    put_varint(message, n);
}

void protobuf_bytes(struct protobuf *message, uint32_t field, const void *bytes, size_t n)
{
    protobuf_head(message, field, n);
    if (n == 0)
        return;
    xgrow(message->bytes, message->room, message->n + n);
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

gzFile gzip_open(FILE *out)
{
    int fd = fflush(out) == 0 ? dup(fileno(out)) : -1;
    gzFile gzip = fd < 0 ? NULL : gzdopen(fd, "wb");
    if (gzip == NULL && fd >= 0)
        close(fd);
    return gzip;
}

void gzip_write(gzFile gzip, struct protobuf *message)
{
    if (!message->is_broken && message->n > 0)
        message->is_broken = message->n > INT_MAX || gzwrite(gzip, message->bytes, (unsigned)message->n) == 0;
}

int gzip_close(gzFile gzip, bool is_broken, struct err *err)
{
    errno = 0;
    int rc = gzclose(gzip);
    if (rc == Z_OK && !is_broken)
        return 0;
    err_set(err, "cannot write the profile: %s",
            rc == Z_ERRNO && errno != 0 ? strerror(errno) : "out of memory or of disk space");
    return err_next(err, "choose another path with -o");
}
