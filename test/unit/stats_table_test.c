#include "report/view/tables.h"

#include "report/view/view_pass.h"
#include "test/unit/tap.h"
#include "test/unit/trace_maker.h"

static struct arena arena;
static struct err err;

enum { RUN, SORT, READ };

/* Two phases whose calls are alike within and differ between; 1 tick is 1 us. */
static void make_program(struct maker *m, bool has_counters, uint64_t jitter)
{
    static const struct trace_counter counters[] = { { .name = "cycles", .why = "", .in_records = true },
                                                     { .name = "instructions", .why = "", .in_records = true },
                                                     { .name = "L1-dcache-load-misses", .why = "", .in_records = true },
                                                     { .name = "branch-misses", .why = "no counter is left" } };
    uint64_t now = 0, cycles = 0, instructions = 0, misses = 0;
    maker_open_scaled(m, "stats.dat", 1000);
    maker_info(m, "recording.mode", "phases");
    maker_info(m, "offcpu", "perf");
    maker_must(m, trace_write_counters(m->writer, counters, has_counters ? 4 : 0, &m->err));
    m->n_counters = has_counters ? 3 : 0;
    maker_thread(m, 0, "main", true);
    maker_method(m, RUN, "a/Sort", "run", "()V");
    maker_method(m, SORT, "a/Sort", "sort", "([I)V");
    maker_method(m, READ, "a/Sort", "read", "()V");
    KERNEL(m, AT(TRACE_CPU_IN, 0, 0));
    STEPS(m, 0, ENTER(RUN, 0, 0, 0, 0));
    for (uint64_t i = 0; i < 20; i++) {
        uint32_t method = i % 2 == 0 ? SORT : READ;
        STEPS(m, 0, ENTER(method, now, cycles, instructions, misses));
        now += (method == SORT ? 100 : 20) + i % 5 * jitter;
        cycles += method == SORT ? 4000 + i * 20 : 1000 + i * 10;
        instructions += 1000;
        misses += method == SORT ? 20 + i % 3 : 1;
        STEPS(m, 0, EXIT(method, now, cycles, instructions, misses));
    }
    maker_close(m, now);
}

static const char *printed_table(const struct table *table, bool as_csv)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    if ((as_csv ? table_print_csv(table, out, &err) : table_print_text(table, out, &err)) < 0)
        printf("Bail out! %s\n", err.text);
    fclose(out);
    const char *copy = arena_text(&arena, text, n);
    free(text);
    return copy;
}

/* The table's text, or its CSV; the arena's. */
static const char *printed(struct maker *m, bool as_csv)
{
    const struct view_pass_options of_stats = { .path = m->path, .parts = VIEW_PASS_STATISTICS };
    struct view_pass pass;
    struct table table;
    maker_must(m, view_pass_read(&of_stats, &arena, &pass, &m->err));
    pass.source.path = "t.dat";
    struct report_row_options options = { .sort = "time" };
    maker_must(m, stats_table(&pass.source, pass.totals, pass.n_totals, &options, &pass.metrics, pass.statistics,
                              &table, &m->err));
    const char *copy = printed_table(&table, as_csv);
    view_pass_close(&pass);
    return copy;
}

/* A row's cell of the table of phases. */
static double phase_number(const struct table *table, const char *label, const char *key)
{
    size_t column = table_find_column(table, key, &err);
    for (size_t r = 0; r < table->n_rows; r++)
        if (strcmp(table->rows[r].cells[0].words, label) == 0)
            return table->rows[r].cells[column].number;
    return -1;
}

/* With jitter, calls of sort take 100 to 140 us, two of each length; those of read 20 to 60. */
static void test_quantiles(void)
{
    static const struct {
        const char *claim, *label, *key;
        double ns, least;
    } rows[] = {
        { "the median of a phase's calls", "Sort.sort", "p50_ns", 120e3, 0.992 },
        { "their 99th percentile", "Sort.sort", "p99_ns", 140e3, 0.992 },
        { "the longest one", "Sort.sort", "max_ns", 140e3, 1 },
        { "the same of another phase", "Sort.read", "p50_ns", 40e3, 0.992 },
        { "the same of another phase", "Sort.read", "max_ns", 60e3, 1 },
    };
    struct maker m;
    struct view_pass pass;
    struct table table;
    make_program(&m, false, 10);
    const struct view_pass_options of_stats = { .path = m.path, .parts = VIEW_PASS_STATISTICS };
    maker_must(&m, view_pass_read(&of_stats, &arena, &pass, &m.err));
    const struct report_row_options options = { .sort = "max_ns", .calls = pass.statistics };
    maker_must(&m, report_make(&pass.source, pass.totals, pass.n_totals, &options, &table, &m.err));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double ns = phase_number(&table, rows[i].label, rows[i].key);
        if (!CHECK(rows[i].claim, ns >= rows[i].least * rows[i].ns && ns <= rows[i].ns / rows[i].least))
            printf("# is %.0f, expected %.0f\n", ns, rows[i].ns);
    }
    CHECK_TEXT("phases can be sorted by it: that which has not returned comes last", table.rows[0].cells[0].words,
               "Sort.sort");
    CHECK_TEXT("then by less", table.rows[1].cells[0].words, "Sort.read");
    const char *text = printed_table(&table, false);
    CHECK("text has no longest call", strstr(text, "Longest") == NULL);
    table.is_wide = true;
    CHECK("but with --wide", strstr(printed_table(&table, false), "Longest") != NULL);
    view_pass_close(&pass);
}

/* clang-format off */
static const char whole[] =
    "trace    t.dat: 1.24 ms, 1.24 ms of CPU time, 41 records of 21 calls\n"
    "time/call 2 phases differ more from each other than within: Welch's F(1, 18.0) = 1.44e+04, p < 0.0001, "
    "99.9 % of the variance\n"
    "CPI       2 phases differ more from each other than within: Welch's F(1, 13.2) = 5174, p < 0.0001, 99.7 % "
    "of the variance\n"
    "L1-D      2 phases differ more from each other than within: F(1, 18) = 5165, p < 0.0001, 99.7 % of the "
    "variance\n"
    "\n"
    "Phase           Metric     Calls     Mean  CoV (%)      p50      p99  Longest\n"
    "-----------------------------------------------------------------------------\n"
    "Sort.run        time/call      0        -        -        -        -        -\n"
    "Sort.run        CPI            0        -        -        -        -        -\n"
    "Sort.run        L1-D           0        -        -        -        -        -\n"
    "Sort.sort       time/call     10   102 us     1.46   102 us   104 us   104 us\n"
    "Sort.sort       CPI           10    4.180     2.90        -        -        -\n"
    "Sort.sort       L1-D          10    20.90     4.19        -        -        -\n"
    "Sort.read       time/call     10  22.0 us     6.78  22.0 us  24.0 us  24.0 us\n"
    "Sort.read       CPI           10    1.100     5.50        -        -        -\n"
    "Sort.read       L1-D          10     1.00     0.00        -        -        -\n"
    "-----------------------------------------------------------------------------\n"
    "within phases   time/call     20        -     4.12        -        -        -\n"
    "between phases  time/call     20        -    91.24        -        -        -\n"
    "within phases   CPI           20        -     4.20        -        -        -\n"
    "between phases  CPI           20        -    82.50        -        -        -\n"
    "within phases   L1-D          20        -     2.09        -        -        -\n"
    "between phases  L1-D          20        -   128.51        -        -        -\n"
    "\n"
    "note: one observation is one call (the outermost one of a recursive method); calls that had not returned "
    "at the end are left out\n"
    "note: calls are nested and follow each other, so their p values are smaller than those of independent "
    "observations\n";
/* clang-format on */

static void test_text(void)
{
    struct maker m;
    make_program(&m, true, 1);
    CHECK_TEXT("phases, then the analysis of each metric", printed(&m, false), whole);
    arena_free(&arena);
}

static void test_csv(void)
{
    struct maker m;
    make_program(&m, true, 1);
    const char *csv = printed(&m, true);
    CHECK("CSV has the means in their units",
          strstr(csv, "phase,Sort.sort,time/call,10,102000,") != NULL && strstr(csv, ",ns,") != NULL);
    CHECK("and the analysis' numbers", strstr(csv, "between,between phases,CPI,20,,") != NULL);
    CHECK("and its verdict", strstr(csv, ",differ,") != NULL);
    arena_free(&arena);
}

static void test_alike(void)
{
    struct maker m;
    make_program(&m, false, 100);
    const char *text = printed(&m, false);
    CHECK("phases whose calls vary as much as they do are not told apart",
          strstr(text, "2 phases do not differ more from each other than within") != NULL);
    CHECK("without counters a note says what CPI needs", strstr(text, "CPI and misses of calls need") != NULL);
    make_program(&m, false, 0);
    CHECK("phases that do not vary differ for sure",
          strstr(printed(&m, false), "within: F(1, 18) = inf, p < 0.0001") != NULL);
    arena_free(&arena);
}

/* Cycles, instructions, and an event that counts nothing here. */
static void make_silent(struct maker *m, const char *silent)
{
    static const struct trace_counter counters[] = { { .name = "cycles", .why = "", .in_records = true },
                                                     { .name = "instructions", .why = "", .in_records = true },
                                                     { .name = "branch-misses", .why = "", .in_records = true } };
    maker_open_scaled(m, "silent.dat", 1000);
    maker_info(m, "recording.mode", "phases");
    maker_info(m, "offcpu", "perf");
    maker_info(m, "counters.silent", silent);
    maker_must(m, trace_write_counters(m->writer, counters, 3, &m->err));
    m->n_counters = 3;
    maker_thread(m, 0, "main", true);
    maker_method(m, RUN, "a/Sort", "run", "()V");
    KERNEL(m, AT(TRACE_CPU_IN, 0, 0));
    for (uint64_t i = 0; i < 3; i++)
        STEPS(m, 0, ENTER(RUN, 100 * i, 3000 * i, 2000 * i, 0),
              EXIT(RUN, 100 * i + 90, 3000 * i + 2000, 2000 * i + 1000, 0));
    maker_close(m, 300);
}

static void test_silent(void)
{
    static const char why[] =
        "note: Branches mispredicted: it was 0 in mmprof's test loop and in the whole recording\n";
    struct maker m;
    make_silent(&m, "branch-misses");
    const char *text = printed(&m, false);
    CHECK("the misses of an event that stayed 0 are not called 0",
          strstr(text, "Branches mispredicted      3        -        -        -        -        -\n") != NULL);
    CHECK("a note says why", strstr(text, why) != NULL);
    CHECK("what counted is there", strstr(text, "  3    2.000     0.00        -        -        -\n") != NULL);
    make_silent(&m, "L1-dcache-load-misses");
    text = printed(&m, false);
    CHECK("one that counted in the test loop may be 0",
          strstr(text, "Branches mispredicted      3     0.00") != NULL && strstr(text, why) == NULL);
    arena_free(&arena);
}

static void test_no_trace(void)
{
    const struct view_pass_options options = { .path = "/nonexistent/t.dat", .parts = VIEW_PASS_STATISTICS };
    struct view_pass pass;
    CHECK("a trace that is not there is an error", view_pass_read(&options, &arena, &pass, &err) < 0);
    view_pass_close(&pass);
    CHECK("that names it", strstr(err.text, "/nonexistent/t.dat") != NULL);
}

int main(void)
{
    test_quantiles();
    test_text();
    test_csv();
    test_alike();
    test_silent();
    test_no_trace();
    return tap_done();
}
