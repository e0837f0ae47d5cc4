/*
 * Reads Parquet files by their specification, as far as mmprof writes them, and shares no code with the writer:
 * Thrift's compact protocol, pages of version 1, plain and dictionary encodings, definition levels, gzip, checksums.
 */
#ifndef TEST_UNIT_PARQUET_DECODER_H
#define TEST_UNIT_PARQUET_DECODER_H

#include "core/base/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* A value of Thrift's: a number, a text, or what a list or a struct has. */
struct thing {
    int id; /* of a field */
    int64_t number;
    const uint8_t *text;
    size_t n;            /* bytes of the text, or fields or elements */
    struct thing *parts; /* the arena's */
};

struct decoded_value {
    bool is_there;
    int64_t number;
    const char *text; /* the arena's; of a text column */
};

struct decoded {
    struct arena arena;
    uint8_t *file;
    size_t size;
    const char *why; /* NULL: it was read */
    struct thing footer;
    size_t n_columns, n_rows;
    const char *names[64];
    struct decoded_value *values; /* by row, then column; the arena's */
    size_t n_dictionary_pages, n_data_pages;
};

#define PART_TYPE(header) ((header)&15)

static inline uint64_t decode_varint(struct decoded *d, const uint8_t **at)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = *(*at)++;
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return value;
    }
    d->why = "a varint has no end";
    return 0;
}

static inline int64_t decode_zigzag(struct decoded *d, const uint8_t **at)
{
    uint64_t value = decode_varint(d, at);
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

static inline struct thing decode_thing(struct decoded *d, const uint8_t **at, int type);

static inline void decode_struct(struct decoded *d, const uint8_t **at, struct thing *thing)
{
    thing->parts = arena_alloc(&d->arena, 32 * sizeof *thing->parts);
    for (int id = 0; d->why == NULL && thing->n < 32;) {
        uint8_t header = *(*at)++;
        if (header == 0)
            return;
        id = header >> 4 == 0 ? (int)decode_zigzag(d, at) : id + (header >> 4);
        thing->parts[thing->n] = decode_thing(d, at, PART_TYPE(header));
        thing->parts[thing->n++].id = id;
    }
    d->why = "a struct has no end";
}

static inline struct thing decode_thing(struct decoded *d, const uint8_t **at, int type)
{
    struct thing thing = { .number = type == 1 };
    uint8_t header;
    switch (type) {
    case 1:
    case 2:
        break;
    case 5:
    case 6:
        thing.number = decode_zigzag(d, at);
        break;
    case 8:
        thing.n = decode_varint(d, at);
        thing.text = *at;
        *at += thing.n;
        break;
    case 9:
        header = *(*at)++;
        thing.n = header >> 4 == 15 ? decode_varint(d, at) : (size_t)header >> 4;
        thing.parts = arena_alloc(&d->arena, (thing.n + 1) * sizeof *thing.parts);
        for (size_t i = 0; i < thing.n && d->why == NULL; i++)
            thing.parts[i] = decode_thing(d, at, PART_TYPE(header));
        break;
    case 12:
        decode_struct(d, at, &thing);
        break;
    default:
        d->why = "a type that is not used";
    }
    return thing;
}

/* A field; one that is not there is empty. */
static inline struct thing part(const struct thing *of, int id)
{
    for (size_t i = 0; i < of->n; i++)
        if (of->parts[i].id == id)
            return of->parts[i];
    return (struct thing){ .number = -1 };
}

static inline bool text_is(const struct thing *thing, const char *text)
{
    return thing->n == strlen(text) && memcmp(thing->text, text, thing->n) == 0;
}

static inline uint64_t little(const uint8_t *at, size_t n)
{
    uint64_t value = 0;
    for (size_t i = n; i > 0; i--)
        value = value << 8 | at[i - 1];
    return value;
}

/* n numbers of the hybrid of runs and packed bits. */
static inline void decode_hybrid(struct decoded *d, const uint8_t **at, unsigned bits, uint32_t *numbers, size_t n)
{
    for (size_t i = 0; i < n && d->why == NULL;) {
        uint64_t header = decode_varint(d, at), value;
        if ((header & 1) == 0) {
            value = little(*at, (bits + 7) / 8);
            *at += (bits + 7) / 8;
            for (uint64_t k = 0; k < header >> 1; k++, i++) {
                if (i >= n) {
                    d->why = "a run is too long";
                    return;
                }
                numbers[i] = (uint32_t)value;
            }
            continue;
        }
        for (uint64_t k = 0; k < (header >> 1) * 8; k++, i++) {
            value = 0;
            for (unsigned b = 0; b < bits; b++) {
                size_t bit = k * bits + b;
                value |= (uint64_t)((*at)[bit / 8] >> bit % 8 & 1) << b;
            }
            if (i < n)
                numbers[i] = (uint32_t)value;
        }
        *at += (header >> 1) * bits;
    }
}

static inline struct decoded_value decode_plain(struct decoded *d, const uint8_t **at, bool is_text)
{
    struct decoded_value value = { .is_there = true };
    if (is_text) {
        size_t n = little(*at, 4);
        value.text = arena_text(&d->arena, (const char *)*at + 4, n);
        *at += 4 + n;
    } else {
        value.number = (int64_t)little(*at, 8);
        *at += 8;
    }
    return value;
}

/* The header of a page and what is behind it, unpacked; *at moves behind it. */
static inline const uint8_t *decode_page(struct decoded *d, const uint8_t **at, struct thing *header)
{
    *header = (struct thing){ .number = 0 };
    decode_struct(d, at, header);
    size_t n = (size_t)part(header, 2).number, n_packed = (size_t)part(header, 3).number;
    uint8_t *page = arena_alloc(&d->arena, n + 8);
    z_stream z = {
        .next_in = (uint8_t *)(uintptr_t)*at, .avail_in = (uInt)n_packed, .next_out = page, .avail_out = (uInt)n
    };
    if ((uint32_t)part(header, 4).number != (uint32_t)crc32(0, *at, (uInt)n_packed))
        d->why = "a page's checksum is wrong";
    if (inflateInit2(&z, 15 + 16) != Z_OK || inflate(&z, Z_FINISH) != Z_STREAM_END || z.total_out != n)
        d->why = "a page cannot be unpacked";
    inflateEnd(&z);
    *at += n_packed;
    return page;
}

/* A page of values, into a column's from a row on.  Returns how many. */
static inline size_t decode_values(struct decoded *d, const uint8_t *page, const struct thing *header,
                                   const struct decoded_value *dictionary, bool is_text, struct decoded_value *to)
{
    struct thing about = part(header, 5);
    size_t n = (size_t)part(&about, 1).number, n_there = 0;
    uint32_t *levels = arena_alloc(&d->arena, (n + 8) * sizeof *levels),
             *indexes = arena_alloc(&d->arena, (n + 8) * sizeof *indexes);
    const uint8_t *at = page + 4;
    decode_hybrid(d, &at, 1, levels, n);
    if (at != page + 4 + little(page, 4))
        d->why = "the levels have another length";
    for (size_t i = 0; i < n; i++)
        n_there += levels[i];
    bool is_indexed = part(&about, 2).number == 8;
    if (is_indexed && n_there > 0) {
        unsigned bits = *at++;
        decode_hybrid(d, &at, bits, indexes, n_there);
    }
    for (size_t i = 0, k = 0; i < n && d->why == NULL; i++) {
        struct decoded_value *value = to + i * d->n_columns;
        *value = (struct decoded_value){ false, 0, NULL };
        if (levels[i] == 1)
            *value = is_indexed ? dictionary[indexes[k++]] : decode_plain(d, &at, is_text);
    }
    return n;
}

static inline void decode_chunk(struct decoded *d, const struct thing *chunk, size_t column, size_t first, size_t n)
{
    struct thing about = part(chunk, 3), header;
    bool is_text = part(&about, 1).number == 6;
    int64_t dictionary_at = part(&about, 11).number;
    struct decoded_value *dictionary = NULL;
    const uint8_t *at = d->file + (dictionary_at >= 0 ? dictionary_at : part(&about, 9).number);
    if (dictionary_at >= 0) {
        const uint8_t *page = decode_page(d, &at, &header);
        struct thing size = part(&header, 7);
        size_t n_different = (size_t)part(&size, 1).number;
        dictionary = arena_alloc(&d->arena, (n_different + 1) * sizeof *dictionary);
        for (size_t i = 0; i < n_different; i++)
            dictionary[i] = decode_plain(d, &page, is_text);
        d->n_dictionary_pages++;
        if (at != d->file + part(&about, 9).number)
            d->why = "the pages of values are elsewhere";
    }
    for (size_t row = 0; row < n && d->why == NULL; d->n_data_pages++) {
        const uint8_t *page = decode_page(d, &at, &header);
        row += decode_values(d, page, &header, dictionary, is_text, d->values + (first + row) * d->n_columns + column);
    }
}

static inline void decode_groups(struct decoded *d)
{
    struct thing schema = part(&d->footer, 2), groups = part(&d->footer, 4);
    size_t first = 0;
    d->n_columns = schema.n - 1;
    d->n_rows = (size_t)part(&d->footer, 3).number;
    d->values = arena_alloc(&d->arena, (d->n_rows * d->n_columns + 1) * sizeof *d->values);
    for (size_t c = 0; c < d->n_columns; c++) {
        struct thing name = part(&schema.parts[c + 1], 4);
        d->names[c] = arena_text(&d->arena, (const char *)name.text, name.n);
    }
    for (size_t g = 0; g < groups.n && d->why == NULL; g++) {
        struct thing chunks = part(&groups.parts[g], 1);
        size_t n = (size_t)part(&groups.parts[g], 3).number;
        for (size_t c = 0; c < chunks.n && d->why == NULL; c++)
            decode_chunk(d, &chunks.parts[c], c, first, n);
        first += n;
    }
    if (first != d->n_rows)
        d->why = "the groups have other rows";
}

/* Read a file; d->why tells what is wrong with it. */
static inline void parquet_decode(struct decoded *d, FILE *in)
{
    memset(d, 0, sizeof *d);
    fseek(in, 0, SEEK_END);
    d->size = (size_t)ftell(in);
    rewind(in);
    d->file = calloc(d->size + 64, 1);
    if (fread(d->file, 1, d->size, in) != d->size || d->size < 12 || memcmp(d->file, "PAR1", 4) != 0 ||
        memcmp(d->file + d->size - 4, "PAR1", 4) != 0) {
        d->why = "it is no Parquet file";
        return;
    }
    const uint8_t *at = d->file + d->size - 8 - little(d->file + d->size - 8, 4);
    decode_struct(d, &at, &d->footer);
    if (d->why == NULL && at != d->file + d->size - 8)
        d->why = "the footer has another length";
    if (d->why == NULL)
        decode_groups(d);
}

static inline void parquet_decoded_free(struct decoded *d)
{
    free(d->file);
    arena_free(&d->arena);
}

/* A value by its row and the column's name. */
static inline const struct decoded_value *decoded_at(const struct decoded *d, size_t row, const char *name)
{
    static const struct decoded_value none = { false, -1, NULL };
    for (size_t c = 0; c < d->n_columns; c++)
        if (strcmp(d->names[c], name) == 0 && row < d->n_rows)
            return &d->values[row * d->n_columns + c];
    return &none;
}

/* The footer's value of a key, the arena's, or "". */
static inline const char *decoded_metadata(struct decoded *d, const char *key)
{
    struct thing entries = part(&d->footer, 5);
    for (size_t i = 0; i < entries.n; i++) {
        struct thing name = part(&entries.parts[i], 1), value = part(&entries.parts[i], 2);
        if (text_is(&name, key))
            return arena_text(&d->arena, (const char *)value.text, value.n);
    }
    return "";
}

#endif
