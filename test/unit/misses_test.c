/* Where misses are: what is written is read, and what is damaged is refused. */
#include "core/trace/misses.h"

#include "test/unit/tap.h"

static uint8_t bytes[LOCATION_ENTRY_BYTES];

static bool is(struct wire_text text, const char *expected)
{
    return text.n == strlen(expected) && memcmp(text.at, expected, text.n) == 0;
}

/* Write it and read it again; *n: its bytes. */
static struct miss_entry again(const struct miss_entry *entry, size_t *n)
{
    struct miss_entry read = { 0 };
    struct sink s = sink_into(bytes, sizeof bytes);
    misses_put(&s, entry);
    *n = (size_t)(s.at - bytes);
    struct cursor c = cursor_over(bytes, *n);
    CHECK("an entry is read to its end", !s.full && misses_get(&c, &read) == 0 && cursor_left(&c) == 0);
    return read;
}

/* Is each part of it refused? */
static bool is_refused_in_part(size_t n)
{
    struct miss_entry read;
    for (size_t part = 0; part < n; part++) {
        struct cursor c = cursor_over(bytes, part);
        if (misses_get(&c, &read) == 0)
            return false;
    }
    return true;
}

static void test_names(void)
{
    size_t n;
    struct miss_entry read = again(
        &(struct miss_entry){ .kind = MISS_OWNER, .number = 300, .owner_kind = MISS_STATICS, .name = wire_text("a/B") },
        &n);
    CHECK("an owner", read.number == 300 && read.owner_kind == MISS_STATICS && is(read.name, "a/B"));
    CHECK("a part of one is refused", is_refused_in_part(n));
    read = again(&(struct miss_entry){ .kind = MISS_CELL,
                                       .number = MISSES_NUMBERS_MAX - 1,
                                       .owner = 300,
                                       .space = MISS_OLD,
                                       .offset = 16,
                                       .name = wire_text("next") },
                 &n);
    CHECK("a cell", read.number == MISSES_NUMBERS_MAX - 1 && read.owner == 300 && read.space == MISS_OLD &&
                        read.offset == 16 && is(read.name, "next"));
    CHECK("a part of one is refused", is_refused_in_part(n));
    read = again(&(struct miss_entry){ .kind = MISS_METHOD,
                                       .number = 7,
                                       .class_name = wire_text("a/B"),
                                       .name = wire_text("run"),
                                       .descriptor = wire_text("()V"),
                                       .source = wire_text("B.java") },
                 &n);
    CHECK("a method", read.number == 7 && is(read.class_name, "a/B") && is(read.name, "run") &&
                          is(read.descriptor, "()V") && is(read.source, "B.java"));
    CHECK("a part of one is refused", is_refused_in_part(n));
}

static void test_counts(void)
{
    size_t n;
    const struct miss_entry misses = { .kind = MISS_COUNTS,
                                       .ticks = UINT64_MAX,
                                       .thread = 5,
                                       .location = UINT64_C(0x7f0000001234),
                                       .line = 12,
                                       .cell = 9,
                                       .counts = { 3, 2, UINT64_C(1) << 40 },
                                       .n_kept = 3 };
    struct miss_entry read = again(&misses, &n);
    CHECK("misses: when, who, where", read.ticks == UINT64_MAX && read.thread == 5 &&
                                          read.location == UINT64_C(0x7f0000001234) && read.line == 12 &&
                                          read.cell == 9);
    CHECK("and how many", memcmp(read.counts, misses.counts, sizeof misses.counts) == 0 && read.n_kept == 3);
    CHECK("a part of them is refused", is_refused_in_part(n));
    const struct miss_entry totals = {
        .kind = MISS_TOTALS, .ticks = 1, .counts = { 4, 5, 6 }, .n_accesses = 1000, .n_looks = 2, .look_ns = 999
    };
    read = again(&totals, &n);
    CHECK("totals", read.ticks == 1 && read.n_accesses == 1000 && read.n_looks == 2 && read.look_ns == 999 &&
                        memcmp(read.counts, totals.counts, sizeof totals.counts) == 0);
    CHECK("a part of them is refused", is_refused_in_part(n));
    read = again(&(struct miss_entry){ .kind = MISS_ACCESSES,
                                       .ticks = 8,
                                       .thread = 5,
                                       .location = 1000,
                                       .line = 12,
                                       .cell = 9,
                                       .n_accesses = 4096,
                                       .n_kept = 4 },
                 &n);
    CHECK("accesses", read.ticks == 8 && read.thread == 5 && read.location == 1000 && read.line == 12 &&
                          read.cell == 9 && read.n_accesses == 4096 && read.n_kept == 4);
    CHECK("a part of them is refused", is_refused_in_part(n));
    read = again(
        &(struct miss_entry){ .kind = MISS_CONTENTS, .ticks = 8, .thread = 5, .cell = 9, .counts = { 512, 16384, 64 } },
        &n);
    CHECK("contents", read.ticks == 8 && read.thread == 5 && read.cell == 9 && read.counts[MISS_L1D] == 512 &&
                          read.counts[MISS_L2] == 16384 && read.counts[MISS_DTLB] == 64);
    CHECK("a part of them is refused", is_refused_in_part(n));
}

static void test_used(void)
{
    size_t n;
    const struct miss_entry used = { .kind = MISS_USED, .ticks = 9, .used = { 0, 1 << 20, 2, 3, UINT64_C(1) << 40 } };
    struct miss_entry read = again(&used, &n);
    CHECK("the heap's use", read.ticks == 9 && memcmp(read.used, used.used, sizeof used.used) == 0);
    CHECK("a part of it is refused", is_refused_in_part(n));
}

static void test_bytecodes(void)
{
    size_t n;
    struct miss_entry read = again(&(struct miss_entry){ .kind = MISS_BYTECODE,
                                                         .number = 300,
                                                         .index = 1000,
                                                         .opcode = 0xb4,
                                                         .class_name = wire_text("a/B"),
                                                         .name = wire_text("next"),
                                                         .descriptor = wire_text("La/B;") },
                                   &n);
    CHECK("a bytecode", read.number == 300 && read.index == 1000 && read.opcode == 0xb4 && is(read.class_name, "a/B") &&
                            is(read.name, "next") && is(read.descriptor, "La/B;"));
    CHECK("a part of one is refused", is_refused_in_part(n));
    read = again(&(struct miss_entry){ .kind = MISS_AT, .location = 1000, .number = MISSES_NUMBERS_MAX }, &n);
    CHECK("a location's", read.location == 1000 && read.number == MISSES_NUMBERS_MAX);
    CHECK("a part of it is refused", is_refused_in_part(n));
}

static void test_damage(void)
{
    static const struct {
        const char *claim;
        uint8_t bytes[12];
        size_t n;
    } rows[] = {
        { "no kind", { 10, 0 }, 2 },
        { "an owner of no kind", { MISS_OWNER, 1, MISS_OWNERS, 0 }, 4 },
        { "a number of 2^22", { MISS_OWNER, 0x80, 0x80, 0x80, 2, 0, 0 }, 7 },
        { "a name with a NUL", { MISS_OWNER, 1, 0, 2, 'a', 0 }, 6 },
        { "a name longer than the entry", { MISS_OWNER, 1, 0, 9, 'a' }, 5 },
        { "a bytecode behind the longest method", { MISS_BYTECODE, 1, 0xff, 0xff, 3, 0xb4, 0, 0, 0 }, 9 },
        { "a cell in no space", { MISS_CELL, 1, 1, MISS_SPACES, 0, 0 }, 6 },
    };
    struct miss_entry read;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct cursor c = cursor_over(rows[i].bytes, rows[i].n);
        CHECK(rows[i].claim, misses_get(&c, &read) < 0);
    }
}

int main(void)
{
    test_names();
    test_counts();
    test_used();
    test_bytecodes();
    test_damage();
    return tap_done();
}
