/* Receivers of calls by levels of calling context. */
#include "report/jit/call_counts.h"
#include "test/unit/tap.h"

/* at() is called by two callers, one of which has two; both() tells nothing. */
static const char text[] = "mmprof-receivers 1\n"
                           "40 a/Square area ()J a/Main at ()J 1 8 11 21 0\n"
                           "20 a/Circle area ()J a/Main at ()J 1 8 12 21 0\n"
                           "10 a/Square area ()J a/Main at ()J 1 8 13 22 0\n"
                           "10 a/Line area ()J a/Main at ()J 1 8 13 23 0\n"
                           "4 a/Square area ()J a/Main both ()J 5 9 14 0 0\n"
                           "4 a/Line area ()J a/Main both ()J 5 9 14 0 0\n"
                           "2 a/Only area ()J a/Main one ()J 5 10 15 0 0\n"
                           "1 a/Only area ()J a/Main one ()J 5 10 16 0 0\n"
                           "end 400 91\n";

static int read_text(struct receiver_counts *counts, const char *at, struct err *err)
{
    return receiver_counts_read(counts, arena_text(counts->arena, at, strlen(at)), strlen(at), "x", err);
}

static bool is_near(const struct table_cell *cell, double number)
{
    return cell->value == TABLE_NUMBER && cell->number > number - 1e-9 && cell->number < number + 1e-9;
}

static void test_table(void)
{
    struct arena arena = { 0 };
    struct receiver_counts counts;
    struct table table;
    struct err err;
    receiver_counts_init(&counts, &arena, 1);
    CHECK("receivers are read", read_text(&counts, text, &err) == 0 && counts.n_sites == 3 && counts.n_seen == 400);
    receiver_counts_table(&counts, "java Main", 0, &table);
    CHECK("a row for each site with several types, one for these, and one for all", table.n_rows == 4);
    const struct table_cell *at = table.rows[0].cells, *both = table.rows[1].cells;
    CHECK_TEXT("the first has most calls", at[0].words, "Main.at:8");
    CHECK("and three types, which the site alone does not tell", at[3].number == 3 && is_near(&at[4], 0));
    CHECK("one level tells where a caller has one type", is_near(&at[5], 0.75));
    CHECK("two levels tell all", is_near(&at[6], 1) && is_near(&at[7], 1));
    CHECK("the bits that are left get fewer", is_near(&at[8], 0.625 * 0.678071905112638 + 0.25 * 2 + 0.125 * 3) &&
                                                  is_near(&at[9], 0.25) && is_near(&at[10], 0));
    CHECK("where no caller tells, no level does", is_near(&both[4], 0) && is_near(&both[7], 0) && is_near(&both[8], 1));
    CHECK("sites with one type are in the sum",
          is_near(&table.rows[3].cells[4], 3.0 / 91) && is_near(&table.rows[3].cells[6], 83.0 / 91));
    receiver_counts_free(&counts);
    arena_free(&arena);
}

static void test_samples(void)
{
    struct arena arena = { 0 };
    struct receiver_counts counts;
    struct table table;
    struct err err;
    receiver_counts_init(&counts, &arena, 100);
    read_text(&counts, text, &err);
    receiver_counts_table(&counts, "java Main", 0, &table);
    CHECK("of samples, what a context has less than three times tells nothing",
          is_near(&table.rows[3].cells[4], 3.0 / 91) && is_near(&table.rows[3].cells[5], 60.0 / 91));
    receiver_counts_free(&counts);
    arena_free(&arena);
}

static void test_refused(void)
{
    static const struct {
        const char *claim, *text;
    } rows[] = {
        { "another first line is refused", "mmprof-objects 1\nend 0 0\n" },
        { "text without an end is refused", "mmprof-receivers 1\n" },
        { "a word too few is refused", "mmprof-receivers 1\n1 A m ()V B n ()V 1 1 0 0\nend 1 1\n" },
        { "a word too many is refused", "mmprof-receivers 1\n1 A m ()V B n ()V 1 1 0 0 0 0\nend 1 1\n" },
        { "a context that is no number is refused", "mmprof-receivers 1\n1 A m ()V B n ()V 1 1 0 x 0\nend 1 1\n" },
        { "a context that is none is refused", "mmprof-receivers 1\n1 A m ()V B n ()V 1 1 0 9999999999 0\nend 1 1\n" },
        { "a receiver without a class is refused", "mmprof-receivers 1\n1  m ()V B n ()V 1 1 0 0 0\nend 1 1\n" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena arena = { 0 };
        struct receiver_counts counts;
        struct err err = { "" };
        receiver_counts_init(&counts, &arena, 1);
        CHECK(rows[i].claim, read_text(&counts, rows[i].text, &err) < 0 && strstr(err.text, "next:") != NULL);
        receiver_counts_free(&counts);
        arena_free(&arena);
    }
}

int main(void)
{
    test_table();
    test_samples();
    test_refused();
    return tap_done();
}
