#include "report/sampled.h"

#include "test/unit/table_printed.h"
#include "test/unit/tap.h"
#include "test/unit/trace_made.h"

static struct arena arena;
static struct err err;

struct made {
    struct trace_made trace;
    struct table table;
    int n;
};

#define HEADER "kind,method,cpu_share,cpu_ns,samples,reason,compiling_ns,ancestor_share,ancestor\r\n"

/* 1 tick is 1 ms; the recording takes 1 s, and so does the application; a thread of the VM has as much. */
static void begin(struct maker *m)
{
    maker_open_scaled(m, "sampled.dat", 1000000);
    maker_thread(m, 0, "main", true);
    maker_thread(m, 1, "C2 CompilerThre", false);
    maker_method(m, 0, "a/Main", "run", "()V");
}

static void make_threads(struct maker *m, bool has_kernel_events)
{
    for (uint32_t i = 0; has_kernel_events && i < 2; i++)
        KERNEL(m, AT(TRACE_CPU_IN, i, 0));
    STEPS(m, 0, ENTER(0, 0), EXIT(0, 1000));
    for (uint32_t i = 0; has_kernel_events && i < 2; i++)
        KERNEL(m, AT(TRACE_CPU_OUT, i, 1000));
}

static void look(struct maker *m, const struct report_wish *wish, struct made *made)
{
    trace_made_open(&made->trace, m, 1000, &arena);
    made->n = sampled_make(&made->trace.source, wish, &made->table, &err);
}

static void make_three(struct maker *m)
{
    begin(m);
    maker_info(m, "live.budget", "0.01");
    maker_info(m, "live.samples", "50 12.5");
    maker_info(m, "live.sampled.0", "0.5 25 a/Later x ()V dear 12000000");
    maker_info(m, "live.sampled.1", "0.04 2 a/Later y ()V none 0");
    maker_info(m, "live.sampled.2", "0.01 1 a/Later z ()V none 0");
}

static void test_facts(void)
{
    struct maker m;
    struct made made;
    begin(&m);
    maker_info(&m, "live.budget", "0.01");
    maker_info(&m, "live.method.0", "armed 1.000 0 0 ");
    maker_info(&m, "live.sampled.0", "0.25000 12 a/Later parse (I)V");
    maker_info(&m, "live.sampled.1", "0.02000 2 a/Later");
    maker_info(&m, "live.sampled.2", "1.5 2 a/Later x ()V");
    maker_info(&m, "live.sampled.3", "0.01 1 b/Later parse (Ljava/lang/String;)V");
    maker_info(&m, "live.sampled.4", "0.2 10 a/Later x ()V dear 12000000 0.75 a/Main run ()V");
    maker_info(&m, "live.sampled.5", "0.1 5 a/Later y ()V dear 0");
    maker_info(&m, "live.sampled.6", "0.1 5 a/Later z ()V loop 0 1 a/Later x ()V");
    maker_info(&m, "live.sampled.7", "0.1 5 a/Later u ()V kept 5");
    maker_info(&m, "live.sampled.8", "0.1 5 a/Later v ()V none 0");
    maker_info(&m, "live.sampled.9", "0.1 5 a/Later w ()V none 0 1.5 a/Main run ()V");
    maker_info(&m, "live.sampled.10", "0.1 5 a/Later t ()V none 0 0.5 a/Main run");
    maker_info(&m, "live.sampled.11", "0.1 5 a/Later s ()V spared 0");
    maker_info(&m, "live.sampled.12", "0.1 5 a/Later r ()V archive 0");
    make_threads(&m, true);
    look(&m, &(struct report_wish){ .all = true }, &made);
    CHECK_NUMBER("what samples found without probes is a row; damaged facts are none", made.n, 10);
    CHECK_TEXT(
        "its time is its share of the application's, which has half of the process'", printed(&made.table, CSV, &arena),
        HEADER
        "sampled,a.Later.parse,0.125,250000000,12,no probes,,,\r\n"
        "sampled,Later.x,0.10000000000000001,200000000,10,over budget: recompilation would take 12.0 ms,12000000,"
        "0.75,Main.run\r\n"
        "sampled,Later.y,0.050000000000000003,100000000,5,over budget,,,no recorded method\r\n"
        "sampled,Later.z,0.050000000000000003,100000000,5,a hot loop of its class is running,,1,Later.x\r\n"
        "sampled,Later.u,0.050000000000000003,100000000,5,its class could not be instrumented,5,,"
        "no recorded method\r\n"
        "sampled,Later.v,0.050000000000000003,100000000,5,no retransformation since it was sampled,,,"
        "no recorded method\r\n"
        "sampled,Later.t,0.050000000000000003,100000000,5,no retransformation since it was sampled,,,\r\n"
        "sampled,Later.s,0.050000000000000003,100000000,5,all compiled code would be discarded,,,"
        "no recorded method\r\n"
        "sampled,Later.r,0.050000000000000003,100000000,5,the JVM writes a class archive,,,"
        "no recorded method\r\n"
        "sampled,b.Later.parse,0.0050000000000000001,10000000,1,no probes,,,\r\n");
    trace_made_close(&made.trace);
}

static void test_wish(void)
{
    struct maker m;
    struct made made;
    make_three(&m);
    make_threads(&m, true);
    look(&m, &(struct report_wish){ .min_share = 0.01 }, &made);
    CHECK_NUMBER("methods with less time than asked for are no rows", made.table.n_rows, 2);
    CHECK_NUMBER("but counted", made.n, 3);
    CHECK_TEXT("and told of", made.table.n_notes == 2 ? made.table.notes[1] : "",
               "1 more with less time: --view sampled --all --top 0 prints all");
    CHECK_TEXT("with how many samples all of it is by", made.table.n_notes == 2 ? made.table.notes[0] : "",
               "time: estimated from 50 stack samples; calls and events of these methods are unknown; record for "
               "longer or with a larger --budget to instrument more of them");
    trace_made_close(&made.trace);
    make_three(&m);
    make_threads(&m, true);
    look(&m, &(struct report_wish){ .all = true, .top = 1 }, &made);
    CHECK_NUMBER("rows beyond the top are none", made.table.n_rows, 1);
    trace_made_close(&made.trace);
}

/* More budget would not help. */
static void test_spared(void)
{
    struct maker m;
    struct made made;
    begin(&m);
    maker_info(&m, "live.budget", "0.01");
    maker_info(&m, "live.sampled.0", "0.5 25 a/Later x ()V spared 0");
    make_threads(&m, true);
    look(&m, &(struct report_wish){ .all = true }, &made);
    CHECK_TEXT("where no class was to be changed, no larger budget is asked for",
               made.table.n_notes == 1 ? made.table.notes[0] : "",
               "time: estimated from stack samples; calls and events of these methods are unknown");
    trace_made_close(&made.trace);
}

/* Another method of the recording is called as the caller. */
static void test_namesake(void)
{
    struct maker m;
    struct made made;
    begin(&m);
    maker_method(&m, 1, "a/Main", "run", "(I)V");
    maker_info(&m, "live.budget", "0.01");
    maker_info(&m, "live.sampled.0", "0.5 25 a/Later x ()V none 0 1 a/Main run ()V");
    KERNEL(&m, AT(TRACE_CPU_IN, 0, 0));
    STEPS(&m, 0, ENTER(0, 0), ENTER(1, 10), EXIT(1, 20), EXIT(0, 1000));
    KERNEL(&m, AT(TRACE_CPU_OUT, 0, 1000));
    look(&m, &(struct report_wish){ .all = true }, &made);
    CHECK_TEXT("a caller that is not alone with its name has its parameters", printed(&made.table, CSV, &arena),
               HEADER "sampled,Later.x,0.5,500000000,25,no retransformation since it was sampled,,1,Main.run()\r\n");
    trace_made_close(&made.trace);
}

/*
 * run had its probes for the second half, and 200 of these 500 ms: a fifth of what ran then, with the thread of the VM.
 * Samples found it in half of all time, and x in half of its samples, whichever half of the recording they are of.
 */
static void test_measured_caller(void)
{
    static const struct trace_event armed = { .kind = TRACE_ARMED, .method = 0, .ticks = 500 };
    struct maker m;
    struct made made;
    begin(&m);
    maker_info(&m, "live.budget", "0.01");
    maker_info(&m, "live.sampled.0", "0.25 12 a/Later x ()V none 0 1 a/Main run ()V 0.5");
    maker_info(&m, "live.sampled.1", "0.5 25 a/Later y ()V none 0 0.5 a/Main run ()V 0.5");
    maker_info(&m, "live.sampled.2", "0.5 25 a/Later z ()V none 0 1 a/Main run ()V");
    KERNEL(&m, AT(TRACE_CPU_IN, 0, 0), AT(TRACE_CPU_IN, 1, 0));
    maker_must(&m, trace_write_control(m.writer, &armed, 1, &m.err));
    STEPS(&m, 0, ENTER(0, 600), EXIT(0, 800));
    KERNEL(&m, AT(TRACE_CPU_OUT, 0, 1000), AT(TRACE_CPU_OUT, 1, 1000));
    look(&m, &(struct report_wish){ .all = true }, &made);
    CHECK_TEXT(
        "in a recorded method it has what part of that one's samples it has, of that one's time; never more",
        printed(&made.table, CSV, &arena),
        HEADER
        "sampled,Later.y,0.22500000000000001,450000000,25,no retransformation since it was sampled,,0.5,Main.run\r\n"
        "sampled,Later.z,0.20000000000000001,400000000,25,no retransformation since it was sampled,,1,Main.run\r\n"
        "sampled,Later.x,0.10000000000000001,200000000,12,no retransformation since it was sampled,,1,Main.run\r\n");
    CHECK_TEXT("a note says so", made.table.n_notes == 1 ? made.table.notes[0] : "",
               "time: estimated from stack samples, in a recorded method as part of its measured time; calls and "
               "events of these methods are unknown");
    made.trace.source.clock = PHASES_WALL;
    sampled_make(&made.trace.source, &(struct report_wish){ .all = true }, &made.table, &err);
    CHECK_TEXT("next to wall times it is called CPU time", made.table.columns[1].heading, "CPU time (%)");
    trace_made_close(&made.trace);
}

static void test_no_clock(void)
{
    struct maker m;
    struct made made;
    make_three(&m);
    make_threads(&m, false);
    look(&m, &(struct report_wish){ .min_share = 0.01 }, &made);
    CHECK_TEXT("where CPU time is not known, nor is its part of it", printed(&made.table, CSV, &arena),
               HEADER
               "sampled,Later.x,,,25,over budget: recompilation would take 12.0 ms,12000000,,no recorded method\r\n"
               "sampled,Later.y,,,2,no retransformation since it was sampled,,,no recorded method\r\n"
               "sampled,Later.z,,,1,no retransformation since it was sampled,,,no recorded method\r\n");
    trace_made_close(&made.trace);
}

static void test_nothing(void)
{
    struct maker m;
    struct made made;
    begin(&m);
    make_threads(&m, true);
    look(&m, &(struct report_wish){ .all = true }, &made);
    CHECK_NUMBER("a recording that is not live has no rows", made.n, 0);
    CHECK_TEXT("and says so", made.table.n_notes == 1 ? made.table.notes[0] : "",
               "no methods were sampled: this is not a live recording");
    trace_made_close(&made.trace);
    begin(&m);
    maker_info(&m, "live.budget", "0.01");
    make_threads(&m, true);
    look(&m, &(struct report_wish){ .all = true }, &made);
    CHECK_TEXT("a live one that left out none says that", made.table.n_notes == 1 ? made.table.notes[0] : "",
               "no method without probes has a hundredth of the samples");
    trace_made_close(&made.trace);
}

int main(void)
{
    test_facts();
    test_wish();
    test_spared();
    test_namesake();
    test_measured_caller();
    test_no_clock();
    test_nothing();
    return tap_done();
}
