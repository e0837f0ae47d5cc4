#include "report/fleet/parquet_pages.h"

#include "core/base/vec.h"

void parquet_bytes_free(struct parquet_bytes *bytes)
{
    free(bytes->at);
    memset(bytes, 0, sizeof *bytes);
}

void parquet_put(struct parquet_bytes *to, const void *bytes, size_t n)
{
    if (n == 0 || to->is_broken)
        return;
    if (vec_reserve(to->at, to->room, to->n + n) < 0) {
        to->is_broken = true;
        return;
    }
    memcpy(to->at + to->n, bytes, n);
    to->n += n;
}

void parquet_put_little(struct parquet_bytes *to, uint64_t value, size_t n)
{
    uint8_t bytes[8];
    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
    parquet_put(to, bytes, n);
}

void parquet_put_varint(struct parquet_bytes *to, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        parquet_put_little(to, value | 0x80, 1);
    parquet_put_little(to, value, 1);
}

/* ---- Thrift ---- */

/* Small numbers of either sign become small ones. */
static uint64_t zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
}

static void put_field(struct thrift *t, int id, enum thrift_type type)
{
    int delta = id - t->last[t->depth];
    bool is_short = delta > 0 && delta <= 15;
    parquet_put_little(&t->out, (uint64_t)(is_short ? delta << 4 : 0) | type, 1);
    if (!is_short)
        parquet_put_varint(&t->out, zigzag(id));
    t->last[t->depth] = id;
}

void thrift_bool(struct thrift *t, int id, bool value)
{
    put_field(t, id, value ? THRIFT_TRUE : THRIFT_FALSE);
}

void thrift_i32(struct thrift *t, int id, int32_t value)
{
    put_field(t, id, THRIFT_I32);
    parquet_put_varint(&t->out, zigzag(value));
}

void thrift_i64(struct thrift *t, int id, int64_t value)
{
    put_field(t, id, THRIFT_I64);
    parquet_put_varint(&t->out, zigzag(value));
}

void thrift_text(struct thrift *t, int id, const void *text, size_t n)
{
    put_field(t, id, THRIFT_TEXT);
    parquet_put_varint(&t->out, n);
    parquet_put(&t->out, text, n);
}

void thrift_list(struct thrift *t, int id, enum thrift_type of, size_t n)
{
    put_field(t, id, THRIFT_LIST);
    parquet_put_little(&t->out, (n < 15 ? n : 15) << 4 | of, 1);
    if (n >= 15)
        parquet_put_varint(&t->out, n);
}

void thrift_begin(struct thrift *t, int id)
{
    put_field(t, id, THRIFT_STRUCT);
    thrift_element_begin(t);
}

void thrift_element_i32(struct thrift *t, int32_t value)
{
    parquet_put_varint(&t->out, zigzag(value));
}

void thrift_element_text(struct thrift *t, const char *text)
{
    size_t n = strlen(text);
    parquet_put_varint(&t->out, n);
    parquet_put(&t->out, text, n);
}

void thrift_element_begin(struct thrift *t)
{
    t->last[++t->depth] = 0;
}

void thrift_end(struct thrift *t)
{
    parquet_put_little(&t->out, 0, 1);
    t->depth -= t->depth > 0 ? 1 : 0;
}
