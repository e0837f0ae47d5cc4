#include "report/view/cost.h"

#include "report/view/view_pass.h"
#include "test/unit/table_printed.h"
#include "test/unit/tap.h"
#include "test/unit/trace_made.h"

static struct arena arena;
static struct err err;

struct made {
    char path[256];
    struct trace_made trace;
    struct recompilation recompilation;
    struct table table;
};

enum { RUN, STEP, OTHER };

/* 1 tick is 1 us; the recording takes 1 ms; the agent has a CPU for 30 us, the application until it ends. */
static void begin(struct maker *m)
{
    static const char *const names[] = { "run", "step", "other" };
    maker_open_scaled(m, "cost.dat", 1000);
    maker_info(m, "offcpu", "perf");
    maker_info(m, "process.cpu_ns", "1000000");
    maker_info(m, "recorder.cpu_ns", "40000");
    maker_info(m, "probe.inside_ticks", "1");
    maker_info(m, "probe.outside_ticks", "1");
    maker_thread(m, 0, "main", true);
    maker_thread(m, 1, "mmprof agent", false);
    for (uint32_t i = 0; i < 3; i++)
        maker_method(m, i, "a/Main", names[i], "()V");
    KERNEL(m, AT(TRACE_CPU_IN, 0, 0), AT(TRACE_CPU_IN, 1, 100), AT(TRACE_CPU_OUT, 1, 130));
}

static void pause_of(struct maker *m, uint64_t ticks, uint64_t ns)
{
    const struct trace_event event = { .kind = TRACE_PAUSE, .ticks = ticks, .count = ns };
    maker_must(m, trace_write_control(m->writer, &event, 1, &m->err));
}

static void look(struct maker *m, struct made *made, struct jit_shapes *shapes)
{
    const struct report_source *source = &made->trace.source;
    trace_made_open(&made->trace, m, 1000, &arena);
    snprintf(made->path, sizeof made->path, "%s", m->path);
    made->trace.source.path = made->path;
    made->trace.source.shapes = shapes;
    const struct view_pass_options options = { .path = m->path, .parts = VIEW_PASS_RECOVERY };
    struct view_pass pass;
    maker_must(m, view_pass_read(&options, &arena, &pass, &m->err));
    made->recompilation = pass.recompilation;
    view_pass_close(&pass);
    cost_make(source, &made->recompilation, &made->table);
}

/* clang-format off */
static const char plain[] =
    "Cost of this recording       Value  Share (%)  Basis\n"
    "---------------------------------------------------------------------------------------------\n"
    "Retransformation batches         2        n/a  measured\n"
    "Mean pause                 20.0 us        n/a  measured, upper bound\n"
    "Longest pause              30.0 us        n/a  measured, upper bound\n"
    "All pauses                 40.0 us       4.00  measured, upper bound; share of the time\n"
    "Recompilation window             -          -  only live recordings measure the JIT compilers\n"
    "CPU time of recompilation        -          -  only live recordings measure the JIT compilers\n"
    "Recompiled methods               -        n/a  needs 'record --live --jit-log'\n"
    "Their compilations               -        n/a  needs 'record --live --jit-log'\n"
    "CPU time of probes         3.00 us       0.30  estimated: 4 records at 1.00 us\n"
    "CPU time of the agent      30.0 us       3.00  measured\n"
    "CPU time of mmprof itself  40.0 us       4.00  measured, until the recording ended\n"
    "Total CPU time             73.0 us       7.30  of the program's CPU time\n"
    "Slowdown, estimated            n/a       4.48  estimated: probes, pauses\n"
    "Slowdown in the window         n/a          -  only live recordings measure the JIT compilers\n"
    "Slowdown later, measured       n/a          -  unknown: no method ran without probes\n";
/* clang-format on */

static void test_plain(void)
{
    struct maker m;
    struct made made;
    begin(&m);
    pause_of(&m, 50, 10000);
    pause_of(&m, 150, 30000);
    STEPS(&m, 0, ENTER(RUN, 200), ENTER(STEP, 300), EXIT(STEP, 400), EXIT(RUN, 900));
    look(&m, &made, NULL);
    CHECK_TEXT("what was measured stands with its share, what was not with the reason",
               printed(&made.table, TEXT, &arena), plain);
    trace_made_close(&made.trace);
}

/* Of the row of a kind: what it says, with its share. */
static const char *row_of(const struct made *made, const char *kind)
{
    for (size_t i = 0; i < made->table.n_rows; i++) {
        const struct table_row *row = &made->table.rows[i];
        char share[64], value[64];
        if (strcmp(row->kind, kind) != 0)
            continue;
        table_format(&row->cells[1], TABLE_RATIO, value, sizeof value);
        if (row->cells[1].words != NULL)
            snprintf(value, sizeof value, "%s", row->cells[1].words);
        table_format(&row->cells[2], TABLE_SHARE, share, sizeof share);
        return arena_printf(&arena, "%s | %s | %s", value, share, row->cells[4].words);
    }
    return "no such row";
}

/* 30 calls of 15 us in the window, one on its edge, 30 of 10 us after it; each less a tick for its probe. */
static void make_live(struct maker *m, uint64_t n, const char *compiling_ms, const char *recompiling_ms)
{
    begin(m);
    maker_info(m, "live.budget", "0.01");
    maker_info(m, "live.samples", "100 0.02");
    maker_info(m, "live.recovery.0", "0 460");
    maker_info(m, "live.recompiling_ms", recompiling_ms);
    if (compiling_ms != NULL)
        maker_info(m, "live.compiling_ms", compiling_ms);
    maker_info(m, "live.method.0", "armed 1.000 0 0 ");
    maker_info(m, "live.method.1", "disarmed 0.100 10 10 it is called too often");
    uint64_t now = 2;
    for (uint64_t i = 0; i < n; i++, now += 15)
        STEPS(m, 0, ENTER(RUN, now), EXIT(RUN, now + 11));
    STEPS(m, 0, ENTER(RUN, 455), EXIT(RUN, 495));
    now = 500;
    for (uint64_t i = 0; i < n; i++, now += 15)
        STEPS(m, 0, ENTER(RUN, now), EXIT(RUN, now + 6));
}

static void test_window(void)
{
    struct maker m;
    struct made made;
    make_live(&m, 30, NULL, "0.1");
    look(&m, &made, NULL);
    CHECK_TEXT("calls in the window are compared with those outside", row_of(&made, "slowdown_in_recovery"),
               "n/a | 100.00 | measured: 30 calls of Main.run, and 30 others");
    CHECK_TEXT("the window's time is told", row_of(&made, "recovery"), "460 us | 46.00 | measured; share of the time");
    CHECK_TEXT("and the compiler's CPU time in it", row_of(&made, "recompiling_cpu"),
               "100 us | 10.00 | measured: the compilers' CPU time in the window, minus the usual");
    CHECK("what they took more is the slowdown's, too",
          made.recompilation.extra_ns > 149000 && made.recompilation.extra_ns < 151000 &&
              strstr(row_of(&made, "slowdown"), "slower calls during recompilation") != NULL);
    CHECK_TEXT("stack samples are part of the agent's time", row_of(&made, "agent_cpu"),
               "30.0 us | 3.00 | measured; 20.0 us of this for stack samples");
    CHECK_TEXT("the budget stands beside the sum, and what it is for", row_of(&made, "cpu"),
               "191 us | 19.10 | of the program's CPU time; budget 1 %; without recompilation");
    CHECK_TEXT("a live recording without the JIT's log says so", row_of(&made, "recompiled_methods"),
               "- | n/a | recorded without --jit-log");
    CHECK_TEXT("no pause is no measured pause", row_of(&made, "batches"),
               "0 | n/a | no class was instrumented during the recording");
    trace_made_close(&made.trace);
    make_live(&m, RECOMPILED_CALLS_MIN - 1, NULL, "0.1");
    look(&m, &made, NULL);
    CHECK_TEXT("few calls are not compared", row_of(&made, "slowdown_in_recovery"),
               "n/a | - | no phase has enough calls both during recompilation and after it");
    trace_made_close(&made.trace);
}

/* Two methods recorded to the end, of which one has more of the time: its calls are compared, whichever comes first. */
static void test_chosen(void)
{
    for (uint32_t most = RUN; most <= STEP; most++) {
        struct maker m;
        struct made made;
        begin(&m);
        maker_info(&m, "live.budget", "0.01");
        maker_info(&m, "live.recovery.0", "0 460");
        maker_info(&m, "live.method.0", "armed 1.000 0 0 ");
        maker_info(&m, "live.method.1", "armed 1.000 0 0 ");
        for (uint64_t i = 0, now = 2; i < 60; i++, now = i < 30 ? now + 15 : 500 + (i - 30) * 15)
            for (uint32_t method = RUN; method <= STEP; method++)
                STEPS(&m, 0, ENTER(method, now + 7 * method),
                      EXIT(method, now + 7 * method + (method == most ? 6 : 3)));
        look(&m, &made, NULL);
        CHECK_TEXT("the method with most of the time is compared", row_of(&made, "slowdown_in_recovery"),
                   most == RUN ? "n/a | 0.00 | measured: 30 calls of Main.run, and 30 others"
                               : "n/a | 0.00 | measured: 30 calls of Main.step, and 30 others");
        trace_made_close(&made.trace);
    }
}

static void test_compiling(void)
{
    struct maker m;
    struct made made;
    make_live(&m, 30, "2", "0.1");
    look(&m, &made, NULL);
    CHECK_TEXT("what was expected of the compilers stands beside what was measured", row_of(&made, "recompiling_cpu"),
               "2.00 ms | 200.00 | estimated from the code thrown away; the compilers took 100 us more than usual");
    CHECK_TEXT("and is part of the sum", row_of(&made, "cpu"),
               "2.19 ms | 219.10 | of the program's CPU time; budget 1 %");
    trace_made_close(&made.trace);
    make_live(&m, 30, "2", "9");
    look(&m, &made, NULL);
    CHECK_TEXT("also where that was less than what they took", row_of(&made, "recompiling_cpu"),
               "2.00 ms | 200.00 | estimated from the code thrown away; the compilers took 9.00 ms more than usual");
    trace_made_close(&made.trace);
}

/* Exits are missing, calls are in calls of the same method. */
static void test_stacks(void)
{
    struct maker m;
    struct made made;
    begin(&m);
    maker_info(&m, "live.budget", "0.01");
    maker_info(&m, "live.recovery.0", "0 400");
    maker_info(&m, "live.recovery.1", "400 300");
    maker_info(&m, "live.method.0", "armed 1.000 0 0 ");
    maker_info(&m, "live.method.1", "armed 1.000 0 0 ");
    for (uint64_t i = 0; i < 40; i++) {
        uint64_t now = i < 20 ? i * 20 : 400 + i * 10;
        STEPS(&m, 0, ENTER(RUN, now), ENTER(STEP, now + 2), ENTER(RUN, now + 4), EXIT(RUN, now + 6),
              EXIT(RUN, now + 9));
    }
    look(&m, &made, NULL);
    CHECK("a call within a call of the method, or without an exit, is none",
          made.recompilation.why == NULL && made.recompilation.method == RUN && made.recompilation.n_in == 20 &&
              made.recompilation.n_out == 20);
    CHECK("a window that ends before it starts is none",
          made.recompilation.windows_ns > 399000 && made.recompilation.windows_ns < 401000);
    trace_made_close(&made.trace);
}

static void add(struct jit_shapes *shapes, enum jit_kind kind, uint32_t method, unsigned flags)
{
    static struct jit_event event;
    event.kind = kind;
    event.method = method;
    event.flags = flags;
    event.class_name = (struct wire_text){ "a/Main", 6 };
    event.name = (struct wire_text){ method == RUN ? "run" : method == STEP ? "step" : "other", 3 };
    event.descriptor = (struct wire_text){ "()V", 3 };
    if (jit_shapes_add(shapes, &event, &err) < 0)
        printf("Bail out! %s\n", err.text);
}

static void test_compiled(void)
{
    struct maker m;
    struct made made;
    struct jit_shapes *shapes;
    shapes = jit_shapes_open();
    for (uint32_t i = 0; i < 3; i++)
        add(shapes, JIT_METHOD, i, 0);
    add(shapes, JIT_COMPILED, RUN, JIT_WAS_THERE);
    add(shapes, JIT_COMPILED, STEP, 0);
    add(shapes, JIT_WATCHED, RUN, 0);
    for (int i = 0; i < 3; i++)
        add(shapes, JIT_COMPILED, RUN, 0);
    add(shapes, JIT_COMPILED, OTHER, 0);
    add(shapes, JIT_COMPILED, OTHER, JIT_WAS_THERE);
    begin(&m);
    maker_info(&m, "live.budget", "0.01");
    look(&m, &made, shapes);
    CHECK_TEXT("a method that had code and was compiled since was compiled again", row_of(&made, "recompiled_methods"),
               "1 | n/a | measured");
    CHECK_TEXT("so many times", row_of(&made, "compilations"), "3 | n/a | measured");
    CHECK_TEXT("without a window nothing is compared", row_of(&made, "slowdown_in_recovery"),
               "n/a | - | no class was recompiled because of mmprof");
    trace_made_close(&made.trace);
    jit_shapes_close(shapes);
}

/* Two pauses of 40 us together, for which the JVM's thread has 25 us; the agent's thread took 10 us. */
static void test_changing(void)
{
    struct maker m;
    struct made made;
    begin(&m);
    maker_info(&m, "live.budget", "0.01");
    maker_info(&m, "live.rewriting_ms", "0.035");
    maker_info(&m, "removal.batches", "1");
    maker_thread(&m, 2, "VM Thread", false);
    KERNEL(&m, AT(TRACE_CPU_IN, 2, 200), AT(TRACE_CPU_OUT, 2, 225));
    pause_of(&m, 50, 10000);
    pause_of(&m, 150, 30000);
    look(&m, &made, NULL);
    CHECK_TEXT("changed classes cost what the JVM's thread took, for one of two batches again, with the agent's part",
               row_of(&made, "changing_cpu"),
               "39.0 us | 3.90 | estimated: the JVM's thread in the pauses, and removing the probes");
    trace_made_close(&made.trace);
}

static void test_unknown(void)
{
    struct maker m;
    struct made made;
    maker_open_scaled(&m, "cost.dat", 1000);
    maker_info(&m, "offcpu", "none: perf is forbidden");
    maker_thread(&m, 0, "main", true);
    maker_method(&m, RUN, "a/Main", "run", "()V");
    STEPS(&m, 0, ENTER(RUN, 200), EXIT(RUN, 900));
    look(&m, &made, NULL);
    CHECK_TEXT("there is always a sum", row_of(&made, "cpu"), "40.0 ns | - | lower bound: a part is unknown");
    trace_made_close(&made.trace);
    maker_open_scaled(&m, "cost.dat", 1000);
    maker_info(&m, "offcpu", "none: perf is forbidden");
    maker_info(&m, "recorder.cpu_ns", "4000");
    maker_info(&m, "hits", "100");
    maker_thread(&m, 0, "main", true);
    maker_method(&m, RUN, "a/Main", "run", "()V");
    STEPS(&m, 0, ENTER(RUN, 200), EXIT(RUN, 900));
    look(&m, &made, NULL);
    CHECK_TEXT("IP samples whose cost is not known cost what they do elsewhere", row_of(&made, "hits_cpu"),
               "830 us | - | estimated: 100 IP samples at 8.30 us, the usual cost: not measured here");
    CHECK_TEXT("without switches the agent's time is not known", row_of(&made, "agent_cpu"),
               "- | - | perf is forbidden");
    CHECK_TEXT("probes that were not calibrated neither", row_of(&made, "probes_cpu"),
               "40.0 ns | - | estimated: 2 records at 20.0 ns, the usual cost: not measured here");
    CHECK_TEXT("their sum is what is known", row_of(&made, "cpu"), "834 us | - | lower bound: a part is unknown");
    trace_made_close(&made.trace);
}

/* The agent's threads have 30 us of 1 ms. */
static void test_excess(void)
{
    static const struct {
        const char *recorder_ns, *start_ns, *compiling_ms, *why;
    } cases[] = {
        { "1000", NULL, "0", "the agent in the JVM took 3 %" },
        { "40000", "36000", "0",
          "mmprof's own process took 4 %: fixed cost 66.0 us of a 1.00 ms recording; record for 11.0 ms or more to be "
          "within 1 %" },
        { "40000", "20000", "0",
          "mmprof's own process took 4 %: what grows with time takes 2 % in all; use a larger --budget" },
        { "40000", "39000", "0.5",
          "recompilation took 50 %: fixed cost 569 us of a 1.00 ms recording; record for 63.2 ms or more to be within "
          "1 %" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct maker m;
        struct made made;
        struct cost_sums sums;
        begin(&m);
        maker_info(&m, "live.budget", "0.01");
        maker_info(&m, "recorder.cpu_ns", cases[i].recorder_ns);
        if (cases[i].start_ns != NULL)
            maker_info(&m, "recorder.start_ns", cases[i].start_ns);
        maker_info(&m, "live.compiling_ms", cases[i].compiling_ms);
        look(&m, &made, NULL);
        cost_sums(&made.trace.source, &sums);
        CHECK_TEXT("over the budget, the largest part is named", sums.why_over != NULL ? sums.why_over : "",
                   cases[i].why);
        trace_made_close(&made.trace);
    }
}

int main(void)
{
    test_plain();
    test_window();
    test_chosen();
    test_compiling();
    test_stacks();
    test_compiled();
    test_changing();
    test_unknown();
    test_excess();
    return tap_done();
}
