/* Stack samples in a report: the call tree that they are part of, the rows, and why methods have no probes. */
#include "report/view/sampled.h"

#include "report/export/export.h"
#include "report/view/phase_report.h"
#include "report/sampled_parts.h"
#include "report/sampled_tree.h"
#include "test/unit/table_printed.h"
#include "test/unit/tap.h"
#include "test/unit/trace_made.h"

static struct arena arena;
static struct err err;

struct made {
    struct trace_made trace;
    struct trace_samples samples;
    struct report_source whole;
    struct table table;
};

enum { RUN, SORT };

/* 1 tick is 1 ms; the application has one thread. */
static void begin(struct maker *m)
{
    maker_open_scaled(m, "sampled.dat", 1000000);
    maker_info(m, "offcpu", "perf");
    maker_thread(m, 0, "main", true);
    maker_method(m, RUN, "a/Sort", "run", "()V");
    maker_method(m, SORT, "a/Sort", "sort", "(I)V");
}

static const struct trace_sampled_method
    main_method = { .names.class_name = "a/Main", .names.method = "main", .names.descriptor = "()V", .code_bytes = 9 },
    run = { .names.class_name = "a/Sort", .names.method = "run", .names.descriptor = "()V" },
    merge = { .names.class_name = "a/Sort", .names.method = "merge", .names.descriptor = "()V" },
    copy = { .names.class_name = "a/Sort", .names.method = "copy", .names.descriptor = "()V" },
    sort = { .names.class_name = "a/Sort", .names.method = "sort", .names.descriptor = "(I)V" },
    probe = { .names.class_name = "java/lang/MmprofProbe", .names.method = "exit", .names.descriptor = "()V" },
    known = { .names.class_name = NULL };

enum { IN_MAIN = 1, IN_RUN, IN_MERGE, IN_COPY, IN_SORT, IN_PROBE, IN_OTHER_MERGE };

/* main calls run, which calls merge from two places; merge calls copy and sort. */
static void make_contexts(struct maker *m)
{
    maker_stack(m, 0, -1, 0, &main_method, 0, 0);
    maker_stack(m, IN_MAIN, 4, 1, &run, 0, 0);
    maker_stack(m, IN_RUN, 7, 2, &merge, 0, 0);
    maker_stack(m, IN_MERGE, 1, 3, &copy, 0, 0);
    maker_stack(m, IN_MERGE, 2, 4, &sort, 0, 0);
    maker_stack(m, IN_RUN, 4, 5, &probe, 0, 0);
    maker_stack(m, IN_RUN, 9, 2, &known, 0, 0);
}

static void sample(struct maker *m, uint64_t ticks, uint32_t context, uint64_t n)
{
    const struct trace_sample sample = {
        .ticks = ticks, .thread = 0, .context = context, .index = -1, .n = n, .weight_ns = n * 10000000
    };
    maker_must(m, trace_write_sample(m->writer, &sample, &m->err));
}

static void hear(void *context, const struct trace_sample *sample)
{
    trace_samples_add(context, sample);
}

static void read_back(struct maker *m, struct made *made)
{
    struct report_source *source = &made->trace.source;
    maker_close(m, 1000);
    made->trace.reader = maker_read(m);
    trace_samples_open(&made->samples, made->trace.reader);
    trace_listen(made->trace.reader, &(struct trace_listener){ .context = &made->samples, .sample = hear });
    maker_must(m, calltree_build(made->trace.reader, &(struct calltree_options){ 0 }, &made->trace.tree, &m->err));
    trace_samples_end(&made->samples);
    *source = (struct report_source){ .path = "t.dat",
                                      .reader = made->trace.reader,
                                      .tree = &made->trace.tree,
                                      .clock = report_clock(&made->trace.tree, PHASES_CPU),
                                      .arena = &arena };
    calltree_totals(&made->trace.tree, VM_PART_APPLICATION, &arena, &made->trace.totals, &made->trace.n_totals);
    sampled_tree(source, &made->samples, false, &made->whole);
}

static void forget(struct made *made)
{
    trace_samples_close(&made->samples);
    trace_made_close(&made->trace);
}

static const char *folded(const struct made *made, const char *value)
{
    const struct export_tree_options options = { .value = value };
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    if (export_stacks(&made->whole, &options, export_folded, out, &err) < 0)
        printf("Bail out! %s\n", err.text);
    fclose(out);
    const char *copied = arena_text(&arena, text, n);
    free(text);
    return copied;
}

/* run got its probes at 400, and was called once, from 500 to 900; the thread ran all the time. */
static void make_program(struct maker *m)
{
    static const struct trace_event enabled = { .kind = TRACE_ENABLED, .method = RUN, .ticks = 400 };
    begin(m);
    maker_info(m, "live.budget", "0.01");
    KERNEL(m, AT(TRACE_CPU_IN, 0, 0));
    maker_must(m, trace_write_control(m->writer, &enabled, 1, &m->err));
    STEPS(m, 0, ENTER(RUN, 500), EXIT(RUN, 900));
    make_contexts(m);
    sample(m, 100, IN_MAIN, 2);
    sample(m, 200, IN_MERGE, 3);
    sample(m, 300, IN_RUN, 1);
    sample(m, 600, IN_RUN, 2);
    sample(m, 700, IN_COPY, 5);
    sample(m, 750, IN_OTHER_MERGE, 1);
    sample(m, 800, IN_PROBE, 4);
    KERNEL(m, AT(TRACE_CPU_OUT, 0, 1000));
}

static void test_tree(void)
{
    struct maker m;
    struct made made;
    make_program(&m);
    read_back(&m, &made);
    CHECK_TEXT("a recorded call's time is divided as its samples are, what is outside by those of other moments",
               folded(&made, "cpu"),
               "application;a.Main.main [sampled] 200000000\n"
               "application;a.Main.main [sampled];a.Sort.run 200000000\n"
               "application;a.Main.main [sampled];a.Sort.run;a.Sort.merge [sampled] 350000000\n"
               "application;a.Main.main [sampled];a.Sort.run;a.Sort.merge [sampled];a.Sort.copy [sampled] 250000000\n");
    CHECK_TEXT("calls are those of the records", folded(&made, "calls"),
               "application;a.Main.main [sampled];a.Sort.run 1\n");
    forget(&made);
}

/* run has probes that record until 500; later they return at once, and run is all there is. */
static void test_switched_off(void)
{
    static const struct trace_event enabled = { .kind = TRACE_ENABLED, .method = RUN, .ticks = 0 },
                                    disabled = { .kind = TRACE_DISABLED, .method = RUN, .ticks = 500 };
    struct maker m;
    struct made made;
    begin(&m);
    KERNEL(&m, AT(TRACE_CPU_IN, 0, 0));
    maker_must(&m, trace_write_control(m.writer, &enabled, 1, &m.err));
    maker_must(&m, trace_write_control(m.writer, &disabled, 1, &m.err));
    make_contexts(&m);
    sample(&m, 600, IN_MAIN, 5);
    sample(&m, 700, IN_RUN, 1);
    sample(&m, 800, IN_PROBE, 4);
    KERNEL(&m, AT(TRACE_CPU_OUT, 0, 1000));
    read_back(&m, &made);
    CHECK_TEXT("what probes that are switched off take is their method's", folded(&made, "cpu"),
               "application;a.Main.main [sampled] 500000000\n"
               "application;a.Main.main [sampled];a.Sort.run [sampled] 500000000\n");
    forget(&made);
}

static void test_rows(void)
{
    struct maker m;
    struct made made;
    make_program(&m);
    maker_info(&m, "live.budget", "0.01");
    maker_info(&m, "live.sampled.0", "0.5 25 a/Sort merge ()V dear 12000000 0.75 a/Sort run ()V 0.5");
    read_back(&m, &made);
    const struct report_row_options options = { .sort = "time" };
    maker_must(&m, report_make(&made.whole, made.trace.totals, made.trace.n_totals, &options, &made.table, &m.err));
    const char *text = squeezed(printed(&made.table, TEXT, &arena), &arena);
    const struct {
        const char *claim, *row;
    } rows[] = {
        { "a method that only samples know is a row", "Main.main 100.00 20.00 14 samples - - - -" },
        { "with why it has no probes", "Main.main - too few of the latest samples, or too little time in them" },
        { "one that was recorded late has the time before, too", "Sort.run 80.00 20.00 probes, 4 samples 1 400 ms" },
        { "and says how long it was recorded", "Sort.run 600 ms (60 %)" },
        { "its callee has no more", "Sort.merge 60.00 35.00 9 samples - - - -" },
        { "and says what its probes would cost", "Sort.merge - over budget: recompilation would take 12.0 ms" },
        { "so does a native one", "Sort.copy 25.00 25.00 5 samples - - - -" },
        { "that it is native", "Sort.copy - native" },
        { "the rows' own times are all the time", "application, other code 0.00 0.00" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!CHECK(rows[i].claim, strstr(text, rows[i].row) != NULL))
            printf("# is:\n%s\n", text);
    CHECK("what samples cover is not called unknown", strstr(text, "before the first probes") == NULL);
    forget(&made);
}

static void frames(struct maker *m, uint64_t ticks, uint32_t context, uint8_t frame, uint64_t n)
{
    const struct trace_sample sample = {
        .ticks = ticks, .thread = 0, .context = context, .index = -1, .n = n, .weight_ns = n * 1000000, .frame = frame
    };
    maker_must(m, trace_write_sample(m->writer, &sample, &m->err));
}

/* Before run got its probes at 400, and since: samples of merge, inlined in run or not. */
static const char *shape_of_run(uint64_t n_before, uint64_t n_called_before, uint64_t n_since, uint64_t n_called_since)
{
    static const struct trace_event enabled = { .kind = TRACE_ENABLED, .method = RUN, .ticks = 400 };
    static char is[512]; /* what the table says goes with it */
    const struct report_row_options options = { .sort = "time" };
    struct maker m;
    struct made made;
    begin(&m);
    maker_info(&m, "live.budget", "0.01");
    KERNEL(&m, AT(TRACE_CPU_IN, 0, 0));
    maker_must(&m, trace_write_control(m.writer, &enabled, 1, &m.err));
    STEPS(&m, 0, ENTER(RUN, 500), EXIT(RUN, 900));
    make_contexts(&m);
    frames(&m, 300, IN_MERGE, TRACE_FRAME_INLINED, n_before);
    frames(&m, 310, IN_MERGE, TRACE_FRAME_COMPILED, n_called_before);
    frames(&m, 320, IN_MERGE, TRACE_FRAME_INTERPRETED, 50);
    frames(&m, 600, IN_MERGE, TRACE_FRAME_INLINED, n_since);
    frames(&m, 610, IN_MERGE, TRACE_FRAME_COMPILED, n_called_since);
    KERNEL(&m, AT(TRACE_CPU_OUT, 0, 1000));
    read_back(&m, &made);
    maker_must(&m, report_make(&made.whole, made.trace.totals, made.trace.n_totals, &options, &made.table, &m.err));
    const char *note = strstr(printed(&made.table, TEXT, &arena), "the probes changed");
    snprintf(is, sizeof is, "%.*s", note == NULL ? 0 : (int)strcspn(note, "\n"), note == NULL ? "" : note);
    forget(&made);
    return is;
}

static void test_shapes(void)
{
    CHECK_TEXT("a call that samples saw inlined before the probes, and not since, is marked",
               shape_of_run(20, 1, 1, 20),
               "the probes changed the compiled code of: Sort.run (inlines less (1 of 1 calls))");
    CHECK_TEXT("one that is inlined as before is not", shape_of_run(20, 0, 20, 0), "");
    CHECK_TEXT("nor one that was not before either", shape_of_run(0, 20, 0, 20), "");
    CHECK_TEXT("nor one of which there are few samples before", shape_of_run(11, 0, 0, 20), "");
    CHECK_TEXT("or since", shape_of_run(20, 0, 0, 11), "");
}

/* run was under way when it got probes; its caller's other half, behind its end that no probe saw, is in its time. */
static void test_ends(void)
{
    struct calltree_node nodes[] = {
        { .parent = 0 },
        { .parent = 1, .method = CALLTREE_ROOT, .first_child = 2 },
        { .parent = 1, .method = SORT, .low_calls = 1, .first_child = 3 },
        { .parent = 2, .method = RUN, .low_calls = 1, .row = 1, .cpu_ticks = 800, .first_child = 4 },
        { .parent = 3, .method = SORT, .low_calls = 1, .cpu_ticks = 100, .next_sibling = 5 },
        { .parent = 3, .method = RUN, .low_calls = 1, .cpu_ticks = 20 }
    };
    struct calltree_flag found = { .method = RUN, .kind = CALLTREE_FLAG_FOUND };
    uint64_t totals[] = { 0, 920, 920, 920, 100, 20 }, rows[2][ROW_METRICS] = { { 0 }, { [ROW_OPEN] = 1 } };
    struct calltree_partial partial = { .node = 3, .cpu_ticks = 820 };
    struct calltree_root root = { .node = 1, .part = VM_PART_APPLICATION };
    struct calltree tree = { .nodes = nodes,
                             .n_nodes = 6,
                             .roots = &root,
                             .n_roots = 1,
                             .n_methods = 2,
                             .partials = &partial,
                             .n_partials = 1,
                             .total_cpu_ticks = totals,
                             .row_words = ROW_METRICS,
                             .rows = rows[0],
                             .total_rows = rows[0],
                             .flags = &found,
                             .n_flags = 1 };
    struct own_time own[] = { { 0 }, { 0, 0, 0 }, { 0, 50, 5 }, { 800, 50, 5 }, { 100, 90, 9 }, { 20, 0, 0 } };
    bool is_ended[2] = { false };
    const struct calltree *ended = sampled_ends(&tree, own, is_ended, &arena);
    CHECK("what samples saw in a call's caller is not that call's",
          ended->nodes[2].cpu_ticks == 400 && ended->nodes[3].cpu_ticks == 400);
    CHECK_NUMBER("what probes saw enter and leave keeps its time", ended->nodes[4].cpu_ticks, 100);
    CHECK_NUMBER("so does what is too short for a sample", ended->nodes[5].cpu_ticks, 20);
    CHECK("the time with callees is that of the earlier end",
          ended->total_cpu_ticks[2] == 920 && ended->total_cpu_ticks[3] == 520);
    CHECK("wall times stay what they were",
          calltree_wall_ticks(ended, 3) == 800 && calltree_total_wall_ticks(ended, 3) == 920);
    CHECK("whose calls ended so is told", is_ended[RUN] && !is_ended[SORT]);
    CHECK("all that was taken away was the partial call's",
          ended->n_partials == 1 && ended->partials[0].cpu_ticks == 820 - 400);
    own[2] = (struct own_time){ 100, 12, 1.2 }, own[3] = (struct own_time){ 700, 88, 8.8 };
    CHECK("no measured time is changed by chance", sampled_ends(&tree, own, is_ended, &arena) == &tree);
}

/* run was called before it got probes, and ended at 250: no record tells it. */
static void test_ended_row(void)
{
    static const struct trace_event enabled = { .kind = TRACE_ENABLED, .method = RUN, .ticks = 1 };
    const struct report_row_options options = { .sort = "time" };
    struct maker m;
    struct made made;
    begin(&m);
    KERNEL(&m, AT(TRACE_CPU_IN, 0, 0));
    maker_must(&m, trace_write_control(m.writer, &enabled, 1, &m.err));
    STEPS(&m, 0, { RING_OPEN, RUN, 2, { 0 } });
    make_contexts(&m);
    sample(&m, 100, IN_RUN, 10);
    sample(&m, 600, IN_MAIN, 30);
    KERNEL(&m, AT(TRACE_CPU_OUT, 0, 1000));
    read_back(&m, &made);
    maker_must(&m, report_make(&made.whole, made.trace.totals, made.trace.n_totals, &options, &made.table, &m.err));
    const char *text = squeezed(printed(&made.table, TEXT, &arena), &arena);
    if (!CHECK("a call's time is up to the end that samples tell; how long it took and waited is not known",
               strstr(text, "Sort.run + 25.0") != NULL && strstr(text, "probes, end by samples 1 -") != NULL))
        printf("# is:\n%s\n", text);
    made.trace.source.clock = PHASES_WALL;
    maker_must(&m,
               report_make(&made.trace.source, made.trace.totals, made.trace.n_totals, &options, &made.table, &m.err));
    CHECK("where no samples tell, the report says that the end may be too late",
          strstr(printed(&made.table, TEXT, &arena), "may have ended earlier") != NULL);
    forget(&made);
}

/* Two halves of the time, each of a method that only calls others. */
static void test_same_time(void)
{
    static const struct trace_sampled_method left = { .names.class_name = "a/Main",
                                                      .names.method = "left",
                                                      .names.descriptor = "()V" },
                                             right = { .names.class_name = "a/Main",
                                                       .names.method = "right",
                                                       .names.descriptor = "()V" };
    const struct report_row_options options = { .sort = "time" };
    struct maker m;
    struct made made;
    begin(&m);
    KERNEL(&m, AT(TRACE_CPU_IN, 0, 0));
    maker_stack(&m, 0, -1, 0, &main_method, 0, 0);
    maker_stack(&m, 1, 4, 1, &left, 0, 0);
    maker_stack(&m, 1, 7, 2, &right, 0, 0);
    maker_stack(&m, 2, 1, 3, &merge, 0, 0);
    maker_stack(&m, 2, 2, 4, &copy, 0, 0);
    maker_stack(&m, 3, 1, 4, &known, 0, 0);
    maker_stack(&m, 3, 2, 5, &sort, 0, 0);
    const uint64_t n[] = { 3, 7, 8, 2 };
    for (uint32_t i = 0; i < 4; i++)
        sample(&m, 100 + i, 4 + i, n[i]);
    KERNEL(&m, AT(TRACE_CPU_OUT, 0, 1000));
    read_back(&m, &made);
    maker_must(&m, report_make(&made.whole, made.trace.totals, made.trace.n_totals, &options, &made.table, &m.err));
    const char *text = squeezed(printed(&made.table, TEXT, &arena), &arena);
    if (!CHECK("methods that have the same number of samples by chance are two rows",
               strstr(text, "Main.left 50.00") != NULL && strstr(text, "Main.right 50.00") != NULL))
        printf("# is:\n%s\n", text);
    forget(&made);
}

/* sort is called from two methods without probes: three times as often from the one as from the other. */
static void test_around(void)
{
    struct maker m;
    struct made made;
    begin(&m);
    KERNEL(&m, AT(TRACE_CPU_IN, 0, 0));
    for (uint64_t i = 0; i < 4; i++)
        STEPS(&m, 0, ENTER(SORT, 100 * i), EXIT(SORT, 100 * i + 100));
    make_contexts(&m);
    maker_stack(&m, IN_COPY, 1, 4, &known, 0, 0);
    sample(&m, 50, IN_SORT, 6);
    sample(&m, 60, IN_OTHER_MERGE + 1, 2);
    sample(&m, 500, IN_MAIN, 5);
    KERNEL(&m, AT(TRACE_CPU_OUT, 0, 1000));
    read_back(&m, &made);
    CHECK_TEXT("calls stand in those that samples saw around them, in parts that add up", folded(&made, "calls"),
               "application;a.Main.main [sampled];a.Sort.run [sampled];a.Sort.merge [sampled];a.Sort.sort 3\n"
               "application;a.Main.main [sampled];a.Sort.run [sampled];a.Sort.merge [sampled];a.Sort.copy [sampled];"
               "a.Sort.sort 1\n");
    CHECK_TEXT("with their time", folded(&made, "cpu"),
               "application;a.Main.main [sampled] 600000000\n"
               "application;a.Main.main [sampled];a.Sort.run [sampled];a.Sort.merge [sampled];a.Sort.sort 300000000\n"
               "application;a.Main.main [sampled];a.Sort.run [sampled];a.Sort.merge [sampled];a.Sort.copy [sampled];"
               "a.Sort.sort 100000000\n");
    forget(&made);
}

/*
 * A thread did not record merge, as its calls of it had begun before merge's probes were enabled; another one did. When
 * which of them did is not known, so all samples are in the other one's contexts.
 */
static void test_other_thread(void)
{
    enum { MERGE = 2 };
    struct maker m;
    struct made made;
    begin(&m);
    maker_method(&m, MERGE, "a/Sort", "merge", "()V");
    KERNEL(&m, AT(TRACE_CPU_IN, 0, 0));
    STEPS(&m, 0, ENTER(RUN, 0), ENTER(MERGE, 0), ENTER(SORT, 0), EXIT(SORT, 500), EXIT(MERGE, 500), EXIT(RUN, 500));
    STEPS(&m, 0, ENTER(RUN, 500), ENTER(SORT, 500), EXIT(SORT, 1000), EXIT(RUN, 1000));
    make_contexts(&m);
    sample(&m, 100, IN_SORT, 10);
    sample(&m, 600, IN_SORT, 10);
    KERNEL(&m, AT(TRACE_CPU_OUT, 0, 1000));
    read_back(&m, &made);
    CHECK_TEXT("calls of so much time that samples must have met them stand where samples met the method",
               folded(&made, "cpu"),
               "application;a.Main.main [sampled];a.Sort.run;a.Sort.merge;a.Sort.sort 1000000000\n");
    forget(&made);
}

static void test_few(void)
{
    struct maker m;
    struct made made;
    begin(&m);
    KERNEL(&m, AT(TRACE_CPU_IN, 0, 0));
    STEPS(&m, 0, ENTER(RUN, 0), EXIT(RUN, 1000));
    make_contexts(&m);
    sample(&m, 50, IN_COPY, SAMPLED_LEAST - 1);
    KERNEL(&m, AT(TRACE_CPU_OUT, 0, 1000));
    read_back(&m, &made);
    CHECK_TEXT("few samples divide nothing, but tell where a call stands", folded(&made, "cpu"),
               "application;a.Main.main [sampled];a.Sort.run 1000000000\n");
    forget(&made);
}

static void test_samples_alone(void)
{
    struct maker m;
    struct made made;
    begin(&m);
    maker_info(&m, "recording.mode", "samples");
    maker_thread(&m, 1, "C2 CompilerThre", false);
    make_contexts(&m);
    sample(&m, 50, IN_RUN, 1);
    sample(&m, 60, IN_COPY, 2);
    const struct trace_sample compiler = { .ticks = 70, .thread = 1, .index = -1, .n = 1, .weight_ns = 10000000 };
    maker_must(&m, trace_write_sample(m.writer, &compiler, &m.err));
    read_back(&m, &made);
    CHECK_TEXT("a trace of samples alone is a tree, too, with the JVM's threads beside it", folded(&made, "cpu"),
               "C2 compiler 10000000\n"
               "application;a.Main.main [sampled];a.Sort.run [sampled] 10000000\n"
               "application;a.Main.main [sampled];a.Sort.run [sampled];a.Sort.merge [sampled];a.Sort.copy [sampled] "
               "20000000\n");
    forget(&made);
}

static void test_reasons(void)
{
    static const struct {
        const char *value, *why; /* why: NULL: it is damaged */
    } reasons[] = { { "0.25000 12 a/Later parse (I)V", "no probes" },
                    { "0.02000 2 a/Later", NULL },
                    { "0.2 10 a/Later x ()V dear 12000000 0.75 a/Main run ()V",
                      "over budget: recompilation would take 12.0 ms" },
                    { "0.1 5 a/Later y ()V dear 0", "over budget" },
                    { "0.1 5 a/Later z ()V loop 0 1 a/Later x ()V 0.5", "a hot loop of its class is running" },
                    { "0.1 5 a/Later u ()V kept 5", "its class could not be instrumented" },
                    { "0.1 5 a/Later v ()V none 0", "no retransformation since it was sampled" },
                    { "0.1 5 a/Later s ()V spared 0", "all compiled code would be discarded" },
                    { "0.1 5 a/Later r ()V archive 0", "the JVM writes a class archive" } };
    struct maker m;
    struct made made;
    struct sampled *all;
    size_t n, at = 0;
    char key[32];
    begin(&m);
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        snprintf(key, sizeof key, "live.sampled.%zu", i);
        maker_info(&m, key, reasons[i].value);
    }
    maker_info(&m, "live.method.0", "off 1.000 5 100 its calls are too short");
    maker_info(&m, "live.method.1", "armed 1.000 0 0 ");
    read_back(&m, &made);
    n = sampled_find(&made.trace.source, &all);
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].why != NULL)
            CHECK_TEXT("a reason is told in words", at < n ? all[at++].why : "", reasons[i].why);
    CHECK_NUMBER("damaged ones are none", n, at);
    CHECK_TEXT("why probes are off, is told", sampled_why_off(&made.trace.source, 0),
               "switched off: its calls are too short");
    CHECK("of those that are on, nothing",
          sampled_why_off(&made.trace.source, 1) == NULL && sampled_why_off(&made.trace.source, 2) == NULL);
    forget(&made);
}

int main(void)
{
    test_tree();
    test_switched_off();
    test_rows();
    test_shapes();
    test_ends();
    test_ended_row();
    test_same_time();
    test_around();
    test_other_thread();
    test_few();
    test_samples_alone();
    test_reasons();
    arena_free(&arena);
    return tap_done();
}
