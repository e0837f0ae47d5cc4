/* The controller's budget and its recompilation window by themselves: told of states, they say what is left, and when.
 */
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
          is_near(live_budget_left_ns(&budget), 0.01 * 20e9));
    begin(0.01, 30);
    pass(9);
    CHECK("with a known end all of it, less what the rest will take",
          is_near(live_budget_left_ns(&budget), 0.01 * 60e9 - 21 * RUNNING_NS));
    now.rewriting_ns = 1e8;
    budget.recompilation_ns = 1e8;
    now.own_cpu_ns = 50 * MS;
    now.sampling_ns = 2e7;
    CHECK("less what it cost",
          is_near(live_budget_left_ns(&budget), 0.01 * 60e9 - 21 * RUNNING_NS - 1e8 - 1e8 - 5e7 - 2e7));
    now.pauses_ms = 91;
    CHECK("stops of 91 ms are too long after nine seconds", !live_budget_allows_batch(&budget));
    now.pauses_ms = 89;
    CHECK("of 89 ms are not, and there is something left", live_budget_allows_batch(&budget));
    budget.recompilation_ns = 4e8;
    CHECK("without anything left there is no batch", !live_budget_allows_batch(&budget));
}

/* At 1 %, two CPUs busy; what it takes counts twice. */
static void test_discard(void)
{
    const struct {
        const char *claim;
        double part, duration_s, passed_s, ns;
    } rows[] = {
        { "a recording of ten minutes pays for half its budget of all code", 0.01, 600, 10, 6e9 },
        { "one of a minute for less than what is free anyway", 0.01, 60, 10, DISCARD_ALWAYS_NS },
        { "but with a budget of half the CPU time for half of that", 0.5, 60, 10, 30e9 },
        { "where nobody knows the end, the first minute counts", 0.5, 0, 10, 30e9 },
        { "or the time so far where that is more", 0.5, 0, 100, 50e9 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin(rows[i].part, rows[i].duration_s);
        pass(rows[i].passed_s);
        CHECK(rows[i].claim, is_near(live_budget_discard_ns(&budget), rows[i].ns));
    }
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
    test_discard();
    test_credit();
    test_window();
    return tap_done();
}
