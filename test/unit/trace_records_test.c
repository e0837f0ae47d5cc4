/*
 * The code of records: what the writer makes is decoded by a second decoder, as slow and plain as mmprof.trace(5) has
 * it; the same records in the code of version 2 are read as the same; and who reads ahead gets what he else would.
 */
#include "core/trace/encode.h"
#include "core/trace/predict.h"

#include "test/unit/tap.h"
#include "test/unit/trace_model.h"

#define N_RECORDS 300000
#define N_BATCHES 10

static struct err err;
static uint64_t words[N_RECORDS];

/* ---- a program: methods that call each other, most often as before, and a clock in steps of 24.5 ticks ---- */

static const struct row {
    uint64_t step_quarters;
    bool is_random; /* the methods call each other as it happens */
    double bytes_max;
} programs[] = { { 98, false, 1.5 }, { UNIT_TICK, false, 1.5 }, { 98, true, 2.5 } };

struct program {
    uint64_t random, quarters;
    uint32_t depth, stack[256];
};

static uint64_t next_word(struct program *p, const struct row *row)
{
    uint64_t r = random_next(&p->random);
    uint64_t n_steps = (r & 1023) == 0 ? r >> 40 : 1 + (r >> 10) % 30;
    uint32_t caller = p->depth == 0 ? 0 : p->stack[p->depth - 1];
    p->quarters += n_steps * row->step_quarters + ((r & 0xfff0) == 0 ? 4 : 0); /* another core's clock now and then */
    uint64_t ticks = p->quarters / 4;
    if ((r >> 20 & 0x3ff) == 0)
        return ring_word(RING_EXIT + (r >> 30 & 7) % 7, (uint32_t)(r >> 34) & RING_METHOD_MAX, ticks);
    bool enters = row->is_random ? r >> 63 != 0 : (caller % 3 == 0) == (p->depth % 2 == 0);
    enters = p->depth < 3 || (p->depth < 256 && enters);
    if (!enters)
        return ring_word((r >> 50 & 63) == 0 ? RING_UNWIND : RING_EXIT, p->stack[--p->depth], ticks);
    p->stack[p->depth] = (caller * 7 + 1 + (uint32_t)(row->is_random ? r >> 44 & 1023 : (r >> 44 & 7) == 0)) % 3000;
    return ring_word(RING_ENTER, p->stack[p->depth++], ticks);
}

static void make_words(const struct row *row)
{
    struct program p = { .random = 4711, .quarters = 1000000 };
    for (size_t i = 0; i < N_RECORDS; i++)
        words[i] = next_word(&p, row);
}

/* ---- the second decoder ---- */

struct second {
    const uint8_t *at, *end;
    uint64_t base, unit, sum, ticks;
    uint32_t hash, places[1 << 12], stack[N_RECORDS + 1], depth;
    unsigned bits;
    size_t n; /* records so far, of all chunks */
    bool right;
};

static uint64_t second_number(struct second *s)
{
    unsigned n = 0;
    uint64_t value = 0;
    while (n < 8 && (*s->at >> n & 1) != 0)
        n++;
    for (unsigned i = 0; i <= n; i++)
        value |= n == 8 ? (i == 0 ? 0 : (uint64_t)s->at[i] << 8 * (i - 1)) : (uint64_t)s->at[i] << 8 * i;
    s->at += n + 1;
    return n == 8 ? value : value >> (n + 1);
}

static void second_give(struct second *s, enum ring_kind kind, uint64_t operand)
{
    uint64_t word = words[s->n++];
    s->right = s->right && ring_word_kind(word) == kind && ring_word_method(word) == operand &&
               ring_word_ticks(word, s->ticks) == s->ticks;
}

static void second_call(struct second *s, unsigned kind, uint32_t method)
{
    if (kind == 0)
        s->stack[s->depth++] = method;
    else
        method = s->stack[--s->depth];
    if (kind != 2)
        s->places[s->hash >> (32 - s->bits)] = kind == 0 ? method + 1 : 0;
    s->hash = (uint32_t)(s->hash * UINT64_C(2048)) ^ (uint32_t)((2 * method + (kind != 0)) * UINT64_C(2654435761));
    second_give(s, kind == 0 ? RING_ENTER : kind == 1 ? RING_EXIT : RING_UNWIND, method);
}

static void second_other(struct second *s)
{
    static const enum ring_kind kinds[] = { RING_EXIT, RING_UNWIND, RING_GAP },
                                virtual_kinds[] = { RING_RESUME, RING_MOUNT, RING_UNMOUNT, RING_OPEN };
    uint64_t number = second_number(s);
    if (number % 32 == 19) {
        s->ticks += number / 32 / 4;
        s->sum = 4 * (s->ticks - s->base) + number / 32 % 4;
    } else if (number % 4 == 3)
        second_give(s, virtual_kinds[number / 4 % 8], number / 32);
    else
        second_give(s, kinds[number % 4], number / 4);
}

static void second_pass(struct second *s, uint64_t n_units)
{
    s->sum += n_units * s->unit;
    s->ticks = s->base + s->sum / 4;
}

static void second_chunk(struct second *s, const uint8_t *payload, size_t n)
{
    struct cursor c = cursor_over(payload, 8);
    s->at = payload + 8;
    s->end = payload + n;
    s->base = s->ticks = cursor_u64le(&c);
    s->unit = second_number(s);
    s->sum = second_number(s);
    s->bits = (unsigned)second_number(s);
    s->hash = s->depth = 0;
    memset(s->places, 0, sizeof s->places);
    while (s->at < s->end) {
        uint64_t number = second_number(s);
        uint32_t place = s->places[s->hash >> (32 - s->bits)];
        unsigned kind = number / 2 % 4;
        second_pass(s, number % 2 == 0 ? number / 2 : number / 8);
        if (number % 2 == 0)
            second_call(s, place == 0, place - 1);
        else if (kind == 3)
            second_other(s);
        else
            second_call(s, kind, kind == 0 ? (uint32_t)second_number(s) : 0);
    }
}

static void test_second_decoder(const struct bytes *trace)
{
    struct second *s = calloc(1, sizeof *s);
    size_t at = FILE_HEADER_BYTES;
    s->right = true;
    while (at + CHUNK_HEADER_BYTES <= trace->n) {
        struct cursor c = cursor_over(trace->at + at + 12, 4);
        size_t n = cursor_u32le(&c);
        if (trace->at[at + 4] == CHUNK_RECORDS)
            second_chunk(s, trace->at + at + CHUNK_HEADER_BYTES, n);
        at += CHUNK_HEADER_BYTES + n;
    }
    CHECK_NUMBER("a second decoder finds all records", s->n, N_RECORDS);
    CHECK("and they are those that were written", s->right);
    free(s);
}

/* Returns the file's bytes.  plain_each: one batch in so many is not predicted; 0: none. */
static struct bytes write_records(const char *path, size_t plain_each)
{
    struct trace_writer *writer = NULL;
    uint64_t now = ring_word_ticks(words[N_RECORDS - 1], UINT64_C(1) << 40);
    int rc = trace_writer_open(&writer, path, &err);
    for (size_t i = 0; i < N_BATCHES && rc == 0; i++) {
        trace_writer_set_plain(writer, plain_each > 0 && i % plain_each == 0);
        rc = trace_write_records(writer, 1, words + i * (N_RECORDS / N_BATCHES), N_RECORDS / N_BATCHES, now, &err);
    }
    uint64_t n_bytes = rc < 0 ? 0 : trace_writer_bytes(writer);
    if (rc < 0 || trace_writer_close(writer, now, &err) < 0)
        printf("# %s\n", err.text);
    printf("# %.2f bytes a record\n", (double)n_bytes / N_RECORDS);
    return slurp(path);
}

/* ---- records that are not predicted: all of version 2, and those of a recorder that fell behind ---- */

static void test_plain(const char *path, const struct seen *expected)
{
    struct bytes predicted = slurp(path), plain = write_records(path, 1), mixed = write_records(path, 3);
    struct seen seen;
    size_t size = predicted.n;
    free(predicted.at);
    memcpy(plain.at + 8, "\2\0\x9\0", 4);
    see_bytes(plain.at, plain.n, false, &seen, &err);
    CHECK("the code of version 2 is read", seen.rc == 0 && seen.n == N_RECORDS);
    CHECK("as the same records", begins(&seen, expected));
    free(seen.events);
    see_bytes(mixed.at, mixed.n, false, &seen, &err);
    CHECK("chunks of both codes are read as the same records", seen.rc == 0 && begins(&seen, expected));
    CHECK("and take more than predicted ones, and less than plain ones", size < mixed.n && mixed.n < plain.n);
    free(seen.events);
    free(plain.at);
    free(mixed.at);
}

/* ---- reading ahead ---- */

static struct seen see_file(const char *path, int64_t min_bytes, bool salvage)
{
    struct seen seen = { .rc = -1 };
    struct trace_reader *reader;
    if (trace_open(&reader, path, salvage, &err) < 0)
        return seen;
    trace_read_ahead_from(reader, min_bytes);
    see_all(reader, &seen, &err);
    return seen;
}

static void test_ahead(const char *path, const struct seen *expected)
{
    struct seen ahead = see_file(path, 0, false);
    CHECK("who reads ahead gets the same", ahead.rc == 0 && is_same(&ahead, expected) && ahead.cut == expected->cut);
    free(ahead.events);
    struct bytes bytes = slurp(path);
    bytes.at[bytes.n / 2] ^= 1;
    FILE *file = fopen(path, "wb");
    fwrite(bytes.at, 1, bytes.n, file);
    fclose(file);
    struct seen here = see_file(path, INT64_MAX, true);
    ahead = see_file(path, 0, true);
    CHECK("a damaged chunk is lost alone", here.rc == 0 && here.n_damaged == 1 && here.n > N_RECORDS / 2);
    CHECK("ahead, too", is_same(&ahead, &here) && ahead.n_damaged == 1);
    free(here.events);
    free(ahead.events);
    here = see_file(path, INT64_MAX, false);
    ahead = see_file(path, 0, false);
    CHECK("without salvage both end there", here.rc < 0 && ahead.rc < 0 && is_same(&ahead, &here));
    free(here.events);
    free(ahead.events);
    struct trace_reader *reader;
    struct trace_event event;
    if (trace_open(&reader, path, false, &err) == 0) {
        trace_read_ahead_from(reader, 0);
        trace_next(reader, &event, &err);
        trace_close(reader);
    }
    CHECK("and may be left off", reader != NULL);
    free(bytes.at);
}

/* ---- units of time ---- */

static void test_units(void)
{
    static const struct {
        const char *claim;
        uint64_t step_quarters;
    } rows[] = {
        { "a clock in steps of 24.5 ticks", 98 }, { "in steps of 2", 8 }, { "of 100", 400 }, { "of a tick", UNIT_TICK }
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t ticks[CLOCK_UNIT_SAMPLES], random = 99, quarters = 4000001;
        for (size_t k = 0; k < CLOCK_UNIT_SAMPLES; k++) {
            quarters += rows[i].step_quarters * (1 + random_next(&random) % 50);
            ticks[k] = quarters / 4;
        }
        CHECK_NUMBER(rows[i].claim, clock_unit_find(ticks, CLOCK_UNIT_SAMPLES), rows[i].step_quarters);
        CHECK("too few moments tell nothing", clock_unit_find(ticks, CLOCK_UNIT_SAMPLES - 1) == UNIT_TICK);
    }
}

int main(void)
{
    const char *path = scratch_path("records");
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        struct seen seen;
        make_words(&programs[i]);
        struct bytes trace = write_records(path, 0);
        see_bytes(trace.at, trace.n, false, &seen, &err);
        CHECK("the records are read", seen.rc == 0 && seen.n == N_RECORDS);
        test_second_decoder(&trace);
        test_ahead(path, &seen);
        test_plain(path, &seen);
        CHECK("a record takes 1.5 bytes at most, 2.5 where few can be predicted",
              (double)trace.n / N_RECORDS < programs[i].bytes_max);
        free(seen.events);
        free(trace.at);
    }
    test_units();
    unlink(path);
    return tap_done();
}
