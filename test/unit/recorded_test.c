/*
 * Rows of methods that were not recorded for the same time: what their shares are of, and what is in no row of them.
 */
#include "phases/tree/calltree_internal.h"

#include "report/view/phase_report.h"
#include "test/unit/table_printed.h"
#include "test/unit/tap.h"
#include "test/unit/trace_made.h"

static struct arena arena;
static struct err err;

struct made {
    struct trace_made trace;
    struct table table;
};

static void make_report(struct made *made, uint64_t top)
{
    struct report_row_options options = { .sort = "time", .min_share = 0.01, .top = top };
    if (report_make(&made->trace.source, made->trace.totals, made->trace.n_totals, &options, &made->table, &err) < 0)
        printf("# %s\n", err.text);
}

static void read_back(struct maker *m, struct made *made)
{
    trace_made_open(&made->trace, m, 1000, &arena);
    made->table.n_rows = 0;
}

/* A flag of a method's probes, in the trace. */
static void switch_probes(struct maker *m, enum trace_kind kind, uint32_t method, uint64_t ticks)
{
    const struct trace_event event = { .kind = kind, .method = method, .ticks = ticks };
    maker_must(m, trace_write_control(m->writer, &event, 1, &m->err));
}

static struct table_cell *cell_of(const struct table *table, const char *label, const char *key)
{
    size_t column = 0;
    while (strcmp(table->columns[column].key, key) != 0)
        column++;
    for (size_t i = 0; i < table->n_rows; i++)
        if (strcmp(table->rows[i].cells[0].words, label) == 0)
            return &table->rows[i].cells[column];
    printf("Bail out! there is no row '%s'\n", label);
    exit(1);
}

static double number_of(const struct table *table, const char *label, const char *key)
{
    return cell_of(table, label, key)->number;
}

static bool is_near(double value, double expected)
{
    return value > expected - 1e-3 && value < expected + 1e-3;
}

/*
 * Two methods that each have the thread for half of all times, in turn; the second one got its probes later, the first
 * one lost them for a while.  Ticks are ms; nothing has probes for the first 100.
 */
static void make_late(struct maker *m, struct made *made)
{
    maker_open_scaled(m, "late.dat", 1000000);
    maker_info(m, "recording.mode", "live");
    maker_info(m, "offcpu", "perf");
    maker_thread(m, 0, "main", true);
    maker_method(m, 0, "a/Sort", "run", "()V");
    maker_method(m, 1, "a/Sort", "sort", "([I)V");
    KERNEL(m, AT(TRACE_CPU_IN, 0, 0));
    switch_probes(m, TRACE_ENABLED, 0, 100);
    for (uint64_t now = 100; now < 1000; now += 100) {
        bool is_off = now >= 300 && now < 500;
        if (now == 500)
            switch_probes(m, TRACE_ENABLED, 1, 500);
        if (!is_off)
            STEPS(m, 0, ENTER(0, now), EXIT(0, now + 50));
        if (now >= 500)
            STEPS(m, 0, ENTER(1, now + 50), EXIT(1, now + 100));
        if (now == 200)
            switch_probes(m, TRACE_DISABLED, 0, 300);
        if (now == 400)
            switch_probes(m, TRACE_ENABLED, 0, 500);
    }
    read_back(m, made);
    make_report(made, 0);
}

static void test_late(void)
{
    struct maker m;
    struct made made;
    make_late(&m, &made);
    const struct table *table = &made.table;
    const char *text = printed(table, TEXT, &arena);
    CHECK("a phase's share is of the time in which it was recorded, so that those of two can be compared",
          is_near(number_of(table, "Sort.run", "time_share"), 0.5) &&
              is_near(number_of(table, "Sort.sort", "time_share"), 0.5));
    CHECK("its row says how long that was: without the time in which it was switched off",
          number_of(table, "Sort.run", "recorded_ns") == 700e6 &&
              number_of(table, "Sort.sort", "recorded_ns") == 500e6 &&
              is_near(number_of(table, "Sort.sort", "recorded_share"), 0.5));
    CHECK("in text, too, with a note of what the shares are of",
          strstr(text, "500 ms (50 %)") != NULL &&
              strstr(text, "note: Time (%) of a phase is its share of the time while it was recorded") != NULL);
    CHECK("what ran before the first probes is a row of its own",
          is_near(number_of(table, "before the first probes", "time_share"), 0.1));
    CHECK("and not other code", is_near(number_of(table, "application, other code", "time_share"), 0.3));
    double sum = 0;
    for (size_t i = 0; i + 1 < table->n_rows; i++)
        sum += number_of(table, table->rows[i].cells[0].words, "self_share");
    CHECK("the column Self adds up to 100 %", is_near(sum, 1));
    const struct calltree *tree = &made.trace.tree;
    CHECK("a method is recorded from when it has probes until it has none",
          !recorded_at(tree, 0, 99) && recorded_at(tree, 0, 100) && recorded_at(tree, 0, 299) &&
              !recorded_at(tree, 0, 300) && !recorded_at(tree, 0, 499) && recorded_at(tree, 0, 500));
    trace_made_close(&made.trace);
}

/* A call that was under way when its method got probes is found later; one that is open when they are off goes on. */
static void test_found(void)
{
    struct maker m;
    struct made made;
    maker_open_scaled(&m, "found.dat", 1000000);
    maker_info(&m, "recording.mode", "live");
    maker_info(&m, "offcpu", "perf");
    maker_thread(&m, 0, "main", true);
    maker_method(&m, 0, "a/Sort", "run", "()V");
    maker_method(&m, 1, "a/Sort", "sort", "([I)V");
    KERNEL(&m, AT(TRACE_CPU_IN, 0, 0));
    switch_probes(&m, TRACE_ENABLED, 0, 100);
    switch_probes(&m, TRACE_ENABLED, 1, 100);
    STEPS(&m, 0, { RING_OPEN, 0, 400, { 0 } }, ENTER(1, 400), EXIT(1, 500), ENTER(1, 600));
    switch_probes(&m, TRACE_DISABLED, 1, 610);
    STEPS(&m, 0, EXIT(1, 800), EXIT(0, 1000));
    read_back(&m, &made);
    make_report(&made, 0);
    CHECK("a call that was under way is recorded from when it was found",
          number_of(&made.table, "Sort.run +", "recorded_ns") == 600e6 &&
              is_near(number_of(&made.table, "Sort.run +", "time_share"), 1));
    CHECK("one that was open when its method was switched off is recorded to its end",
          number_of(&made.table, "Sort.sort", "recorded_ns") == 700e6 &&
              is_near(number_of(&made.table, "Sort.sort", "time_share"), 300.0 / 700));
    trace_made_close(&made.trace);
}

/* That a class has changed is told of after it has, which takes long on a busy machine. */
static void test_told_late(void)
{
    static const struct trace_event pause = { .kind = TRACE_PAUSE, .ticks = 200, .count = 1000000 };
    struct maker m;
    struct made made;
    maker_open_scaled(&m, "told.dat", 1000000);
    maker_info(&m, "recording.mode", "live");
    maker_info(&m, "offcpu", "perf");
    maker_thread(&m, 0, "main", true);
    maker_method(&m, 0, "a/Sort", "run", "()V");
    KERNEL(&m, AT(TRACE_CPU_IN, 0, 0));
    maker_must(&m, trace_write_control(m.writer, &pause, 1, &m.err));
    switch_probes(&m, TRACE_ENABLED, 0, 400);
    STEPS(&m, 0, ENTER(0, 200), EXIT(0, 600));
    read_back(&m, &made);
    make_report(&made, 0);
    CHECK("a method has its probes since the stop in which its class was changed",
          number_of(&made.table, "Sort.run", "recorded_ns") == 800e6 &&
              is_near(number_of(&made.table, "Sort.run", "time_share"), 0.5) &&
              is_near(number_of(&made.table, "before the first probes", "time_share"), 0.2));
    trace_made_close(&made.trace);
}

static void test_top(void)
{
    struct maker m;
    struct made made;
    make_late(&m, &made);
    double all = number_of(&made.table, "Sort.run", "self_ns"), hidden = number_of(&made.table, "Sort.sort", "self_ns");
    double other = number_of(&made.table, "application, other code", "self_ns");
    make_report(&made, 1);
    CHECK("the rows that --top leaves change nobody's own time",
          number_of(&made.table, "Sort.run", "self_ns") == all &&
              number_of(&made.table, "application, other code", "self_ns") == other);
    CHECK("those that it does not print are one row", number_of(&made.table, "1 phase more", "self_ns") == hidden);
    trace_made_close(&made.trace);
}

/* Steps become longer, and nothing is lost. */
static void test_activity(void)
{
    struct activity activity;
    activity_open(&activity, 1000);
    activity_add(&activity, ACTIVITY_CPU, 0, 1010);
    activity_add(&activity, ACTIVITY_CPU, 1005, 1020);
    activity_add(&activity, ACTIVITY_WALL, 1000, 2000);
    activity_add(&activity, ACTIVITY_CPU, UINT64_C(1) << 40, (UINT64_C(1) << 40) + 500);
    activity_sum_up(&activity);
    CHECK_NUMBER("what ran is kept, but for what was before the start",
                 (uint64_t)activity_between(&activity, ACTIVITY_CPU, 0, UINT64_C(1) << 41), 10 + 15 + 500);
    CHECK_NUMBER("each kind by itself", (uint64_t)activity_between(&activity, ACTIVITY_WALL, 0, UINT64_C(1) << 41),
                 1000);
    CHECK("in steps as long as they must be", activity.shift == 27 || activity.shift == 28);
    CHECK_NUMBER("and by when it was",
                 (uint64_t)activity_between(&activity, ACTIVITY_CPU, UINT64_C(1) << 39, UINT64_C(1) << 41), 500);
    activity_close(&activity);
}

int main(void)
{
    test_late();
    test_found();
    test_told_late();
    test_top();
    test_activity();
    return tap_done();
}
