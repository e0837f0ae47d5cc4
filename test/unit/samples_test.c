/* The log of stack samples: what is written is read, and what is damaged is refused. */
#include "test/unit/samples_maker.h"
#include "test/unit/tap.h"

static struct sample_entry entry;
static struct samples_maker maker;

static bool is(struct wire_text text, const char *expected)
{
    return text.n == strlen(expected) && memcmp(text.at, expected, text.n) == 0;
}

static void test_round_trip(void)
{
    const struct sample_totals totals = { 1, 2, 3, 4, 5, 6, UINT64_MAX, 8, 9, 1 };
    samples_maker_open(&maker);
    samples_maker_method(&maker, 3, "run", NORMAL);
    samples_maker_stack(&maker, 7, 123456789, "0312", 2);
    samples_maker_stack(&maker, 7, 0, "~", 0);
    samples_put_totals(&maker.s, &totals);
    struct cursor c = cursor_over(maker.bytes, samples_maker_bytes(&maker));
    CHECK("a method comes", samples_get(&c, &entry) == 1 && entry.kind == SAMPLE_METHOD);
    CHECK("with its number, size and flags",
          entry.method.number == 3 && entry.method.code_bytes == 100 && entry.method.flags == NORMAL);
    CHECK("and its names",
          is(entry.method.class_name, "Main") && is(entry.method.name, "run") && is(entry.method.descriptor, "()V"));
    CHECK("a stack comes", samples_get(&c, &entry) == 1 && entry.kind == SAMPLE_STACK);
    CHECK("with its thread, weight and frames", entry.stack.thread == 7 && entry.stack.cpu_ns == 123456789 &&
                                                    entry.stack.n_frames == 4 && entry.stack.n_same == 2 &&
                                                    !entry.stack.is_cut && entry.stack.methods[1] == 3);
    CHECK("an empty one that is cut", samples_get(&c, &entry) == 1 && entry.stack.n_frames == 0 && entry.stack.is_cut);
    CHECK("the end comes", samples_get(&c, &entry) == 1 && entry.kind == SAMPLE_END);
    CHECK("with all numbers", memcmp(&entry.totals, &totals, sizeof totals) == 0);
    CHECK("then nothing", samples_get(&c, &entry) == 0);
}

static void test_part(void)
{
    samples_maker_open(&maker);
    samples_maker_method(&maker, 0, "main", NORMAL);
    size_t n = samples_maker_bytes(&maker);
    bool waits = true, stays = true;
    for (size_t part = 0; part < n; part++) {
        struct cursor c = cursor_over(maker.bytes, part);
        waits = waits && samples_get(&c, &entry) == 0;
        stays = stays && c.at == maker.bytes && !c.bad;
    }
    CHECK("a part of an entry is not taken", waits);
    CHECK("and the cursor stays before it", stays);
}

/* An entry with its length in front. */
static int get(const uint8_t *body, size_t n)
{
    uint8_t bytes[64];
    struct sink s = sink_into(bytes, sizeof bytes);
    sink_u32le(&s, (uint32_t)n);
    sink_bytes(&s, body, n);
    struct cursor c = cursor_over(bytes, n + 4);
    return samples_get(&c, &entry);
}

static void test_damage(void)
{
    static const struct {
        const char *claim;
        uint8_t body[12];
        size_t n;
    } rows[] = {
        { "an entry without a kind is refused", { 0 }, 0 },
        { "a kind that is not known is refused", { 3, 0, 0 }, 3 },
        { "a method that ends too early is refused", { 0, 1, 2 }, 3 },
        { "a name longer than its entry is refused", { 0, 1, 2, 7, 9, 'a' }, 6 },
        { "bytes behind a method's end are refused", { 0, 1, 2, 7, 0, 0, 0, 0 }, 8 },
        { "a flag that is not known is refused", { 0, 1, 2, 16, 0, 0, 0 }, 7 },
        { "a stack with fewer frames than it says is refused", { 1, 0, 0, 0, 0, 2, 0, 1 }, 8 },
        { "more frames the same than there are is refused", { 1, 0, 0, 0, 0, 1, 2, 1 }, 8 },
        { "more frames than a sample may have is refused", { 1, 0, 0, 0, 0, 0x81, 4, 0 }, 8 },
        { "a thread's number over the limit is refused", { 1, 0x80, 0x20, 0, 0, 0, 0, 0 }, 8 },
        { "totals with a number too few are refused", { 2, 0, 0, 0, 0, 0, 0, 0, 0, 0 }, 10 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        CHECK(rows[i].claim, get(rows[i].body, rows[i].n) == -1);
    static const uint8_t good[] = { 1, 0, 0, 0, 0, 1, 1, 1 };
    CHECK("one like those that is right is taken", get(good, sizeof good) == 1);
    static const uint8_t huge[] = { 0xff, 0xff, 0xff, 0x7f };
    struct cursor c = cursor_over(huge, sizeof huge);
    CHECK("an entry of 2 GB is refused before it comes", samples_get(&c, &entry) == -1);
}

static void test_full(void)
{
    uint8_t few[8];
    struct sink s = sink_into(few, sizeof few);
    const struct sample_totals totals = { 0 };
    samples_put_totals(&s, &totals);
    CHECK("what finds no room is said", s.full);
}

int main(void)
{
    test_round_trip();
    test_part();
    test_damage();
    test_full();
    return tap_done();
}
