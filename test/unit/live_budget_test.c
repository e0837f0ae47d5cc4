/* The controller's budget and its recompilation window by themselves: told of states, they say what is left, and when.
 */
#include "core/recorder/recorder_state.h"
#include "phases/live/live_parts.h"
#include "phases/live/live_policy.h"
#include "test/unit/tap.h"

#include <math.h>
#include <string.h>

#define MS     UINT64_C(1000000)
#define SECOND (1000 * MS)

static struct live_options options;
static struct live_status first, now;
static struct live_budget budget;

static void begin(double part, double duration_s)
{
    options = (struct live_options){ .budget = part, .duration_s = duration_s };
    first = now = (struct live_status){ .now_ns = SECOND, .pair_ns = 20 };
    budget = (struct live_budget){ .options = &options, .first = &first, .now = &now };
    live_budget_begin(&budget);
}

/* Two CPUs were busy for so long. */
static void pass(double seconds)
{
    now.now_ns += (uint64_t)(seconds * 1e9);
    now.cpu_ns += (uint64_t)(2 * seconds * 1e9);
}

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-6 * fabs(b);
}

static void test_marks(void)
{
    begin(0.01, 0);
    pass(1);
    budget.n_records = 5;
    live_budget_mark(&budget);
    pass(2);
    budget.n_records = 7;
    live_budget_mark(&budget);
    CHECK("the older mark is where the latest one was",
          budget.mark_ns[0] == 2 * SECOND && budget.mark_records[0] == 5 && budget.mark_cpu_ns[0] == 2 * SECOND);
    CHECK("the latest one is now",
          budget.mark_ns[1] == 4 * SECOND && budget.mark_records[1] == 7 && budget.mark_cpu_ns[1] == 6 * SECOND);
}

static void test_left(void)
{
    begin(0.01, 0);
    pass(10);
    CHECK("all of it is what the first minute will have", is_near(live_budget_whole_ns(&budget), 0.01 * 120e9));
    CHECK("left is what was earned so far where nobody knows the end",
          is_near(live_budget_left_ns(&budget), 0.01 * 20e9 - AGENT_START_NS));
    begin(0.01, 30);
    pass(9);
    CHECK("with a known end all of it, less what the rest will take",
          is_near(live_budget_left_ns(&budget), 0.01 * 60e9 - AGENT_START_NS - 21 * RUNNING_NS - FINISH_NS));
    now.pauses_ms = 91;
    CHECK("stops of 91 ms are too long after nine seconds", !live_budget_allows_batch(&budget));
    now.pauses_ms = 89;
    CHECK("of 89 ms are not, and there is something left", live_budget_allows_batch(&budget));
    budget.recompilation_ns = 5e8;
    CHECK("without anything left there is no batch", !live_budget_allows_batch(&budget));
}

/* After 5 of 20 s, two CPUs busy, at 1 %: each part by itself, and by how much less is left. */
static void test_charged(void)
{
    const struct {
        const char *claim;
        struct live_status now;
        double probes_ns, recompilation_ns;
        uint64_t n_records;
        uint32_t n_batches;
        bool is_reported;
        double less_ns;
    } rows[] = {
        { "mmprof's own preparation is charged", .now = { .own_cpu_ns = 60 * MS }, .less_ns = 60e6 },
        { "what it has used up of its share, the rest of its rounds does not take", .now = { .own_cpu_ns = 110 * MS },
          .less_ns = 110e6 - (75e6 - 50e6) },
        { "but they take a third of it at least", .now = { .own_cpu_ns = 150 * MS }, .less_ns = 150e6 - (75e6 - 40e6) },
        { "samples are, with those to come", .now = { .sampling_ns = 1e7 }, .less_ns = 4e7 },
        { "so are probes", .probes_ns = 1e6, .less_ns = 4e6 },
        { "batches", .now = { .rewriting_ns = 3e7 }, .less_ns = 3e7 },
        { "recompilation", .recompilation_ns = 2e7, .less_ns = 2e7 },
        { "the removal of probes, where there are some", .now = { .n_classes = 1000 }, .n_batches = 1,
          .less_ns = 13e6 },
        { "the report, by the records and samples of all the recording", .now = { .n_samples = 500 },
          .n_records = 100000, .is_reported = true,
          .less_ns = REPORT_NS + 4 * (1e5 * REPORT_RECORD_NS + 500 * REPORT_SAMPLE_NS) },
    };
    begin(0.01, 20);
    pass(5);
    double left_ns = live_budget_left_ns(&budget);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct live_status status = rows[i].now;
        begin(0.01, 20);
        pass(5);
        status.now_ns = now.now_ns;
        status.cpu_ns = now.cpu_ns;
        now = status;
        options.is_reported = rows[i].is_reported;
        budget.probes_ns = rows[i].probes_ns;
        budget.recompilation_ns = rows[i].recompilation_ns;
        budget.n_records = rows[i].n_records;
        budget.n_batches = rows[i].n_batches;
        CHECK(rows[i].claim, is_near(left_ns - live_budget_left_ns(&budget), rows[i].less_ns));
    }
}

/* Likewise: what a first batch may take. */
static void test_room(void)
{
    begin(0.01, 20);
    pass(5);
    now.own_cpu_ns = 1000 * MS;
    now.n_classes = 1000;
    CHECK("where all is used up, a batch has three tenths of the budget, less two looks at all classes",
          is_near(live_budget_recompilation_ns(&budget), 0.3 * 400e6 - 26e6));
    CHECK("and no class more", is_near(live_budget_extra_ns(&budget), live_budget_recompilation_ns(&budget)));
    now.pair_ns = 0;
    CHECK("and less what probes take to be calibrated",
          is_near(live_budget_recompilation_ns(&budget), 0.3 * 400e6 - 26e6 - CALIBRATION_NS));
    budget.recompilation_ns = 100e6;
    CHECK("and what a batch before it took", live_budget_recompilation_ns(&budget) < 0);
    begin(0.01, 20);
    pass(5);
    now.cpu_ns /= 40;
    now.n_classes = 1000;
    CHECK("a JVM that uses a twentieth of a CPU pays for none", live_budget_recompilation_ns(&budget) < 0);
    begin(0.01, 0);
    pass(1);
    CHECK("where nobody knows the end, half of that of 6 s of CPU time, whatever was used",
          is_near(live_budget_recompilation_ns(&budget), 0.5 * 60e6));
    CHECK("and one class of the first minute's", is_near(live_budget_extra_ns(&budget), 0.01 * 120e9));
}

/* mmprof's own rounds: 4 % of a CPU that is busy, in the fifth of 20 s. */
static void test_rounds(void)
{
    struct rounds_account account = {
        .duration_ns = 20e9, .elapsed_ns = 5e9, .passed_ns = 1e9, .part = 0.04, .cpu_ns = 5e9, .passed_cpu_ns = 1e9
    };
    CHECK("what is left is for all the time that was left", is_near(recorder_rounds_may_ns(&account), 800e6 / 16));
    account.own_ns = 480e6;
    CHECK("the start counts", is_near(recorder_rounds_may_ns(&account), 320e6 / 16));
    account.own_ns = 900e6;
    CHECK("a third of the part remains", is_near(recorder_rounds_may_ns(&account), 40e6 / 3));
    account.cpu_ns = account.passed_cpu_ns = 0;
    CHECK("an idle JVM pays for none", recorder_rounds_may_ns(&account) == 0);
    account.duration_ns = 0;
    account.passed_cpu_ns = 1e9;
    CHECK("where nobody knows the end, the part is for what passed", is_near(recorder_rounds_may_ns(&account), 40e6));
}

static void test_samples(void)
{
    options = (struct live_options){ .budget = 0.01, .duration_s = 60 };
    CHECK_NUMBER("samples of 10 us come as often as is useful", live_samples_hz(&options, 10000, 99), 99);
    CHECK_NUMBER("of 50 us as often as a fifth of the budget affords", live_samples_hz(&options, 50000, 99), 40);
    options.budget = 0.1;
    CHECK_NUMBER("a larger one affords all of them", live_samples_hz(&options, 50000, 99), 99);
    options = (struct live_options){ .budget = 0.001, .duration_s = 20 };
    CHECK_NUMBER("a busy CPU has 1,200 of them", live_samples_hz(&options, 50000, 99), 60);
    options.duration_s = 0;
    CHECK_NUMBER("where nobody knows the end they are not rarer", live_samples_hz(&options, 50000, 99), 99);
}

/* At 1 %, two CPUs busy; what it takes counts twice. */
static void test_discard(void)
{
    const struct {
        const char *claim;
        double part, duration_s, passed_s, ns;
    } rows[] = {
        { "a recording of ten minutes pays for half its budget of all code", 0.01, 600, 10, 6e9 },
        { "so does one of a minute, which was free before", 0.01, 60, 10, 0.6e9 },
        { "where nobody knows the end, a second of it is free", 0.01, 0, 10, DISCARD_ALWAYS_NS },
        { "but with a budget of half the CPU time for half of that", 0.5, 60, 10, 30e9 },
        { "where nobody knows the end, the first minute counts", 0.5, 0, 10, 30e9 },
        { "or the time so far where that is more", 0.5, 0, 100, 50e9 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin(rows[i].part, rows[i].duration_s);
        pass(rows[i].passed_s);
        CHECK(rows[i].claim, is_near(live_budget_discard_ns(&budget), rows[i].ns));
    }
    begin(0.01, 60);
    pass(30);
    budget.recompilation_ns = 600e6;
    CHECK("a minute has no more than a batch may take now",
          is_near(live_budget_discard_ns(&budget), live_budget_recompilation_ns(&budget)) &&
              is_near(live_budget_discard_ns(&budget), 0.75 * (0.6e9 - FINISH_NS - AGENT_START_NS)));
}

static void test_credit(void)
{
    begin(0.01, 0);
    pass(0.01);
    struct live_charged charged = live_budget_charge(&budget, 1000);
    CHECK("a thousand records in 20 ms of CPU time are within the credit", !charged.is_over && !charged.is_mark);
    CHECK("and are half a pair each", is_near(budget.probes_ns, 1e4));
    pass(0.01);
    charged = live_budget_charge(&budget, 400000);
    CHECK("twenty in a microsecond are not", charged.is_over);
    begin(0.01, 0);
    pass(0.03);
    charged = live_budget_charge(&budget, 0);
    CHECK("costs are compared from mark to mark", charged.is_mark);
    live_budget_mark(&budget);
    now.own_cpu_ns = 500 * MS;
    CHECK("this program's own rounds switch nothing off", !live_budget_charge(&budget, 10).is_over);
    begin(0.01, 0);
    pass(10);
    now.rewriting_ns = 5e9;
    CHECK("probes have three tenths whatever all else took",
          is_near(live_budget_probes_share(&budget), 0.01 * PROBES_MIN_SHARE));
}

static struct live_status state(uint64_t ns, uint64_t jit_ns)
{
    return (struct live_status){ .now_ns = ns, .ticks = ns, .cpu_ns = 2 * ns, .jit_cpu_ns = jit_ns };
}

/* The compilers usually take usual_ms of a second; the batch takes them so long at a whole CPU.  Returns how long the
 * window was. */
static uint64_t window_ns(struct live_window *window, uint64_t usual_ms, uint64_t busy_ns, double expected_ns,
                          double *charged_ns)
{
    uint64_t ns = SECOND, jit_ns = 500 * MS, start_ns;
    struct live_status at = state(ns, jit_ns);
    memset(window, 0, sizeof *window);
    live_window_watch(window, &at);
    ns += SECOND;
    jit_ns += usual_ms * MS;
    at = state(start_ns = ns, jit_ns);
    live_window_begin(window, &at, false);
    live_window_changed(window, &at, expected_ns);
    do {
        ns += 100 * MS;
        jit_ns += ns - start_ns <= busy_ns ? 100 * MS : usual_ms * MS / 10;
        at = state(ns, jit_ns);
    } while (!live_window_is_over(window, &at));
    *charged_ns = live_window_end(window, &at);
    return ns - start_ns;
}

static void test_window(void)
{
    struct live_window window;
    double charged_ns;
    CHECK_NUMBER("it is over three quiet steps after the compilers",
                 window_ns(&window, 100, 600 * MS, 200e6, &charged_ns) / MS, 900);
    CHECK("quiet compilers took 540 ms more than usual: that is charged", is_near(charged_ns, 540e6));
    CHECK("it is added up", window.n == 1 && window.ns == 900 * MS && window.cpu_ns == 1800 * MS &&
                                window.more_than_usual_ns == 540 * MS && window.most_ns == 630 * MS && !window.is_cut);
    live_window_free(&window);
    window_ns(&window, 100, 600 * MS, 100e6, &charged_ns);
    CHECK("but no more than the code that was there explains", is_near(charged_ns, RECOMPILED_MOST * 100e6));
    live_window_free(&window);
    window_ns(&window, 500, 2000 * MS, 30e6, &charged_ns);
    CHECK("compilers that were busy before go on with the warm-up: the estimate is charged",
          is_near(charged_ns, 30e6) && is_near(window.booked_ns, 30e6) && window.more_than_usual_ns == 1000 * MS);
    live_window_free(&window);
    window_ns(&window, 0, 600 * MS, NAN, &charged_ns);
    CHECK("without an estimate it is what they took more", is_near(charged_ns, 600e6));
    live_window_free(&window);
    CHECK_NUMBER("five seconds are watched at most", window_ns(&window, 100, 60 * SECOND, 200e6, &charged_ns) / MS,
                 5000);
    CHECK("which is said", window.is_cut);
    live_window_free(&window);
    struct live_status at = state(SECOND, LIVE_UNKNOWN);
    memset(&window, 0, sizeof window);
    live_window_begin(&window, &at, true);
    live_window_changed(&window, &at, 0);
    at.now_ns += 1400 * MS;
    CHECK("where nobody knows the compilers it goes on for a while", !live_window_is_over(&window, &at));
    at.now_ns += 100 * MS;
    CHECK("and is over then", live_window_is_over(&window, &at) && window.discarded_ns == 0);
}

int main(void)
{
    test_marks();
    test_left();
    test_charged();
    test_room();
    test_rounds();
    test_samples();
    test_discard();
    test_credit();
    test_window();
    return tap_done();
}
