/*
 * Lifetimes of made-up objects, whose distribution is known.
 */
#include "report/view/lifetimes.h"

#include "test/unit/memtrace_entries.h"
#include "test/unit/table_printed.h"
#include "test/unit/tap.h"

static struct arena arena;
static struct err err;

/* A trace of entries alone. */
static int read_entries(const struct memtrace_entry *entries, size_t n, struct lifetimes **lifetimes)
{
    char *bytes = NULL;
    struct memtrace_reader *reader = memtrace_entries(entries, n, 9000, &bytes, &err);
    int rc = reader == NULL ? -1 : lifetimes_read(lifetimes, reader, &err);
    memtrace_close(reader);
    free(bytes);
    return rc;
}

static const char *table_of(const struct lifetimes *lifetimes, enum lifetimes_by by, uint64_t top,
                            enum table_format format)
{
    struct table table;
    lifetimes_table(lifetimes, "x.dat", by, top, &arena, &table);
    return printed(&table, format, &arena);
}

/* Each gone object has a life of lifetime, of a class and location. */
#define GONE(class, at, life)                                                                              \
    {                                                                                                      \
        .kind = MEMTRACE_DIED, .class_number = (class), .location = (at), .bytes = 16, .lifetime = (life), \
        .n_uses = 2, .has_died = true                                                                      \
    }

static const struct memtrace_entry entries[] = {
    { .kind = MEMTRACE_CLASS, .number = 0, .name = { "a/Node", 6 } },
    { .kind = MEMTRACE_CLASS, .number = 5, .name = { "[[Ljava/lang/String;", 20 } },
    { .kind = MEMTRACE_METHOD,
      .number = 2,
      .class_name = { "a/Main", 6 },
      .name = { "work", 4 },
      .descriptor = { "()V", 3 } },
    { .kind = MEMTRACE_LOCATION, .number = 9, .method = 2, .line = 17 },
    { .kind = MEMTRACE_LOCATION, .number = 8, .method = 2 },
    { .kind = MEMTRACE_CREATED, .object = 1 },
    GONE(0, 9, 0),
    GONE(0, 9, 15),
    GONE(0, 9, 16),
    GONE(0, 8, 1 << 20),
    GONE(5, MEMTRACE_NO_NUMBER, UINT64_MAX),
    { .kind = MEMTRACE_DIED, .class_number = 5, .location = 8, .bytes = 64, .lifetime = 63 },
};

static void test_tables(void)
{
    struct lifetimes *lifetimes = NULL;
    if (!CHECK("objects are read", read_entries(entries, sizeof entries / sizeof *entries, &lifetimes) == 0))
        return;
    CHECK_TEXT(
        "by class: shares of those that lived so long", table_of(lifetimes, LIFETIMES_BY_CLASS, 0, CSV),
        "kind,class,objects,objects_share,bytes,unused_share,under_16_share,under_64_share,under_1k_share,"
        "under_64k_share,under_1m_share,under_16m_share,longest_accesses,uses_per_object,at_end_share\r\n"
        "class,a.Node,4,0.66666666666666663,64,0.25,0.5,0.75,0.75,0.75,0.75,1,1048576,2,0\r\n"
        "class,java.lang.String[][],2,0.33333333333333331,80,0,0,0.5,0.5,0.5,0.5,0.5,18446744073709551616,1,0.5\r\n"
        "total,all,6,1,144,0.16666666666666666,0.33333333333333331,0.66666666666666663,0.66666666666666663,"
        "0.66666666666666663,0.66666666666666663,0.83333333333333337,18446744073709551616,1.6666666666666667,"
        "0.16666666666666666\r\n");
    const char *text = table_of(lifetimes, LIFETIMES_BY_SITE, 1, TEXT);
    CHECK("by site: a line of a method", strstr(text, "\na.Main.work:17        3") != NULL);
    CHECK("beyond the top, all others", strstr(text, "\nothers") != NULL && strstr(text, "not by") == NULL);
    text = table_of(lifetimes, LIFETIMES_BY_SITE, 0, TEXT);
    CHECK("a method without a line, and none at all",
          strstr(text, "\na.Main.work ") != NULL && strstr(text, "\nnot by Java code") != NULL);
    text = table_of(lifetimes, LIFETIMES_BY_LENGTH, 0, CSV);
    CHECK("a distribution: unused", strstr(text, "length,1,1,0.16666666666666666,0.16666666666666666\r\n") != NULL);
    CHECK("15 is under 16, and 16 is not", strstr(text, "length,16,1,0.16666666666666666,") != NULL &&
                                               strstr(text, "length,32,1,0.16666666666666666,0.5\r\n") != NULL);
    CHECK("the longest is under 2^64", strstr(text, "length,2^64,1,0.16666666666666666,1\r\n") != NULL);
    lifetimes_free(lifetimes);
}

static void test_refused(void)
{
    struct lifetimes *lifetimes = NULL;
    enum lifetimes_by by;
    const struct memtrace_entry large[] = { { .kind = MEMTRACE_CLASS, .number = UINT32_MAX - 2 } };
    CHECK("a number that no trace has is refused", read_entries(large, 1, &lifetimes) < 0 && lifetimes == NULL);
    CHECK("no objects are no error",
          read_entries(entries, 2, &lifetimes) == 0 &&
              strstr(table_of(lifetimes, LIFETIMES_BY_CLASS, 0, TEXT), "0 objects were created") != NULL);
    lifetimes_free(lifetimes);
    CHECK("ways are known", lifetimes_by_parse("", &by, &err) == 0 && by == LIFETIMES_BY_CLASS &&
                                lifetimes_by_parse("distribution", &by, &err) == 0 && by == LIFETIMES_BY_LENGTH);
    CHECK("another is refused", lifetimes_by_parse("size", &by, &err) < 0);
}

int main(void)
{
    test_tables();
    test_refused();
    arena_free(&arena);
    return tap_done();
}
