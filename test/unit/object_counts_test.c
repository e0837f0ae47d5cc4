/* Counts of objects from two runs, side by side. */
#include "report/jit/call_counts.h"
#include "test/unit/tap.h"

static int read_text(struct object_counts *counts, enum object_run run, const char *text, struct err *err)
{
    return object_counts_read(counts, run, arena_text(counts->arena, text, strlen(text)), strlen(text), "x", err);
}

static const char bytecode[] = "mmprof-objects 1\n"
                               "100 2400 a/Point a/Main run ()V 7 12\n"
                               "10 240 a/Point a/Main run ()V 9 13\n"
                               "5 80 a/Main$$Lambda$14/0x0000000800c03000 a/Main get ()V 1 0\n"
                               "1 16 [B - - - -1 0\n"
                               "end 116 2736\n";
static const char heap[] = "mmprof-objects 1\n"
                           "1 24 a/Point a/Main run ()V 7 12\n"
                           "11 264 a/Point a/Main run ()V 9 13\n"
                           "5 80 a/Main$$Lambda$15/0x0000000800c04000 a/Main get ()V 1 0\n"
                           "1 16 [B - - - -1 0\n"
                           "end 18 384\n";

static void test_table(void)
{
    struct arena arena = { 0 };
    struct object_counts counts;
    struct table table;
    struct err err;
    object_counts_init(&counts, &arena);
    CHECK("two runs are read", read_text(&counts, OBJECTS_IN_BYTECODE, bytecode, &err) == 0 &&
                                   read_text(&counts, OBJECTS_ON_HEAP, heap, &err) == 0);
    CHECK_NUMBER("a site is one in both, also that of a lambda whose number changed", counts.n_sites, 4);
    object_counts_table(&counts, "java Main", 3, &table);
    CHECK("a row for each site that is asked for, one for the others, and one for all", table.n_rows == 5);
    CHECK_TEXT("the first row is where most bytes are removed", table.rows[0].cells[0].words, "Main.run:12");
    CHECK("with the part that is removed", table.rows[0].cells[4].number == 0.99);
    CHECK("all rows add up", table.rows[4].cells[8].number == 98 && table.rows[4].cells[6].number == 2352);
    object_counts_table(&counts, "java Main", 0, &table);
    CHECK("where the second run has more, nothing is called removed",
          table.rows[3].cells[4].value == TABLE_UNMEASURED && table.rows[3].cells[8].number == -1);
    object_counts_free(&counts);
    arena_free(&arena);
}

static void test_refused(void)
{
    static const struct {
        const char *claim, *text, *why;
    } rows[] = {
        { "a JVM without the event is refused", "mmprof-objects 1\nrefused old\n", "since JDK 11" },
        { "a JVM whose event another agent has is refused", "mmprof-objects 1\nrefused taken\n", "another agent" },
        { "no text is refused", "", NULL },
        { "a later version is refused", "mmprof-objects 2\nend 0 0\n", NULL },
        { "text without an end is refused", "mmprof-objects 1\n", NULL },
        { "a cut line is refused", "mmprof-objects 1\nend 0 0", NULL },
        { "an end without bytes is refused", "mmprof-objects 1\nend 0\n", NULL },
        { "text behind the end is refused", "mmprof-objects 1\nend 0 0\nend 0 0\n", NULL },
        { "a site with a word too few is refused", "mmprof-objects 1\n1 24 A B c ()V 1\nend 1 24\n", NULL },
        { "a site with a word too many is refused", "mmprof-objects 1\n1 24 A B c ()V 1 1 1\nend 1 24\n", NULL },
        { "less than no object is refused", "mmprof-objects 1\n-1 24 A B c ()V 1 1\nend 1 24\n", NULL },
        { "a bytecode before the first is refused", "mmprof-objects 1\n1 24 A B c ()V -2 1\nend 1 24\n", NULL },
        { "a bytecode that no method has is refused", "mmprof-objects 1\n1 24 A B c ()V 99999999999 1\nend 1 24\n",
          NULL },
        { "a class without a name is refused", "mmprof-objects 1\n1 24  B c ()V 1 1\nend 1 24\n", NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena arena = { 0 };
        struct object_counts counts;
        struct err err = { "" };
        object_counts_init(&counts, &arena);
        CHECK(rows[i].claim, read_text(&counts, OBJECTS_ON_HEAP, rows[i].text, &err) < 0 &&
                                 strstr(err.text, "next:") != NULL &&
                                 strstr(err.text, rows[i].why == NULL ? "" : rows[i].why) != NULL);
        object_counts_free(&counts);
        arena_free(&arena);
    }
}

int main(void)
{
    test_table();
    test_refused();
    return tap_done();
}
