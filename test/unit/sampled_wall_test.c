/* The call tree on the wall clock of a live recording: samples on a CPU, and what threads waited. */
#include "report/export/export.h"
#include "report/view/phase_report.h"
#include "report/view/view_pass.h"
#include "test/unit/table_printed.h"
#include "test/unit/tap.h"
#include "test/unit/trace_maker.h"

static struct arena arena;
static struct err err;

/* Methods by number; a context is one of them, called by the one of 'parents'. */
static const struct trace_sampled_method methods[] = {
    { { "java/lang/Thread", "run", "()V" }, "", 9, NULL, 0, NULL },
    { { "shop/Prices", "quote", "()V" }, "", 9, NULL, 0, NULL },
    { { "shop/Prices", "compute", "()V" }, "", 9, NULL, 0, NULL },
    { { "shop/Orders", "query", "()V" }, "", 9, NULL, 0, NULL },
    { { "java/util/concurrent/ThreadPoolExecutor", "getTask", "()V" }, "", 9, NULL, 0, NULL },
};
static const uint32_t parents[] = { 0, 1, 2, 1, 1 };

enum { RUN = 1, QUOTE, COMPUTE, QUERY, GET_TASK };
enum { QUOTE_ID };

static void run(struct maker *m, uint32_t thread, uint64_t ticks, uint32_t context)
{
    const struct trace_sample sample = {
        .ticks = ticks, .thread = thread, .context = context, .index = -1, .n = 1, .weight_ns = 50000000
    };
    maker_must(m, trace_write_sample(m->writer, &sample, &m->err));
}

/* For 100 ms at each of the visits up to there. */
static void wait_there(struct maker *m, uint32_t thread, uint64_t ticks, uint64_t n, enum trace_cause cause,
                       uint32_t context)
{
    const struct trace_wait wait = { .ticks = ticks,
                                     .thread = thread,
                                     .cause = cause,
                                     .context = context,
                                     .index = -1,
                                     .n = n,
                                     .weight_ns = n * 100000000,
                                     .lock_class = "",
                                     .owner = TRACE_NO_THREAD };
    maker_must(m, trace_write_wait(m->writer, &wait, &m->err));
}

/*
 * 1 tick is 1 ms.  Thread 0 runs for 200 of 1000 ms, and waits in quote, whose only recorded call is short.  1 waits
 * for work.  2, which ran no probes, runs for 100 ms, for which it has to wait as long, and waits 500 ms in query.
 */
static void write_trace(struct maker *m, bool has_waits)
{
    maker_open_scaled(m, has_waits ? "wall.dat" : "no_waits.dat", 1000000);
    maker_info(m, "offcpu", "perf");
    maker_info(m, "live.budget", "0.01");
    maker_thread(m, 0, "http-1", true);
    maker_thread(m, 1, "pool-1", false);
    maker_thread(m, 2, "http-2", false);
    maker_method(m, QUOTE_ID, "shop/Prices", "quote", "()V");
    for (uint32_t i = 0; i < sizeof methods / sizeof *methods; i++)
        maker_stack(m, parents[i], -1, i, &methods[i], 0, 0);
    KERNEL(m, AT(TRACE_CPU_IN, 0, 0), AT(TRACE_CPU_IN, 2, 0), AT(TRACE_CPU_OUT, 2, 100));
    STEPS(m, 0, ENTER(QUOTE_ID, 150), EXIT(QUOTE_ID, 160));
    KERNEL(m, AT(TRACE_CPU_OUT, 0, 200));
    for (uint64_t i = 0; i < 4; i++)
        run(m, 0, 50 * i, COMPUTE);
    run(m, 2, 20, QUERY);
    run(m, 2, 70, QUERY);
    if (has_waits) {
        wait_there(m, 0, 600, 4, TRACE_CAUSE_MONITOR, QUOTE);
        wait_there(m, 0, 1000, 4, TRACE_CAUSE_MONITOR, QUOTE);
        wait_there(m, 1, 1000, 10, TRACE_CAUSE_PARK, GET_TASK);
        wait_there(m, 2, 200, 1, TRACE_CAUSE_READY, 0);
        wait_there(m, 2, 600, 5, TRACE_CAUSE_SOCKET, QUERY);
    }
    maker_must(m, trace_writer_close(m->writer, 1000, &m->err));
}

static void read_trace(const struct maker *m, enum phases_clock clock, const char *threads, struct view_pass *pass,
                       struct report_source *whole)
{
    const struct view_pass_options options = { .path = m->path,
                                               .parts = VIEW_PASS_SAMPLES,
                                               .clock = clock,
                                               .per_thread = threads != NULL,
                                               .only_threads = threads };
    if (view_pass_read(&options, &arena, pass, &err) < 0)
        printf("Bail out! %s\n", err.text);
    sampled_tree(&pass->source, view_pass_samples(pass, &pass->source), threads != NULL, whole);
}

static const char *folded(const struct report_source *whole, const char *value)
{
    const struct export_tree_options options = { .value = value };
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    if (out == NULL || export_stacks(whole, &options, export_folded, out, &err) < 0)
        printf("Bail out! %s\n", err.text);
    fclose(out);
    const char *copied = arena_text(&arena, text, n);
    free(text);
    return copied;
}

static void test_tree(void)
{
    struct maker m;
    struct view_pass pass;
    struct report_source whole;
    write_trace(&m, true);
    read_trace(&m, PHASES_WALL, NULL, &pass, &whole);
    CHECK_TEXT(
        "a context has its CPU time, what it had to wait for that, and what it waited there", folded(&whole, "wall"),
        "application;java.lang.Thread.run [sampled];shop.Prices.quote 800000000\n"
        "application;java.lang.Thread.run [sampled];shop.Orders.query [sampled] 700000000\n"
        "application;java.lang.Thread.run [sampled];shop.Prices.quote;shop.Prices.compute [sampled] 200000000\n");
    CHECK("who waits for work is left out", whole.sampled->idle_ticks == 1000);
    CHECK("threads' times are their own", whole.sampled->thread_ticks[0] == 1000 &&
                                              whole.sampled->thread_ticks[1] == 0 &&
                                              whole.sampled->thread_ticks[2] == 700);
    const char *cpu = folded(&whole, "cpu");
    view_pass_close(&pass);
    read_trace(&m, PHASES_CPU, NULL, &pass, &whole);
    CHECK_TEXT("the CPU time is that of the CPU clock", cpu, folded(&whole, "cpu"));
    view_pass_close(&pass);
    unlink(m.path);
}

static const struct table_row *row_of(const struct table *table, const char *label)
{
    for (size_t i = 0; i < table->n_rows; i++)
        if (strcmp(table->rows[i].cells[0].words, label) == 0)
            return &table->rows[i];
    return NULL;
}

static double number_in(const struct table *table, const char *label, const char *key)
{
    const struct table_row *row = row_of(table, label);
    for (size_t i = 0; row != NULL && i < table->n_columns; i++)
        if (strcmp(table->columns[i].key, key) == 0)
            return row->cells[i].number;
    return -1;
}

static bool is_near(double a, double b)
{
    return a > b - 1e-6 && a < b + 1e-6;
}

static void test_rows(void)
{
    struct maker m;
    struct view_pass pass;
    struct report_source whole;
    struct table table;
    const struct report_row_options options = { .sort = "time" };
    write_trace(&m, true);
    read_trace(&m, PHASES_WALL, NULL, &pass, &whole);
    maker_must(&m, report_make(&whole, pass.totals, pass.n_totals, &options, &table, &m.err));
    CHECK("a method that waits is a row", is_near(number_in(&table, "Orders.query", "time_share"), 700.0 / 1700));
    CHECK("a method with probes has what it waited in calls that these did not see",
          is_near(number_in(&table, "Prices.quote", "self_share"), 800.0 / 1700));
    CHECK("a call's time is that of its records", is_near(number_in(&table, "Prices.quote", "ns_per_call"), 10e6));
    CHECK("the rest is nothing", is_near(number_in(&table, "application, other code", "self_share"), 0));
    CHECK("waiting for work is told of", strstr(printed(&table, TEXT, &arena), "is left out: 1.00 s") != NULL);
    view_pass_close(&pass);
    read_trace(&m, PHASES_WALL, "http-2", &pass, &whole);
    maker_must(&m, report_make(&whole, pass.totals, pass.n_totals, &options, &table, &m.err));
    CHECK("of some threads, shares are of all the time",
          is_near(number_in(&table, "Orders.query", "time_share"), 700.0 / 1700) &&
              is_near(number_in(&table, "application, other threads", "self_share"), 1000.0 / 1700));
    view_pass_close(&pass);
    unlink(m.path);
}

static uint64_t ticks_in(const struct timeline_read *line, const char *label, uint32_t step)
{
    size_t i = 0;
    while (i < line->n_rows && strcmp(line->rows[i].label, label) != 0)
        i++;
    return timeline_row_ticks(line->timeline, (uint32_t)i, step);
}

/* In steps of 100 ms. */
static void test_steps(void)
{
    struct maker m;
    struct view_pass pass;
    struct report_source whole;
    uint64_t sum = 0;
    const struct report_row_options rows = { .sort = "time" };
    const struct view_pass_options options = {
        .path = m.path, .parts = VIEW_PASS_SAMPLES | VIEW_PASS_TIMELINE, .clock = PHASES_WALL, .step_ns = 100e6
    };
    write_trace(&m, true);
    maker_must(&m, view_pass_read(&options, &arena, &pass, &m.err));
    sampled_tree(&pass.source, view_pass_samples(&pass, &pass.source), false, &whole);
    maker_must(&m, timeline_end(&whole, pass.totals, pass.n_totals, &rows, &pass.line, &m.err));
    CHECK_NUMBER("a sample is in its step, with what it had to wait for its CPU",
                 ticks_in(&pass.line, "Orders.query", 0), 200);
    CHECK_NUMBER("a wait is in all steps that it lasted", ticks_in(&pass.line, "Orders.query", 5), 100);
    CHECK_NUMBER("and in none behind", ticks_in(&pass.line, "Orders.query", 6), 0);
    CHECK_NUMBER("several threads at a time add up",
                 ticks_in(&pass.line, "Orders.query", 3) + ticks_in(&pass.line, "Prices.quote", 3), 200);
    for (uint32_t step = 0; step < timeline_n_steps(pass.line.timeline); step++)
        for (uint32_t row = 0; row <= pass.line.n_rows; row++)
            sum += timeline_row_ticks(pass.line.timeline, row, step);
    CHECK_NUMBER("all of it is the tree's", sum, 1700);
    view_pass_close(&pass);
    if (getenv("SCRATCH") == NULL) /* test/e2e/html.sh makes a page of it */
        unlink(m.path);
}

static void test_without_waits(void)
{
    struct maker m;
    struct view_pass pass;
    struct report_source whole;
    write_trace(&m, false);
    read_trace(&m, PHASES_WALL, NULL, &pass, &whole);
    CHECK("without waits the wall clock is that of the probes", whole.sampled == NULL);
    view_pass_close(&pass);
    unlink(m.path);
}

int main(void)
{
    test_tree();
    test_rows();
    test_steps();
    test_without_waits();
    arena_free(&arena);
    return tap_done();
}
