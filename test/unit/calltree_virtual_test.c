/* Virtual threads that come to carriers and go, in the call tree and in what looks at single calls. */
#include "phases/tree/calltree.h"

#include "phases/select/statistics.h"
#include "report/export/export_tree.h"
#include "test/unit/tap.h"
#include "test/unit/trace_maker.h"

static struct arena arena;

enum { WORK, PARK, LOOP, N_METHODS };

static void begin(struct maker *m)
{
    maker_open(m, "virtual.dat");
    for (uint32_t i = 0; i < N_METHODS; i++)
        maker_method(m, i, "t/T", (const char *[]){ "work", "park", "loop" }[i], "()V");
    maker_thread(m, 0, "carrier-1", true);
    maker_thread(m, 1, "carrier-2", true);
}

static struct trace_reader *reader;

static struct calltree end_with(struct maker *m, uint64_t end_ticks, const struct calltree_options *options)
{
    struct calltree tree;
    maker_close(m, end_ticks);
    reader = maker_read(m);
    maker_must(m, calltree_build(reader, options, &tree, &m->err));
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

static const struct calltree_node *top_node(const struct calltree *tree, uint32_t method)
{
    uint32_t node = tree->nodes[tree->roots[0].node].first_child;
    while (node != 0 && tree->nodes[node].method != method)
        node = tree->nodes[node].next_sibling;
    return &tree->nodes[node];
}

/* Carriers are in a loop of their own; a virtual thread parks in a nested call and goes on on the other one. */
static void make_move(struct maker *m)
{
    begin(m);
    STEPS(m, 0, ENTER(LOOP, 0), MOUNT(0, 100), ENTER(WORK, 110), ENTER(PARK, 130), UNMOUNT(7, 140), EXIT(LOOP, 200));
    STEPS(m, 1, ENTER(LOOP, 0), MOUNT(7, 1000), RESUME(WORK, 1000), RESUME(PARK, 1000), EXIT(PARK, 1030),
          EXIT(WORK, 1100), UNMOUNT(0, 1110), EXIT(LOOP, 1200));
}

static void test_move(void)
{
    struct maker m;
    make_move(&m);
    struct calltree tree = end(&m, 1200);
    struct calltree_total work = total_of(&tree, WORK), park = total_of(&tree, PARK), loop = total_of(&tree, LOOP);
    CHECK_NUMBER("a call that goes on on another carrier is one call", work.calls + park.calls, 2);
    CHECK_NUMBER("its time is that on both", work.total_cpu_ticks, 30 + 100);
    CHECK_NUMBER("so is that of the call in which it was unmounted", park.total_cpu_ticks, 10 + 30);
    CHECK_NUMBER("while it has no carrier, no clock runs for it", work.total_wall_ticks, 130);
    CHECK_NUMBER("it stands at the root, not under its carriers' calls", top_node(&tree, WORK)->low_calls, 1);
    CHECK_NUMBER("which have their own time only", loop.total_cpu_ticks, (100 + 60) + (1000 + 90));
    CHECK_NUMBER("all calls have returned", tree.n_open + work.n_open + park.n_open + loop.n_open, 0);
    CHECK_NUMBER("by their own exits", tree.n_unmatched_exits + tree.n_missing_exits, 0);
    CHECK_NUMBER("all time is in the tree", tree.total_cpu_ticks[tree.roots[0].node], tree.cpu_ticks);
    CHECK_NUMBER("how long it waited is known by the call in which it did", tree.unmounted[PARK].ticks, 1000 - 140);
    CHECK_NUMBER("so is how often", tree.unmounted[PARK].n + tree.unmounted[WORK].n, 1);
    done(&tree);
}

static void test_never_resumed(void)
{
    struct maker m;
    begin(&m);
    STEPS(&m, 0, ENTER(WORK, 10), ENTER(PARK, 20), UNMOUNT(3, 30), ENTER(WORK, 40), EXIT(WORK, 45), ENTER(WORK, 50),
          UNMOUNT(0, 60), MOUNT(0, 70), UNMOUNT(0, 80));
    struct calltree tree = end(&m, 100);
    CHECK_NUMBER("a call that is never taken up again never returned", total_of(&tree, PARK).n_open, 1);
    CHECK_NUMBER("nor did the calls around it, or one that was lost", total_of(&tree, WORK).n_open, 2);
    CHECK_NUMBER("they are counted", tree.n_open, 3);
    CHECK_NUMBER("it waits to the end", tree.unmounted[PARK].ticks, 100 - 30);
    CHECK_NUMBER("their time ends where they go", total_of(&tree, WORK).total_cpu_ticks, 20 + 5 + 10);
    struct calltree_total work = total_of(&tree, WORK);
    struct calltree_whole whole = calltree_whole_of(&work);
    CHECK("the call that has returned is the only whole one", whole.calls == 1 && whole.cpu_ticks == 5);
    CHECK_NUMBER("another virtual thread's calls are not theirs", top_node(&tree, WORK)->low_calls, 3);
    done(&tree);
}

/* The recording began, or a piece of it was lost, while the virtual thread was away: its calls are told all the same.
 */
static void test_unknown_ticket(void)
{
    struct maker m;
    begin(&m);
    STEPS(&m, 0, MOUNT(99, 10), RESUME(WORK, 10), ENTER(PARK, 20), EXIT(PARK, 30), EXIT(WORK, 50), EXIT(LOOP, 55),
          MOUNT(0, 60), ENTER(WORK, 60), EXIT(WORK, 65), UNMOUNT(0, 70));
    struct calltree tree = end(&m, 70);
    CHECK_NUMBER("a call from before has time", total_of(&tree, WORK).total_cpu_ticks, 40 + 5);
    CHECK_NUMBER("but was not made here", total_of(&tree, WORK).calls, 1);
    CHECK_NUMBER("an exit from a call outside the virtual thread is ignored", tree.n_unmatched_exits, 1);
    CHECK_NUMBER("one that comes while another has not gone pushes it out", tree.n_open, 0);
    done(&tree);
}

static void test_ping_pong(void)
{
    enum { N = 1000 };
    struct maker m;
    begin(&m);
    STEPS(&m, 0, ENTER(WORK, 0), ENTER(WORK, 5), UNMOUNT(1, 10));
    for (uint64_t i = 1; i <= N; i++) {
        uint64_t now = i * 100;
        uint32_t ticket = (uint32_t)i;
        STEPS(&m, i % 2, MOUNT(ticket, now), RESUME(WORK, now), RESUME(WORK, now), UNMOUNT(ticket + 1, now + 10));
    }
    STEPS(&m, 1, MOUNT(N + 1, 200000), RESUME(WORK, 200000), RESUME(WORK, 200000), EXIT(WORK, 200005),
          EXIT(WORK, 200010), UNMOUNT(0, 200010));
    struct calltree tree = end(&m, 200010);
    CHECK_NUMBER("a thousand moves are two calls", total_of(&tree, WORK).calls, 2);
    CHECK_NUMBER("with the time of all pieces, once", total_of(&tree, WORK).total_cpu_ticks, 10 + N * 10 + 10);
    CHECK_NUMBER("in two contexts", tree.n_nodes - 1, 1 + 2);
    CHECK_NUMBER("that have returned", tree.n_open, 0);
    done(&tree);
}

static void test_switches(void)
{
    struct maker m;
    begin(&m);
    KERNEL(&m, AT(TRACE_CPU_IN, 0, 0), AT(TRACE_CPU_IN, 1, 0), AT(TRACE_CPU_PREEMPTED, 0, 50), AT(TRACE_CPU_IN, 0, 70),
           AT(TRACE_CPU_OUT, 0, 120));
    STEPS(&m, 0, ENTER(WORK, 10), UNMOUNT(2, 100));
    STEPS(&m, 1, MOUNT(2, 300), RESUME(WORK, 300), EXIT(WORK, 310));
    struct calltree tree = end(&m, 400);
    CHECK_NUMBER("a carrier that loses its CPU takes the CPU time away", total_of(&tree, WORK).total_cpu_ticks,
                 70 + 10);
    CHECK_NUMBER("but not the clock's", total_of(&tree, WORK).total_wall_ticks, 90 + 10);
    done(&tree);
}

static void test_per_thread(void)
{
    struct maker m;
    make_move(&m);
    struct calltree tree = end_with(&m, 1200, &(struct calltree_options){ .per_thread = true });
    CHECK_NUMBER("a tree per thread: each carrier has its piece", tree.total_cpu_ticks[tree.roots[0].node], 200 + 1000);
    CHECK_NUMBER("the first one's call", top_node(&tree, WORK)->low_calls, 1);
    CHECK_NUMBER("has returned, elsewhere", tree.n_open + total_of(&tree, WORK).n_open, 0);
    CHECK_NUMBER("in all it is one call", total_of(&tree, WORK).calls, 1);
    done(&tree);
}

/* ---- counters ---- */

static void test_counters(void)
{
    struct maker m;
    begin(&m);
    GROUPS(&m, "cycles");
    STEPS(&m, 0, ENTER(WORK, 0, 1000), UNMOUNT(1, 10, 1040), ENTER(PARK, 20, 1100), EXIT(PARK, 30, 1600));
    STEPS(&m, 1, ENTER(PARK, 40, 70000), EXIT(PARK, 50, 70001), MOUNT(1, 60, 71000), RESUME(WORK, 60, 71000),
          EXIT(WORK, 70, 71005));
    struct calltree tree = end(&m, 70);
    CHECK_NUMBER("a call's counts are those of its time on each carrier",
                 total_of(&tree, WORK).total_metrics[CALLTREE_COUNTERS], 40 + 5);
    CHECK_NUMBER("others have theirs", total_of(&tree, PARK).total_metrics[CALLTREE_COUNTERS], 500 + 1);
    done(&tree);
}

/* Two groups that take turns, cycles and instructions: the first one's turn; their times, the thread's. */
#define TURN(n) 2 * (n), (n), 0, 0, (n), 0, (n)

static uint64_t running_of(const struct estimate_batches *batches)
{
    double sum = 0;
    for (uint32_t i = 0; i < batches->n + batches->has_more; i++)
        sum += batches->rows[i * (1 + batches->n_values)];
    return (uint64_t)sum;
}

static void test_turns(void)
{
    struct maker m;
    begin(&m);
    GROUPS(&m, "cycles instructions", "cycles instructions");
    STEPS(&m, 0, ENTER(LOOP, 0, TURN(0)), MOUNT(0, 100, TURN(100)), ENTER(WORK, 100, TURN(100)),
          UNMOUNT(1, 150, TURN(150)), ENTER(PARK, 250, TURN(250)), EXIT(PARK, 260, TURN(260)), MOUNT(1, 300, TURN(300)),
          RESUME(WORK, 300, TURN(300)), EXIT(WORK, 400, TURN(400)), UNMOUNT(0, 400, TURN(400)),
          EXIT(LOOP, 1000, TURN(1000)));
    struct calltree tree = end(&m, 1000);
    CHECK_NUMBER("batches of a call go on with it", running_of(&tree.batches[WORK][0]), 50 + 100);
    CHECK_NUMBER("and stop for its carrier's", running_of(&tree.batches[LOOP][0]), 100 + 150 + 600);
    done(&tree);
}

/* ---- single calls ---- */

static void test_statistics(void)
{
    static const struct statistics_options options = { .metrics = { { .is_time = true } }, .n_metrics = 1 };
    struct statistics *s = statistics_open(&options);
    struct calltree_observer observer = statistics_observer(s);
    struct maker m;
    make_move(&m);
    STEPS(&m, 0, ENTER(WORK, 1300), UNMOUNT(1, 1310), ENTER(WORK, 1400), UNMOUNT(9, 1500));
    STEPS(&m, 1, MOUNT(9, 1600), RESUME(WORK, 1600), MOUNT(1, 1700), RESUME(WORK, 1700), ENTER(WORK, 1702),
          EXIT(WORK, 1706), EXIT(WORK, 1710), UNMOUNT(0, 1720), ENTER(LOOP, 1720), EXIT(LOOP, 1740));
    struct calltree tree = end_with(&m, 1800, &(struct calltree_options){ .observer = &observer });
    struct moments work = statistics_moments(s, WORK, 0), park = statistics_moments(s, PARK, 0),
                   loop = statistics_moments(s, LOOP, 0);
    CHECK_NUMBER("the pieces of a call are one call", work.n, 2);
    CHECK_NUMBER("which takes what they take", (uint64_t)work.mean, (130 + 20) / 2);
    CHECK("inner calls as well", park.n == 1 && (uint64_t)park.mean == 40);
    CHECK("a carrier's call has a pause", loop.n == 3 && (uint64_t)loop.mean == (160 + 1090 + 20) / 3);
    done(&tree);
    statistics_close(s);
}

struct line {
    char text[1024];
};

static void note_slice(void *context, const struct slice *slice)
{
    struct line *line = context;
    size_t n = strlen(line->text);
    snprintf(line->text + n, sizeof line->text - n, " %u:%d %d-%d", slice->thread, (int)slice->method,
             (int)slice->start_ticks, (int)slice->end_ticks);
}

static void test_slices(void)
{
    struct maker m;
    struct line line = { "" };
    make_move(&m);
    maker_close(&m, 1200);
    reader = maker_read(&m);
    maker_must(&m, slices_read(reader, NULL, 0, note_slice, &line, &m.err));
    trace_close(reader);
    CHECK_TEXT("over time, a call has a slice on each carrier", line.text,
               " 0:1 130-140 0:0 110-140 0:2 0-200 1:1 1000-1030 1:0 1000-1100 1:2 0-1200");
}

int main(void)
{
    test_move();
    test_never_resumed();
    test_unknown_ticket();
    test_ping_pong();
    test_switches();
    test_per_thread();
    test_counters();
    test_turns();
    test_statistics();
    test_slices();
    return tap_done();
}
