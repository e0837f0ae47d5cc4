#include "report/fleet/parquet_pages.h"

#include "core/base/xalloc.h"

#include <zlib.h>

#define PAGE_ROWS         20000
#define DICTIONARY_MAX    65536 /* different values */
#define STATISTIC_BYTES   64    /* longer texts are no limits */
#define GZIP_WINDOW_BITS  (15 + 16)
#define GZIP_MEMORY_LEVEL 8
#define GZIP_MORE_BYTES   64 /* than deflateBound tells of, for gzip's own header */

enum page_kind { DATA_PAGE = 0, DICTIONARY_PAGE = 2 };

/* ---- bytes ---- */

void parquet_bytes_free(struct parquet_bytes *bytes)
{
    free(bytes->at);
    memset(bytes, 0, sizeof *bytes);
}

void parquet_put(struct parquet_bytes *to, const void *bytes, size_t n)
{
    if (n == 0)
        return;
    xgrow(to->at, to->room, to->n + n);
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

static void parquet_put_varint(struct parquet_bytes *to, uint64_t value)
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

/* ---- values ---- */

static void put_plain(struct parquet_bytes *to, enum parquet_kind kind, const struct parquet_value *value)
{
    size_t n = kind == PARQUET_TEXT ? strlen(value->text) : 0;
    if (kind == PARQUET_TEXT) {
        parquet_put_little(to, n, 4);
        parquet_put(to, value->text, n);
    } else {
        parquet_put_little(to, (uint64_t)value->number, 8);
    }
}

/* The number of a value, which is new if it stands behind all others. */
static uint32_t number_of_value(struct parquet_values *values, const struct parquet_value *value)
{
    struct parquet_bytes *all = &values->different;
    size_t start = all->n;
    put_plain(all, values->kind, value);
    const uint32_t *known = map_get(&values->number_of, all->at + start, all->n - start);
    if (known != NULL) {
        all->n = start;
        return *known;
    }
    map_put(&values->number_of, all->at + start, all->n - start, values->n_different);
    *xpush(values->ends, values->ends_room, values->n_different) = all->n;
    return values->n_different - 1;
}

void parquet_values_add(struct parquet_values *values, const struct parquet_value *value)
{
    values->number_of.arena = &values->arena;
    *xpush(values->indexes, values->room, values->n) =
        value->is_there ? number_of_value(values, value) : PARQUET_IS_NULL;
    values->n_nulls += !value->is_there;
}

void parquet_values_clear(struct parquet_values *values)
{
    enum parquet_kind kind = values->kind;
    free(values->indexes);
    free(values->ends);
    parquet_bytes_free(&values->different);
    map_free(&values->number_of);
    arena_free(&values->arena);
    *values = (struct parquet_values){ .kind = kind };
}

/* ---- the hybrid of runs and packed bits ---- */

struct hybrid {
    struct parquet_bytes *out;
    unsigned n_bits;
    uint32_t packed[8]; /* of a group that is not full yet */
    size_t n_packed;
    struct parquet_bytes groups; /* full ones, without their header */
    size_t n_groups;
};

static void pack_group(struct hybrid *h)
{
    uint64_t bits = 0;
    unsigned n = 0;
    for (size_t i = 0; i < 8; i++) {
        bits |= (uint64_t)(i < h->n_packed ? h->packed[i] : 0) << n;
        for (n += h->n_bits; n >= 8; n -= 8, bits >>= 8)
            parquet_put_little(&h->groups, bits, 1);
    }
    h->n_packed = 0;
    h->n_groups++;
}

static void end_groups(struct hybrid *h)
{
    if (h->n_packed > 0)
        pack_group(h);
    if (h->n_groups > 0)
        parquet_put_varint(h->out, h->n_groups << 1 | 1);
    parquet_put(h->out, h->groups.at, h->groups.n);
    h->groups.n = h->n_groups = 0;
}

/* So many times the same value: the first ones may fill up a group that is not full. */
static void put_run(struct hybrid *h, uint32_t value, size_t n)
{
    for (; n > 0 && (h->n_packed > 0 || n < 8); n--) {
        h->packed[h->n_packed++] = value;
        if (h->n_packed == 8)
            pack_group(h);
    }
    if (n == 0)
        return;
    end_groups(h);
    parquet_put_varint(h->out, (uint64_t)n << 1);
    parquet_put_little(h->out, value, (h->n_bits + 7) / 8);
}

static void put_levels(struct parquet_bytes *to, const uint32_t *indexes, size_t n)
{
    struct parquet_bytes levels = { .at = NULL };
    struct hybrid h = { .out = &levels, .n_bits = 1 };
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && (indexes[end] == PARQUET_IS_NULL) == (indexes[i] == PARQUET_IS_NULL);)
            end++;
        put_run(&h, indexes[i] != PARQUET_IS_NULL, end - i);
    }
    end_groups(&h);
    parquet_put_little(to, levels.n, 4);
    parquet_put(to, levels.at, levels.n);
    parquet_bytes_free(&h.groups);
    parquet_bytes_free(&levels);
}

static unsigned bits_for(uint32_t n)
{
    return n <= 1 ? 1 : 32 - (unsigned)__builtin_clz(n - 1);
}

static void put_indexes(struct parquet_bytes *to, const struct parquet_values *values, const uint32_t *indexes,
                        size_t n)
{
    struct hybrid h = { .out = to, .n_bits = bits_for(values->n_different) };
    parquet_put_little(to, h.n_bits, 1);
    for (size_t i = 0, end, same; i < n; i = end) {
        for (end = i + 1, same = 1; end < n && (indexes[end] == PARQUET_IS_NULL || indexes[end] == indexes[i]); end++)
            same += indexes[end] != PARQUET_IS_NULL;
        if (indexes[i] != PARQUET_IS_NULL)
            put_run(&h, indexes[i], same);
    }
    end_groups(&h);
    parquet_bytes_free(&h.groups);
}

/* ---- pages ---- */

static size_t value_start(const struct parquet_values *values, uint32_t number)
{
    return number == 0 ? 0 : values->ends[number - 1];
}

static void put_values(struct parquet_bytes *to, const struct parquet_values *values, const uint32_t *indexes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (indexes[i] == PARQUET_IS_NULL)
            continue;
        size_t start = value_start(values, indexes[i]);
        parquet_put(to, values->different.at + start, values->ends[indexes[i]] - start);
    }
}

/* Returns the packed bytes, in a buffer for free(). */
static uint8_t *pack_page(const struct parquet_bytes *plain, size_t *n)
{
    z_stream z = { .next_in = plain->at, .avail_in = (uInt)plain->n };
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW_BITS, GZIP_MEMORY_LEVEL, Z_DEFAULT_STRATEGY) !=
        Z_OK)
        out_of_memory();
    uLong room = deflateBound(&z, (uLong)plain->n) + GZIP_MORE_BYTES;
    uint8_t *packed = z.next_out = xmalloc(room);
    z.avail_out = (uInt)room;
    if (deflate(&z, Z_FINISH) != Z_STREAM_END)
        out_of_memory();
    *n = z.total_out;
    deflateEnd(&z);
    return packed;
}

/* Append a page; n_values: of a page of values nulls, too. */
static void put_page(struct parquet_bytes *pages, const struct parquet_bytes *plain, enum page_kind kind,
                     size_t n_values, enum parquet_encoding encoding, struct parquet_chunk *chunk)
{
    struct thrift t = { .depth = 0 };
    size_t n_packed = 0, start = pages->n;
    uint8_t *packed = pack_page(plain, &n_packed);
    thrift_i32(&t, 1, (int32_t)kind);
    thrift_i32(&t, 2, (int32_t)plain->n);
    thrift_i32(&t, 3, (int32_t)n_packed);
    thrift_i32(&t, 4, (int32_t)(uint32_t)crc32(0, packed, (uInt)n_packed));
    thrift_begin(&t, kind == DATA_PAGE ? 5 : 7);
    thrift_i32(&t, 1, (int32_t)n_values);
    thrift_i32(&t, 2, (int32_t)encoding);
    if (kind == DATA_PAGE) {
        thrift_i32(&t, 3, PARQUET_RLE); /* definition levels */
        thrift_i32(&t, 4, PARQUET_RLE); /* repetition levels: there are none */
    }
    thrift_end(&t);
    thrift_end(&t);
    parquet_put(pages, t.out.at, t.out.n);
    parquet_put(pages, packed, n_packed);
    chunk->plain_bytes += (int64_t)(t.out.n + plain->n);
    chunk->packed_bytes += (int64_t)(pages->n - start);
    parquet_bytes_free(&t.out);
    free(packed);
}

static void put_data_page(const struct parquet_values *values, size_t first, struct parquet_bytes *pages,
                          struct parquet_chunk *chunk)
{
    struct parquet_bytes plain = { .at = NULL };
    size_t n = values->n - first < PAGE_ROWS ? values->n - first : PAGE_ROWS;
    put_levels(&plain, values->indexes + first, n);
    if (chunk->has_dictionary)
        put_indexes(&plain, values, values->indexes + first, n);
    else
        put_values(&plain, values, values->indexes + first, n);
    put_page(pages, &plain, DATA_PAGE, n, chunk->has_dictionary ? PARQUET_RLE_DICTIONARY : PARQUET_PLAIN, chunk);
    parquet_bytes_free(&plain);
}

/* ---- the least and the most ---- */

static int compare_values(const struct parquet_values *values, uint32_t a, uint32_t b)
{
    const uint8_t *x = values->different.at + value_start(values, a),
                  *y = values->different.at + value_start(values, b);
    if (values->kind != PARQUET_TEXT) {
        int64_t p = 0, q = 0;
        for (size_t i = 8; i-- > 0;) {
            p = (int64_t)((uint64_t)p << 8 | x[i]);
            q = (int64_t)((uint64_t)q << 8 | y[i]);
        }
        return (p > q) - (p < q);
    }
    size_t n = values->ends[a] - value_start(values, a) - 4, m = values->ends[b] - value_start(values, b) - 4;
    int order = memcmp(x + 4, y + 4, n < m ? n : m);
    return order != 0 ? order : (n > m) - (n < m);
}

/* Returns whether it is short enough. */
static bool put_limit(struct parquet_bytes *to, const struct parquet_values *values, uint32_t number)
{
    size_t skip = values->kind == PARQUET_TEXT ? 4 : 0, start = value_start(values, number) + skip;
    size_t n = values->ends[number] - start;
    if (n <= STATISTIC_BYTES)
        parquet_put(to, values->different.at + start, n);
    return n <= STATISTIC_BYTES;
}

static void find_limits(const struct parquet_values *values, struct parquet_chunk *chunk)
{
    uint32_t least = 0, most = 0;
    for (uint32_t i = 1; i < values->n_different; i++) {
        least = compare_values(values, i, least) < 0 ? i : least;
        most = compare_values(values, i, most) > 0 ? i : most;
    }
    chunk->has_limits =
        values->n_different > 0 && put_limit(&chunk->least, values, least) && put_limit(&chunk->most, values, most);
}

void parquet_pages(const struct parquet_values *values, int64_t at, struct parquet_bytes *pages,
                   struct parquet_chunk *chunk)
{
    size_t n_there = values->n - values->n_nulls;
    int64_t start = at - (int64_t)pages->n;
    *chunk = (struct parquet_chunk){ .n_values = (int64_t)values->n, .n_nulls = (int64_t)values->n_nulls };
    chunk->has_dictionary =
        values->n_different > 0 && values->n_different <= DICTIONARY_MAX && (size_t)values->n_different <= n_there / 2;
    chunk->dictionary_at = at;
    if (chunk->has_dictionary)
        put_page(pages, &values->different, DICTIONARY_PAGE, values->n_different, PARQUET_PLAIN, chunk);
    chunk->pages_at = start + (int64_t)pages->n;
    for (size_t first = 0; first < values->n; first += PAGE_ROWS)
        put_data_page(values, first, pages, chunk);
    find_limits(values, chunk);
}
