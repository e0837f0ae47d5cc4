#include "phases/tree/calltree_internal.h"

#include "test/unit/tap.h"
#include "test/unit/trace_maker.h"

static struct arena arena;
static struct err err;

enum { A, B, C, D };

static void begin(struct maker *m)
{
    maker_open(m, "calltree.dat");
    for (uint32_t i = 0; i < 4; i++)
        maker_method(m, i, "t/T", (const char *[]){ "a", "b", "c", "d" }[i], "()V");
    maker_thread(m, 0, "main", true);
}

static struct trace_reader *reader;

static struct calltree end_with(struct maker *m, uint64_t end_ticks, const struct calltree_options *options)
{
    struct calltree tree;
    maker_close(m, end_ticks);
    reader = maker_read(m);
    if (calltree_build(reader, options, &tree, &err) < 0) {
        printf("Bail out! %s\n", err.text);
        exit(1);
    }
    return tree;
}

static struct calltree end(struct maker *m, uint64_t end_ticks)
{
    return end_with(m, end_ticks, &(struct calltree_options){ 0 });
}

static void done(struct calltree *tree)
{
    calltree_free(tree);
    trace_close(reader);
    arena_free(&arena);
}

/* The node of a path from the first root of a part, or 0. */
static uint32_t node_at(const struct calltree *tree, enum vm_part part, const uint32_t *path, size_t n)
{
    uint32_t node = 0;
    for (uint32_t i = 0; i < tree->n_roots && node == 0; i++)
        if (tree->roots[i].part == part)
            node = tree->roots[i].node;
    for (size_t i = 0; i < n && node != 0; i++) {
        uint32_t child = tree->nodes[node].first_child;
        while (child != 0 && tree->nodes[child].method != path[i])
            child = tree->nodes[child].next_sibling;
        node = child;
    }
    return node;
}

#define INDEX(tree, ...)                                                  \
    node_at(tree, VM_PART_APPLICATION, (const uint32_t[]){ __VA_ARGS__ }, \
            sizeof((const uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t))
#define NODE(tree, ...)       (&(tree)->nodes[INDEX(tree, __VA_ARGS__)])
#define ROW(tree, which, ...) calltree_row(tree, INDEX(tree, __VA_ARGS__))[which]
#define ROOT(tree, part)      (&(tree)->nodes[node_at(tree, part, NULL, 0)])

static struct calltree_total total_of(const struct calltree *tree, uint32_t method)
{
    struct calltree_total *totals;
    size_t n;
    calltree_totals(tree, VM_PART_APPLICATION, &arena, &totals, &n);
    for (size_t i = 0; i < n; i++)
        if (totals[i].method == method)
            return totals[i];
    return (struct calltree_total){ .method = CALLTREE_NONE };
}

static void test_figure_3_3(void)
{
    static const struct {
        const char *claim;
        uint64_t total, calls;
    } rows[] = {
        { "main has 1830 in 1 call", 1830, 1 },       { "init has 30 in 1 call", 30, 1 },
        { "readData has 300 in 1 call", 300, 1 },     { "readElement has 200 in 50 calls", 200, 50 },
        { "print has 30 in 1 call", 30, 1 },          { "sortData has 1300 in 1 call", 1300, 1 },
        { "compare has 600 in 300 calls", 600, 300 }, { "swap has 500 in 250 calls", 500, 250 },
        { "printData has 170 in 1 call", 170, 1 },    { "printElement has 150 in 50 calls", 150, 50 },
    };
    struct maker m;
    maker_open(&m, "figure.dat");
    maker_figure_3_3(&m);
    struct calltree tree = end(&m, 1830);
    for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct calltree_total t = total_of(&tree, i);
        CHECK(rows[i].claim,
              t.total_cpu_ticks == rows[i].total && t.total_wall_ticks == rows[i].total && t.calls == rows[i].calls);
    }
    CHECK_NUMBER("main has no time of its own", total_of(&tree, 0).cpu_ticks, 0);
    CHECK_NUMBER("the root has none either", ROOT(&tree, VM_PART_APPLICATION)->cpu_ticks, 0);
    CHECK_NUMBER("all time is in the tree", tree.cpu_ticks, 1830);
    CHECK_NUMBER("ten contexts and a root make eleven nodes", tree.n_nodes - 1, 11);
    CHECK("without switches CPU time is wall time, and says so",
          tree.cpu_is_wall && strcmp(tree.why_wall, "the trace has no context switches") == 0);
    done(&tree);
}

static void test_recursion(void)
{
    struct maker m;
    begin(&m);
    STEPS(&m, 0, ENTER(A, 0), ENTER(A, 10), ENTER(B, 30), ENTER(A, 60), EXIT(A, 100), EXIT(B, 150), EXIT(A, 210),
          EXIT(A, 280));
    struct calltree tree = end(&m, 280);
    struct calltree_total a = total_of(&tree, A), b = total_of(&tree, B);
    CHECK_NUMBER("a method that calls itself counts its time once", a.total_cpu_ticks, 280);
    CHECK_NUMBER("and each of its calls", a.calls, 3);
    CHECK_NUMBER("its own time leaves out what it calls", a.cpu_ticks, 280 - 30 - 50);
    CHECK_NUMBER("the method in between has the inner call's time too", b.total_cpu_ticks, 120);
    CHECK_NUMBER("each depth of the recursion is a context", NODE(&tree, A, A, B, A)->cpu_ticks, 40);
    done(&tree);
}

static void test_deep_recursion(void)
{
    struct maker m;
    begin(&m);
    uint64_t *words = malloc(400000 * sizeof *words), now = 0;
    for (size_t i = 0; i < 200000; i++)
        words[i] = ring_word(RING_ENTER, A, now++);
    for (size_t i = 200000; i < 400000; i++)
        words[i] = ring_word(RING_EXIT, A, now++);
    maker_must(&m, trace_write_records(m.writer, 0, words, 400000, now, &m.err));
    free(words);
    struct calltree tree = end(&m, now);
    CHECK_NUMBER("200,000 calls deep: every call is there", total_of(&tree, A).calls, 200000);
    CHECK_NUMBER("and the time once", total_of(&tree, A).total_cpu_ticks, 399999);
    done(&tree);
}

static void test_exits(void)
{
    struct maker m;
    begin(&m);
    STEPS(&m, 0, EXIT(D, 5), ENTER(A, 10), ENTER(B, 20), ENTER(C, 30), UNWIND(A, 40), EXIT(B, 50), ENTER(D, 60),
          UNWIND(D, 75));
    struct calltree tree = end(&m, 80);
    CHECK_NUMBER("exits of calls that were not open are ignored and counted", tree.n_unmatched_exits, 2);
    CHECK_NUMBER("an exit of a caller closes the calls below it", tree.n_missing_exits, 2);
    CHECK_NUMBER("it is an exit by exception of that caller", ROW(&tree, ROW_UNWINDS, A), 1);
    CHECK_NUMBER("none of those it closes", ROW(&tree, ROW_UNWINDS, A, B) + ROW(&tree, ROW_UNWINDS, A, B, C), 0);
    CHECK_NUMBER("time goes on in the right place", NODE(&tree, D)->cpu_ticks, 15);
    CHECK_NUMBER("what lies outside is the root's", ROOT(&tree, VM_PART_APPLICATION)->cpu_ticks, 10 + 20 + 5);
    CHECK_NUMBER("nothing is open", tree.n_open, 0);
    done(&tree);
}

static void test_gaps(void)
{
    struct maker m;
    begin(&m);
    STEPS(&m, 0, ENTER(A, 0), GAP(7, 50), ENTER(B, 50), EXIT(B, 60), EXIT(A, 100));
    struct calltree tree = end(&m, 100);
    CHECK_NUMBER("lost calls are counted", tree.n_lost, 7);
    CHECK_NUMBER("their time is the caller's", NODE(&tree, A)->cpu_ticks, 90);
    CHECK_NUMBER("the tree goes on after the gap", NODE(&tree, A, B)->cpu_ticks, 10);
    done(&tree);
}

static void test_open_calls(void)
{
    struct maker m;
    begin(&m);
    STEPS(&m, 0, ENTER(A, 10), ENTER(B, 20), ENTER(B, 30));
    struct calltree tree = end(&m, 100);
    CHECK_NUMBER("calls that never return are closed at the end", total_of(&tree, B).total_cpu_ticks, 80);
    CHECK_NUMBER("and marked", ROW(&tree, ROW_OPEN, A, B, B), 1);
    CHECK_NUMBER("per method", total_of(&tree, B).n_open, 2);
    CHECK_NUMBER("and in all", tree.n_open, 3);
    done(&tree);
}

/* Of five calls of B that take 100 each, probes saw three from beginning to end. */
static void test_partial_calls(void)
{
    struct maker m;
    begin(&m);
    STEPS(&m, 0, { RING_OPEN, A, 60, { 0 } }, { RING_OPEN, B, 60, { 0 } }, EXIT(B, 100), ENTER(B, 100), EXIT(B, 200),
          ENTER(B, 200), EXIT(B, 300), ENTER(B, 300), EXIT(B, 400), ENTER(B, 400), ENTER(C, 410));
    struct calltree tree = end(&m, 430);
    struct calltree_total b = total_of(&tree, B);
    struct calltree_whole whole = calltree_whole_of(&b);
    CHECK("all calls are counted, those under way at the beginning and at the end apart",
          b.calls == 5 && b.n_open == 2);
    CHECK("the whole ones took what they took", whole.calls == 3 && whole.cpu_ticks == 300 && whole.wall_ticks == 300);
    CHECK("all time is there", b.total_cpu_ticks == 300 + 40 + 30 && b.partial_cpu_ticks == 40 + 30);
    whole = (b = total_of(&tree, A), calltree_whole_of(&b));
    CHECK("of a method that was under way all the time no call is whole", whole.calls == 0 && whole.cpu_ticks == 0);
    done(&tree);
    begin(&m);
    STEPS(&m, 0, ENTER(A, 0), ENTER(B, 10), EXIT(A, 110), ENTER(B, 200), EXIT(B, 300));
    tree = end(&m, 300);
    whole = (b = total_of(&tree, B), calltree_whole_of(&b));
    CHECK("a call whose exit is missing is none either", b.n_open == 1 && whole.calls == 1 && whole.cpu_ticks == 100);
    done(&tree);
}

static void test_switches(void)
{
    struct maker m;
    begin(&m);
    /* The kernel's events of a round come first, those after a record too. */
    KERNEL(&m, AT(TRACE_CPU_OUT, 0, 20), AT(TRACE_CPU_IN, 0, 50), AT(TRACE_PAGE_FAULT, 0, 65),
           AT(TRACE_CPU_PREEMPTED, 0, 70), AT(TRACE_CPU_IN, 0, 90));
    STEPS(&m, 0, ENTER(A, 10), ENTER(B, 60), EXIT(B, 100), EXIT(A, 110));
    KERNEL(&m, AT(TRACE_CPU_OUT, 0, 120));
    struct calltree tree = end(&m, 200);
    uint32_t a = INDEX(&tree, A), b = INDEX(&tree, A, B), root = tree.roots[0].node;
    CHECK("context switches are known: CPU time is not wall time", !tree.cpu_is_wall);
    CHECK_NUMBER("wall time goes to the call that waits", calltree_wall_ticks(&tree, a), 60);
    CHECK_NUMBER("CPU time does not", tree.nodes[a].cpu_ticks, 30);
    CHECK_NUMBER("an event in the middle of a call finds its call", tree.nodes[b].cpu_ticks, 20);
    CHECK_NUMBER("with its wall time", calltree_wall_ticks(&tree, b), 40);
    CHECK_NUMBER("before and after, the thread's root pays", tree.nodes[root].cpu_ticks, 10 + 10);
    CHECK_NUMBER("until the end of the trace", calltree_wall_ticks(&tree, root), 10 + 90);
    CHECK_NUMBER("where it could have run, it waited", tree.threads[0].wait_ticks, 20);
    CHECK_NUMBER("page faults are the current call's", calltree_metrics(&tree, b)[CALLTREE_FAULTS], 1);
    CHECK_NUMBER("context switches too", calltree_metrics(&tree, a)[CALLTREE_SWITCHES], 1);
    CHECK_NUMBER("inclusive ones are summed up", calltree_total_metrics(&tree, a)[CALLTREE_SWITCHES], 2);
    done(&tree);
}

static void test_sampled_faults(void)
{
    struct maker m;
    begin(&m);
    maker_info(&m, "faults.period", "7");
    KERNEL(&m, AT(TRACE_PAGE_FAULT, 0, 5), AT(TRACE_PAGE_FAULT, 0, 65), AT(TRACE_PAGE_FAULT, 0, 70));
    STEPS(&m, 0, ENTER(A, 10), ENTER(B, 60), EXIT(B, 100), EXIT(A, 110));
    struct calltree tree = end(&m, 200);
    const uint64_t *b = calltree_metrics(&tree, INDEX(&tree, A, B)),
                   *root = calltree_metrics(&tree, tree.roots[0].node);
    CHECK_NUMBER("a fault of a sample stands for all of its period", b[CALLTREE_FAULTS], 14);
    CHECK_NUMBER("also one before the first record", root[CALLTREE_FAULTS], 7);
    done(&tree);
}

static void test_thread_lives(void)
{
    struct maker m;
    begin(&m);
    maker_thread(&m, 1, "C2 CompilerThre", false);
    maker_thread(&m, 2, "pool-1", false);
    maker_thread(&m, 3, "GC Thread#0", false);
    maker_thread(&m, 4, "sleeper", false);
    KERNEL(&m, AT(TRACE_CPU_IN, 1, 30), AT(TRACE_CPU_OUT, 3, 40), AT(TRACE_THREAD_START, 2, 50),
           AT(TRACE_CPU_OUT, 1, 60), AT(TRACE_CPU_IN, 2, 60), AT(TRACE_THREAD_END, 2, 80), AT(TRACE_CPU_IN, 2, 90));
    STEPS(&m, 0, ENTER(A, 10), EXIT(A, 100));
    struct calltree tree = end(&m, 100);
    CHECK_NUMBER("first seen coming onto the CPU: it was off before", tree.threads[1].cpu_ticks, 30);
    CHECK_NUMBER("first seen leaving it: it was on since the start", tree.threads[3].cpu_ticks, 40);
    CHECK_NUMBER("a thread that starts is off until it gets a CPU, and nothing comes after its end",
                 tree.threads[2].cpu_ticks, 20);
    CHECK_NUMBER("its wall time is its life", tree.threads[2].wall_ticks, 30);
    CHECK_NUMBER("never seen: it slept", tree.threads[4].cpu_ticks, 0);
    CHECK_NUMBER("writing records, it was on the CPU", tree.threads[0].cpu_ticks, 100);
    CHECK("threads know their part of the VM", tree.threads[1].part == VM_PART_C2 &&
                                                   tree.threads[3].part == VM_PART_GC &&
                                                   tree.threads[2].part == VM_PART_APPLICATION);
    CHECK_NUMBER("the root of a part has its threads' time", ROOT(&tree, VM_PART_GC)->cpu_ticks, 40);
    CHECK_NUMBER("all threads add up", tree.cpu_ticks, 30 + 40 + 20 + 100);
    done(&tree);
}

static void test_rounds(void)
{
    struct maker m;
    begin(&m);
    maker_thread(&m, 1, "other", true);
    KERNEL(&m, AT(TRACE_CPU_OUT, 0, 20), AT(TRACE_CPU_IN, 0, 30));
    STEPS(&m, 1, ENTER(B, 15), EXIT(B, 25));
    KERNEL(&m, AT(TRACE_CPU_OUT, 0, 120), AT(TRACE_CPU_IN, 0, 150));
    STEPS(&m, 0, ENTER(A, 110), EXIT(A, 160));
    struct calltree tree = end(&m, 200);
    CHECK_NUMBER("events of an earlier round do not wait for records", tree.threads[0].cpu_ticks, 200 - 10 - 30);
    CHECK_NUMBER("those of this round find the call", NODE(&tree, A)->cpu_ticks, 20);
    done(&tree);
}

static void test_clocks_apart(void)
{
    struct maker m;
    begin(&m);
    maker_thread(&m, 1, "other", true);
    /* Records may stop short of the kernel's events and go on in the next round. */
    KERNEL(&m, AT(TRACE_CPU_IN, 0, 0), AT(TRACE_CPU_OUT, 0, 100), AT(TRACE_CPU_IN, 0, 200), AT(TRACE_CPU_OUT, 0, 300));
    STEPS(&m, 0, ENTER(A, 50));
    KERNEL(&m, AT(TRACE_CPU_IN, 0, 900));
    STEPS(&m, 0, ENTER(B, 250), EXIT(B, 290));
    KERNEL(&m, AT(TRACE_CPU_OUT, 0, 2000), AT(TRACE_CPU_IN, 0, 3000), AT(TRACE_CPU_OUT, 0, 4000));
    /* The kernel's times are off by a few ticks: it left after 2005 and was back before 2990. */
    STEPS(&m, 0, ENTER(C, 1990), EXIT(C, 2005), ENTER(D, 2990), EXIT(D, 3010), EXIT(A, 3100));
    struct calltree tree = end(&m, 4000);
    CHECK_NUMBER("records that come a round late find their switches", NODE(&tree, A, B)->cpu_ticks, 40);
    CHECK_NUMBER("a record right after a switch was written before it", NODE(&tree, A, C)->cpu_ticks, 15);
    CHECK_NUMBER("one right before a return was written after it", NODE(&tree, A, D)->cpu_ticks, 20);
    CHECK_NUMBER("the time away is nobody's CPU time", tree.threads[0].cpu_ticks, 100 + 100 + 1105 + 1010);
    done(&tree);
}

static void test_names_come_late(void)
{
    struct maker m;
    begin(&m);
    maker_thread(&m, 1, "java", false);
    KERNEL(&m, AT(TRACE_CPU_IN, 1, 10), AT(TRACE_CPU_OUT, 1, 30));
    STEPS(&m, 0, ENTER(A, 10), EXIT(A, 20));
    maker_thread(&m, 1, "GC Thread#0", false);
    KERNEL(&m, AT(TRACE_CPU_IN, 1, 50), AT(TRACE_CPU_OUT, 1, 60));
    struct calltree tree = end(&m, 100);
    const struct calltree_node *gc = ROOT(&tree, VM_PART_GC);
    CHECK_NUMBER("a thread's part is that of its last name", tree.threads[1].part, VM_PART_GC);
    CHECK_NUMBER("with all its time", gc->cpu_ticks, 30);
    CHECK_NUMBER("and its switches", calltree_metrics(&tree, (uint32_t)(gc - tree.nodes))[CALLTREE_SWITCHES], 2);
    done(&tree);
}

static void test_probe_cost(void)
{
    struct maker m;
    begin(&m);
    /* The JVM may run for a while before its probes are calibrated. */
    KERNEL(&m, AT(TRACE_CPU_IN, 0, 0));
    maker_must(&m, trace_writer_flush(m.writer, &m.err));
    maker_info(&m, "probe.inside_ticks", "2.25");
    maker_info(&m, "probe.outside_ticks", "4");
    KERNEL(&m, AT(TRACE_CPU_OUT, 0, 9000), AT(TRACE_CPU_IN, 0, 9009));
    uint64_t now = 100;
    STEPS(&m, 0, ENTER(A, now));
    now += 50;
    for (int i = 0; i < 100; i++, now += 10)
        STEPS(&m, 0, ENTER(B, now), EXIT(B, now + 6));
    STEPS(&m, 0, EXIT(A, now + 46));
    STEPS(&m, 0, ENTER(C, 8999), EXIT(C, 9010));
    struct calltree tree = end(&m, 10000);
    /* In A: 50 and 50 at its ends, 99 times 4 between the Bs; in B 100 times 6. */
    CHECK_NUMBER("the inside cost is taken off a call, without drift", NODE(&tree, A, B)->cpu_ticks, 600 - 225);
    CHECK("the outside cost off the time between calls, half of both at the ends",
          NODE(&tree, A)->cpu_ticks >= 100 - 7 && NODE(&tree, A)->cpu_ticks <= 100 - 6);
    CHECK_NUMBER("never more than the CPU time that there is", NODE(&tree, C)->cpu_ticks, 0);
    CHECK_NUMBER("wall time keeps the wait", calltree_wall_ticks(&tree, INDEX(&tree, C)), 9);
    uint64_t all = tree.probe_ticks;
    for (uint32_t i = 1; i < tree.n_nodes; i++)
        all += tree.nodes[i].cpu_ticks;
    CHECK_NUMBER("exclusive times and probe time add up to the threads' CPU time", all, tree.cpu_ticks);
    CHECK_NUMBER("which is all but the wait", tree.cpu_ticks, 10000 - 9);
    done(&tree);
}

static void test_wall_clock(void)
{
    struct maker m;
    begin(&m);
    maker_info(&m, "offcpu", "none: perf_event_paranoid is 3");
    maker_thread(&m, 1, "GC Thread#0", false);
    STEPS(&m, 0, ENTER(A, 10), EXIT(A, 60));
    struct calltree tree = end(&m, 100);
    CHECK_TEXT("the trace's reason is kept", tree.why_wall, "none: perf_event_paranoid is 3");
    CHECK_NUMBER("wall time stands in", NODE(&tree, A)->cpu_ticks, 50);
    CHECK_NUMBER("but not for threads without probes", tree.threads[1].cpu_ticks, 0);
    CHECK_NUMBER("so the sum is that of the others", tree.cpu_ticks, 100);
    done(&tree);
}

static void test_counters(void)
{
    struct maker m;
    begin(&m);
    struct trace_counter counters[] = { { "cycles", "", true, TRACE_COUNTER_EVENT, 0 },
                                        { "L1-dcache-load-misses", "no such event", false, TRACE_COUNTER_EVENT, 0 },
                                        { "instructions", "", true, TRACE_COUNTER_EVENT, 0 } };
    maker_must(&m, trace_write_counters(m.writer, counters, 3, &m.err));
    m.n_counters = 2;
    STEPS(&m, 0, ENTER(A, 0, UINT64_MAX - 99, 1000), ENTER(B, 10, UINT64_MAX - 1, 1050), EXIT(B, 20, 199, 1090),
          EXIT(A, 30, 299, 1190), ENTER(A, 40, 5, 1200), EXIT(A, 50, 15, 1205));
    struct calltree tree = end(&m, 60);
    struct calltree_total a = total_of(&tree, A), b = total_of(&tree, B);
    CHECK_NUMBER("two counters besides what every tree has", tree.n_metrics, CALLTREE_COUNTERS + 2);
    CHECK_NUMBER("a counter's difference is the current call's, modulo 2^64", b.total_metrics[CALLTREE_COUNTERS], 201);
    CHECK_NUMBER("callers include it", a.total_metrics[CALLTREE_COUNTERS], 98 + 201 + 100 + 10);
    CHECK_NUMBER("every counter is its own", a.total_metrics[CALLTREE_COUNTERS + 1], 190 + 5);
    CHECK_NUMBER("a counter that runs backwards counts nothing for once", tree.n_stray, 1);
    done(&tree);
}

static void count_two(struct maker *m)
{
    static const struct trace_counter counters[] = { { "cycles", "", true, TRACE_COUNTER_EVENT, 0 },
                                                     { "instructions", "", true, TRACE_COUNTER_EVENT, 0 } };
    maker_must(m, trace_write_counters(m->writer, counters, 2, &m->err));
    m->n_counters = 2;
}

static void test_not_counted(void)
{
    const uint64_t none = RING_NOT_COUNTED;
    struct maker m;
    begin(&m);
    maker_thread(&m, 1, "no probes", false);
    count_two(&m);
    KERNEL(&m, AT(TRACE_CPU_IN, 0, 0), AT(TRACE_CPU_OUT, 0, 90), AT(TRACE_CPU_IN, 1, 0), AT(TRACE_CPU_OUT, 1, 7));
    STEPS(&m, 0, ENTER(A, 10, 1000, 100), ENTER(B, 20, none, none), EXIT(B, 30, 5000, 500), ENTER(C, 50, 7000, none),
          EXIT(C, 51, none, 800), ENTER(B, 53, 9000, 900), EXIT(B, 60, 9500, 940), EXIT(A, 70, 9600, 950));
    struct calltree tree = end(&m, 100);
    struct calltree_total a = total_of(&tree, A), b = total_of(&tree, B), c = total_of(&tree, C);
    CHECK_NUMBER("an interval that begins or ends without counters adds nothing", a.total_metrics[CALLTREE_COUNTERS],
                 600);
    CHECK_NUMBER("the next whole one counts again", b.total_metrics[CALLTREE_COUNTERS], 500);
    CHECK_NUMBER("one counter that is not read makes all unknown", c.total_metrics[CALLTREE_COUNTERS + 1], 0);
    CHECK_NUMBER("the time without counters is known", b.total_metrics[CALLTREE_UNCOUNTED], 10);
    CHECK_NUMBER("callers include it", a.total_metrics[CALLTREE_UNCOUNTED], 10 + 10 + 20 + 1 + 2);
    uint64_t uncounted = calltree_total_metrics(&tree, tree.roots[0].node)[CALLTREE_UNCOUNTED];
    CHECK_NUMBER("nothing is counted before a thread's first record, after its last, and without records", uncounted,
                 10 + 43 + 20 + 7);
    CHECK_NUMBER("none of this is damage", tree.n_stray, 0);
    done(&tree);
}

static void test_probe_counts(void)
{
    struct maker m;
    begin(&m);
    KERNEL(&m, AT(TRACE_CPU_IN, 0, 0));
    maker_info(&m, "probe.inside_counters", "100.5 30");
    maker_info(&m, "probe.outside_counters", "20 1e99");
    count_two(&m);
    STEPS(&m, 0, ENTER(A, 10, 0, 0));
    uint64_t cycles = 0, instructions = 0;
    for (uint64_t i = 0; i < 10; i++) {
        STEPS(&m, 0, ENTER(B, 20 + 10 * i, cycles + 520, instructions + 50),
              EXIT(B, 25 + 10 * i, cycles + 1220, instructions + 60));
        cycles += 1220;
        instructions += 60;
    }
    struct calltree tree = end(&m, 200);
    const uint64_t *b = total_of(&tree, B).total_metrics;
    CHECK_NUMBER("the probe's own events are taken off a call, fractions kept", b[CALLTREE_COUNTERS], 7000 - 1005);
    CHECK_NUMBER("never more than there are", b[CALLTREE_COUNTERS + 1], 0);
    CHECK_NUMBER("off the time between calls, too; an absurd cost is none",
                 total_of(&tree, A).total_metrics[CALLTREE_COUNTERS] - b[CALLTREE_COUNTERS], 520 - 60 + 9 * (520 - 20));
    done(&tree);
}

static void test_threads_apart(void)
{
    struct maker m;
    begin(&m);
    maker_thread(&m, 1, "other", true);
    STEPS(&m, 0, ENTER(A, 0), EXIT(A, 10));
    STEPS(&m, 1, ENTER(A, 0), ENTER(B, 5), EXIT(B, 25), EXIT(A, 30));
    struct calltree tree = end(&m, 30);
    CHECK_NUMBER("threads of the application share a tree", NODE(&tree, A)->cpu_ticks, 10 + 10);
    done(&tree);

    begin(&m);
    maker_thread(&m, 1, "other", true);
    STEPS(&m, 0, ENTER(A, 0), EXIT(A, 10));
    STEPS(&m, 1, ENTER(A, 0), ENTER(B, 5), EXIT(B, 25), EXIT(A, 30));
    tree = end_with(&m, 30, &(struct calltree_options){ .per_thread = true });
    CHECK("or have one each", tree.n_roots == 2 && tree.roots[0].thread == 0 && tree.roots[1].thread == 1);
    CHECK_NUMBER("with its own times", NODE(&tree, A)->cpu_ticks, 10);
    CHECK_NUMBER("methods add up over both", total_of(&tree, A).total_cpu_ticks, 40);
    done(&tree);
}

static void test_folding(void)
{
    struct maker m;
    begin(&m);
    /* Root, A, B: no more. */
    STEPS(&m, 0, ENTER(A, 0), ENTER(B, 10), ENTER(A, 30), ENTER(B, 60), ENTER(C, 100), ENTER(D, 150), EXIT(D, 210),
          EXIT(C, 280), EXIT(B, 360), EXIT(A, 450), EXIT(B, 550), UNWIND(A, 660), ENTER(C, 700), EXIT(C, 710));
    struct calltree tree = end_with(&m, 710, &(struct calltree_options){ .max_nodes = 3 });
    CHECK_NUMBER("calls without room are counted", tree.n_folded, 4);
    CHECK_NUMBER("a caller of the same method takes them", calltree_calls(&tree, INDEX(&tree, A)), 2);
    CHECK_NUMBER("with what they call, where that has room", calltree_calls(&tree, INDEX(&tree, A, B)), 2);
    CHECK_NUMBER("and their time", NODE(&tree, A)->cpu_ticks, 10 + 30 + 90 + 110);
    const struct calltree_node *folded = NODE(&tree, CALLTREE_FOLDED);
    CHECK_NUMBER("else one node takes them all", folded->low_calls, 3);
    CHECK_NUMBER("with their time", folded->cpu_ticks, 50 + 60 + 70 + 10);
    CHECK_NUMBER("exits lead back to the true callers", NODE(&tree, A, B)->cpu_ticks, 20 + 40 + 80 + 100);
    CHECK_NUMBER("exits match", tree.n_unmatched_exits + tree.n_missing_exits, 0);
    CHECK_NUMBER("exits by exception too", ROW(&tree, ROW_UNWINDS, A), 1);
    done(&tree);
}

static void test_many_calls(void)
{
    struct node_store store;
    node_store_open(&store, 10);
    node_store_rows(&store, 0);
    uint32_t node = node_store_child(&store, node_store_root(&store), A);
    store.nodes[node].low_calls = UINT32_MAX;
    node_store_call(&store, node);
    node_store_call(&store, node);
    node_store_finish(&store);
    struct calltree tree = { .nodes = store.nodes, .rows = store.rows, .row_words = store.row_words };
    CHECK_NUMBER("a context may have any number of calls", calltree_calls(&tree, node), (UINT64_C(1) << 32) + 1);
    CHECK_NUMBER("a context with a row has a caller with one", tree.nodes[tree.nodes[node].parent].row, 2);
    node_store_close(&store);
}

static void test_strangers(void)
{
    struct maker m;
    begin(&m);
    KERNEL(&m, { .kind = TRACE_KERNEL_LOST, .count = 12, .ticks = 3 });
    STEPS(&m, 9, ENTER(A, 10), EXIT(A, 20));
    STEPS(&m, 0, ENTER(17, 10), EXIT(17, 20));
    struct calltree tree = end(&m, 20);
    CHECK_NUMBER("lost kernel records are counted", tree.n_kernel_lost, 12);
    CHECK_NUMBER("a thread without a description is the application's", NODE(&tree, A)->cpu_ticks, 10);
    CHECK_NUMBER("a method without one is counted by its id", NODE(&tree, 17)->cpu_ticks, 10);
    done(&tree);
}

static void test_empty(void)
{
    struct maker m;
    maker_open(&m, "empty.dat");
    struct calltree tree = end(&m, 10);
    struct calltree_total *totals;
    size_t n = 1;
    calltree_totals(&tree, VM_PART_APPLICATION, &arena, &totals, &n);
    CHECK("an empty trace has an empty tree", tree.n_roots == 0 && n == 0);
    done(&tree);
}

/* More than the tree has room for at first; each is met again when it has grown. */
static void test_many_contexts(void)
{
    enum { N = 20000 };
    struct maker m;
    uint64_t now = 0;
    maker_open(&m, "many.dat");
    maker_thread(&m, 0, "main", true);
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < N; i++, now += 2)
            STEPS(&m, 0, ENTER(i, now), EXIT(i, now + 1));
    struct calltree tree = end(&m, now);
    CHECK_NUMBER("a tree of 20,000 contexts has each of them once", tree.n_nodes - 1, N + 1);
    CHECK("with both of its calls", total_of(&tree, 5).calls == 2 && total_of(&tree, N - 1).calls == 2);
    done(&tree);
}

int main(void)
{
    test_figure_3_3();
    test_recursion();
    test_deep_recursion();
    test_exits();
    test_gaps();
    test_open_calls();
    test_partial_calls();
    test_switches();
    test_sampled_faults();
    test_thread_lives();
    test_rounds();
    test_clocks_apart();
    test_names_come_late();
    test_probe_cost();
    test_wall_clock();
    test_counters();
    test_not_counted();
    test_probe_counts();
    test_threads_apart();
    test_folding();
    test_many_calls();
    test_strangers();
    test_many_contexts();
    test_empty();
    return tap_done();
}
