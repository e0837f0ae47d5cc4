/*
 * The chooser by itself: told of candidates, costs and a budget, it says which of them are to get probes, and when.
 */
#include "phases/live/live_chooser.h"
#include "phases/live/live_policy.h"
#include "test/unit/tap.h"

#include <stdlib.h>

#define MS     UINT64_C(1000000)
#define SECOND (1000 * MS)
#define N      4u

/* All that it reads. */
static struct live_options options;
static struct live_status first, now;
static struct live_budget budget;
static struct live_methods methods;
static struct live_chooser chooser;

/* A program that has had two CPUs for so many seconds, its compilers one second of them. */
static void begin(double seconds)
{
    options = (struct live_options){ .budget = 0.01, .weight = 0.01, .max_methods = 8, .max_more = 2 };
    first = (struct live_status){ .now_ns = SECOND, .start_ns = SECOND };
    now = (struct live_status){ .now_ns = SECOND + (uint64_t)(seconds * 1e9),
                                .cpu_ns = (uint64_t)(2 * seconds * 1e9),
                                .jit_cpu_ns = SECOND,
                                .pair_ns = 20,
                                .start_ns = SECOND };
    budget = (struct live_budget){ .options = &options, .first = &first, .now = &now };
    chooser = (struct live_chooser){ .budget = &budget, .methods = &methods };
    live_methods_open(&methods, &options.tree);
}

static void end(void)
{
    live_chooser_free(&chooser);
    live_methods_free(&methods);
}

/* Candidates with these shares, each of a class of its own that costs so many ms; 0: there is none. */
static void tell(const double *shares, const double *costs_ms)
{
    static const char *const names[N] = { "a", "b", "c", "d" };
    struct live_candidate all[N];
    struct recompilation_cost work[N];
    struct recompilation_costs costs = { .all = work, .compiled = 1000 };
    size_t n = 0;
    for (uint32_t i = 0; i < N; i++) {
        work[costs.n++] = (struct recompilation_cost){ UINT64_C(1) << i, costs_ms == NULL ? 0 : costs_ms[i] };
        if (shares[i] > 0)
            all[n++] = (struct live_candidate){
                .class_name = "A", .name = names[i], .descriptor = "()V", .share = shares[i], .class_number = i
            };
    }
    /* A unit of work is a millisecond; the most that one is taken for is WORK_NS. */
    for (size_t i = 0; i < costs.n; i++)
        work[i].work *= 1e6 / WORK_NS;
    costs.compiled *= 1e6 / WORK_NS;
    live_chooser_begin(&chooser);
    live_chooser_candidates(&chooser, all, n, costs_ms == NULL ? NULL : &costs);
}

/* "ab" were chosen, "c" is over the budget: "ab/c". */
static const char *chosen(const struct live_choice *choice)
{
    static char text[2 * N + 2];
    size_t n = 0;
    for (size_t i = 0; i < choice->n; i++) {
        if (i == choice->n_chosen)
            text[n++] = '/';
        text[n++] = choice->all[i].name[0];
    }
    text[n] = '\0';
    return text;
}

static void test_budget(void)
{
    begin(10); /* half of 1 % of 20 s: 100 ms; max_more: two methods */
    tell((const double[N]){ 0.9, 0.8, 0.7, 0.001 }, (const double[N]){ 40, 900, 30, 1 });
    CHECK_TEXT("the cheapest for their time are chosen, and no more than may be", chosen(&chooser.latest), "ac/b");
    CHECK("there is a batch", live_chooser_decide(&chooser) && chooser.n_over_budget == 1);
    CHECK_TEXT("of these", chosen(&chooser.requested), "ac/b");
    CHECK_TEXT("and no choice is left", chosen(&chooser.latest), "");
    double ns = 0;
    CHECK("one is over the budget", live_chooser_why(&chooser, "A", "b", "()V", &ns) == LIVE_WITHOUT_BUDGET);
    CHECK("whose cost is known", ns > 899e6 && ns < 901e6);
    CHECK("one was to be changed", live_chooser_why(&chooser, "A", "a", "()V", &ns) == LIVE_WITHOUT_CHANGE);
    CHECK("one is too rare", live_chooser_why(&chooser, "A", "d", "()V", &ns) == LIVE_WITHOUT_BATCH);
    end();
}

/* Classes of a running JVM: what each costs besides recompilation is 3 ms, and all together have 30 ms, less the looks.
 */
static void test_running(void)
{
    begin(2);
    now.n_classes = 1000;
    options.max_more = 8;
    tell((const double[N]){ 0.9, 0.3, 0.2, 0.1 }, (const double[N]){ 0, 0, 900, 0 });
    CHECK_TEXT("two looks at 1,000 classes leave room for one, and one more", chosen(&chooser.latest), "ab/cd");
    now.n_classes = 500;
    tell((const double[N]){ 0.9, 0.3, 0.2, 0.1 }, (const double[N]){ 0, 0, 900, 0 });
    CHECK_TEXT("at 500 for all but what much depends on", chosen(&chooser.latest), "abd/c");
    end();
}

static void test_first_and_later(void)
{
    begin(10);
    tell((const double[N]){ 0.9 }, (const double[N]){ 500 });
    CHECK_TEXT("a first batch may have one class beyond its part of the budget", chosen(&chooser.latest), "a");
    tell((const double[N]){ 0.9 }, (const double[N]){ 1300 });
    CHECK_TEXT("but not beyond the budget of a minute", chosen(&chooser.latest), "/a");
    budget.n_batches = 1;
    budget.recompilation_ns = 100e6;
    chooser.n_choices = UNBUDGETED_CHOICES;
    tell((const double[N]){ 0.4, 0.3 }, (const double[N]){ 78, 76 });
    CHECK_TEXT("a later one has what is new and much of the time", chosen(&chooser.latest), "a/b");
    now.pauses_ms = 101;
    CHECK("it waits where the program was stopped for too long", !live_chooser_decide(&chooser));
    now.pauses_ms = 99;
    CHECK("and not longer", live_chooser_decide(&chooser));
    tell((const double[N]){ 0.4, 0.3 }, (const double[N]){ 78, 76 });
    CHECK_TEXT("what was requested is not new", chosen(&chooser.latest), "/ab");
    live_chooser_changed_nothing(&chooser);
    tell((const double[N]){ 0.4, 0.3 }, (const double[N]){ 78, 76 });
    CHECK_TEXT("unless that changed no class", chosen(&chooser.latest), "a/b");
    end();
}

static void test_discarded(void)
{
    begin(10);
    options.discards_code = true;
    options.recompile_s = 0.5;
    tell((const double[N]){ 0.9, 0.8 }, (const double[N]){ 5000, 5000 });
    CHECK_TEXT("no class costs more than what is discarded anyway", chosen(&chooser.latest), "ab");
    CHECK("where that took too long there is no batch", !live_chooser_decide(&chooser));
    CHECK("which is said", chooser.skipped_ns == SECOND && chooser.n_over_budget == 2);
    options.recompile_s = 2;
    CHECK("else there is", live_chooser_decide(&chooser) && chooser.skipped_ns == 0);
    end();
}

/* Of a minute of two CPUs the budget is 1.2 s at 1 %: two batches of a JVM with 50,000 classes are more. */
static void test_many_classes(void)
{
    double ns;
    static const double share[N] = { 0.9 }, cheap_ms[N] = { 1 };
    begin(10);
    now.n_classes = 50000;
    CHECK("where changing any class exceeds the budget, nobody asks what recompiling some costs",
          !live_chooser_needs_costs(&chooser));
    tell(share, cheap_ms);
    CHECK("there is no batch", !live_chooser_decide(&chooser) && live_chooser_is_too_dear(&chooser));
    CHECK("which is said",
          chooser.n_over_budget == 1 && live_chooser_why(&chooser, "A", "a", "()V", &ns) == LIVE_WITHOUT_BUDGET);
    now.n_classes = 30000;
    tell(share, cheap_ms);
    CHECK("with fewer there is one", live_chooser_needs_costs(&chooser) && live_chooser_decide(&chooser));
    now.n_classes = 50000;
    budget.n_batches = 1;
    CHECK("what is changed already costs that anyway", !live_chooser_is_too_dear(&chooser));
    end();
}

/* Nobody said how much may be discarded, so the budget does: of a minute of two CPUs, 1.2 s at 1 %. */
static void test_discarded_by_budget(void)
{
    static const double shares[N] = { 0.9, 0.8 }, costs_ms[N] = { 50, 50 };
    const struct {
        const char *claim;
        double budget, compiled_s;
        bool is_known, is_chosen;
    } rows[] = {
        { "what the compilers took so long for is left alone", 0.01, 16, false, false },
        { "what took them no longer than the start of a small program is not", 0.01, 0.9, false, true },
        { "nor is what a larger budget pays for", 0.5, 16, false, true },
        { "code that is gone is not compiled again: what there is counts", 0.01, 3, true, true },
        { "but what is far beyond is not looked at", 0.01, 16, true, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin(10);
        options.discards_code = true;
        options.recompile_s = 0;
        options.budget = rows[i].budget;
        now.jit_cpu_ns = (uint64_t)(rows[i].compiled_s * 1e9);
        tell(shares, rows[i].is_known ? costs_ms : NULL);
        CHECK(rows[i].claim, live_chooser_decide(&chooser) == rows[i].is_chosen);
        CHECK("nor is it asked for", live_chooser_needs_costs(&chooser) == rows[i].is_chosen);
        end();
    }
}

static void test_unknown(void)
{
    begin(10);
    tell((const double[N]){ 0.9, 0.8 }, NULL);
    CHECK_TEXT("classes of which no cost is known cost nothing", chosen(&chooser.latest), "ab");
    budget.n_batches = 1;
    budget.recompilation_ns = 250e6;
    chooser.n_choices = UNBUDGETED_CHOICES;
    tell((const double[N]){ 0.3, 0.2 }, NULL);
    CHECK_TEXT("until they have cost more than the budget allows", chosen(&chooser.latest), "/ab");
    end();
}

static void test_times(void)
{
    begin(10);
    live_chooser_begin(&chooser);
    CHECK_NUMBER("a second choice follows soon", chooser.next_ns - now.now_ns, NEXT_CHOICE_FIRST_NS);
    for (int i = 0; i < 10; i++)
        live_chooser_begin(&chooser);
    CHECK_NUMBER("later ones every half minute", chooser.next_ns - now.now_ns, NEXT_CHOICE_MAX_NS);
    end();
}

int main(void)
{
    test_budget();
    test_running();
    test_first_and_later();
    test_many_classes();
    test_discarded();
    test_discarded_by_budget();
    test_unknown();
    test_times();
    return tap_done();
}
