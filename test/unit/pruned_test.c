#include "report/pruned.h"

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

enum { RUN, STEP, LEAF, OTHER };

/* 1 tick is 1 ms; the recording takes 1 s. */
static void begin(struct maker *m)
{
    static const char *const names[] = { "run", "step", "leaf", "other" };
    maker_open_scaled(m, "pruned.dat", 1000000);
    maker_thread(m, 0, "main", true);
    for (uint32_t i = 0; i < 4; i++)
        maker_method(m, i, "a/Main", names[i], "()V");
}

static void look(struct maker *m, struct made *made)
{
    trace_made_open(&made->trace, m, 1000, &arena);
    made->n = pruned_make(&made->trace.source, made->trace.totals, made->trace.n_totals, &made->table, &err);
}

#define HEADER "kind,method,reason,recorded_ns,calls_per_s,ns_per_call,unrecorded_ns,ancestor_share,ancestor\r\n"

/* step runs for 50 of the first 100 ms; leaf for 20 of these, and 10 directly in run. */
static void make_steps(struct maker *m)
{
    STEPS(m, 0, ENTER(RUN, 0), ENTER(STEP, 10), ENTER(LEAF, 20), EXIT(LEAF, 40), EXIT(STEP, 60), ENTER(LEAF, 70),
          EXIT(LEAF, 80), EXIT(RUN, 1000));
}

static void test_estimates(void)
{
    struct maker m;
    struct made made;
    begin(&m);
    maker_info(&m, "live.budget", "0.01");
    maker_info(&m, "live.method.0", "armed 1.000 0 0 ");
    maker_info(&m, "live.method.1", "disarmed 0.100 10 50000000 it does not fit into the budget");
    maker_info(&m, "live.method.2", "removed 0.100 20 15000000 its calls are too short");
    make_steps(&m);
    look(&m, &made);
    CHECK_NUMBER("each method that was off at the end is a row", made.n, 2);
    CHECK_TEXT("a share of 50 of 100 ms is 450 ms of the other 900; callers that were off are passed over",
               printed(&made.table, CSV, &arena),
               HEADER "pruned,Main.step,it does not fit into the budget,100000000,10,50000000,450000000,1,Main.run\r\n"
                      "pruned,Main.leaf,its calls are too short,100000000,20,15000000,270000000,1,Main.run\r\n");
    trace_made_close(&made.trace);
}

static void test_limit(void)
{
    struct maker m;
    struct made made;
    begin(&m);
    maker_info(&m, "live.budget", "0.01");
    maker_info(&m, "live.method.0", "armed 1.000 0 0 ");
    maker_info(&m, "live.method.1", "disarmed 0.010 10 50000000 it is called too often");
    maker_info(&m, "live.method.2", "armed 1.000 0 0 ");
    make_steps(&m);
    look(&m, &made);
    CHECK_TEXT("no more is hidden than the caller has of its own", printed(&made.table, CSV, &arena),
               HEADER "pruned,Main.step,it is called too often,10000000,10,50000000,940000000,1,Main.run\r\n");
    trace_made_close(&made.trace);
}

/* other is seen before run is, and then in it. */
static void test_callers(void)
{
    struct maker m;
    struct made made;
    begin(&m);
    maker_info(&m, "live.budget", "0.01");
    maker_info(&m, "live.method.0", "armed 1.000 0 0 ");
    maker_info(&m, "live.method.3", "disarmed 0.100 10 20000000 it is called too often");
    STEPS(&m, 0, ENTER(OTHER, 0), EXIT(OTHER, 30), ENTER(RUN, 40), ENTER(OTHER, 50), EXIT(OTHER, 60), EXIT(RUN, 100));
    look(&m, &made);
    CHECK_TEXT("a caller that was seen is named, with its share, before time without one",
               printed(&made.table, CSV, &arena),
               HEADER "pruned,Main.other,it is called too often,100000000,10,20000000,200000000,0.25,Main.run\r\n");
    trace_made_close(&made.trace);
}

static void test_recursion(void)
{
    struct maker m;
    struct made made;
    begin(&m);
    maker_info(&m, "live.budget", "0.01");
    maker_info(&m, "live.method.3", "disarmed 0.500 10 20000000 it is called too often");
    STEPS(&m, 0, ENTER(OTHER, 0), ENTER(OTHER, 10), EXIT(OTHER, 20), EXIT(OTHER, 100));
    look(&m, &made);
    CHECK_TEXT("a call in a call of the same method adds nothing; no caller is none", printed(&made.table, CSV, &arena),
               HEADER
               "pruned,Main.other,it is called too often,500000000,10,20000000,100000000,1,no recorded method\r\n");
    trace_made_close(&made.trace);
}

static void test_nothing(void)
{
    struct maker m;
    struct made made;
    begin(&m);
    make_steps(&m);
    look(&m, &made);
    CHECK_NUMBER("a recording that is not live has no rows", made.n, 0);
    CHECK_TEXT("and says so", made.table.n_notes == 1 ? made.table.notes[0] : "",
               "no method was switched off: this is not a live recording");
    trace_made_close(&made.trace);
    begin(&m);
    maker_info(&m, "live.budget", "0.01");
    maker_info(&m, "live.method.0", "armed 1.000 0 0 ");
    maker_info(&m, "live.method.1", "");
    maker_info(&m, "live.method.2", "disarmed");
    make_steps(&m);
    look(&m, &made);
    CHECK_TEXT("a fact without numbers gives no estimate", printed(&made.table, CSV, &arena),
               HEADER "pruned,Main.leaf,,0,0,0,,0.66666666666666663,Main.step\r\n");
    trace_made_close(&made.trace);
}

int main(void)
{
    test_estimates();
    test_limit();
    test_callers();
    test_recursion();
    test_nothing();
    return tap_done();
}
