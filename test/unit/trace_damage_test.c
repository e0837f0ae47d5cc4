/*
 * Damage: traces that are cut, flipped, made by an enemy, or that find no room.
 */
#include "test/unit/trace_model.h"

#include "test/unit/tap.h"

#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

static struct err err;

/* A small trace with every kind of chunk, and two rounds. */
static int write_small(const char *path)
{
    const struct trace_counter counters[] = { { "instructions", "", true, TRACE_COUNTER_EVENT, 0 },
                                              { "cycles", "no PMU", false, TRACE_COUNTER_EVENT, 0 } };
    const struct trace_method methods[] = { { 1, { "A", "<init>", "()V" }, "A.java", 3, 60, false },
                                            { 300, { "A", "work", "(I)V" }, "A.java", 9, 90, true } };
    const struct trace_thread thread = {
        1, 4712, true, "main", "java", TRACE_UNKNOWN, TRACE_UNKNOWN, 0, .cpu_time = { 0 }
    };
    struct trace_writer *writer;
    int rc = trace_writer_open(&writer, path, &err);
    if (rc < 0)
        return -1;
    rc |= trace_write_info(writer, "host", "here", &err);
    rc |= trace_write_clock(writer, 1000, 1, 2, &err);
    rc |= trace_write_counters(writer, counters, 2, &err);
    for (uint64_t round = 0, t = 5000; round < 2; round++, t += 5000) {
        const struct trace_event kernel[] = { { .kind = TRACE_CPU_IN, .thread = 1, .ticks = t },
                                              { .kind = TRACE_KERNEL_LOST, .ticks = t + 70, .count = 5 } };
        const uint64_t words[] = {
            ring_word(RING_ENTER, 1, t + 10),     100,  ring_word(RING_ENTER, 300, t + 300), 220,
            ring_word(RING_UNWIND, 300, t + 400), 9000, ring_word(RING_GAP, 7, t + 500),     9000,
            ring_word(RING_EXIT, 1, t + 4000),    9900, ring_word(RING_EXIT, 9, t + 4001),   9901
        };
        rc |= trace_write_method(writer, &methods[round], &err);
        rc |= trace_write_thread(writer, &thread, &err);
        rc |= trace_write_kernel(writer, kernel, 2, &err);
        rc |= trace_write_counts(writer, 1, 1, t + 350, &(const uint64_t){ 240 }, &err);
        rc |= trace_write_counts(writer, 2, 0, t + 360, &(const uint64_t){ TRACE_NOT_COUNTED }, &err);
        rc |= trace_write_records(writer, 1, words, 12, t + 4500, &err);
    }
    rc |= trace_write_clock(writer, 20000, 9001, 9002, &err);
    return trace_writer_close(writer, 20000, &err) | rc;
}

/* The end of the last chunk that is whole in the first n bytes. */
static size_t whole_part(const struct bytes *trace, size_t n)
{
    size_t at = FILE_HEADER_BYTES;
    while (at + CHUNK_HEADER_BYTES <= n) {
        struct cursor c = cursor_over(trace->at + at + 12, 4);
        size_t next = at + CHUNK_HEADER_BYTES + cursor_u32le(&c);
        if (next > n)
            break;
        at = next;
    }
    return at;
}

static void test_cut(const struct bytes *trace, const struct seen *all)
{
    bool refused = true, readable = true, whole = true;
    for (size_t n = 0; n < trace->n; n++) {
        struct seen seen, part;
        /* Copies, so that a sanitizer sees a read past the cut. */
        uint8_t *copy = malloc(n + 1);
        memcpy(copy, trace->at, n);
        see_bytes(copy, n, false, &seen, &err);
        free(copy);
        if (n < FILE_HEADER_BYTES) {
            refused = refused && seen.rc < 0;
            continue;
        }
        see_bytes(trace->at, whole_part(trace, n), false, &part, &err);
        readable = readable && seen.rc == 0 && seen.cut && begins(&seen, all);
        whole = whole && is_same(&seen, &part);
        free(seen.events);
        see_bytes(trace->at, n, true, &seen, &err);
        readable = readable && seen.rc == 0 && seen.cut && seen.n_damaged == 0 && is_same(&seen, &part);
        free(seen.events);
        free(part.events);
    }
    CHECK("a trace cut within its first 16 bytes is refused", refused);
    CHECK("one cut at any other byte is readable, and known to be cut", readable);
    CHECK("up to its last whole chunk", whole);
}

/* Without salvage: the same, or an error after events that are right.  With: some of the events. */
static void test_flips(const struct bytes *trace, const struct seen *all)
{
    bool found = true, salvaged = true, says_so = true;
    for (size_t bit = 0; bit < trace->n * 8; bit++) {
        struct seen seen;
        trace->at[bit / 8] ^= (uint8_t)(1 << bit % 8);
        see_bytes(trace->at, trace->n, false, &seen, &err);
        found = found && (seen.rc == 0 ? is_same(&seen, all) && !seen.cut : begins(&seen, all));
        if (seen.rc < 0 && bit / 8 >= 12)
            says_so = says_so && strstr(err.text, "'t' is damaged at byte ") != NULL &&
                      strstr(err.text, "\n  next: ") != NULL && strstr(err.text, "--salvage") != NULL;
        bool was_found = seen.rc < 0;
        free(seen.events);
        see_bytes(trace->at, trace->n, true, &seen, &err);
        if (seen.rc == 0 && was_found)
            salvaged = salvaged && is_within(&seen, all) && (seen.n_damaged == 1 || seen.cut) && seen.n + 6 >= all->n;
        free(seen.events);
        trace->at[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    CHECK("no flipped bit gives other events without an error", found);
    CHECK("the error names the byte and --salvage", says_so);
    CHECK("salvage loses one chunk only", salvaged);
}

/* Bytes are lost or put in between. */
static void test_lost_bytes(const struct bytes *trace, const struct seen *all)
{
    bool found = true, salvaged = true;
    uint8_t *bytes = calloc(1, trace->n + 64);
    for (size_t at = FILE_HEADER_BYTES; at + 64 < trace->n; at += 7) {
        for (int lost = 0; lost < 2; lost++) {
            struct seen seen;
            size_t n = lost ? trace->n - 13 : trace->n + 13;
            memset(bytes, 0xd7, trace->n + 64);
            memcpy(bytes, trace->at, at);
            memcpy(bytes + at + (lost ? 0 : 13), trace->at + at + (lost ? 13 : 0), trace->n - at - (lost ? 13 : 0));
            see_bytes(bytes, n, false, &seen, &err);
            found = found && seen.rc < 0 && begins(&seen, all);
            free(seen.events);
            see_bytes(bytes, n, true, &seen, &err);
            salvaged = salvaged && seen.rc == 0 && is_within(&seen, all) && seen.n_damaged >= 1 && !seen.cut &&
                       seen.n + 12 >= all->n;
            free(seen.events);
        }
    }
    free(bytes);
    CHECK("lost and added bytes are found", found);
    CHECK("salvage finds the next chunk after them", salvaged);
}

/* ---- chunks made by hand, with the right checksums ---- */

struct made {
    uint8_t bytes[8192];
    struct sink sink;
};

static void made_begin(struct made *made, unsigned major, unsigned minor)
{
    made->sink = sink_into(made->bytes, sizeof made->bytes);
    sink_bytes(&made->sink, FILE_MAGIC, FILE_MAGIC_BYTES);
    sink_u16le(&made->sink, (uint16_t)major);
    sink_u16le(&made->sink, (uint16_t)minor);
    sink_u32le(&made->sink, 0);
}

static void made_chunk(struct made *made, unsigned type, unsigned flags, uint32_t thread, const void *payload, size_t n,
                       size_t n_claimed)
{
    uint8_t *header = made->sink.at;
    sink_u32le(&made->sink, CHUNK_MAGIC);
    sink_u8(&made->sink, (uint8_t)type);
    sink_u8(&made->sink, (uint8_t)flags);
    sink_u16le(&made->sink, 0);
    sink_u32le(&made->sink, thread);
    sink_u32le(&made->sink, (uint32_t)n_claimed);
    sink_u32le(&made->sink, checksum(payload, n));
    sink_u32le(&made->sink, checksum(header, CHUNK_SIGNED_BYTES));
    sink_bytes(&made->sink, payload, n);
}

static size_t made_end(struct made *made)
{
    made_chunk(made, CHUNK_END, 0, 0, "\x09\0\0\0\0\0\0\0", 8, 8);
    return (size_t)(made->sink.at - made->bytes);
}

#define BASE "\1\0\0\0\0\0\0\0"
#define UNIT "\x08\x00\x08"
#define ROW(claim, type, flags, thread, payload, n, possible)                 \
    {                                                                         \
        claim, type, flags, thread, payload, sizeof(payload) - 1, n, possible \
    }

/* Numbers below 128 are one byte, twice their value: 00 enters (no ticks later), 02 exits, 04 unwinds, 06 others. */
static const struct {
    const char *claim;
    unsigned type, flags;
    uint32_t thread;
    const char *payload;
    size_t n;
    size_t n_events; /* before the damage, if there is any */
    bool possible;
} rows[] = {
    ROW("no records at all", CHUNK_RECORDS, 0, 1, BASE, 0, true),
    ROW("records without a base", CHUNK_RECORDS, 0, 1, "\1\0\0", 0, false),
    ROW("an entry and its exit", CHUNK_RECORDS, 0, 1, BASE "\x00\x0a\x02", 2, true),
    ROW("an exit without an entry that names no method", CHUNK_RECORDS, 0, 1, BASE "\x02", 0, false),
    ROW("one more exit than entries", CHUNK_RECORDS, 0, 1, BASE "\x00\x0a\x02\x04", 2, false),
    ROW("an exit that names its method", CHUNK_RECORDS, 0, 1, BASE "\x06\x28", 1, true),
    ROW("a gap", CHUNK_RECORDS, 0, 1, BASE "\x06\x2c", 1, true),
    ROW("a virtual thread", CHUNK_RECORDS, 0, 1, BASE "\x06\x2e\x06\x26\x06\x36", 3, true),
    ROW("a call under way", CHUNK_RECORDS, 0, 1, BASE "\x06\x1e", 1, true),
    ROW("a ticket above 2^20", CHUNK_RECORDS, 0, 1, BASE "\x06\x77\0\0\x10", 0, false),
    ROW("a gap above 2^20", CHUNK_RECORDS, 0, 1, BASE "\x06\x27\0\0\x10", 1, true),
    ROW("a record that ends after its tag", CHUNK_RECORDS, 0, 1, BASE "\x00", 0, false),
    ROW("a record that ends within a number", CHUNK_RECORDS, 0, 1, BASE "\x00\x0a\xff\1\1", 1, false),
    ROW("the largest method", CHUNK_RECORDS, 0, 1, BASE "\x00\xfb\xff\x7f", 1, true),
    ROW("a method above it", CHUNK_RECORDS, 0, 1, BASE "\x00\x03\0\x80", 0, false),
    ROW("a method above it at an exit", CHUNK_RECORDS, 0, 1, BASE "\x06\xff\0\0\0\0\0\0\0\x80", 0, false),
    ROW("a thread above 2^20", CHUNK_RECORDS, 0, 1u << 20, BASE "\x00\x0a", 0, false),
    ROW("counters that nobody defined", CHUNK_RECORDS, 1, 1, BASE "\x00\x0a\x02", 0, false),
    ROW("more counters than there can be", CHUNK_RECORDS, 127, 1, BASE "\x00\x0a\x02", 0, false),
    /* A unit of a tick, no quarter more, 2^4 places; 00 is what is predicted, an exit at first; 02 a 06 no prediction.
     */
    ROW("no predicted records at all", CHUNK_RECORDS, 128, 1, BASE UNIT, 0, true),
    ROW("predicted records without places", CHUNK_RECORDS, 128, 1, BASE "\x08\x00", 0, false),
    ROW("more places than there can be", CHUNK_RECORDS, 128, 1, BASE "\x08\x00\x1a\x02\x0a", 0, false),
    ROW("fewer places than there can be", CHUNK_RECORDS, 128, 1, BASE "\x08\x00\x06\x02\x0a", 0, false),
    ROW("an entry and the predicted exit", CHUNK_RECORDS, 128, 1, BASE UNIT "\x02\x0a\x00", 2, true),
    ROW("a predicted exit without an entry", CHUNK_RECORDS, 128, 1, BASE UNIT "\x00", 0, false),
    ROW("one more predicted exit than entries", CHUNK_RECORDS, 128, 1, BASE UNIT "\x02\x0a\x00\x00", 2, false),
    ROW("a moment and an entry", CHUNK_RECORDS, 128, 1, BASE UNIT "\x0e\x4d\x02\x02\x0a", 1, true),
    ROW("a moment without a record", CHUNK_RECORDS, 128, 1, BASE UNIT "\x02\x0a\x0e\x4d\x02", 1, true),
    ROW("two moments", CHUNK_RECORDS, 128, 1, BASE UNIT "\x0e\x4d\x02\x0e\x4d\x02\x02\x0a", 1, true),
    ROW("a moment that is not whole", CHUNK_RECORDS, 128, 1, BASE UNIT "\x02\x0a\x0e\xff", 1, false),
    ROW("a virtual thread among predicted records", CHUNK_RECORDS, 128, 1, BASE UNIT "\x0e\x4e\x0e\x46\x0e\x56", 3,
        true),
    ROW("an operand of no kind", CHUNK_RECORDS, 128, 1, BASE UNIT "\x0e\x5d\x01", 0, false),
    ROW("a method above the largest, predicted", CHUNK_RECORDS, 128, 1, BASE UNIT "\x02\x03\0\x80", 0, false),
    ROW("kernel events", CHUNK_KERNEL, 0, 0, BASE "\x00\x02\x0c\x20", 2, true),
    ROW("a kernel event of no kind", CHUNK_KERNEL, 0, 0, BASE "\x00\x02\x0e\x20", 1, false),
    ROW("a kernel event that is not whole", CHUNK_KERNEL, 0, 0, BASE "\x00", 0, false),
    ROW("a kernel event of a thread above 2^20", CHUNK_KERNEL, 0, 0, BASE "\x00\x07\0\0\x01", 0, false),
    ROW("a text longer than its chunk", CHUNK_INFO, 0, 0, "\x02k\xfev", 0, false),
    ROW("a text longer than 65535 bytes", CHUNK_INFO, 0, 0, "\x07\x00\x10\x00", 0, false),
    ROW("a text with a NUL", CHUNK_INFO, 0, 0, "\x02k\x04v\0", 0, false),
    ROW("a key without its value", CHUNK_INFO, 0, 0, "\x02k", 0, false),
    ROW("a clock point that is not whole", CHUNK_CLOCK, 0, 0, BASE BASE "\1", 0, false),
    ROW("a method that is not whole", CHUNK_METHODS, 0, 0, "\2\2\2\2\2A\2b", 0, false),
    ROW("a method above 2^20 defined", CHUNK_METHODS, 0, 0, "\x07\0\0\x01\0\0\0\0\0\0\0", 0, false),
    ROW("a thread above 2^20 defined", CHUNK_THREADS, 0, 0, "\x07\0\0\x01", 0, false),
    ROW("readings without counters", CHUNK_READINGS, 0, 0, BASE "\x02\x06\x00\x02\x06\x02", 2, true),
    ROW("a reading that is not whole", CHUNK_READINGS, 0, 0, BASE "\x02\x06", 0, false),
    ROW("a reading of a thread above 2^20", CHUNK_READINGS, 0, 0, BASE "\x02\x07\0\0\x01\x00", 0, false),
    ROW("a reading of a series above 2^32", CHUNK_READINGS, 0, 0, BASE "\x02\x02\x1f\0\0\0\x20", 0, false),
    ROW("readings with counters that nobody defined", CHUNK_READINGS, 1, 0, BASE "\x02\x06\x00\x02", 0, false),
    ROW("a counter of no kind", CHUNK_COUNTERS, 0, 0, "\x0c\x02k\0", 0, false),
    ROW("a counter of group 128", CHUNK_COUNTERS, 0, 0, "\x01\x10\x02k\0", 0, false),
    ROW("a counter that is not whole", CHUNK_COUNTERS, 0, 0, "\x02\x02k", 0, false),
    ROW("hits", CHUNK_IP_SAMPLES, 0, 0, BASE "\x02\x04\x06\x00\x04\x00", 2, true),
    ROW("an IP sample that is not whole", CHUNK_IP_SAMPLES, 0, 0, BASE "\x02\x04", 0, false),
    ROW("an IP sample of a thread above 2^20", CHUNK_IP_SAMPLES, 0, 0, BASE "\x02\x07\0\0\x01\x00", 0, false),
    ROW("an IP sample at a place above 2^22", CHUNK_IP_SAMPLES, 0, 0, BASE "\x02\x02\x07\0\0\x04", 0, false),
    ROW("places", CHUNK_LOCATIONS, 0, 0,
        "\x03\x00\x00\x07"
        "\x04\x01\x01\x00\x00\x00",
        0, true),
    ROW("a place of no kind", CHUNK_LOCATIONS, 0, 0, "\x05\x00\x00\x07", 0, false),
    ROW("code of no kind", CHUNK_LOCATIONS, 0, 0, "\x04\x01\x05\x00\x00\x00", 0, false),
    ROW("a place that is not whole", CHUNK_LOCATIONS, 0, 0, "\x03\x00\x00", 0, false),
    ROW("a file with a text longer than the chunk", CHUNK_LOCATIONS, 0, 0, "\x00\x00\x7f/a", 0, false),
    ROW("a place with more frames than there can be", CHUNK_LOCATIONS, 0, 0, "\x04\x01\x03\x04\x00\x41", 0, false),
    ROW("misses", CHUNK_MISSES, 0, 0,
        "\x00\x01\x00\x01"
        "A\x01\x02\x01\x01\x0c\x00\x03\x09\x00\x05\x00\x02\x03\x02\x01\x03\x04\x09\x64\x03\x02\x01\x01\x07",
        0, true),
    ROW("misses of no kind", CHUNK_MISSES, 0, 0, "\x0a\x00", 0, false),
    ROW("accesses and contents", CHUNK_ACCESSES, 0, 0, "\x05\x09\x00\x05\x00\x02\x40\x01\x06\x09\x00\x02\x01\x02\x03",
        0, true),
    ROW("accesses among misses", CHUNK_MISSES, 0, 0, "\x05\x09\x00\x05\x00\x02\x40\x01", 0, false),
    ROW("misses among accesses", CHUNK_ACCESSES, 0, 0, "\x03\x09\x00\x05\x00\x02\x03\x02\x01\x03", 0, false),
    ROW("contents that are not whole", CHUNK_ACCESSES, 0, 0, "\x06\x09\x00\x02\x01\x02", 0, false),
    ROW("the heap's use", CHUNK_HEAP, 0, 0, "\x07\x09\x01\x02\x03\x04", 0, true),
    ROW("the heap's use that is not whole", CHUNK_HEAP, 0, 0, "\x07\x09\x01\x02\x03", 0, false),
    ROW("contents in its place", CHUNK_HEAP, 0, 0, "\x06\x09\x00\x02\x01\x02\x03", 0, false),
    ROW("bytecodes", CHUNK_BYTECODES, 0, 0,
        "\x08\x00\x05\xb4\x01"
        "A\x01"
        "b\x01"
        "I\x09\x02\x01",
        0, true),
    ROW("a bytecode that is not whole", CHUNK_BYTECODES, 0, 0,
        "\x08\x00\x05\xb4\x01"
        "A",
        0, false),
    ROW("a bytecode among misses", CHUNK_MISSES, 0, 0, "\x09\x02\x01", 0, false),
    ROW("a method among misses", CHUNK_MISSES, 0, 0, "\x02\x00\x00\x00\x00\x00", 0, false),
    ROW("an owner of no kind", CHUNK_MISSES, 0, 0, "\x00\x01\x0b\x00", 0, false),
    ROW("a cell in no space", CHUNK_MISSES, 0, 0, "\x01\x02\x01\x05\x0c\x00", 0, false),
    ROW("misses that are not whole", CHUNK_MISSES, 0, 0, "\x03\x09\x00\x05\x00\x02\x03\x02", 0, false),
    ROW("an end without a time", CHUNK_END, 0, 0, "\1\2\3", 0, false),
    ROW("a chunk of a type to come", 99, 0, 0, "whatever", 0, true),
};

static void test_made(void)
{
    char claim[120];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct made made;
        struct seen seen, salvaged;
        made_begin(&made, FORMAT_MAJOR, FORMAT_MINOR + 1);
        made_chunk(&made, rows[i].type, rows[i].flags, rows[i].thread, rows[i].payload, rows[i].n, rows[i].n);
        size_t n = made_end(&made);
        see_bytes(made.bytes, n, false, &seen, &err);
        bool right = seen.n == rows[i].n_events && seen.rc == (rows[i].possible ? 0 : -1) && !seen.cut;
        snprintf(claim, sizeof claim, "%s: %s", rows[i].claim, rows[i].possible ? "read" : "found to be damaged");
        if (!rows[i].possible)
            right = right && strstr(err.text, "damaged at byte 16: the content of a chunk is impossible") != NULL;
        CHECK(claim, right);
        see_bytes(made.bytes, n, true, &salvaged, &err);
        snprintf(claim, sizeof claim, "%s: salvage goes on", rows[i].claim);
        /* Only salvage takes counters that nobody defined: their chunk may have been lost. */
        CHECK(claim, salvaged.rc == 0 && !salvaged.cut && salvaged.end_ticks == 9 &&
                         (rows[i].flags == 1 || salvaged.n_damaged == !rows[i].possible));
        free(seen.events);
        free(salvaged.events);
    }
}

/* n counters without a text; the first n_columns of them in records. */
static size_t made_counters(struct made *made, size_t n, size_t n_columns)
{
    uint8_t payload[3 * 256];
    for (size_t i = 0; i < n; i++)
        memcpy(payload + 3 * i, i < n_columns ? "\2\0\0" : "\0\0\0", 3);
    made_begin(made, FORMAT_MAJOR, 0);
    made_chunk(made, CHUNK_COUNTERS, 0, 0, payload, 3 * n, 3 * n);
    return (size_t)(made->sink.at - made->bytes);
}

static void test_many_counters(void)
{
    static const struct {
        const char *claim;
        size_t n, n_columns;
        int rc;
    } tables[] = {
        { "81 columns are read", 81, 81, 0 },
        { "82 are damage", 82, 82, -1 },
        { "128 counters are read", 128, 81, 0 },
        { "129 are damage", 129, 0, -1 },
    };
    static const struct {
        const char *claim, *payload;
        size_t n;
        int rc;
    } records[] = {
        { "a bitmap of nine columns and three values", BASE "\x00\x02\x81\x01\x02\x04\x06", 8 + 7, 0 },
        { "a bit of a tenth column", BASE "\x00\x02\x01\x02\x02\x04", 8 + 6, -1 },
        { "a bitmap that is not whole", BASE "\x00\x02\x00", 8 + 3, -1 },
        { "a bitmap whose values are missing", BASE "\x00\x02\x03\x00\x02", 8 + 5, -1 },
    };
    struct made made;
    struct seen seen;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        made_counters(&made, tables[i].n, tables[i].n_columns);
        see_bytes(made.bytes, made_end(&made), false, &seen, &err);
        CHECK(tables[i].claim, seen.rc == tables[i].rc);
        free(seen.events);
    }
    for (size_t i = 0; i < sizeof records / sizeof records[0]; i++) {
        made_counters(&made, 9, 9);
        made_chunk(&made, CHUNK_RECORDS, 9, 1, records[i].payload, records[i].n, records[i].n);
        see_bytes(made.bytes, made_end(&made), false, &seen, &err);
        CHECK(records[i].claim, seen.rc == records[i].rc && seen.n == (records[i].rc == 0));
        if (seen.n == 1)
            CHECK("are these values", seen.events[0].counters[0] == 1 && seen.events[0].counters[7] == 2 &&
                                          seen.events[0].counters[8] == 3 && seen.events[0].counters[1] == 0);
        free(seen.events);
    }
}

static void test_headers(void)
{
    struct made made;
    struct seen seen;
    made_begin(&made, FORMAT_MAJOR + 1, 3);
    see_bytes(made.bytes, made_end(&made), false, &seen, &err);
    CHECK_TEXT("another major version is refused", err.text,
               "'t' has format 4.3; this mmprof reads 1.x to 3.x\n  next: read it with the mmprof that wrote it");
    made_begin(&made, 1, 0);
    made_chunk(&made, CHUNK_RECORDS, 0, 1, BASE "\x00\x0a\x02", 11, 11);
    see_bytes(made.bytes, made_end(&made), false, &seen, &err);
    CHECK("version 1 is read", seen.rc == 0 && seen.n == 2);
    free(seen.events);
    made_begin(&made, 0, 9);
    see_bytes(made.bytes, made_end(&made), false, &seen, &err);
    CHECK("but not 0", seen.rc < 0 && strstr(err.text, "has format 0.9") != NULL);
    made_begin(&made, FORMAT_MAJOR, 0);
    made_chunk(&made, CHUNK_INFO, 0, 0, "", 0, CHUNK_PAYLOAD_MAX + 1);
    see_bytes(made.bytes, made_end(&made), false, &seen, &err);
    CHECK("a chunk above the bound is damage, not an allocation", seen.rc < 0);
    free(seen.events);
    see_bytes((const uint8_t *)"#!/bin/sh\nexit 0\n", 17, false, &seen, &err);
    CHECK_TEXT("another file is no trace", err.text,
               "'t' is not a trace\n  next: name a file that 'mmprof record' wrote");
    struct trace_reader *reader;
    CHECK("a missing file cannot be opened", trace_open(&reader, "/nowhere/t", false, &err) < 0 && reader == NULL);
    CHECK("nor can a directory be read", trace_open(&reader, "/", false, &err) < 0 && reader == NULL);
}

/* A trace of 1.2 KB that names the highest numbers costs what its bytes cost. */
static void test_memory(void)
{
    struct made made;
    struct trace_reader *reader;
    struct trace_event event;
    struct err ignored;
    made_begin(&made, FORMAT_MAJOR, 0);
    for (uint32_t i = 0; i < 16; i++) {
        uint8_t payload[32];
        struct sink s = sink_into(payload, sizeof payload);
        sink_number(&s, (1u << 20) - 1 - i * 65536);
        sink_bytes(&s, "\0\0\0\0\0\0\0", 7);
        made_chunk(&made, CHUNK_METHODS, 0, 0, payload, (size_t)(s.at - payload), (size_t)(s.at - payload));
        made_chunk(&made, CHUNK_RECORDS, 0, (1u << 20) - 1 - i, BASE "\x00\x0a", 10, 10);
    }
    size_t n = made_end(&made);
    struct mallinfo2 before = mallinfo2();
    int rc = trace_open_bytes(&reader, made.bytes, n, "t", false, &err);
    while (rc == 0 && trace_next(reader, &event, &ignored) > 0)
        continue;
    struct mallinfo2 after = mallinfo2();
    size_t used = after.uordblks + after.hblkhd - before.uordblks - before.hblkhd;
    CHECK("a small trace with the highest numbers is read", rc == 0 && trace_n_methods(reader) == 1u << 20);
    CHECK("and takes less than 8 MiB", used < 8u << 20);
    trace_close(reader);
}

/* The largest chunk, full of entries: the deepest that a reader has to follow. */
static void test_largest(void)
{
    struct made *made = malloc(sizeof *made);
    uint8_t *payload = calloc(1, CHUNK_PAYLOAD_MAX), *bytes = malloc(CHUNK_PAYLOAD_MAX + 256);
    struct seen seen;
    made_begin(made, FORMAT_MAJOR, 0);
    made->sink = sink_into(bytes, CHUNK_PAYLOAD_MAX + 256);
    sink_bytes(&made->sink, made->bytes, FILE_HEADER_BYTES);
    made_chunk(made, CHUNK_RECORDS, 0, 1, payload, CHUNK_PAYLOAD_MAX, CHUNK_PAYLOAD_MAX);
    made_chunk(made, CHUNK_RECORDS, 0, 1, BASE "\x06\x28", 10, 10);
    made_end(made);
    see_bytes(bytes, (size_t)(made->sink.at - bytes), false, &seen, &err);
    CHECK("the largest chunk is read", seen.rc == 0 && !seen.cut && seen.n == (CHUNK_PAYLOAD_MAX - 8) / 2 + 1);
    free(seen.events);
    payload[CHUNK_PAYLOAD_MAX - 1] = 0x3; /* the last method goes on after the payload */
    made->sink = sink_into(bytes + FILE_HEADER_BYTES, CHUNK_PAYLOAD_MAX + 256 - FILE_HEADER_BYTES);
    made_chunk(made, CHUNK_RECORDS, 0, 1, payload, CHUNK_PAYLOAD_MAX, CHUNK_PAYLOAD_MAX);
    see_bytes(bytes, (size_t)(made->sink.at - bytes), false, &seen, &err);
    CHECK("to its last byte and no further", seen.rc < 0 && seen.n == (CHUNK_PAYLOAD_MAX - 8) / 2 - 1);
    free(seen.events);
    free(bytes);
    free(payload);
    free(made);
}

/* ---- writing where it does not work ---- */

static void test_disk_full(void)
{
    struct trace_writer *writer;
    CHECK("a full disk is seen at once", trace_writer_open(&writer, "/dev/full", &err) < 0 && writer == NULL);
    CHECK_TEXT("and said", err.text,
               "cannot write '/dev/full': No space left on device\n"
               "  next: free space, or write elsewhere with -o; what was written so far is readable");
    CHECK("a directory that is not there", trace_writer_open(&writer, "/nowhere/trace.dat", &err) < 0);
    CHECK_TEXT("is said too", err.text,
               "cannot create '/nowhere/trace.dat': No such file or directory\n  next: write elsewhere with -o");
}

static void test_file_limit(void)
{
    enum { N = 1200000 };
    uint64_t *words = calloc(N, sizeof *words);
    for (size_t i = 0; i < N; i++)
        words[i] = ring_word(i % 2 == 0 ? RING_ENTER : RING_EXIT, 200, 1000 + 10 * i);
    struct rlimit old, limit = { 300000, RLIM_INFINITY };
    struct err first = { "" }, second = { "" }, third = { "" };
    struct trace_writer *writer;
    const char *path = scratch_path("limit");
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    limit.rlim_max = old.rlim_max;
    int rc = trace_writer_open(&writer, path, &err);
    setrlimit(RLIMIT_FSIZE, &limit);
    for (size_t i = 0; i < N && rc == 0; i += 10000)
        rc = trace_write_records(writer, 1, words + i, 10000, 1u << 30, &first);
    setrlimit(RLIMIT_FSIZE, &old);
    CHECK("a write that fails is told", rc < 0 && strstr(first.text, "File too large\n  next: ") != NULL);
    trace_write_info(writer, "a", "b", &second);
    CHECK_TEXT("every later call says the same", second.text, first.text);
    CHECK("the close as well", trace_writer_close(writer, 5, &third) < 0 && strcmp(third.text, first.text) == 0);
    struct bytes bytes = slurp(path);
    struct seen seen;
    see_bytes(bytes.at, bytes.n, false, &seen, &err);
    CHECK("what was written so far is readable", seen.rc == 0 && seen.cut && seen.n > 50000);
    unlink(path);
    free(seen.events);
    free(bytes.at);
    free(words);
}

/* From a child, through a pipe that is much smaller than the trace. */
static void test_pipe(void)
{
    enum { N = 300000 };
    int ends[2];
    char path[64];
    if (pipe(ends) < 0) {
        CHECK("a pipe is made", false);
        return;
    }
    pid_t child = fork();
    if (child == 0) {
        uint64_t *words = calloc(N, sizeof *words);
        struct trace_writer *writer;
        for (size_t i = 0; i < N; i++)
            words[i] = ring_word(i % 2 == 0 ? RING_ENTER : RING_EXIT, 200, 1000 + 10 * i);
        snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
        int rc = trace_writer_open(&writer, path, &err);
        close(ends[0]);
        close(ends[1]);
        rc = rc == 0 ? trace_write_records(writer, 1, words, N, 1u << 30, &err) : -1;
        free(words);
        _exit(rc == 0 && trace_writer_close(writer, 5, &err) == 0 ? 0 : 1);
    }
    struct trace_reader *reader;
    struct seen seen = { .rc = -1 };
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    close(ends[1]);
    if (trace_open(&reader, path, false, &err) == 0)
        see_all(reader, &seen, &err);
    close(ends[0]);
    int status = -1;
    waitpid(child, &status, 0);
    CHECK("a trace is written to a pipe", status == 0);
    CHECK("and read from it", seen.rc == 0 && !seen.cut && seen.n == N);
    free(seen.events);
}

static void test_broken_pipe(void)
{
    int ends[2];
    char path[64];
    struct trace_writer *writer;
    signal(SIGPIPE, SIG_IGN);
    if (pipe(ends) < 0)
        return;
    snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
    int rc = trace_writer_open(&writer, path, &err);
    close(ends[0]);
    close(ends[1]);
    rc |= trace_write_info(writer, "a", "b", &err);
    CHECK("a reader that goes away", rc == 0 && trace_writer_flush(writer, &err) < 0);
    CHECK("is told", strstr(err.text, "Broken pipe\n  next: what read this pipe has gone") != NULL);
    trace_writer_close(writer, 5, &err);
}

int main(void)
{
    struct seen all;
    int rc = write_small(scratch_path("small"));
    struct bytes trace = slurp(scratch_path("small"));
    unlink(scratch_path("small"));
    see_bytes(trace.at, trace.n, false, &all, &err);
    CHECK("the small trace is whole", rc == 0 && all.rc == 0 && !all.cut && all.n == 20);
    test_cut(&trace, &all);
    test_flips(&trace, &all);
    test_lost_bytes(&trace, &all);
    test_made();
    test_many_counters();
    test_headers();
    test_largest();
    test_memory();
    test_disk_full();
    test_file_limit();
    test_pipe();
    test_broken_pipe();
    free(all.events);
    free(trace.at);
    return tap_done();
}
