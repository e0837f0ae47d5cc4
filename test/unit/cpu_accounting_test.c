/*
 * What the kernel charges threads beyond their run slices: the recorder's part, and the report's.
 */
#include "core/recorder/cpu_accounting.h"

#include "phases/tree/calltree.h"
#include "report/shares.h"
#include "test/unit/tap.h"
#include "test/unit/trace_maker.h"

#define S_NS UINT64_C(1000000000)

#define AT_S(what, s)                                        \
    (struct kernel_event)                                    \
    {                                                        \
        .kind = KERNEL_##what, .tid = 9, .time_ns = (s)*S_NS \
    }

static struct recorder_thread *new_thread(struct threads *threads)
{
    threads_init(threads);
    return threads_add(threads, 9, TRACE_UNKNOWN);
}

static void follow(struct recorder_thread *thread, const struct kernel_event *events, size_t n)
{
    for (size_t i = 0; i < n; i++)
        cpu_accounting_follow(thread, &events[i]);
}

#define FOLLOW(thread, ...)                                      \
    follow(thread, (const struct kernel_event[]){ __VA_ARGS__ }, \
           sizeof(const struct kernel_event[]){ __VA_ARGS__ } / sizeof(struct kernel_event))

/* As if it had been read of /proc at a moment. */
static void was_read(struct recorder_thread *thread, uint64_t at_s, uint64_t cpu_s)
{
    thread->slices.read_at_ns = at_s * S_NS;
    thread->slices.read_ns = cpu_s * S_NS;
}

static bool is_charge(const struct recorder_thread *thread, uint64_t accounted_s, uint64_t slices_s, uint64_t n)
{
    const struct trace_cpu_time *cpu_time = &thread->info.cpu_time;
    return cpu_time->is_known && cpu_time->accounted_ns == accounted_s * S_NS &&
           cpu_time->slices_ns == slices_s * S_NS && cpu_time->n_slices == n;
}

static void test_born(void)
{
    struct threads threads;
    struct cpu_accounting accounting = { .threads = &threads };
    struct recorder_thread *thread = new_thread(&threads);
    FOLLOW(thread, AT_S(THREAD_START, 100), AT_S(CPU_IN, 110), AT_S(CPU_OUT, 150));
    was_read(thread, 160, 45);
    CHECK("events up to a reading may come after it", !thread->info.cpu_time.is_known);
    FOLLOW(thread, AT_S(CPU_IN, 200));
    CHECK("a later event settles it", is_charge(thread, 45, 40, 1));
    was_read(thread, 230, 80);
    FOLLOW(thread, AT_S(CPU_PREEMPTED, 220), AT_S(CPU_IN, 225), AT_S(CPU_OUT, 240));
    CHECK("a stay counts up to the moment of the reading", is_charge(thread, 80, 40 + 20 + 5, 3));
    was_read(thread, 250, 99);
    cpu_accounting_finish(&accounting);
    CHECK("the end settles the last one, and it is written", is_charge(thread, 99, 40 + 20 + 15, 3) && thread->changed);
    threads_free(&threads);
}

/* What is told of a thread comes after its end; in each file of a recording what is new is written. */
static void test_ended(void)
{
    struct threads threads;
    struct cpu_accounting accounting = { .threads = &threads };
    struct recorder_thread *thread = new_thread(&threads);
    uint64_t much_later = UINT64_C(1) << 40;
    FOLLOW(thread, AT_S(THREAD_START, 100), AT_S(CPU_IN, 110));
    was_read(thread, 120, 45);
    FOLLOW(thread, AT_S(CPU_OUT, 150));
    thread->info.end_ticks = 1000;
    CHECK("a sample that comes after a thread's end is its own", threads_get(&threads, 9, 900) == thread);
    CHECK("clocks may differ a little", threads_get(&threads, 9, 1001) == thread);
    thread->written = thread->info.cpu_time;
    thread->changed = false;
    cpu_accounting_finish(&accounting);
    CHECK("a thread that has ended is not written again in each file", !thread->changed);
    thread->written.n_slices--;
    cpu_accounting_finish(&accounting);
    CHECK("but what is not told yet is", thread->changed);
    CHECK("an id that is used again is another thread", threads_get(&threads, 9, much_later) != thread);
    threads_find(&threads, 9)->info.end_ticks = much_later;
    CHECK_NUMBER("which goes on", threads_get(&threads, 9, much_later - 5)->info.index, 1);
    CHECK_NUMBER("and one that is there now has not ended", threads_get(&threads, 9, TRACE_UNKNOWN)->info.index, 2);
    threads_free(&threads);
}

/* The clock of a thread that the kernel tells as less than when it was found. */
static void test_less(void)
{
    struct threads threads;
    struct recorder_thread *thread = new_thread(&threads);
    struct kernel_event found = AT_S(THREAD_FOUND, 1000);
    found.count = 700 * S_NS;
    FOLLOW(thread, found, AT_S(CPU_IN, 1005));
    was_read(thread, 1010, 699);
    FOLLOW(thread, AT_S(CPU_OUT, 1020));
    CHECK("a clock that went back settles nothing", !thread->info.cpu_time.is_known);
    was_read(thread, 1025, 700);
    FOLLOW(thread, AT_S(CPU_IN, 1030));
    CHECK("one that stood still does", is_charge(thread, 0, 15, 1));
    threads_free(&threads);
}

static void test_found(void)
{
    struct threads threads;
    struct recorder_thread *thread = new_thread(&threads);
    struct kernel_event found = AT_S(THREAD_FOUND, 1000);
    found.count = 700 * S_NS;
    FOLLOW(thread, found, AT_S(PAGE_FAULT, 1005));
    was_read(thread, 1010, 711);
    FOLLOW(thread, AT_S(CPU_OUT, 1020));
    CHECK("a thread that loses a CPU first had it before", is_charge(thread, 11, 10, 0));
    FOLLOW(thread, AT_S(CPU_OUT, 1030), AT_S(CPU_IN, 1040), AT_S(CPU_IN, 1050));
    was_read(thread, 1060, 760);
    FOLLOW(thread, AT_S(THREAD_END, 1070));
    CHECK("an event whose counterpart was lost changes nothing", is_charge(thread, 60, 20 + 20, 2));
    threads_free(&threads);

    thread = new_thread(&threads);
    found.count = KERNEL_UNKNOWN;
    FOLLOW(thread, found, AT_S(CPU_IN, 1100));
    was_read(thread, 1110, 5);
    FOLLOW(thread, AT_S(CPU_OUT, 1120));
    CHECK("without its time at the beginning nothing is known", !thread->info.cpu_time.is_known);
    threads_free(&threads);
}

/* Of a thread on a CPU the kernel tells its time up to the latest timer tick: 4 ms too few, where it had 20. */
static void test_stale(void)
{
    struct threads threads;
    struct recorder_thread *thread = new_thread(&threads);
    const uint64_t ms = 1000000;
    struct kernel_event found = { .kind = KERNEL_THREAD_FOUND, .tid = 9, .time_ns = 100 * ms, .count = 50 * ms };
    struct kernel_event out = { .kind = KERNEL_CPU_OUT, .tid = 9, .time_ns = 104 * ms };
    struct kernel_event in = { .kind = KERNEL_CPU_IN, .tid = 9, .time_ns = 120 * ms };
    FOLLOW(thread, found, out);
    thread->slices.read_at_ns = 110 * ms, thread->slices.read_ns = 58 * ms;
    FOLLOW(thread, in);
    CHECK("a thread that was found on a CPU is not charged what it had before", !thread->info.cpu_time.is_known);
    thread->slices.read_at_ns = 130 * ms, thread->slices.read_ns = 64 * ms;
    out.time_ns = 140 * ms, in.time_ns = 160 * ms;
    FOLLOW(thread, out);
    CHECK("nor is it read while it is on one, and has had it shortly", !thread->info.cpu_time.is_known);
    thread->slices.read_at_ns = 150 * ms, thread->slices.read_ns = 79 * ms;
    FOLLOW(thread, in);
    const struct trace_cpu_time *cpu_time = &thread->info.cpu_time;
    CHECK("but off it, from the moment that it was first read so",
          cpu_time->is_known && cpu_time->accounted_ns == 21 * ms && cpu_time->slices_ns == 20 * ms &&
              cpu_time->n_slices == 1);
    threads_free(&threads);
}

static void add_thread(struct maker *m, uint32_t index, const char *name, struct trace_cpu_time cpu_time)
{
    const struct trace_thread thread = { index, 100, false, name, name, TRACE_UNKNOWN, TRACE_UNKNOWN, 0, cpu_time };
    maker_must(m, trace_write_thread(m->writer, &thread, &m->err));
}

/* 1 tick is 1 us: main has a CPU for 400 us, the collector for 200, two compilers for 100 each; 900 are charged. */
static struct shares shares_of(int64_t main_extra_ns, uint64_t n_lost, struct switches *switches)
{
    static struct arena arena;
    struct maker m;
    struct calltree tree;
    struct shares shares;
    uint32_t row_of = 0;
    maker_open_scaled(&m, "cpu_time.dat", 1000);
    maker_info(&m, "offcpu", "perf");
    maker_info(&m, "process.cpu_ns", "900000");
    add_thread(&m, 0, "main", (struct trace_cpu_time){ true, (uint64_t)(400000 + main_extra_ns), 400000, 2 });
    add_thread(&m, 1, "GC Thread#0", (struct trace_cpu_time){ true, 220000, 200000, 1 });
    add_thread(&m, 2, "C1 CompilerThre", (struct trace_cpu_time){ .is_known = false });
    add_thread(&m, 3, "C2 CompilerThre", (struct trace_cpu_time){ true, 90000, 100000, 1 });
    KERNEL(&m, AT(TRACE_CPU_IN, 0, 0), AT(TRACE_CPU_OUT, 0, 200), AT(TRACE_CPU_IN, 1, 200), AT(TRACE_CPU_IN, 0, 300),
           AT(TRACE_CPU_OUT, 1, 400), AT(TRACE_CPU_IN, 2, 400), AT(TRACE_CPU_OUT, 2, 500), AT(TRACE_CPU_OUT, 0, 500),
           AT(TRACE_CPU_IN, 3, 600), AT(TRACE_CPU_OUT, 3, 700));
    if (n_lost > 0)
        maker_must(&m, trace_write_kernel(
                           m.writer, &(struct trace_event){ .kind = TRACE_KERNEL_LOST, .ticks = 800, .count = n_lost },
                           1, &m.err));
    maker_close(&m, 1000);
    struct trace_reader *reader = maker_read(&m);
    maker_must(&m, calltree_build(reader, &(struct calltree_options){ 0 }, &tree, &m.err));
    const struct report_source source = {
        .path = "cpu_time.dat", .reader = reader, .tree = &tree, .clock = PHASES_CPU, .arena = &arena
    };
    shares_compute(&source, &row_of, 0, &shares);
    *switches = shares.switches;
    calltree_free(&tree);
    trace_close(reader);
    arena_free(&arena);
    return shares;
}

static void test_shares(void)
{
    struct switches switches;
    struct shares shares = shares_of(30000, 0, &switches);
    CHECK_NUMBER("the VM's parts are what the kernel charged their threads", shares.part_ticks[VM_PART_GC], 220);
    CHECK_NUMBER("less, where the host kept more from them", shares.part_ticks[VM_PART_C2], 90);
    CHECK_NUMBER("a thread that was not read is charged what the others were on average", shares.part_ticks[VM_PART_C1],
                 110);
    CHECK("and that is said", switches.spread_ns > 9999 && switches.spread_ns < 10001);
    CHECK_NUMBER("the application's switches stand apart", shares.switch_ticks, 30);
    CHECK_NUMBER("its phases keep their time", shares.part_ticks[VM_PART_APPLICATION], 400);
    CHECK_NUMBER("what is charged to no thread is left", shares.kernel_ticks, 900 - 400 - 30 - 220 - 110 - 90);
    CHECK_NUMBER("all of it is the process' time", shares.all_ticks, 900);

    shares = shares_of(-30000, 0, &switches);
    CHECK("where the host kept more from the application than switches took, no row has less than no time",
          switches.are_known && shares.switch_ticks == 0 && shares.kept_ticks == 30 + 10 &&
              shares.part_ticks[VM_PART_APPLICATION] == 400);
    CHECK_NUMBER("and all adds up again", shares.all_ticks, 900);
    shares = shares_of(30000, 1, &switches);
    CHECK("nor where events of the kernel were lost", !switches.are_known && shares.switch_ticks == 0);
}

int main(void)
{
    test_born();
    test_less();
    test_ended();
    test_found();
    test_stale();
    test_shares();
    return tap_done();
}
