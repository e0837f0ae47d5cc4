/* Why the slowest calls are slow: each cause alone, several together, none, and one that nobody knows. */
#include "report/view/slow.h"

#include "test/unit/table_printed.h"
#include "test/unit/tap.h"
#include "test/unit/trace_maker.h"

#include <math.h>

#include <unistd.h>

#define TICK_NS 1000u
#define CALLS   100u
#define SLOT    2000u
#define MANY    40000u /* calls: more than are kept */

/* A call takes 10 ticks, and one of them 500 more, which begin with its fifth. */
enum { STEADY, SLEPT, BLIND, COLLECTED, UNSEEN, PREEMPTED, COMPUTED, MIXED, STOPPED, METHODS, OFTEN = METHODS, SELDOM };

static struct arena arena;
static struct err err;

static uint64_t slow_start(uint32_t method)
{
    return (method * CALLS + CALLS / 2) * SLOT + 100;
}

static void write_off(struct maker *m, uint64_t from, uint64_t to, enum trace_kind kind)
{
    KERNEL(m, AT(kind, 0, from), AT(TRACE_CPU_IN, 0, to));
}

static void write_kernel(struct maker *m)
{
    KERNEL(m, AT(TRACE_CPU_IN, 0, 1));
    for (uint32_t method = SLEPT; method <= UNSEEN; method++)
        write_off(m, slow_start(method) + 5, slow_start(method) + 505, TRACE_CPU_OUT);
    write_off(m, slow_start(PREEMPTED) + 5, slow_start(PREEMPTED) + 505, TRACE_CPU_PREEMPTED);
    write_off(m, slow_start(MIXED) + 5, slow_start(MIXED) + 205, TRACE_CPU_OUT);
    write_off(m, slow_start(MIXED) + 305, slow_start(MIXED) + 345, TRACE_CPU_PREEMPTED);
    write_off(m, slow_start(STOPPED) + 5, slow_start(STOPPED) + 505, TRACE_CPU_PREEMPTED);
}

/* Calls of one method are told apart: the slow one, and two others in a hundred, are for /big. */
enum { BIG = 50, SMALL_ONE };

static void write_call(struct maker *m, uint32_t method, uint64_t start, bool is_slow)
{
    if (method == COMPUTED)
        method = is_slow || start / SLOT % 50 == 7 ? BIG : SMALL_ONE;
    STEPS(m, 0, ENTER(method, start), EXIT(method, start + (is_slow ? 510 : 10)));
}

static void write_wait(struct maker *m, uint64_t ticks, enum trace_cause cause, const char *lock_class)
{
    const struct trace_wait wait = { .ticks = ticks,
                                     .cause = cause,
                                     .index = -1,
                                     .n = 1,
                                     .weight_ns = 1000000,
                                     .lock_class = lock_class,
                                     .owner = TRACE_NO_THREAD };
    maker_must(m, trace_write_wait(m->writer, &wait, &m->err));
}

static void write_collection(struct maker *m, uint64_t start, const char *name)
{
    const struct trace_collection collection = { start, 480 * TICK_NS, 0, name, "" };
    maker_must(m, trace_write_collection(m->writer, &collection, &m->err));
}

/* A quota stopped the program once, for 400 of the 500 ticks for which the thread had no CPU. */
static void write_stop(struct maker *m, uint64_t start)
{
    const struct trace_pressure stop = { start - 50, start + 600, { 1, 400 * TICK_NS } };
    maker_info(m, "quota.throttled_ns", "400000");
    maker_must(m, trace_write_pressure(m->writer, &stop, &m->err));
}

static void write_trace(struct maker *m)
{
    static const char *const names[] = { "steady",   "slept", "blind",   "collected", "unseen", "preempted",
                                         "computed", "mixed", "stopped", "often",     "seldom" };
    uint64_t end = METHODS * CALLS * SLOT;
    maker_open_scaled(m, "slow", TICK_NS);
    maker_thread(m, 0, "main", true);
    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++)
        maker_method(m, i, "shop/Shop", names[i], "()V");
    maker_must(m, trace_write_value(m->writer, &(struct trace_value){ BIG, COMPUTED, VALUE_TEXT, "/big" }, &m->err));
    maker_must(m, trace_write_value(m->writer, &(struct trace_value){ SMALL_ONE, COMPUTED, VALUE_TEXT, "/" }, &m->err));
    write_kernel(m);
    for (uint32_t i = 0; i < METHODS * CALLS; i++)
        write_call(m, i / CALLS, i * SLOT + 100, i / CALLS != STEADY && i % CALLS == CALLS / 2);
    for (uint32_t i = 0; i < MANY; i++)
        write_call(m, OFTEN, end + i * SLOT, i % 50 == 0);
    end += MANY * SLOT;
    write_call(m, SELDOM, end, true);
    write_wait(m, slow_start(SLEPT) + 300, TRACE_CAUSE_SLEEP, "");
    write_wait(m, slow_start(COLLECTED) + 300, TRACE_CAUSE_JVM, "");
    write_wait(m, slow_start(MIXED) + 100, TRACE_CAUSE_MONITOR, "shop/Tariffs");
    write_wait(m, slow_start(MIXED) + 400, TRACE_CAUSE_ON_CPU, "");
    write_stop(m, slow_start(STOPPED));
    write_collection(m, slow_start(BLIND), "G1 concurrent cycle pauses");
    write_collection(m, slow_start(COLLECTED) + 20, "G1 young collection pauses");
    write_collection(m, slow_start(UNSEEN) + 10, "G1 young collection pauses");
    maker_close(m, end + SLOT);
}

static const struct slow_row *row_of(const struct slow_rows *rows, uint32_t method)
{
    static const struct slow_row none;
    for (size_t i = 0; i < rows->n; i++)
        if (rows->rows[i].method == method)
            return &rows->rows[i];
    return &none;
}

/* All of the 500 ticks is one part's. */
static bool is_all(const struct slow_row *row, size_t part)
{
    double sum = 0;
    for (size_t i = 0; i < SLOW_PARTS; i++)
        sum += fabs(row->parts_ns[i]);
    return fabs(row->parts_ns[part] - 500 * TICK_NS) < 1 && sum < 500 * TICK_NS + 1;
}

static void test_rows(const struct slow_rows *rows)
{
    static const struct {
        const char *claim;
        uint32_t method;
        size_t part;
    } cases[] = { { "a sleep that was visited", SLEPT, TRACE_CAUSE_SLEEP },
                  { "a wait that no visit saw is not known", BLIND, TRACE_CAUSE_UNKNOWN },
                  { "a collection that a visit saw the thread wait for", COLLECTED, SLOW_COLLECTION },
                  { "a collection, where no visit saw the thread", UNSEEN, SLOW_COLLECTION },
                  { "the run queue", PREEMPTED, TRACE_CAUSE_READY },
                  { "CPU time", COMPUTED, TRACE_CAUSE_ON_CPU } };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        CHECK(cases[i].claim, is_all(row_of(rows, cases[i].method), cases[i].part));
    const struct slow_row *mixed = row_of(rows, MIXED), *steady = row_of(rows, STEADY), *often = row_of(rows, OFTEN);
    CHECK("a call that waited, was preempted and computed has all three",
          fabs(mixed->parts_ns[TRACE_CAUSE_MONITOR] - 200e3) < 1 &&
              fabs(mixed->parts_ns[TRACE_CAUSE_READY] - 40e3) < 1 &&
              fabs(mixed->parts_ns[TRACE_CAUSE_ON_CPU] - 260e3) < 1);
    const struct slow_row *stopped = row_of(rows, STOPPED);
    CHECK("what the CPU quota stopped is not the run queue's, and no more than the kernel says",
          fabs(stopped->parts_ns[SLOW_THROTTLED] - 400e3) < 1 &&
              fabs(stopped->parts_ns[TRACE_CAUSE_READY] - 100e3) < 1);
    CHECK("calls that are alike have no tail",
          steady->calls == CALLS && !slow_has_tail(steady) && slow_has_tail(mixed));
    CHECK("the longest call is exact", mixed->longest_ns == 510e3 && fabs(mixed->p50_ns - 10e3) < 1);
    CHECK("of many calls some are drawn", often->calls == MANY && often->n_slow > 50 && often->n_slow <= 163);
    CHECK("and tell of all", is_all(often, TRACE_CAUSE_ON_CPU));
    CHECK("most time in slow calls comes first", rows->rows[0].method == OFTEN);
    CHECK("a method with few calls has no row", row_of(rows, SELDOM)->calls == 0 && rows->n_few == 1);
}

static void test_throttled(const struct view_pass *pass)
{
    const struct throttled *of = throttled_find(pass, &pass->source);
    CHECK("that is the method's, and no other's",
          of != NULL && of->method_ticks[STOPPED] == 400 && of->all_ticks == 400 &&
              of->part_ticks[VM_PART_APPLICATION] == 400 && of->method_ticks[PREEMPTED] == 0);
}

static void test_table(const struct view_pass *pass)
{
    const struct report_row_options rows = { .top = 0 };
    static struct table table;
    if (slow_table(pass, &pass->source, &rows, &table, &err) < 0)
        return;
    char *text = table_text(&table, &err);
    CHECK("a sentence says why", text != NULL && strstr(text, "Shop.mixed: the slowest 1 % take 500 us more than the "
                                                              "median, 10.0 us: 260 us CPU time, 200 us waiting for a "
                                                              "monitor (Tariffs), 40.0 us run queue\n") != NULL);
    CHECK("and which argument the slow calls have",
          text != NULL &&
              strstr(text, "Shop.computed: the slowest 1 % take 500 us more than the median, 10.0 us: "
                           "500 us CPU time; 1 of 1 have the value '/big', as 3 % of all calls have\n") != NULL);
    CHECK("there is none of a method without a tail", text != NULL && strstr(text, "Shop.steady:") == NULL);
    CHECK("causes that no phase has are not in text", text != NULL && strstr(text, "Socket") == NULL);
    const char *csv = printed(&table, CSV, &arena);
    CHECK("they are in CSV", csv != NULL && strstr(csv, ",socket_ns,") != NULL);
    free(text);
}

int main(void)
{
    struct view_pass_options options = { .parts = VIEW_PASS_SLOW | VIEW_PASS_WAITS | VIEW_PASS_WAIT_STACKS |
                                                  VIEW_PASS_PRESSURE };
    struct slow_rows rows;
    struct view_pass pass;
    struct maker m;
    write_trace(&m);
    options.path = m.path;
    if (view_pass_read(&options, &arena, &pass, &err) < 0) {
        printf("Bail out! %s\n", err.text);
        return 1;
    }
    slow_find(&pass, &pass.source, &rows);
    test_rows(&rows);
    test_throttled(&pass);
    test_table(&pass);
    view_pass_close(&pass);
    arena_free(&arena);
    unlink(m.path);
    return tap_done();
}
