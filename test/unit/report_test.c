#include "report/view/phase_report.h"

#include "report/event_columns.h"
#include "report/view/tables.h"
#include "test/unit/table_printed.h"
#include "test/unit/tap.h"
#include "test/unit/trace_made.h"

static struct arena arena;
static struct err err;

/* What a test looks at. */
struct made {
    struct trace_made trace;
    struct table table;
};

static void read_back(struct maker *m, struct made *made, uint64_t end_ticks, enum phases_clock clock)
{
    trace_made_open(&made->trace, m, end_ticks, &arena);
    made->trace.source.clock = report_clock(&made->trace.tree, clock);
}

/* As they look on the screen. */
/* clang-format off */
static const char with_pmu[] =
    "program  java -jar sort.jar\n"
    "trace    t.dat: 1.00 ms, 1.66 ms of CPU time, 8 records of 4 calls\n"
    "complete 97.6 % of CPU time (1.66 ms of 1.70 ms), 2 exact phases\n"
    "\n"
    "Phase                    Time (%)  Self (%)  Calls  Time/call    CPI   L1-D  Off-CPU/call\n"
    "-----------------------------------------------------------------------------------------\n"
    "Sort.run                    14.12      5.53      1     240 us  1.357   3.64       50.0 us\n"
    "Sort.sort                    8.59      8.59      2    73.0 us  4.400  16.00       25.0 us\n"
    "-----------------------------------------------------------------------------------------\n"
    "application, other code     35.12     35.12    n/a        n/a  2.000   9.80           n/a\n"
    "garbage collector           41.18     41.18    n/a        n/a      -      -           n/a\n"
    "C2 compiler                  5.88      5.88    n/a        n/a      -      -           n/a\n"
    "mmprof itself                1.35      1.35    n/a        n/a      -      -           n/a\n"
    "kernel: switches, exit       2.35      2.35    n/a        n/a      -      -           n/a\n"
    "-----------------------------------------------------------------------------------------\n"
    "whole process                 n/a    100.00      4        n/a  1.526   5.26           n/a\n"
    "\n"
    "note: not measured: branch-misses: the PMU has no more counters\n"
    "note: the VM's own threads run no probes: hardware events are counted in the application only\n"
    "note: hardware events are counted between a thread's first and last record: 16.4 % of the application's "
    "other code\n";

static const char without_pmu[] =
    "program  java -jar sort.jar\n"
    "trace    t.dat: 1.00 ms, 1.66 ms of CPU time, 8 records of 4 calls\n"
    "complete 97.6 % of CPU time (1.66 ms of 1.70 ms), 2 exact phases\n"
    "\n"
    "Phase                    Time (%)  Self (%)  Calls  Time/call  Off-CPU/call  Faults/s  Switches/s\n"
    "-------------------------------------------------------------------------------------------------\n"
    "Sort.run                    14.12      5.53      1     240 us       50.0 us   4166.67     4166.67\n"
    "Sort.sort                    8.59      8.59      2    73.0 us       25.0 us      0.00     6849.32\n"
    "-------------------------------------------------------------------------------------------------\n"
    "application, other code     35.12     35.12    n/a        n/a           n/a      0.00        0.00\n"
    "garbage collector           41.18     41.18    n/a        n/a           n/a      0.00     1428.57\n"
    "C2 compiler                  5.88      5.88    n/a        n/a           n/a      0.00    10000.00\n"
    "mmprof itself                1.35      1.35    n/a        n/a           n/a         -           -\n"
    "kernel: switches, exit       2.35      2.35    n/a        n/a           n/a         -           -\n"
    "-------------------------------------------------------------------------------------------------\n"
    "whole process                 n/a    100.00      4        n/a           n/a    602.41     2409.64\n"
    "\n"
    "note: the host withheld CPUs from this virtual machine for 100 us (steal time); CPU times include it\n"
    "note: not measured: cycles, instructions: this machine has no PMU\n";

static const char figure[] =
    "trace    t.dat: 1.83 us, 1.83 us of CPU time, 1312 records of 656 calls\n"
    "phases   3 of 10 methods: weight 10 %, grain 5 % (as given, budget 1 %)\n"
    "overhead time unknown, calls 0.457 % (the thesis' estimate)\n"
    "\n"
    "Phase            Total  Per call  Calls  Share (%)    Self\n"
    "----------------------------------------------------------\n"
    "Sort.main      1.83 us   1.83 us      1     100.00    0 ns\n"
    "Sort.sortData  1.30 us   1.30 us      1      71.04  200 ns\n"
    "Sort.readData   300 ns    300 ns      1      16.39  100 ns\n"
    "\n"
    "note: the cost of a probe was not calibrated: the overhead in time is unknown, and the budget limits the "
    "share of calls (the thesis' estimate)\n";

static const char figure_tree[] =
    "trace    t.dat: 1.83 us, 1.83 us of CPU time, 1312 records of 656 calls\n"
    "\n"
    "Time (%)  Self (%)  Calls  Time/call  Method\n"
    "------------------------------------------------------------\n"
    "  100.00      0.00    n/a          -  application\n"
    "  100.00      0.00      1    1.83 us    Sort.main\n"
    "   71.04     10.93      1    1.30 us      Sort.sortData\n"
    "   32.79     32.79    300    2.00 ns        Sort.compare\n"
    "   27.32     27.32    250    2.00 ns        Sort.swap\n"
    "   16.39      5.46      1     300 ns      Sort.readData\n"
    "   10.93     10.93     50    4.00 ns        Sort.readElement\n"
    "    9.29      1.09      1     170 ns      Sort.printData\n";
/* clang-format on */

/* A process with counters: two phases, a collector, a compiler, mmprof's agent; 1 tick is 1 us. */
static void make_program(struct maker *m, bool has_pmu)
{
    static const struct trace_counter measured[] = { { "cycles", "", true, TRACE_COUNTER_EVENT, 0 },
                                                     { "instructions:u", "", true, TRACE_COUNTER_EVENT, 0 },
                                                     { "L1-dcache-load-misses", "", true, TRACE_COUNTER_EVENT, 0 },
                                                     { "branch-misses", "the PMU has no more counters", false,
                                                       TRACE_COUNTER_EVENT, 0 } };
    static const struct trace_counter missing[] = {
        { "cycles", "this machine has no PMU", false, TRACE_COUNTER_EVENT, 0 },
        { "instructions", "this machine has no PMU", false, TRACE_COUNTER_EVENT, 0 },
        { "page-faults", "", false, TRACE_COUNTER_EVENT, 0 }
    };
    maker_open_scaled(m, "report.dat", 1000);
    maker_info(m, "recording.mode", "phases");
    maker_info(m, "offcpu", "perf");
    maker_info(m, "jvm.command", "java -jar sort.jar");
    maker_info(m, "probe.inside_ticks", "2");
    maker_info(m, "probe.outside_ticks", "2");
    maker_info(m, "process.cpu_ns", "1700000");
    maker_info(m, "machine.stolen_ns", has_pmu ? "10000" : "100000");
    maker_must(m, trace_write_counters(m->writer, has_pmu ? measured : missing, has_pmu ? 4 : 3, &m->err));
    m->n_counters = has_pmu ? 3 : 0;
    maker_thread(m, 0, "main", true);
    maker_thread(m, 1, "GC Thread#0", false);
    maker_thread(m, 2, "C2 CompilerThre", false);
    maker_thread(m, 3, "mmprof agent", false);
    maker_method(m, 0, "a/Sort", "run", "()V");
    maker_method(m, 1, "a/Sort", "sort", "([I)V");
    maker_method(m, 2, "a/Sort", "idle", "()V");
    KERNEL(m, AT(TRACE_CPU_IN, 0, 100), AT(TRACE_CPU_IN, 1, 200), AT(TRACE_PAGE_FAULT, 0, 210),
           AT(TRACE_CPU_OUT, 0, 250), AT(TRACE_CPU_IN, 0, 300), AT(TRACE_CPU_IN, 2, 600), AT(TRACE_CPU_OUT, 2, 700),
           AT(TRACE_CPU_OUT, 1, 900), AT(TRACE_CPU_IN, 3, 960), AT(TRACE_CPU_OUT, 3, 970));
    STEPS(m, 0, ENTER(0, 200, 1000, 1000, 0), ENTER(1, 220, 3000, 2000, 10), EXIT(1, 320, 13000, 4000, 50),
          ENTER(1, 370, 13500, 4500, 50), UNWIND(1, 470, 14500, 5000, 50), EXIT(0, 500, 20000, 15000, 51),
          ENTER(2, 600, 30000, 20000, 100), EXIT(2, 601, 30001, 20000, 100));
}

static void make_report(struct made *made, const char *sort, double min_share)
{
    struct report_row_options options = { .sort = sort, .min_share = min_share };
    if (report_make(&made->trace.source, made->trace.totals, made->trace.n_totals, &options, &made->table, &err) < 0)
        printf("# %s\n", err.text);
}

static void test_with_pmu(void)
{
    struct maker m;
    struct made made;
    make_program(&m, true);
    read_back(&m, &made, 1000, PHASES_CPU);
    make_report(&made, "time", 0.01);
    CHECK_TEXT("the report: time, CPI and misses per 1,000 instructions (thesis Tables 3.5 to 3.8)",
               printed(&made.table, TEXT, &arena), with_pmu);
    CHECK_TEXT(
        "as CSV, with what was not measured left empty", printed(&made.table, CSV, &arena),
        "kind,label,time_share,self_share,recorded_ns,calls,ns_per_call,cpi,L1-dcache-load-misses_per_1000_"
        "instructions,branch-misses_per_1000_instructions,off_cpu_ns_per_call,page_faults_per_cpu_s,switches_per_cpu_s,"
        "cycles,instructions:u,L1-dcache-load-misses,branch-misses,counted_share,total_ns,self_ns,recorded_share,"
        "unwinds,open_calls,class,method,descriptor\r\n"
        "phase,Sort.run,0.14117647058823529,0.055294117647058827,1000000,1,240000,1.3571428571428572,3."
        "6428571428571428,,50000,,4166.666666666667,19000,14000,51,,1,240000,94000,1,0,0,a/Sort,run,()V\r\n"
        "phase,Sort.sort,0.085882352941176465,0.085882352941176465,1000000,2,73000,4.4000000000000004,16,,25000,,6849."
        "3150684931506,11000,2500,40,,1,146000,146000,1,1,0,a/Sort,sort,([I)V\r\n"
        "application,\"application, other "
        "code\",0.35117647058823531,0.35117647058823531,1000000,,,2.0002,9.8000000000000007,,,,0,,,,,0."
        "16415410385259632,597000,597000,1,,,,,\r\n"
        "gc,garbage "
        "collector,0.41176470588235292,0.41176470588235292,1000000,,,,,,,,1428.5714285714287,,,,,,700000,700000,1,,,,,"
        "\r\n"
        "c2,C2 compiler,0.058823529411764705,0.058823529411764705,1000000,,,,,,,,10000,,,,,,100000,100000,1,,,,,\r\n"
        "mmprof,mmprof itself,0.013529411764705882,0.013529411764705882,1000000,,,,,,,,,,,,,,23000,23000,1,,,,,\r\n"
        "kernel,\"kernel: switches, "
        "exit\",0.023529411764705882,0.023529411764705882,,,,,,,,,,,,,,,40000,40000,1,,,,,\r\n"
        "total,whole "
        "process,,1,1000000,4,,1.5263684210526316,5.2631578947368425,,,,2409.6385542168673,,,,,0.20522161505768066,,"
        "1700000,1,,,,,\r\n");
    trace_made_close(&made.trace);
}

/* Another user of the counters took them away for a while. */
static void test_partly_counted(bool is_refused)
{
    const uint64_t none = RING_NOT_COUNTED;
    struct maker m;
    struct made made;
    maker_open_scaled(&m, "partly.dat", 1000);
    maker_info(&m, "recording.mode", "phases");
    if (is_refused)
        maker_info(&m, "counters.refused", "the JVM may not open 'cycles'");
    const struct trace_counter counters[] = { { "cycles", "", true, TRACE_COUNTER_EVENT, 0 },
                                              { "instructions", "", true, TRACE_COUNTER_EVENT, 0 } };
    maker_must(&m, trace_write_counters(m.writer, counters, 2, &m.err));
    m.n_counters = 2;
    maker_thread(&m, 0, "main", true);
    maker_method(&m, 0, "a/Sort", "run", "()V");
    KERNEL(&m, AT(TRACE_CPU_IN, 0, 0));
    if (is_refused)
        STEPS(&m, 0, ENTER(0, 100, none, none), EXIT(0, 200, none, none));
    else
        STEPS(&m, 0, ENTER(0, 100, 10, 10), EXIT(0, 200, none, none), ENTER(0, 300, 1000, 1000),
              EXIT(0, 700, 5000, 3000));
    read_back(&m, &made, 1000, PHASES_CPU);
    make_report(&made, "time", 0.01);
    const char *text = printed(&made.table, TEXT, &arena), *csv = printed(&made.table, CSV, &arena);
    if (is_refused) {
        CHECK("counters that the JVM may not open leave no CPI",
              strstr(csv, "phase,Sort.run,0.10000000000000001,0.10000000000000001,1000000,1,100000,,") != NULL);
        CHECK("and a note says why", strstr(text, "note: hardware events: the JVM may not open 'cycles'\n") != NULL);
    } else {
        CHECK("a CPI of a part of the time is that part's", strstr(text, "  2.000  ") != NULL);
        CHECK("a note says how large that part is", strstr(text, ": Sort.run in 80 %\n") != NULL);
        CHECK("there is no count of the whole", strstr(csv, ",,,0.80000000000000004,500000,500000,") != NULL);
    }
    trace_made_close(&made.trace);
}

static void test_without_pmu(void)
{
    struct maker m;
    struct made made;
    make_program(&m, false);
    read_back(&m, &made, 1000, PHASES_CPU);
    make_report(&made, "time", 0.01);
    CHECK_TEXT("without a PMU: waiting, faults and switches, and a note why there is no CPI",
               printed(&made.table, TEXT, &arena), without_pmu);
    trace_made_close(&made.trace);
}

static double sum_of_self(const struct table *table)
{
    double sum = 0;
    for (size_t i = 0; i + 1 < table->n_rows; i++)
        sum += table->rows[i].cells[2].number;
    return sum;
}

/* The methods of a trace, as the JIT compilers tell of them. */
static struct jit_shapes *open_shapes(struct maker *m, const struct made *made)
{
    static struct jit_event event;
    struct jit_shapes *shapes;
    shapes = jit_shapes_open();
    event.kind = JIT_METHOD;
    for (uint32_t i = 0; i < made->trace.n_totals; i++) {
        const struct trace_method *method = trace_method(made->trace.reader, made->trace.totals[i].method);
        event.method = method->id;
        event.class_name = (struct wire_text){ method->names.class_name, strlen(method->names.class_name) };
        event.name = (struct wire_text){ method->names.method, strlen(method->names.method) };
        event.descriptor = (struct wire_text){ method->names.descriptor, strlen(method->names.descriptor) };
        maker_must(m, jit_shapes_add(shapes, &event, &m->err));
    }
    return shapes;
}

/* Sort.sort was inlined into Sort.run, and is not since it has probes. */
static void test_shapes(void)
{
    struct maker m;
    struct made made;
    static struct jit_event event;
    make_program(&m, false);
    read_back(&m, &made, 1000, PHASES_CPU);
    struct jit_shapes *shapes = open_shapes(&m, &made);
    event = (struct jit_event){ .kind = JIT_COMPILED, .flags = JIT_WAS_THERE, .n_inlined = 1, .inlined = { { 1, 0 } } };
    maker_must(&m, jit_shapes_add(shapes, &event, &m.err));
    event = (struct jit_event){ .kind = JIT_WATCHED, .method = 1 };
    maker_must(&m, jit_shapes_add(shapes, &event, &m.err));
    event = (struct jit_event){ .kind = JIT_COMPILED };
    maker_must(&m, jit_shapes_add(shapes, &event, &m.err));
    made.trace.source.shapes = shapes;
    make_report(&made, "time", 0.01);
    CHECK("a phase that is not inlined any more is named in a note",
          strstr(printed(&made.table, TEXT, &arena),
                 "the probes changed the compiled code of: Sort.sort (not inlined any more (1 of 1 callers))") != NULL);
    jit_shapes_close(shapes);
    trace_made_close(&made.trace);
}

/* Sort.run only calls Sort.sort, and is compiled again and again since it has probes. */
static void test_folded_shape(void)
{
    struct maker m;
    struct made made;
    static struct jit_event event;
    maker_open_scaled(&m, "report.dat", 1000);
    maker_info(&m, "process.cpu_ns", "1000000");
    maker_thread(&m, 0, "main", true);
    maker_method(&m, 0, "a/Sort", "run", "()V");
    maker_method(&m, 1, "a/Sort", "sort", "([I)V");
    STEPS(&m, 0, ENTER(0, 0), ENTER(1, 1), EXIT(1, 999), EXIT(0, 1000));
    read_back(&m, &made, 1000, PHASES_CPU);
    struct jit_shapes *shapes = open_shapes(&m, &made);
    event = (struct jit_event){ .kind = JIT_WATCHED };
    maker_must(&m, jit_shapes_add(shapes, &event, &m.err));
    event = (struct jit_event){ .kind = JIT_COMPILED };
    for (int i = 0; i < 7; i++)
        maker_must(&m, jit_shapes_add(shapes, &event, &m.err));
    made.trace.source.shapes = shapes;
    struct report_row_options options = { .sort = "time", .fold = folding_read(NULL, &arena, &err) };
    maker_must(&m,
               report_make(&made.trace.source, made.trace.totals, made.trace.n_totals, &options, &made.table, &err));
    const char *text = printed(&made.table, TEXT, &arena);
    CHECK("what is folded has no row, and is named in the note, too",
          strstr(text, "Sort.run .. Sort.sort") != NULL &&
              strstr(text, "the probes changed the compiled code of: Sort.run (compiled 7 times)") != NULL);
    jit_shapes_close(shapes);
    trace_made_close(&made.trace);
}

static void test_shares(void)
{
    struct maker m;
    struct made made;
    make_program(&m, true);
    read_back(&m, &made, 1000, PHASES_CPU);
    make_report(&made, "time", 0);
    double sum = sum_of_self(&made.table);
    CHECK("the column Self adds up to 100 %", sum > 1 - 1e-12 && sum < 1 + 1e-12);
    size_t n_rows = made.table.n_rows;
    make_report(&made, "time", 0.1);
    sum = sum_of_self(&made.table);
    CHECK("phases that are left out are part of their callers, or of the application's other code",
          made.table.n_rows == n_rows - 2 && sum > 1 - 1e-12 && sum < 1 + 1e-12);
    trace_made_close(&made.trace);
}

static void test_sorting(void)
{
    static const struct {
        const char *claim, *key, *first, *last;
    } rows[] = {
        { "by time, the default", "time", "Sort.run", "Sort.idle" },
        { "by time of one's own", "self", "Sort.sort", "Sort.idle" },
        { "by calls", "calls", "Sort.sort", "Sort.idle" },
        { "by time per call", "percall", "Sort.run", "Sort.idle" },
        { "by CPI; what has none comes last", "cpi", "Sort.sort", "Sort.idle" },
        { "by an event's name", "L1-dcache-load-misses", "Sort.sort", "Sort.idle" },
        { "by its heading", "l1-d", "Sort.sort", "Sort.idle" },
    };
    struct maker m;
    struct made made;
    make_program(&m, true);
    read_back(&m, &made, 1000, PHASES_CPU);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        make_report(&made, rows[i].key, 0);
        CHECK(rows[i].claim, strcmp(made.table.rows[0].cells[0].words, rows[i].first) == 0 &&
                                 strcmp(made.table.rows[2].cells[0].words, rows[i].last) == 0);
    }
    struct report_row_options options = { .sort = "colour" };
    CHECK("an unknown key is refused",
          report_make(&made.trace.source, made.trace.totals, made.trace.n_totals, &options, &made.table, &err) < 0 &&
              strncmp(err.text, "the table has no column 'colour'\n  next: choose from: label, time_share,", 70) == 0);
    trace_made_close(&made.trace);
}

static void test_wall_clock(void)
{
    struct maker m;
    struct made made;
    make_program(&m, true);
    read_back(&m, &made, 1000, PHASES_WALL);
    make_report(&made, "time", 0);
    double sum = sum_of_self(&made.table);
    CHECK("on the wall clock shares add up too", sum > 1 - 1e-12 && sum < 1 + 1e-12);
    CHECK("over threads that ran probes, only", made.table.n_rows == 3 + 3);
    trace_made_close(&made.trace);
}

static void test_empty(void)
{
    struct maker m;
    struct made made;
    maker_open(&m, "report.dat");
    read_back(&m, &made, 0, PHASES_CPU);
    make_report(&made, "time", 0.01);
    const char *text = printed(&made.table, TEXT, &arena);
    CHECK("an empty trace has a report, without shares of nothing",
          strstr(text, "\nwhole process  ") != NULL && strstr(text, "left out: Time (%), Self (%)") != NULL);
    trace_made_close(&made.trace);
}

static void test_phases_table(void)
{
    struct maker m;
    struct made made;
    struct phases_choice choice;
    maker_open(&m, "figure.dat");
    maker_info(&m, "offcpu", "perf");
    maker_figure_3_3(&m);
    KERNEL(&m, AT(TRACE_CPU_OUT, 0, 1830));
    read_back(&m, &made, 1830, PHASES_CPU);
    struct phases_criteria options = { PHASES_CPU, 0.10, 0.05, 0.01 };
    struct budget_base base = phases_budget_base(&made.trace.tree, 1830, true);
    maker_must(&m, phases_select(made.trace.totals, made.trace.n_totals, 1830, &base, &options, &arena, &choice, &err));
    struct phases_report report = {
        &made.trace.source, made.trace.totals, made.trace.n_totals, 1830, &options, &choice, 0, false, 0
    };
    phases_table(&report, &made.table);
    CHECK_TEXT("the phases of thesis Figure 3.3", printed(&made.table, TEXT, &arena), figure);
    const struct tree_table_options of_tree = { TREE_VIEW_ALL, NULL, 0.09, true };
    maker_must(&m, tree_table(&made.trace.source, &of_tree, &made.table, &err));
    CHECK_TEXT("its call tree, largest first, without what is small", printed(&made.table, TEXT, &arena), figure_tree);
    trace_made_close(&made.trace);
}

static void test_losses(void)
{
    struct maker m;
    struct made made;
    maker_open(&m, "losses.dat");
    maker_thread(&m, 0, "main", true);
    maker_info(&m, "offcpu", "none: perf_event_paranoid is 3");
    STEPS(&m, 0, ENTER(0, 10), GAP(3, 20), EXIT(1, 20), ENTER(0, 30));
    read_back(&m, &made, 40, PHASES_CPU);
    table_begin(&made.table, &arena);
    table_column(&made.table, "x", "x", TABLE_TEXT);
    report_losses(&made.trace.source, &made.table);
    CHECK_TEXT(
        "everything lost is said", printed(&made.table, TEXT, &arena),
        "x\n"
        "-\n"
        "\n"
        "note: 3 calls (60 %) were lost: their callers' times include theirs; a larger --buffer loses fewer\n"
        "note: CPU time is unknown (perf_event_paranoid is 3): times are wall-clock times, which include waiting\n"
        "note: 1 exits without an entry were ignored, 0 exits were missing\n");
    trace_made_close(&made.trace);
}

static void test_format(void)
{
    static const struct {
        enum table_unit unit;
        double number;
        const char *text;
    } rows[] = {
        { TABLE_COUNT, 0, "0" },
        { TABLE_COUNT, 999, "999" },
        { TABLE_COUNT, 1234567, "1,234,567" },
        { TABLE_SHARE, 0.12345, "12.35" },
        { TABLE_SHARE, 0.00001, "< 0.01" },
        { TABLE_SHARE, 0, "0.00" },
        { TABLE_RATE, 0.004, "< 0.01" },
        { TABLE_RATE, 56.74, "56.74" },
        { TABLE_RATIO, 5.1134, "5.113" },
        { TABLE_NS, 0, "0 ns" },
        { TABLE_NS, 1.5, "1.50 ns" },
        { TABLE_NS, 12.34, "12.3 ns" },
        { TABLE_NS, 999.4, "999 ns" },
        { TABLE_NS, 999.9, "1.00 us" },
        { TABLE_NS, 1.5e9, "1.50 s" },
        { TABLE_NS, 123456e9, "123456 s" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[64];
        struct table_cell cell = table_number(rows[i].number);
        table_format(&cell, rows[i].unit, text, sizeof text);
        CHECK_TEXT(rows[i].text, text, rows[i].text);
    }
}

static void test_formats(void)
{
    struct table table;
    table_begin(&table, &arena);
    table_column(&table, "Name", "name", TABLE_TEXT);
    table_column(&table, "Share (%)", "share", TABLE_SHARE);
    table_column(&table, "Zeit", "time_ns", TABLE_NS);
    table_metadata_number(&table, "n", 7, NULL);
    table_metadata_words(&table, "program", "a \"b\"", "program a \"b\"");
    struct table_cell *cells = table_row(&table, "k");
    cells[0] = table_words("caf\xc3\xa9, \"x\"\n");
    cells[1] = table_number(0.25);
    cells = table_row(&table, "k");
    cells[0] = table_words("y");
    cells[1] = table_quotient(0, 0);
    cells[2] = (struct table_cell){ .value = TABLE_NOT_APPLICABLE };
    table_note(&table, "once");
    table_note(&table, "once");
    CHECK_TEXT("text: aligned by characters, control characters not let through, notes once",
               printed(&table, TEXT, &arena),
               "program a \"b\"\n\n"
               "Name        Share (%)\n"
               "---------------------\n"
               "caf\xc3\xa9, \"x\"?      25.00\n"
               "y                   -\n\n"
               "note: once\n"
               "note: no row has a value, so these columns are left out: Zeit\n");
    table_note(&table, "twice");
    table_doubt(&table, "a doubt");
    table.notes_most = 2;
    CHECK_TEXT("a doubt is the first note, and how many more there are the last line",
               strstr(printed(&table, TEXT, &arena), "\nnote: "),
               "\nnote: a doubt\nnote: once\n2 more notes: --notes\n");
    table.n_notes = 1;
    CHECK_TEXT("CSV: RFC 4180 quoting, CRLF, full precision", printed(&table, CSV, &arena),
               "kind,name,share,time_ns\r\n"
               "k,\"caf\xc3\xa9, \"\"x\"\"?\",0.25,\r\n"
               "k,y,,\r\n");
    CHECK_TEXT("JSON: metadata, rows, notes", printed(&table, JSON, &arena),
               "{\n\t\"about\":\t{\n\t\t\"n\":\t7,\n\t\t\"program\":\t\"a \\\"b\\\"\"\n\t},\n\t\"rows\":\t[{\n"
               "\t\t\t\"kind\":\t\"k\",\n\t\t\t\"name\":\t\"caf\xc3\xa9, \\\"x\\\"\\n\",\n\t\t\t\"share\":\t0.25,\n"
               "\t\t\t\"time_ns\":\tnull\n\t\t}, {\n\t\t\t\"kind\":\t\"k\",\n\t\t\t\"name\":\t\"y\",\n"
               "\t\t\t\"share\":\tnull,\n\t\t\t\"time_ns\":\tnull\n\t\t}],\n\t\"notes\":\t[\"once\"]\n}\n");
    arena_free(&arena);
}

static void test_event_roles(void)
{
    static const struct {
        const char *name, *heading;
        enum event_role role;
    } rows[] = {
        { "cycles", "cycles", EVENT_CYCLES },
        { "CPU-CYCLES:u", "cycles", EVENT_CYCLES },
        { "perf::PERF_COUNT_HW_CPU_CYCLES:u:k", "cycles", EVENT_CYCLES },
        { "amd64_fam19h_zen4::CYCLES_NOT_IN_HALT", "cycles", EVENT_CYCLES },
        { "INST_RETIRED:ANY_P:u", "instructions", EVENT_INSTRUCTIONS },
        { "RETIRED_INSTRUCTIONS", "instructions", EVENT_INSTRUCTIONS },
        { "L1-dcache-load-misses", "L1-D", EVENT_MISSES },
        { "perf::PERF_COUNT_HW_CACHE_L1I:READ:MISS", "L1-I", EVENT_MISSES },
        { "L2_RQSTS:CODE_RD_MISS", "L2-I", EVENT_MISSES },
        { "skl::L2_RQSTS:RFO_MISS:u", "L2 stores", EVENT_MISSES },
        { "L1D_CACHE_REFILL_RD", "L1 loads", EVENT_MISSES },
        { "dTLB-load-misses", "D-TLB", EVENT_MISSES },
        { "branch-misses:u", "Branches mispredicted", EVENT_MISSES },
        { "page-faults", "page faults", EVENT_FAULTS },
        { "context-switches", "switches", EVENT_SWITCHES },
        { "cpu-migrations", "cpu-migrations", EVENT_COUNT },
        { "migrations:u", "cpu-migrations", EVENT_COUNT },
        { "Major-Faults:k", "Major-Faults:k", EVENT_COUNT },
        { "task-clock", "CPU time", EVENT_CPU_TIME },
        { "r01c2", "r01c2", EVENT_MISSES },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *heading;
        enum event_role role = event_role_of(rows[i].name, &heading);
        CHECK(rows[i].name, role == rows[i].role && strcmp(heading, rows[i].heading) == 0);
    }
}

int main(void)
{
    test_with_pmu();
    test_partly_counted(false);
    test_partly_counted(true);
    test_without_pmu();
    test_shapes();
    test_folded_shape();
    test_shares();
    test_sorting();
    test_wall_clock();
    test_empty();
    test_phases_table();
    test_losses();
    test_format();
    test_formats();
    test_event_roles();
    return tap_done();
}
