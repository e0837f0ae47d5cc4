/*
 * Address traces: what is written reads the same, and damage is told.
 */
#include "core/emu/memtrace/memtrace.h"

#include "test/unit/tap.h"

#include <stdlib.h>

#define N_ACCESSES 5000

static struct err err;
static uint8_t *file_bytes;
static size_t n_file_bytes;

static const struct memtrace_entry entries[] = {
    { .kind = MEMTRACE_THREAD, .number = 0, .tid = 4711, .name = { "main", 4 }, .location = MEMTRACE_NO_NUMBER },
    { .kind = MEMTRACE_CLASS, .number = 0, .name = { "a/Node", 6 }, .location = MEMTRACE_NO_NUMBER },
    { .kind = MEMTRACE_METHOD,
      .number = 3,
      .class_name = { "a/Main", 6 },
      .name = { "work", 4 },
      .descriptor = { "()V", 3 },
      .source = { "Main.java", 9 },
      .location = MEMTRACE_NO_NUMBER },
    { .kind = MEMTRACE_LOCATION, .number = 1, .method = 3, .line = 17, .location = MEMTRACE_NO_NUMBER },
    { .kind = MEMTRACE_CODE, .method = 3, .address = 0x7000, .bytes = 99, .location = MEMTRACE_NO_NUMBER },
    { .kind = MEMTRACE_CREATED, .object = 7, .location = 1, .address = 0x10000, .bytes = 24, .time = 100 },
    { .kind = MEMTRACE_MOVED, .object = 7, .address = 0x20000, .location = MEMTRACE_NO_NUMBER },
    { .kind = MEMTRACE_DIED,
      .object = 7,
      .location = MEMTRACE_NO_NUMBER,
      .bytes = 24,
      .has_died = true,
      .created = 100,
      .lifetime = 50,
      .n_uses = 4 },
    { .kind = MEMTRACE_LAST_USE, .object = 8, .location = 1, .method = 3, .info = MEMTRACE_BY_C2 },
    { .kind = MEMTRACE_COLLECTION, .time = 200, .location = MEMTRACE_NO_NUMBER },
    { .kind = MEMTRACE_CALL,
      .method = MEMTRACE_NO_NUMBER,
      .line = 2,
      .created = 100,
      .time = 300,
      .bytes = 65536,
      .location = MEMTRACE_NO_NUMBER },
    { .kind = MEMTRACE_C2, .method = 3, .time = 150, .location = MEMTRACE_NO_NUMBER },
    { .kind = MEMTRACE_INTERVAL, .bytes = 65536, .location = MEMTRACE_NO_NUMBER },
};

#define N_ENTRIES (sizeof entries / sizeof *entries)

/* The i-th access of a made-up loop: a stack, an array that is walked, an object after the other, and odd ones. */
static struct memtrace_entry access_of(uint64_t i)
{
    struct memtrace_entry a = { .kind = MEMTRACE_ACCESS, .instruction = 0x7000 + 4 * (i % 5), .info = MEMTRACE_JAVA };
    switch (i % 5) {
    case 0:
        a.address = UINT64_C(0x7fffffffe000);
        a.info |= 3;
        break;
    case 1:
        a.address = 0x100000 + 4 * i;
        a.info |= 2 | MEMTRACE_HEAP;
        a.object = 3;
        break;
    case 2:
        a.address = 0x900000 - 24 * i;
        a.info |= 2 | MEMTRACE_HEAP | MEMTRACE_STORE;
        a.object = i;
        break;
    case 3:
        a.address = i * i * UINT64_C(0x9e3779b97f4a7c15);
        a.info = (uint32_t)(i * 7 % MEMTRACE_INFO_END);
        break;
    default:
        a.instruction = i % 15 == 4 ? UINT64_MAX - i : 5 * i;
        break;
    }
    return a;
}

/* The trace's bytes, as the tool writes them. */
static void make_file(void)
{
    static uint8_t chunk[(size_t)1 << 20], values[(size_t)1 << 19], flags[N_ACCESSES];
    static struct memtrace_coder coder;
    FILE *out = open_memstream((char **)&file_bytes, &n_file_bytes);
    struct sink s = sink_into(chunk, sizeof chunk), v = sink_into(values, sizeof values);
    int rc = memtrace_write_header(out);
    for (size_t i = 0; i < N_ENTRIES; i++)
        memtrace_put(&s, &entries[i]);
    rc |= memtrace_write_chunk(out, MEMTRACE_ENTRIES, chunk, (size_t)(s.at - chunk));
    for (uint64_t i = 0; i < N_ACCESSES; i++) {
        const struct memtrace_entry access = access_of(i);
        flags[i] = memtrace_encode(&coder, &access, &v);
    }
    s = sink_into(chunk, sizeof chunk);
    sink_varint(&s, 2);
    sink_varint(&s, 1000);
    sink_varint(&s, N_ACCESSES);
    sink_bytes(&s, flags, N_ACCESSES);
    sink_bytes(&s, values, (size_t)(v.at - values));
    rc |= memtrace_write_chunk(out, MEMTRACE_ACCESSES, chunk, (size_t)(s.at - chunk));
    const struct memtrace_entry totals = { .kind = MEMTRACE_TOTALS, .time = 5000, .n_accesses = N_ACCESSES };
    s = sink_into(chunk, sizeof chunk);
    memtrace_put(&s, &totals);
    rc |= memtrace_write_chunk(out, MEMTRACE_END, chunk, (size_t)(s.at - chunk));
    CHECK("a trace is written", rc == 0 && !s.full && !v.full && fclose(out) == 0);
}

static bool same_text(struct wire_text a, struct wire_text b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.at, b.at, a.n) == 0);
}

static bool same(const struct memtrace_entry *a, const struct memtrace_entry *b)
{
    return a->kind == b->kind && a->number == b->number && a->method == b->method && a->line == b->line &&
           a->class_number == b->class_number && a->thread == b->thread && a->location == b->location &&
           a->tid == b->tid && a->object == b->object && a->address == b->address && a->bytes == b->bytes &&
           a->time == b->time && a->created == b->created && a->lifetime == b->lifetime && a->n_uses == b->n_uses &&
           (a->kind != MEMTRACE_LAST_USE || a->info == b->info) && a->has_died == b->has_died &&
           same_text(a->name, b->name) && same_text(a->class_name, b->class_name) &&
           same_text(a->descriptor, b->descriptor) && same_text(a->source, b->source);
}

static void test_same(void)
{
    struct memtrace_reader *reader;
    struct memtrace_entry entry;
    bool is_same = true;
    uint64_t n = 0, n_java = 0;
    if (!CHECK("it opens", memtrace_open_bytes(&reader, file_bytes, n_file_bytes, &err) == 0))
        return;
    for (size_t i = 0; i < N_ENTRIES; i++)
        is_same = memtrace_next(reader, &entry, &err) == 1 && same(&entry, &entries[i]) && is_same;
    CHECK("what describes reads as it was written", is_same);
    for (; n < N_ACCESSES && memtrace_next(reader, &entry, &err) == 1; n++) {
        const struct memtrace_entry wanted = access_of(n);
        n_java += (wanted.info & MEMTRACE_JAVA) != 0;
        is_same = is_same && entry.kind == MEMTRACE_ACCESS && entry.instruction == wanted.instruction &&
                  entry.address == wanted.address && entry.object == wanted.object && entry.info == wanted.info &&
                  entry.thread == 2 && entry.time == 1000 + n_java &&
                  entry.bytes == UINT64_C(1) << (wanted.info & MEMTRACE_LOG2);
    }
    CHECK_NUMBER("all accesses are there", n, N_ACCESSES);
    CHECK("and as they were written", is_same);
    CHECK("the sums come last", memtrace_next(reader, &entry, &err) == 1 && entry.kind == MEMTRACE_TOTALS &&
                                    entry.time == 5000 && entry.n_accesses == N_ACCESSES);
    CHECK("and then nothing", memtrace_next(reader, &entry, &err) == 0);
    CHECK_NUMBER("all bytes are read", memtrace_bytes(reader), n_file_bytes);
    memtrace_close(reader);
}

/* To the end: 0, or -1 with err set. */
static int read_all(const uint8_t *bytes, size_t n)
{
    struct memtrace_reader *reader;
    struct memtrace_entry entry;
    int rc;
    if (memtrace_open_bytes(&reader, bytes, n, &err) < 0)
        return -1;
    while ((rc = memtrace_next(reader, &entry, &err)) > 0)
        continue;
    memtrace_close(reader);
    return rc;
}

static void test_damage(void)
{
    size_t n_unseen = 0, n_whole = 0;
    uint8_t *copy = malloc(n_file_bytes);
    memcpy(copy, file_bytes, n_file_bytes);
    for (size_t i = 0; i < n_file_bytes; i += 7) {
        copy[i] ^= 0x10;
        n_unseen += (i < 12 || i >= MEMTRACE_HEADER_BYTES) && read_all(copy, n_file_bytes) == 0;
        copy[i] ^= 0x10;
    }
    CHECK_NUMBER("a bit that is wrong is seen", n_unseen, 0);
    for (size_t n = 0; n < n_file_bytes; n += 5)
        n_whole += read_all(file_bytes, n) == 0;
    CHECK_NUMBER("a file that is cut is seen to be", n_whole, 0);
    CHECK("what is behind the end, too", read_all(copy, n_file_bytes - 1) < 0);
    CHECK("text is no address trace", read_all((const uint8_t *)"a text of more than 16 bytes", 28) < 0);
    CHECK_TEXT("which is said", err.text,
               "'bytes' is no address trace\n"
               "  next: name a file that 'mmprof memtrace -o FILE -- java ...' has written");
    copy[8] = MEMTRACE_VERSION + 1;
    CHECK("neither is one of another version read", read_all(copy, n_file_bytes) < 0);
    free(copy);
}

/* A loop repeats itself: it takes next to nothing. */
static void test_loop(void)
{
    static struct memtrace_coder coder;
    uint8_t values[256];
    struct sink v = sink_into(values, sizeof values);
    uint32_t n_told = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        const struct memtrace_entry access = { .instruction = 0x1000 + 8 * (i % 4),
                                               .address = 0x50000 * (i % 4) + (i / 4) * (i % 4) * 8,
                                               .object = i % 4 == 3 ? i / 4 + 10 : 0,
                                               .info = 3 };
        n_told += memtrace_encode(&coder, &access, &v) != 0;
    }
    CHECK("the accesses of a loop are foretold, but for the first times", !v.full && n_told <= 12);
}

/* The entries that the manual page prints, byte by byte. */
static void test_page(void)
{
    static uint8_t bytes[1024];
    char line[256];
    struct memtrace_entry entry;
    struct sink s = sink_into(bytes, sizeof bytes);
    FILE *page = fopen("man/mmprof.memtrace.5", "re");
    CHECK("there is a page", page != NULL);
    if (page == NULL)
        return;
    unsigned at;
    int n = 0;
    while (fgets(line, sizeof line, page) != NULL)
        if (sscanf(line, "%4x  %n", &at, &n) == 1 && n == 6 && line[4] == ' ')
            for (unsigned byte; n < 42 && sscanf(line + n, "%2x", &byte) == 1 && line[n] != ' '; n += 3)
                sink_u8(&s, (uint8_t)byte);
    fclose(page);
    struct cursor c = cursor_over(bytes, (size_t)(s.at - bytes));
    bool is_same = true;
    for (size_t i = 0; i < N_ENTRIES; i++)
        is_same = memtrace_get(&c, &entry) == 0 && same(&entry, &entries[i]) && is_same;
    CHECK("its example reads as this test's entries", is_same && cursor_left(&c) == 0);
}

int main(void)
{
    make_file();
    test_same();
    test_damage();
    test_loop();
    test_page();
    free(file_bytes);
    return tap_done();
}
