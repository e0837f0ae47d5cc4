/*
 * Declared tables: cells from the members of a row, sums; --columns and --sort.
 */
#include "test/unit/table_printed.h"
#include "test/unit/tap.h"

static struct arena arena;

struct lock {
    const char *name;
    double ns, error_ns, share, share_error;
    uint64_t n;
    uint32_t n_threads;
    bool is_idle;
    struct table_cell owner;
};

static struct table_cell mean(const void *row, struct arena *of)
{
    const struct lock *lock = row;
    (void)of;
    return table_quotient(lock->ns, (double)lock->n);
}

#define BY_THREAD 1u
#define BY_LOCK   2u

static const struct table_column columns[] = {
    { "lock", "Lock", TABLE_TEXT, FROM(struct lock, name), .when = BY_LOCK },
    { "waited_ns", "Time", TABLE_NS, FROM(struct lock, ns), ERROR_FROM(struct lock, error_ns), .sum = COLUMN_ADDS },
    { "share", "Share (%)", TABLE_SHARE, FROM(struct lock, share), ERROR_FROM(struct lock, share_error),
      .sum = COLUMN_OF_SUM },
    { "waits", "Waits", TABLE_COUNT, FROM(struct lock, n), .sum = COLUMN_ADDS },
    { "mean_ns", "Mean", TABLE_NS, .value = mean, .width = COLUMN_WIDE, .sum = COLUMN_OF_SUM },
    { "threads", "Threads", TABLE_COUNT, FROM(struct lock, n_threads), .text_when = BY_THREAD },
    { "idle", NULL, TABLE_COUNT, FROM(struct lock, is_idle), .width = COLUMN_DATA },
    { "owner", "Owner", TABLE_TEXT, FROM(struct lock, owner) },
};

static struct table *make(unsigned conditions)
{
    struct lock locks[] = {
        { "b", 3000, 200, 0.3, NAN, 2, 1, true, table_words("x") },
        { "a", 7000, NAN, 0.00001, 0.2, 7, 2, false, table_unmeasured() },
        { NULL, TABLE_NONE, 5, NAN, 0.1, 0, 3, false, table_unmeasured() },
    };
    struct lock sum = { .share = 1 };
    struct table *table = arena_alloc(&arena, sizeof *table);
    table_begin(table, &arena);
    TABLE_COLUMNS(table, columns, conditions);
    for (size_t i = 0; i < 3; i++)
        table_add(table, "lock", &locks[i]);
    table_add_up(table, &locks[0], &sum);
    table_add_up(table, &locks[1], &sum);
    table_add_sum(table, "total", "all of them", &sum);
    return table;
}

static void test_cells(void)
{
    struct table *table = make(BY_LOCK);
    CHECK_TEXT("a cell is a member or what a function says; sums are those of the columns that say so",
               printed(table, CSV, &arena),
               "kind,lock,waited_ns,share,waits,mean_ns,threads,idle,owner\r\n"
               "lock,b,3000,0.29999999999999999,2,1500,1,1,x\r\n"
               "lock,a,7000,1.0000000000000001e-05,7,1000,2,0,\r\n"
               "lock,,,,0,,3,0,\r\n"
               "total,all of them,10000,1,9,1111.1111111111111,,,\r\n");
    CHECK_TEXT("text has intervals, and no columns of --wide or of data", printed(table, TEXT, &arena),
               "Lock                    Time      Share (%)  Waits  Owner\n"
               "---------------------------------------------------------\n"
               "b            3.00 us \u00b1200 ns          30.00      2  x\n"
               "a                    7.00 us  < 0.01 \u00b120.00      7  -\n"
               "-                        n/a              -      0  -\n"
               "---------------------------------------------------------\n"
               "all of them          10.0 us         100.00      9  -\n");
    table->is_wide = true;
    CHECK("--wide adds its columns", strstr(printed(table, TEXT, &arena), "Waits     Mean  Owner") != NULL);
    CHECK("conditions take a column out, or out of text only",
          strstr(printed(make(BY_THREAD), CSV, &arena), "kind,waited_ns") != NULL &&
              strstr(printed(make(BY_THREAD), TEXT, &arena), "Waits  Threads  Owner") != NULL);
}

static const char *chosen(const char *keys, enum table_format format)
{
    struct table *table = make(BY_LOCK);
    struct err err;
    return table_choose(table, keys, &err) < 0 ? arena_text(&arena, err.text, strlen(err.text))
                                               : printed(table, format, &arena);
}

static const char *sorted(const char *key, bool is_tree)
{
    struct table *table = make(BY_LOCK);
    struct err err;
    table->has_order = is_tree;
    table->rows[1].is_below = !is_tree && strcmp(key, "share") == 0;
    return table_sort(table, key, &err) < 0 || table_choose(table, "lock,owner", &err) < 0
               ? arena_text(&arena, err.text, strlen(err.text))
               : printed(table, CSV, &arena);
}

static void test_choice(void)
{
    static const struct {
        const char *claim, *keys;
        enum table_format format;
        const char *text;
    } rows[] = {
        { "--columns gives the order; text has those of data too, by their keys", "idle,mean_ns,lock,idle", TEXT,
          "idle     Mean  Lock\n--------------------------\n   1  1.50 us  b\n   0  1.00 us  a\n   0        -  -\n"
          "--------------------------\n   -  1.11 us  all of them\n" },
        { "CSV has no others", "waits,lock", CSV,
          "kind,waits,lock\r\nlock,2,b\r\nlock,7,a\r\nlock,0,\r\ntotal,9,all of them\r\n" },
        { "an unknown key is refused with the nearest ones, and all", "lock,wait", CSV,
          "the table has no column 'wait'\n  next: did you mean 'waits'? choose from: lock, waited_ns, share, waits, "
          "mean_ns, threads, idle, owner" },
        { "none is refused", "", CSV,
          "the table has no column ''\n  next: choose from: lock, waited_ns, share, waits, mean_ns, threads, idle, "
          "owner" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_TEXT(rows[i].claim, chosen(rows[i].keys, rows[i].format), rows[i].text);
}

static void test_order(void)
{
    static const struct {
        const char *claim, *key;
        bool is_tree;
        const char *text;
    } rows[] = {
        { "the largest number comes first, what is not known last, and below the rule the total", "waited_ns", false,
          "kind,lock,owner\r\nlock,a,\r\nlock,b,x\r\nlock,,\r\ntotal,all of them,\r\n" },
        { "words come by the alphabet", "lock", false,
          "kind,lock,owner\r\nlock,a,\r\nlock,b,x\r\nlock,,\r\ntotal,all of them,\r\n" },
        { "a row stays below the one that it belongs to", "share", false,
          "kind,lock,owner\r\nlock,b,x\r\nlock,a,\r\nlock,,\r\ntotal,all of them,\r\n" },
        { "equal rows keep their order", "owner", false,
          "kind,lock,owner\r\nlock,b,x\r\nlock,a,\r\nlock,,\r\ntotal,all of them,\r\n" },
        { "a tree is not sorted", "waits", true,
          "a tree cannot be sorted by 'waits'\n  next: remove --sort: each row stands below its caller, largest "
          "first" },
        { "an unknown key is refused", "locks", false,
          "the table has no column 'locks'\n  next: did you mean 'lock'? choose from: lock, waited_ns, share, waits, "
          "mean_ns, threads, idle, owner" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_TEXT(rows[i].claim, sorted(rows[i].key, rows[i].is_tree), rows[i].text);
}

int main(void)
{
    test_cells();
    test_choice();
    test_order();
    arena_free(&arena);
    return tap_done();
}
