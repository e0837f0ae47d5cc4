/*
 * Clusters of made-up objects by who creates them, who uses them last, and what both have in common.
 */
#include "report/view/last_uses.h"

#include "test/unit/memtrace_entries.h"
#include "test/unit/table_printed.h"
#include "test/unit/tap.h"

static struct arena arena;
static struct err err;

#define METHOD(number_, name_)                                                                               \
    {                                                                                                        \
        .kind = MEMTRACE_METHOD, .number = (number_), .class_name = { "a/Main", 6 }, .name = { (name_), 4 }, \
        .descriptor = {                                                                                      \
            "()V",                                                                                           \
            3                                                                                                \
        }                                                                                                    \
    }

#define LINE(number_, method_)                                                                      \
    {                                                                                               \
        .kind = MEMTRACE_LOCATION, .number = (number_), .method = (method_), .line = 10 + (number_) \
    }

/* One object: created by a line, used last by another, in a method's call. */
#define OBJECT(number_, created_by, used_by, common, flags, at, life, size)                                         \
    { .kind = MEMTRACE_LAST_USE, .object = (number_), .location = (used_by), .method = (common), .info = (flags) }, \
    {                                                                                                               \
        .kind = MEMTRACE_DIED, .object = (number_), .location = (created_by), .bytes = (size), .created = (at),     \
        .lifetime = (life), .n_uses = (life) > 0, .has_died = true                                                  \
    }

#define NONE MEMTRACE_NO_NUMBER

static const struct memtrace_entry entries[] = {
    { .kind = MEMTRACE_CLASS, .number = 0, .name = { "a/Node", 6 } },
    METHOD(0, "make"),
    METHOD(1, "user"),
    METHOD(2, "loop"),
    METHOD(3, "warm"),
    LINE(0, 0),
    LINE(1, 1),
    LINE(2, 3),
    /* Two that belong together, and the same from another caller. */
    OBJECT(1, 0, 1, 2, 0, 100, 30, 24),
    OBJECT(2, 0, 1, 2, MEMTRACE_BY_C2, 200, 40, 24),
    OBJECT(3, 0, 1, 3, 0, 300, 30, 16),
    /* Long in use, large; not used; by another thread. */
    OBJECT(4, 1, 1, 2, 0, 400, 100000, 4096),
    OBJECT(5, 0, NONE, NONE, 0, 500, 0, 8),
    OBJECT(6, 0, 1, NONE, MEMTRACE_OTHER_THREAD, 600, 10, 8),
    /* C2 has compiled 'warm', and creates none any more. */
    OBJECT(7, 2, 1, 3, 0, 700, 10, 1000),
    { .kind = MEMTRACE_C2, .method = 3, .time = 1000 },
    { .kind = MEMTRACE_DIED, .object = 99, .bytes = 5000 },
};

#define N_ENTRIES (sizeof entries / sizeof *entries)

static int read_uses(size_t n, uint64_t time, struct last_uses *uses)
{
    char *bytes = NULL;
    struct memtrace_reader *reader = memtrace_entries(entries, n, time, &bytes, &err);
    int rc = reader == NULL ? -1 : last_uses_read(uses, reader, "x.dat", &err);
    memtrace_close(reader);
    free(bytes);
    return rc;
}

static void test_clusters(void)
{
    struct last_uses uses;
    struct table table;
    if (!CHECK("last uses are read", read_uses(N_ENTRIES, 100000, &uses) == 0))
        return;
    CHECK_NUMBER("objects are together that have class, lines and caller in common", uses.n, 6);
    CHECK_NUMBER("all are counted, but those whose last use is not told", uses.n_objects, 7);
    const struct last_uses_cluster *removed = &uses.all[0], *first = &uses.all[1];
    CHECK("the first has most bytes that are used for a short time", removed->n_short_bytes == 1000);
    CHECK("it is no more there when the code is warm", last_uses_is_removed(&uses, removed));
    CHECK("the next one is", first->n == 2 && first->n_bytes == 48 && !last_uses_is_removed(&uses, first));
    CHECK("half of it is by C2", first->n_c2_bytes == 24);
    CHECK("more than half are used for less than 64 accesses", last_uses_median(first) == 64);
    CHECK("the large one that is long in use is last", uses.all[5].n_bytes == 4096 && uses.all[5].n_short_bytes == 0);
    last_uses_table(&uses, "x.dat", 1, &arena, &table);
    const char *text = printed(&table, CSV, &arena);
    CHECK("its first row is what to change",
          strstr(text, "cluster,Main.make:10,Node,Main.user:11,Main.loop,2,48,") != NULL);
    CHECK("what is removed is told apart", strstr(text, "removed,no longer created by C2's code,,,,2,1016,") != NULL);
    CHECK("the others are one row", strstr(text, "others,others,,,,3,4112,") != NULL);
    last_uses_table(&uses, "x.dat", 0, &arena, &table);
    text = printed(&table, CSV, &arena);
    CHECK("another thread has no caller in common",
          strstr(text, "Main.make:10,Node,Main.user:11,none: another thread,1,8,") != NULL);
    CHECK("nor has what is not used", strstr(text, "Main.make:10,Node,not used,none: not used,1,8,") != NULL);
    last_uses_free(&uses);
}

/* java.util.Map's method has an object in common, Main's another. */
static void test_library(void)
{
    static const struct memtrace_entry some[] = {
        { .kind = MEMTRACE_CLASS, .number = 0, .name = { "a/Node", 6 } },
        METHOD(0, "make"),
        LINE(0, 0),
        { .kind = MEMTRACE_METHOD,
          .number = 1,
          .class_name = { "java/util/Map", 13 },
          .name = { "of", 2 },
          .descriptor = { "()V", 3 } },
        OBJECT(1, 0, 0, 1, 0, 100, 30, 24),
        OBJECT(2, 0, 0, 0, 0, 200, 30, 16),
    };
    struct last_uses uses;
    struct table table;
    const struct folding_list *libraries = folding_read(NULL, &arena, &err);
    char *bytes = NULL;
    struct memtrace_reader *reader = memtrace_entries(some, sizeof some / sizeof *some, 1000, &bytes, &err);
    if (!CHECK("they are read",
               libraries != NULL && reader != NULL && last_uses_read(&uses, reader, "x.dat", &err) == 0))
        return;
    last_uses_table(&uses, "x.dat", 0, &arena, &table);
    CHECK("each has a row", strstr(printed(&table, CSV, &arena), ",Map.of,1,24,") != NULL);
    last_uses_fold(&uses, libraries);
    last_uses_table(&uses, "x.dat", 0, &arena, &table);
    const char *text = printed(&table, CSV, &arena);
    CHECK("what is passed on within the JDK has one row for all",
          strstr(text, ",Map.of,") == NULL &&
              strstr(text, "libraries,passed on within the JDK and frameworks,,,,1,24,") != NULL);
    CHECK("what the program passes on has its row", strstr(text, ",Main.make,1,16,") != NULL);
    last_uses_free(&uses);
    memtrace_close(reader);
    free(bytes);
}

static void test_late(void)
{
    struct last_uses uses;
    CHECK("what C2 compiles at the end removes nothing that is known",
          read_uses(N_ENTRIES, 1100, &uses) == 0 && !last_uses_is_removed(&uses, &uses.all[0]));
    last_uses_free(&uses);
    CHECK("a trace without last uses is refused", read_uses(8, 100, &uses) < 0);
    CHECK_TEXT("with what to do", err.text,
               "'x.dat' does not say where objects were used last\n"
               "  next: record it again, on x86-64: 'mmprof memtrace --last-uses -o FILE -- java ...'");
}

int main(void)
{
    test_clusters();
    test_late();
    test_library();
    arena_free(&arena);
    return tap_done();
}
