#include "report/fleet/parquet_pages.h"

#include <zlib.h>

#define MAGIC_BYTES 4
#define TAIL_BYTES  8 /* the footer's length and the magic */
#define CHUNK_BYTES 65536

enum { FIELD_N_BYTES = 3, FIELD_CHECKSUM = 4 };

struct header_bytes {
    const uint8_t *at, *end;
    bool is_broken; /* the bytes are no Thrift, or end too early */
};

/* ---- Thrift's compact protocol ---- */

static uint8_t take_byte(struct header_bytes *r)
{
    if (r->at < r->end)
        return *r->at++;
    r->is_broken = true;
    return 0;
}

static uint64_t take_varint(struct header_bytes *r)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = take_byte(r);
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return value;
    }
    r->is_broken = true;
    return 0;
}

static int64_t take_number(struct header_bytes *r)
{
    uint64_t value = take_varint(r);
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

static void pass_text(struct header_bytes *r)
{
    uint64_t n = take_varint(r);
    if (n > (uint64_t)(r->end - r->at))
        r->is_broken = true;
    else
        r->at += n;
}

/* A page's header has neither lists nor maps.  Structs within structs are counted. */
static void pass_field(struct header_bytes *r, unsigned type, unsigned *depth)
{
    if (type == THRIFT_I32 || type == THRIFT_I64)
        take_varint(r);
    else if (type == THRIFT_TEXT)
        pass_text(r);
    else if (type == THRIFT_STRUCT)
        ++*depth;
    else if (type != THRIFT_TRUE && type != THRIFT_FALSE)
        r->is_broken = true;
}

/* A field of the header itself. */
static void take_field(struct header_bytes *r, int64_t id, unsigned type, unsigned *depth, struct parquet_page *page)
{
    if (id == FIELD_N_BYTES && type == THRIFT_I32) {
        page->n_bytes = take_number(r);
    } else if (id == FIELD_CHECKSUM && type == THRIFT_I32) {
        page->checksum = (uint32_t)take_number(r);
        page->has_checksum = true;
    } else {
        pass_field(r, type, depth);
    }
}

size_t parquet_page_header(const uint8_t *bytes, size_t n, struct parquet_page *page)
{
    struct header_bytes r = { .at = bytes, .end = bytes + n };
    unsigned depth = 1;
    int16_t id = 0;
    *page = (struct parquet_page){ .n_bytes = -1 };
    while (depth > 0 && !r.is_broken) {
        uint8_t header = take_byte(&r);
        unsigned step = header >> 4, type = header & 15;
        int16_t given = header != 0 && step == 0 ? (int16_t)take_number(&r) : 0;
        if (depth == 1)
            id = step == 0 ? given : (int16_t)(id + (int16_t)step);
        if (header == 0)
            depth--;
        else if (depth == 1)
            take_field(&r, id, type, &depth, page);
        else
            pass_field(&r, type, &depth);
    }
    return r.is_broken || page->n_bytes < 0 ? 0 : (size_t)(r.at - bytes);
}

/* ---- the file ---- */

/* Where the footer begins, or -1. */
static int64_t end_of_pages(FILE *in)
{
    uint8_t tail[TAIL_BYTES];
    if (fseeko(in, -TAIL_BYTES, SEEK_END) < 0 || fread(tail, 1, sizeof tail, in) != sizeof tail)
        return -1;
    int64_t n = tail[0] | tail[1] << 8 | tail[2] << 16 | (int64_t)tail[3] << 24;
    return (int64_t)ftello(in) - TAIL_BYTES - n;
}

static bool fits_checksum(FILE *in, const struct parquet_page *page)
{
    uint8_t chunk[CHUNK_BYTES];
    uLong checksum = crc32(0, NULL, 0);
    for (int64_t left = page->n_bytes; left > 0;) {
        size_t n = fread(chunk, 1, left < CHUNK_BYTES ? (size_t)left : CHUNK_BYTES, in);
        if (n == 0)
            return false;
        checksum = crc32(checksum, chunk, (uInt)n);
        left -= (int64_t)n;
    }
    return (uint32_t)checksum == page->checksum;
}

/* mmprof's pages lie one behind the other; DuckDB's, of compacted files, have no checksums. */
static bool has_damaged_page(FILE *in)
{
    uint8_t bytes[PARQUET_PAGE_HEADER_MAX];
    struct parquet_page page;
    int64_t end = end_of_pages(in);
    for (int64_t at = MAGIC_BYTES; at < end;) {
        size_t n = fseeko(in, at, SEEK_SET) < 0 ? 0 : fread(bytes, 1, sizeof bytes, in);
        size_t n_header = parquet_page_header(bytes, n, &page);
        if (n_header > 0 && !page.has_checksum && at == MAGIC_BYTES)
            return false;
        at += (int64_t)n_header;
        if (n_header == 0 || page.n_bytes > end - at || fseeko(in, at, SEEK_SET) < 0 || !fits_checksum(in, &page))
            return true;
        at += page.n_bytes;
    }
    return false;
}

bool parquet_is_damaged(const char *path)
{
    FILE *in = fopen(path, "re");
    bool is_damaged = in != NULL && has_damaged_page(in);
    if (in != NULL)
        fclose(in);
    return is_damaged;
}
