#include "report/fleet/parquet.h"

#include "report/fleet/parquet_pages.h"
#include "test/unit/parquet_decoder.h"
#include "test/unit/tap.h"

static struct err err;

static const struct parquet_column columns[] = {
    { "name", PARQUET_TEXT }, { "n", PARQUET_NUMBER }, { "ts", PARQUET_TIME_US }, { "nothing", PARQUET_NUMBER }
};

#define N_COLUMNS (sizeof columns / sizeof columns[0])

/* ---- Thrift ---- */

static void test_thrift(void)
{
    static const uint8_t expected[] = { 0x15, 0x02, 0x16, 0x03, 0x18, 0x02, 'o',  'k',  0x05, 0x28,
                                        0xff, 0xff, 0xff, 0xff, 0x0f, 0x1c, 0x12, 0x00, 0x00 };
    struct thrift t = { .depth = 0 };
    thrift_i32(&t, 1, 1);
    thrift_i64(&t, 2, -2);
    thrift_text(&t, 3, "ok", 2);
    thrift_i32(&t, 20, INT32_MIN);
    thrift_begin(&t, 21);
    thrift_bool(&t, 1, false);
    thrift_end(&t);
    thrift_end(&t);
    CHECK("fields have the compact protocol's bytes: short and long headers, zigzag, a struct in a struct",
          t.out.n == sizeof expected && memcmp(t.out.at, expected, sizeof expected) == 0);
    parquet_bytes_free(&t.out);
}

/* ---- values ---- */

/* Texts of few kinds with runs, and numbers that repeat late: row i of a made table. */
static void make_row(size_t i, struct parquet_value *row, char *name, size_t room)
{
    snprintf(name, room, "caf\xc3\xa9 %zu", i % 5);
    if (i % 7 == 3 || i % 40 < 20)
        snprintf(name, room, "%s", i % 7 == 3 ? "" : "one");
    row[0] = (struct parquet_value){ .is_there = i % 11 != 5, .text = name };
    row[1] = (struct parquet_value){ .is_there = i % 3 != 1, .number = (int64_t)(i * i) - 1000 };
    row[2] = (struct parquet_value){ .is_there = true, .number = 1790000000000000 + (int64_t)(i / 100) };
    row[3] = (struct parquet_value){ .is_there = false };
}

static FILE *write_rows(size_t n)
{
    struct parquet_writer *writer;
    struct parquet_value row[N_COLUMNS];
    char name[64];
    FILE *out = tmpfile();
    if (out == NULL || parquet_open(&writer, out, columns, N_COLUMNS, &err) < 0)
        return out;
    for (size_t i = 0; i < n; i++) {
        make_row(i, row, name, sizeof name);
        if (parquet_row(writer, row, &err) < 0)
            break;
    }
    parquet_metadata(writer, "key", "a \"value\"");
    if (parquet_close(writer, &err) < 0)
        printf("# %s\n", err.text);
    return out;
}

static size_t wrong_values(const struct decoded *d)
{
    size_t n_wrong = 0;
    struct parquet_value row[N_COLUMNS];
    char name[64];
    for (size_t i = 0; i < d->n_rows; i++) {
        make_row(i, row, name, sizeof name);
        for (size_t c = 0; c < N_COLUMNS; c++) {
            const struct decoded_value *value = &d->values[i * N_COLUMNS + c];
            bool is_right = value->is_there == row[c].is_there;
            if (is_right && value->is_there)
                is_right = c == 0 ? strcmp(value->text, row[c].text) == 0 : value->number == row[c].number;
            n_wrong += !is_right;
        }
    }
    return n_wrong;
}

static void test_rows(size_t n, const char *claim)
{
    struct decoded d;
    FILE *out = write_rows(n);
    parquet_decode(&d, out);
    if (!CHECK(claim, d.why == NULL && d.n_rows == n && wrong_values(&d) == 0))
        printf("# %s, %zu rows, %zu wrong values\n", d.why == NULL ? "" : d.why, d.n_rows, wrong_values(&d));
    parquet_decoded_free(&d);
    fclose(out);
}

static void test_form(void)
{
    struct decoded d;
    FILE *out = write_rows(50000);
    parquet_decode(&d, out);
    struct thing schema = part(&d.footer, 2), groups = part(&d.footer, 4), chunks = part(&groups.parts[0], 1);
    struct thing name = part(&schema.parts[1], 10), ts = part(&schema.parts[3], 10), moment = part(&ts, 8),
                 unit = part(&moment, 2);
    CHECK("a text is a STRING, a moment a TIMESTAMP in UTC and microseconds",
          name.parts[0].id == 1 && part(&moment, 1).number == 1 && unit.parts[0].id == 2);
    CHECK_TEXT("the footer has what was given to it", decoded_metadata(&d, "key"), "a \"value\"");
    CHECK_NUMBER("columns of few values have dictionaries, those of many or none do not", d.n_dictionary_pages, 2);
    struct thing numbers = part(&chunks.parts[1], 3), limits = part(&numbers, 12), texts = part(&chunks.parts[0], 3),
                 text_limits = part(&texts, 12), none = part(&chunks.parts[3], 3), no_limits = part(&none, 12);
    struct thing least = part(&limits, 6), most = part(&limits, 5), last = part(&text_limits, 5);
    CHECK("the least and the most number of a column are in the footer",
          (int64_t)little(least.text, 8) == -1000 && (int64_t)little(most.text, 8) == 49998LL * 49998 - 1000);
    CHECK("and those of a text, as bytes", text_is(&last, "one"));
    CHECK_NUMBER("nulls are counted", part(&limits, 3).number, 50000 / 3 + 1);
    CHECK("a column of nulls has no limits", part(&no_limits, 3).number == 50000 && part(&no_limits, 5).n == 0);
    CHECK("offsets and sizes: a chunk begins where the one before ends",
          part(&texts, 11).number == 4 && part(&numbers, 9).number == 4 + part(&texts, 7).number);
    CHECK_NUMBER("values are in pages", d.n_data_pages, 4 * 3);
    parquet_decoded_free(&d);
    fclose(out);
}

static void test_full(void)
{
    struct parquet_writer *writer;
    struct parquet_value row[N_COLUMNS] = { { .is_there = false } };
    FILE *out = fopen("/dev/full", "w");
    if (out == NULL) {
        SKIP("a full disk is an error", "there is no /dev/full");
        return;
    }
    setvbuf(out, NULL, _IONBF, 0);
    CHECK("a full disk is an error", parquet_open(&writer, out, columns, N_COLUMNS, &err) < 0 && writer == NULL);
    CHECK("that says so and what to do",
          strstr(err.text, "No space left") != NULL && strstr(err.text, "next: choose another path") != NULL);
    fclose(out);
    out = fopen("/dev/full", "w");
    int rc = parquet_open(&writer, out, columns, N_COLUMNS, &err);
    for (size_t i = 0; rc == 0 && i < PARQUET_GROUP_ROWS; i++)
        rc = parquet_row(writer, row, &err);
    CHECK("and so is one that fills up later", rc < 0 || parquet_close(writer, &err) < 0 || fflush(out) != 0);
    if (rc < 0)
        parquet_abandon(writer);
    fclose(out);
}

/* ---- checksums ---- */

#define N_FLIPS 100

static void flip_bit(FILE *file, long at)
{
    fseek(file, at, SEEK_SET);
    int byte = fgetc(file);
    fseek(file, at, SEEK_SET);
    fputc(byte ^ 1 << at % 8, file);
    fflush(file);
}

/* In the first page of the column of numbers, behind its header. */
static void test_checksums(void)
{
    struct decoded d;
    FILE *out = write_rows(50000);
    char path[64];
    size_t n_found = 0;
    parquet_decode(&d, out);
    struct thing groups = part(&d.footer, 4), chunks = part(&groups.parts[0], 1), numbers = part(&chunks.parts[1], 3);
    long first = (long)part(&numbers, 9).number;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(out));
    CHECK("pages fit their checksums", !parquet_is_damaged(path));
    for (long i = 0; i < N_FLIPS; i++) {
        flip_bit(out, first + 200 + 31 * i);
        n_found += parquet_is_damaged(path);
        flip_bit(out, first + 200 + 31 * i);
    }
    CHECK_NUMBER("a bit that changed in a page is found", n_found, N_FLIPS);
    CHECK("and what changed back is whole", !parquet_is_damaged(path));
    flip_bit(out, first);
    CHECK("so is a header that is none", parquet_is_damaged(path));
    parquet_decoded_free(&d);
    fclose(out);
}

static void test_page_headers(void)
{
    static const struct {
        const char *claim, *bytes;
        size_t n, length;
        bool has_checksum;
    } rows[] = {
        { "a page's header has its size and checksum", "\x15\x00\x15\x08\x15\x0a\x15\x01\x1c\x15\x02\x00\x00", 13, 13,
          true },
        { "or no checksum", "\x15\x00\x15\x08\x15\x0a\x00", 7, 7, false },
        { "a header that is cut is none", "\x15\x00\x15\x08\x15\x0a", 6, 0, false },
        { "nor is one without a size", "\x15\x00\x00", 3, 0, false },
        { "or of a negative one", "\x35\x01\x00", 3, 0, false },
        { "or with a text longer than the bytes", "\x35\x0a\x18\x7f\x00", 5, 0, false },
        { "or a type that no header has", "\x35\x0a\x19\x00\x00", 5, 0, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct parquet_page page;
        size_t n = parquet_page_header((const uint8_t *)rows[i].bytes, rows[i].n, &page);
        CHECK(rows[i].claim,
              n == rows[i].length && (n == 0 || (page.n_bytes == 5 && page.has_checksum == rows[i].has_checksum)));
    }
}

int main(void)
{
    test_thrift();
    test_rows(0, "a table without rows is read back");
    test_rows(1, "a row is read back, nulls, too");
    test_rows(1000, "so are runs, packed groups and what is left of them");
    test_rows(PARQUET_GROUP_ROWS + 777, "so are several groups of rows and pages");
    test_form();
    test_full();
    test_checksums();
    test_page_headers();
    return tap_done();
}
