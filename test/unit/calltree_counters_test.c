/*
 * The call tree's counters: readings from outside, series, groups that take turns.
 */
#include "phases/tree/calltree.h"

#include "test/unit/tap.h"
#include "test/unit/trace_maker.h"

#include <math.h>

enum { A, B, C };

static const uint64_t none = RING_NOT_COUNTED;

static struct arena arena;
static struct err err;
static struct trace_reader *reader;

static void begin(struct maker *m)
{
    maker_open(m, "counters.dat");
    for (uint32_t i = 0; i < 3; i++)
        maker_method(m, i, "t/T", (const char *[]){ "a", "b", "c" }[i], "()V");
    maker_thread(m, 0, "main", true);
    KERNEL(m, AT(TRACE_CPU_IN, 0, 0));
}

static struct calltree end(struct maker *m, uint64_t end_ticks)
{
    struct calltree tree;
    maker_close(m, end_ticks);
    reader = maker_read(m);
    maker_must(m, calltree_build(reader, &(struct calltree_options){ 0 }, &tree, &m->err));
    return tree;
}

static void done(struct calltree *tree)
{
    calltree_free(tree);
    trace_close(reader);
    arena_free(&arena);
}

/* An inclusive metric of a method of the application, with all its contexts. */
static uint64_t metric(const struct calltree *tree, uint32_t method, size_t i)
{
    struct calltree_total *totals;
    size_t n;
    calltree_totals(tree, VM_PART_APPLICATION, &arena, &totals, &n);
    for (size_t t = 0; t < n; t++)
        if (totals[t].method == method)
            return totals[t].total_metrics[i];
    return UINT64_MAX;
}

static uint64_t counted(const struct calltree *tree, uint32_t method, size_t column)
{
    return metric(tree, method, CALLTREE_COUNTERS + column);
}

/* The same of all threads of a part. */
static uint64_t of_part(const struct calltree *tree, enum vm_part part, size_t i)
{
    uint64_t sum = 0;
    for (uint32_t r = 0; r < tree->n_roots; r++)
        if (tree->roots[r].part == part)
            sum += calltree_total_metrics(tree, tree->roots[r].node)[i];
    return sum;
}

static void test_readings(void)
{
    struct maker m;
    begin(&m);
    GROUPS(&m, "instructions");
    maker_info(&m, "probe.inside_counters", "7");
    STEPS(&m, 0, ENTER(A, 10, 1000), ENTER(B, 20, 1100));
    READING(&m, 0, 1, 40, 1500);
    READING(&m, 0, 1, 60, 2000);
    STEPS(&m, 0, EXIT(B, 80, 2600), EXIT(A, 90, 2700));
    READING(&m, 0, 1, 95, 2800);
    struct calltree tree = end(&m, 100);
    CHECK_NUMBER("readings within a call change nothing: the probe's cost comes off once", counted(&tree, B, 0),
                 1500 - 7);
    CHECK_NUMBER("nor do they for its caller", counted(&tree, A, 0), 1700 - 7 - 7);
    CHECK_NUMBER("all time is counted but that before the first record and after the last reading",
                 of_part(&tree, VM_PART_APPLICATION, CALLTREE_UNCOUNTED), 10 + 5);
    CHECK_NUMBER("after the last record, the reading counts", of_part(&tree, VM_PART_APPLICATION, CALLTREE_COUNTERS),
                 1700 - 14 + 100);
    CHECK_NUMBER("what the probes took is known", tree.probe_counts[0], 7 + 7);
    done(&tree);
}

/* The probes do not read: --read none. */
static void test_readings_only(void)
{
    struct maker m;
    begin(&m);
    GROUPS(&m, "instructions");
    READING(&m, 0, 0, 2, 5);
    READING(&m, 0, 0, 8, 605);
    READING(&m, 0, 1, 30, 1000);
    READING(&m, 0, 1, 40, 2000);
    READING(&m, 0, 1, 50, 3000);
    READING(&m, 0, 1, 70, 9000);
    READING(&m, 0, 1, 80, 9500);
    STEPS(&m, 0, ENTER(A, 10, none), ENTER(B, 60, none), EXIT(B, 65, none), EXIT(A, 90, none));
    struct calltree tree = end(&m, 100);
    CHECK_NUMBER("intervals between readings without a record count", counted(&tree, A, 0), 1000 + 1000 + 500);
    CHECK_NUMBER("those with a record do not", metric(&tree, A, CALLTREE_UNCOUNTED), 20 + 10 + 5 + 5 + 10);
    CHECK_NUMBER("a call between two readings is not counted", metric(&tree, B, CALLTREE_UNCOUNTED), 5);
    CHECK_NUMBER("what another series said before counts, too", of_part(&tree, VM_PART_APPLICATION, CALLTREE_COUNTERS),
                 2500 + 600);
    CHECK_NUMBER("none of this is damage", tree.n_stray, 0);
    done(&tree);
}

static void test_series(void)
{
    struct maker m;
    begin(&m);
    GROUPS(&m, "instructions");
    READING(&m, 0, 0, 5, 100);
    READING(&m, 0, 0, 15, 700);
    STEPS(&m, 0, ENTER(A, 20, 50), EXIT(A, 30, 250));
    READING(&m, 0, 1, 35, 300);
    READING(&m, 0, 2, 40, 0);
    READING(&m, 0, 2, 45, 33);
    struct calltree tree = end(&m, 50);
    CHECK_NUMBER("series are counted each by itself", of_part(&tree, VM_PART_APPLICATION, CALLTREE_COUNTERS),
                 600 + 200 + 50 + 33);
    CHECK_NUMBER("nothing is known from one to the next", of_part(&tree, VM_PART_APPLICATION, CALLTREE_UNCOUNTED),
                 5 + 5 + 5 + 5);
    CHECK_NUMBER("that is no counter running backwards", tree.n_stray, 0);
    done(&tree);
}

static void test_out_of_order(void)
{
    struct maker m;
    begin(&m);
    GROUPS(&m, "instructions");
    STEPS(&m, 0, ENTER(A, 10, 1000));
    READING(&m, 0, 1, 50, 5000);
    READING(&m, 0, 1, 52, none);
    READING(&m, 0, 1, 71, 6900);
    STEPS(&m, 0, ENTER(B, 51, 4990), EXIT(B, 70, 7000), EXIT(A, 80, 8000));
    struct calltree tree = end(&m, 80);
    CHECK_NUMBER("a reading a little too early for its value is left out", counted(&tree, B, 0), 7000 - 4990);
    CHECK_NUMBER("so is one too late, and one that failed: all is counted", counted(&tree, A, 0), 7000);
    CHECK_NUMBER("every tick", metric(&tree, A, CALLTREE_UNCOUNTED), 0);
    CHECK_NUMBER("none of them is damage", tree.n_stray, 0);
    done(&tree);
}

static void test_threads_without_rings(void)
{
    struct maker m;
    begin(&m);
    GROUPS(&m, "cycles instructions");
    maker_thread(&m, 1, "java", false);
    READING(&m, 1, 0, 20, 100, 10);
    KERNEL(&m, AT(TRACE_CPU_IN, 1, 10), AT(TRACE_CPU_OUT, 1, 50));
    READING(&m, 1, 0, 30, 300, 20);
    STEPS(&m, 0, ENTER(A, 10, 1, 1), EXIT(A, 20, 2, 2));
    maker_thread(&m, 1, "GC Thread#0", false);
    KERNEL(&m, AT(TRACE_CPU_IN, 1, 60), AT(TRACE_THREAD_END, 1, 80));
    READING(&m, 1, 0, 55, 900, 60);
    READING(&m, 1, 0, 90, 1000, 70);
    struct calltree tree = end(&m, 100);
    CHECK_NUMBER("a thread of the VM is counted by readings", of_part(&tree, VM_PART_GC, CALLTREE_COUNTERS), 900);
    CHECK_NUMBER("every column", of_part(&tree, VM_PART_GC, CALLTREE_COUNTERS + 1), 60);
    CHECK_NUMBER("under its last name", of_part(&tree, VM_PART_APPLICATION, CALLTREE_COUNTERS), 1);
    CHECK_NUMBER("from its first reading to its end", of_part(&tree, VM_PART_GC, CALLTREE_UNCOUNTED), 10);
    CHECK_NUMBER("with all its time", tree.threads[1].cpu_ticks, 40 + 20);
    CHECK_NUMBER("once", tree.cpu_ticks, 60 + 100);
    done(&tree);
}

/* A thread in turns of two groups, 1 ms each: 1000 cycles, 500 instructions, 10 misses of the group per turn. */
struct turns {
    uint64_t columns[9]; /* cycles instructions e, cycles instructions f, two times, the thread's */
    uint32_t n;
};

static const uint64_t *next_turn(struct turns *turns, uint64_t misses)
{
    uint32_t g = turns->n++ % 2;
    turns->columns[3 * g] += 1000;
    turns->columns[3 * g + 1] += 500;
    turns->columns[3 * g + 2] += misses;
    turns->columns[6 + g] += 1000000;
    turns->columns[8] += 1000000;
    return turns->columns;
}

static struct step step_with(enum ring_kind kind, uint32_t method, uint64_t ticks, const uint64_t *columns)
{
    struct step step = { .kind = kind, .method = method, .ticks = ticks };
    memcpy(step.counters, columns, 9 * sizeof *columns);
    return step;
}

static double sum_of(const struct estimate_batches *batches, size_t value)
{
    double sum = 0;
    for (size_t i = 0; i < batches->n + (size_t)batches->has_more; i++)
        sum += batches->rows[i * (batches->n_values + 1) + value];
    return sum;
}

/* A calls B every third turn; C is left and entered in each. */
static void make_turns(struct maker *m, uint32_t n)
{
    struct turns turns = { { 0 }, 0 };
    uint64_t now = 1;
    struct step step = step_with(RING_ENTER, A, now, turns.columns);
    maker_steps(m, 0, &step, 1);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t method = i % 3 == 0 ? B : C;
        step = step_with(RING_ENTER, method, ++now, turns.columns);
        maker_steps(m, 0, &step, 1);
        step = step_with(RING_EXIT, method, ++now, next_turn(&turns, method == B ? 10 : 1));
        maker_steps(m, 0, &step, 1);
    }
    step = step_with(RING_EXIT, A, ++now, turns.columns);
    maker_steps(m, 0, &step, 1);
}

static void test_turns(void)
{
    struct maker m;
    begin(&m);
    GROUPS(&m, "cycles instructions e", "cycles instructions f");
    make_turns(&m, 60);
    struct calltree tree = end(&m, 1000);
    CHECK("the groups are where the trace has them",
          tree.groups.n == 2 && tree.groups.first[1] == 3 && tree.groups.running == 6 && tree.groups.enabled == 8);
    CHECK_NUMBER("a column is what it is", counted(&tree, B, 2), 10 * 10);
    CHECK_NUMBER("a group's time, too", counted(&tree, A, 7), 30000000);
    CHECK_NUMBER("and the thread's", counted(&tree, A, 8), 60000000);
    const struct estimate_batches *a = tree.batches[A], *b = tree.batches[B];
    CHECK("a method has batches of each group, with its own turns only",
          b[0].n + b[0].has_more == 10 && b[1].n + b[1].has_more == 10);
    CHECK("with what it counted in them", sum_of(&b[0], 0) == 10e6 && sum_of(&b[0], 3) == 100);
    CHECK("its caller's have all that was called", sum_of(&a[0], 0) == 30e6 && sum_of(&a[0], 3) == 10 * 10 + 20);
    CHECK("in a batch for each turn", a[0].n + a[0].has_more == 30);
    CHECK("so does all of the application",
          sum_of(&tree.part_batches[VM_PART_APPLICATION][1], 3) == sum_of(&a[1], 3) && tree.outside_batches == NULL);
    done(&tree);
}

/* Recursion counts once, and calls much shorter than a turn are part of it. */
static void test_recursion_in_turns(void)
{
    struct maker m;
    begin(&m);
    GROUPS(&m, "cycles instructions e", "cycles instructions f");
    struct turns turns = { { 0 }, 0 };
    uint64_t now = 1;
    for (uint32_t turn = 0; turn < 20; turn++) {
        uint64_t before[9];
        memcpy(before, turns.columns, sizeof before);
        next_turn(&turns, 16);
        for (uint64_t call = 0; call <= 8; call++) {
            uint64_t at[9];
            for (size_t c = 0; c < 9; c++)
                at[c] = before[c] + (turns.columns[c] - before[c]) / 8 * call;
            struct step steps[] = { step_with(RING_EXIT, A, now + 1, at), step_with(RING_EXIT, A, now + 2, at),
                                    step_with(RING_ENTER, A, now + 3, at), step_with(RING_ENTER, A, now + 4, at) };
            now += 4;
            maker_steps(&m, 0, steps + (turn + call == 0 ? 2 : 0), turn + call == 0 ? 2 : 4);
        }
    }
    struct calltree tree = end(&m, 1000);
    const struct estimate_batches *a = tree.batches[A];
    CHECK("a method that calls itself counts once", sum_of(&a[0], 3) == 160 && sum_of(&a[1], 3) == 160);
    CHECK("a turn is one observation, however many calls it was", a[0].n + a[0].has_more == 10);
    CHECK_NUMBER("as it is among the metrics", counted(&tree, A, 2), 160);
    done(&tree);
}

static void test_turns_from_readings(void)
{
    struct maker m;
    begin(&m);
    GROUPS(&m, "cycles instructions e", "cycles instructions f");
    maker_thread(&m, 1, "C2 CompilerThre", false);
    struct turns main = { { 0 }, 0 }, c2 = { { 0 }, 0 };
    struct step step = step_with(RING_ENTER, A, 1, main.columns);
    maker_steps(&m, 0, &step, 1);
    for (uint64_t i = 1; i <= 20; i++) {
        maker_must(&m, trace_write_counts(m.writer, 0, 1, i * 10, next_turn(&main, 5), &m.err));
        maker_must(&m, trace_write_counts(m.writer, 1, 0, i * 10, next_turn(&c2, 3), &m.err));
    }
    step = step_with(RING_EXIT, A, 200, main.columns);
    maker_steps(&m, 0, &step, 1);
    struct calltree tree = end(&m, 300);
    CHECK_NUMBER("a long call is cut by readings", tree.batches[A][0].n + tree.batches[A][0].has_more, 10);
    CHECK("so are threads without probes",
          tree.part_batches[VM_PART_C2][1].n == 9 && tree.part_batches[VM_PART_C2][1].has_more);
    CHECK("whose batches have what they counted", sum_of(&tree.part_batches[VM_PART_C2][1], 3) == 30);
    done(&tree);
}

static void test_outside(void)
{
    struct maker m;
    begin(&m);
    GROUPS(&m, "cycles instructions e", "cycles instructions f");
    struct turns turns = { { 0 }, 0 };
    uint64_t now = 1;
    for (uint32_t i = 0; i < 12; i++) {
        struct step step = step_with(RING_ENTER, A, ++now, next_turn(&turns, 7));
        maker_steps(&m, 0, &step, 1);
        step = step_with(RING_EXIT, A, ++now, next_turn(&turns, 2));
        maker_steps(&m, 0, &step, 1);
    }
    struct calltree tree = end(&m, 1000);
    CHECK("time outside methods has batches of its own",
          sum_of(&tree.outside_batches[0], 3) == 11 * 7 && sum_of(&tree.outside_batches[1], 3) == 0);
    CHECK("the methods have the rest", sum_of(&tree.batches[A][1], 3) == 12 * 2);
    done(&tree);
}

static void test_impossible_groups(void)
{
    static const struct {
        const char *claim;
        struct trace_counter counters[3];
    } rows[] = {
        { "groups without times",
          { { "a", "", true, TRACE_COUNTER_EVENT, 0 }, { "b", "", true, TRACE_COUNTER_EVENT, 1 } } },
        { "times without an order",
          { { "a", "", true, TRACE_COUNTER_RUNNING_NS, 0 }, { "b", "", true, TRACE_COUNTER_EVENT, 0 } } },
        { "a group too many",
          { { "a", "", true, TRACE_COUNTER_EVENT, 0 }, { "b", "", true, TRACE_COUNTER_EVENT, 127 } } },
        { "a thread's time alone",
          { { "a", "", true, TRACE_COUNTER_ENABLED_NS, 0 }, { "b", "", true, TRACE_COUNTER_ENABLED_NS, 0 } } },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct maker m;
        struct calltree tree;
        begin(&m);
        maker_must(&m, trace_write_counters(m.writer, rows[i].counters, 2, &m.err));
        m.n_counters = 2;
        READING(&m, 0, 0, 5, 1, 2);
        maker_close(&m, 10);
        reader = maker_read(&m);
        CHECK(rows[i].claim, calltree_build(reader, &(struct calltree_options){ 0 }, &tree, &err) < 0 &&
                                 strncmp(err.text, "the trace's counters have an impossible layout\n", 47) == 0);
        trace_close(reader);
    }
}

int main(void)
{
    test_readings();
    test_readings_only();
    test_series();
    test_out_of_order();
    test_threads_without_rings();
    test_turns();
    test_recursion_in_turns();
    test_turns_from_readings();
    test_outside();
    test_impossible_groups();
    return tap_done();
}
