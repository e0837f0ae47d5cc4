/* Row groups and the footer of a Parquet file. */
#include "report/fleet/parquet.h"

#include "core/base/xalloc.h"
#include "report/fleet/parquet_pages.h"

#define MAGIC       "PAR1"
#define MAGIC_BYTES 4
#define CREATED_BY  "mmprof version " MMPROF_VERSION " (build 0)" /* the form that readers parse */

/* Numbers of parquet.thrift. */
enum { CONVERTED_UTF8 = 0, CONVERTED_TIMESTAMP_MICROS = 10 };

struct row_group {
    int64_t at, n_rows;
    struct parquet_chunk *chunks; /* by column; owned */
};

struct footer_entry {
    char *key, *value; /* owned */
};

struct parquet_writer {
    FILE *out; /* borrowed */
    size_t n_columns;
    struct parquet_column columns[PARQUET_COLUMNS_MAX];
    struct parquet_values values[PARQUET_COLUMNS_MAX];
    struct row_group *groups; /* owned */
    size_t n_groups, groups_room;
    struct footer_entry *entries; /* owned */
    size_t n_entries, entries_room;
    int64_t at, n_rows; /* written so far; all rows */
};

static int write_out(struct parquet_writer *w, const void *bytes, size_t n, struct err *err)
{
    errno = 0;
    if (fwrite(bytes, 1, n, w->out) == n) {
        w->at += (int64_t)n;
        return 0;
    }
    err_set(err, "cannot write the table: %s", strerror(errno));
    return err_next(err, "choose another path with -o");
}

int parquet_open(struct parquet_writer **writer, FILE *out, const struct parquet_column *columns, size_t n_columns,
                 struct err *err)
{
    struct parquet_writer *w = *writer = xcalloc(1, sizeof *w);
    w->out = out;
    w->n_columns = n_columns;
    for (size_t c = 0; c < n_columns; c++) {
        w->columns[c] = columns[c];
        w->values[c].kind = columns[c].kind;
    }
    if (write_out(w, MAGIC, MAGIC_BYTES, err) == 0)
        return 0;
    parquet_abandon(w);
    *writer = NULL;
    return -1;
}

/* ---- row groups ---- */

static int write_columns(struct parquet_writer *w, struct row_group *group, struct err *err)
{
    for (size_t c = 0; c < w->n_columns; c++) {
        struct parquet_bytes pages = { .at = NULL };
        parquet_pages(&w->values[c], w->at, &pages, &group->chunks[c]);
        int rc = write_out(w, pages.at, pages.n, err);
        parquet_bytes_free(&pages);
        if (rc < 0)
            return -1;
        parquet_values_clear(&w->values[c]);
    }
    return 0;
}

static int write_group(struct parquet_writer *w, struct err *err)
{
    struct row_group group = { w->at, (int64_t)w->values[0].n, NULL };
    if (group.n_rows == 0)
        return 0;
    group.chunks = xcalloc(w->n_columns, sizeof *group.chunks);
    *xpush(w->groups, w->groups_room, w->n_groups) = group;
    return write_columns(w, &group, err);
}

int parquet_row(struct parquet_writer *w, const struct parquet_value *values, struct err *err)
{
    w->n_rows++;
    for (size_t c = 0; c < w->n_columns; c++)
        parquet_values_add(&w->values[c], &values[c]);
    return w->values[0].n < PARQUET_GROUP_ROWS ? 0 : write_group(w, err);
}

void parquet_metadata(struct parquet_writer *w, const char *key, const char *value)
{
    struct footer_entry *entry = xpush(w->entries, w->entries_room, w->n_entries);
    *entry = (struct footer_entry){ xstrdup(key), xstrdup(value) };
}

/* ---- the footer ---- */

static void put_schema(const struct parquet_writer *w, struct thrift *t)
{
    thrift_list(t, 2, THRIFT_STRUCT, w->n_columns + 1);
    thrift_element_begin(t);
    thrift_text(t, 4, "schema", strlen("schema"));
    thrift_i32(t, 5, (int32_t)w->n_columns);
    thrift_end(t);
    for (size_t c = 0; c < w->n_columns; c++) {
        const struct parquet_column *column = &w->columns[c];
        thrift_element_begin(t);
        thrift_i32(t, 1, column->kind == PARQUET_TEXT ? PARQUET_BYTE_ARRAY : PARQUET_INT64);
        thrift_i32(t, 3, PARQUET_OPTIONAL);
        thrift_text(t, 4, column->name, strlen(column->name));
        if (column->kind != PARQUET_NUMBER) {
            thrift_i32(t, 6, column->kind == PARQUET_TEXT ? CONVERTED_UTF8 : CONVERTED_TIMESTAMP_MICROS);
            thrift_begin(t, 10);
            thrift_begin(t, column->kind == PARQUET_TEXT ? 1 : 8);
        }
        if (column->kind == PARQUET_TIME_US) {
            thrift_bool(t, 1, true); /* UTC */
            thrift_begin(t, 2);
            thrift_begin(t, 2); /* microseconds */
            thrift_end(t);
            thrift_end(t);
        }
        if (column->kind != PARQUET_NUMBER) {
            thrift_end(t);
            thrift_end(t);
        }
        thrift_end(t);
    }
}

static void put_statistics(const struct parquet_chunk *chunk, struct thrift *t)
{
    thrift_begin(t, 12);
    thrift_i64(t, 3, chunk->n_nulls);
    if (chunk->has_limits) {
        thrift_text(t, 5, chunk->most.at, chunk->most.n);
        thrift_text(t, 6, chunk->least.at, chunk->least.n);
    }
    thrift_end(t);
}

static void put_chunk(const struct parquet_column *column, const struct parquet_chunk *chunk, struct thrift *t)
{
    thrift_element_begin(t);
    thrift_i64(t, 2, 0); /* file_offset: deprecated */
    thrift_begin(t, 3);
    thrift_i32(t, 1, column->kind == PARQUET_TEXT ? PARQUET_BYTE_ARRAY : PARQUET_INT64);
    thrift_list(t, 2, THRIFT_I32, chunk->has_dictionary ? 3 : 2);
    thrift_element_i32(t, PARQUET_PLAIN);
    thrift_element_i32(t, PARQUET_RLE);
    if (chunk->has_dictionary)
        thrift_element_i32(t, PARQUET_RLE_DICTIONARY);
    thrift_list(t, 3, THRIFT_TEXT, 1);
    thrift_element_text(t, column->name);
    thrift_i32(t, 4, PARQUET_GZIP);
    thrift_i64(t, 5, chunk->n_values);
    thrift_i64(t, 6, chunk->plain_bytes);
    thrift_i64(t, 7, chunk->packed_bytes);
    thrift_i64(t, 9, chunk->pages_at);
    if (chunk->has_dictionary)
        thrift_i64(t, 11, chunk->dictionary_at);
    put_statistics(chunk, t);
    thrift_end(t);
    thrift_end(t);
}

static void put_group(const struct parquet_writer *w, const struct row_group *group, struct thrift *t)
{
    int64_t plain_bytes = 0, packed_bytes = 0;
    thrift_element_begin(t);
    thrift_list(t, 1, THRIFT_STRUCT, w->n_columns);
    for (size_t c = 0; c < w->n_columns; c++) {
        put_chunk(&w->columns[c], &group->chunks[c], t);
        plain_bytes += group->chunks[c].plain_bytes;
        packed_bytes += group->chunks[c].packed_bytes;
    }
    thrift_i64(t, 2, plain_bytes);
    thrift_i64(t, 3, group->n_rows);
    thrift_i64(t, 5, group->at);
    thrift_i64(t, 6, packed_bytes);
    thrift_end(t);
}

static void put_entries(const struct parquet_writer *w, struct thrift *t)
{
    thrift_list(t, 5, THRIFT_STRUCT, w->n_entries);
    for (size_t i = 0; i < w->n_entries; i++) {
        const struct footer_entry *entry = &w->entries[i];
        thrift_element_begin(t);
        thrift_text(t, 1, entry->key, strlen(entry->key));
        thrift_text(t, 2, entry->value, strlen(entry->value));
        thrift_end(t);
    }
}

/* The order in which the least and the most of each column are meant: its type's. */
static void put_orders(const struct parquet_writer *w, struct thrift *t)
{
    thrift_list(t, 7, THRIFT_STRUCT, w->n_columns);
    for (size_t c = 0; c < w->n_columns; c++) {
        thrift_element_begin(t);
        thrift_begin(t, 1);
        thrift_end(t);
        thrift_end(t);
    }
}

static int write_footer(struct parquet_writer *w, struct err *err)
{
    struct thrift t = { .depth = 0 };
    thrift_i32(&t, 1, 1);
    put_schema(w, &t);
    thrift_i64(&t, 3, w->n_rows);
    thrift_list(&t, 4, THRIFT_STRUCT, w->n_groups);
    for (size_t i = 0; i < w->n_groups; i++)
        put_group(w, &w->groups[i], &t);
    put_entries(w, &t);
    thrift_text(&t, 6, CREATED_BY, strlen(CREATED_BY));
    put_orders(w, &t);
    thrift_end(&t);
    parquet_put_little(&t.out, t.out.n, 4);
    parquet_put(&t.out, MAGIC, MAGIC_BYTES);
    int rc = write_out(w, t.out.at, t.out.n, err);
    parquet_bytes_free(&t.out);
    return rc;
}

int parquet_close(struct parquet_writer *w, struct err *err)
{
    int rc = write_group(w, err) < 0 || write_footer(w, err) < 0 ? -1 : 0;
    parquet_abandon(w);
    return rc;
}

void parquet_abandon(struct parquet_writer *w)
{
    if (w == NULL)
        return;
    for (size_t c = 0; c < w->n_columns; c++)
        parquet_values_clear(&w->values[c]);
    for (size_t i = 0; i < w->n_groups; i++) {
        for (size_t c = 0; c < w->n_columns; c++) {
            parquet_bytes_free(&w->groups[i].chunks[c].least);
            parquet_bytes_free(&w->groups[i].chunks[c].most);
        }
        free(w->groups[i].chunks);
    }
    for (size_t i = 0; i < w->n_entries; i++) {
        free(w->entries[i].key);
        free(w->entries[i].value);
    }
    free(w->groups);
    free(w->entries);
    free(w);
}
