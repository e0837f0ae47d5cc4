#include "phases/select/select.h"

#include "test/unit/tap.h"
#include "test/unit/trace_maker.h"

static struct arena arena;
static struct err err;

/* Methods by total time and calls; the program's time is 1830 (thesis Figure 3.3). */
static const struct calltree_total figure[] = {
    { .method = 0, .total_cpu_ticks = 1830, .calls = 1 },  { .method = 1, .total_cpu_ticks = 30, .calls = 1 },
    { .method = 2, .total_cpu_ticks = 300, .calls = 1 },   { .method = 3, .total_cpu_ticks = 200, .calls = 50 },
    { .method = 4, .total_cpu_ticks = 30, .calls = 1 },    { .method = 5, .total_cpu_ticks = 1300, .calls = 1 },
    { .method = 6, .total_cpu_ticks = 600, .calls = 300 }, { .method = 7, .total_cpu_ticks = 500, .calls = 250 },
    { .method = 8, .total_cpu_ticks = 170, .calls = 1 },   { .method = 9, .total_cpu_ticks = 150, .calls = 50 },
};
#define N_FIGURE (sizeof figure / sizeof figure[0])

/* The chosen methods as digits. */
static const char *chosen(const struct phases_choice *choice)
{
    static char text[N_FIGURE + 1];
    size_t n = 0;
    for (size_t i = 0; i < N_FIGURE; i++)
        if (choice->is_chosen[i])
            text[n++] = (char)('0' + i);
    text[n] = '\0';
    return text;
}

static struct phases_choice choose(double weight, double grain, double budget, double pair_ns)
{
    struct phases_criteria options = { PHASES_CPU, weight, grain, budget };
    struct budget_base base = { .n_invocations = 656, .total_ns = 1830, .pair_ns = pair_ns };
    struct phases_choice choice;
    if (phases_select(figure, N_FIGURE, 1830, &base, &options, &arena, &choice, &err) < 0)
        printf("Bail out! %s\n", err.text);
    return choice;
}

static bool is_near(double a, double b)
{
    return a > b - 1e-9 && a < b + 1e-9;
}

static void test_thresholds(void)
{
    static const struct {
        const char *claim;
        double weight, grain;
        const char *phases;
    } rows[] = {
        { "10 % and 5 % select main, readData and sortData", 0.10, 0.05, "025" },
        { "without a grain the many small ones come too", 0.10, 0, "023567" },
        { "without a weight those with long calls", 0, 0.05, "0258" },
        { "100 % is main alone", 1, 1, "0" },
        { "a threshold that is just reached selects", 1300.0 / 1830, 0.5, "05" },
        { "one just missed does not", 1301.0 / 1830, 0.5, "0" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct phases_choice choice = choose(rows[i].weight, rows[i].grain, 0.01, 0);
        CHECK_TEXT(rows[i].claim, chosen(&choice), rows[i].phases);
    }
    struct phases_choice choice = choose(0.10, 0.05, 0.01, 0.61);
    CHECK("the thesis' estimate is profiled over all calls", is_near(choice.estimates.invocations_ratio, 3.0 / 656));
    CHECK("predicted time is calls times the cost of a pair", is_near(choice.estimates.time_ratio, 3 * 0.61 / 1830));
    CHECK("given thresholds stay, whatever they cost", !choose(0.0, 0.0, 0.0001, 10).over_budget);
}

static void test_search(void)
{
    struct phases_choice choice = choose(-1, -1, 0.01, 0);
    CHECK_TEXT("1 % of 656 calls: all methods with one call", chosen(&choice), "012458");
    CHECK("the weight is the lowest, the grain keeps the rest out",
          is_near(choice.weight, 1e-6) && choice.grain > 4.0 / 1830);
    CHECK("both were searched", !choice.weight_given && !choice.grain_given);
    choice = choose(-1, -1, 0.10, 0);
    CHECK_TEXT("10 %: one of those with 50 calls, of which only the longer calls fit", chosen(&choice), "0123458");
    choice = choose(-1, -1, 1, 0);
    CHECK_TEXT("100 %: all", chosen(&choice), "0123456789");
    choice = choose(-1, -1, 0.36, 1.0);
    CHECK_TEXT("where a call's cost is known, the predicted time keeps the budget: at 1 ns all cost 35.8 %",
               chosen(&choice), "0123456789");
    choice = choose(-1, -1, 0.2, 1.0);
    CHECK("and it binds", choice.estimates.time_ratio <= 0.2 && choice.n_calls < 367);
    choice = choose(-1, -1, 0.01, 0.02);
    CHECK_TEXT("so that methods with most of few calls are phases", chosen(&choice), "0123456789");
    CHECK("whatever the thesis' estimate says", is_near(choice.estimates.invocations_ratio, 1) && !choice.over_budget);
    choice = choose(0.10, -1, 0.01, 0);
    CHECK_TEXT("a given weight stays, the grain is searched", chosen(&choice), "025");
    CHECK("as given", choice.weight == 0.10 && choice.weight_given && !choice.grain_given);
    choice = choose(-1, 0.05, 0.01, 0);
    CHECK_TEXT("and the other way round", chosen(&choice), "0258");
    choice = choose(-1, -1, 0.0001, 0);
    CHECK("no pair within the budget: the cheapest, and it is said", choice.over_budget && choice.n_calls == 2);
    CHECK_TEXT("they have the highest thresholds", chosen(&choice), "05");
}

static void test_unknown_estimates(void)
{
    struct budget_base base = { .n_invocations = 0, .total_ns = 1830, .pair_ns = 1 };
    struct phases_criteria options = { PHASES_CPU, -1, -1, 0.01 };
    struct phases_choice choice;
    phases_select(figure, N_FIGURE, 1830, &base, &options, &arena, &choice, &err);
    CHECK("only selected methods recorded: the thesis' estimate is not known, the one in time decides",
          choice.estimates.invocations_ratio < 0 && choice.estimates.time_ratio <= 0.01 && choice.n_chosen == 6);
    base.pair_ns = 0;
    phases_select(figure, N_FIGURE, 1830, &base, &options, &arena, &choice, &err);
    CHECK("neither is known: all methods are phases", choice.n_chosen == N_FIGURE && !choice.over_budget);
}

/* Two hundred methods of a big program: 30 with most of the time of their own, the rest callers and small ones. */
static void test_many(void)
{
    enum { N = 200, HEAVY = 30 };
    static struct calltree_total totals[N];
    struct budget_base base = { .n_invocations = 1000000000, .total_ns = 1e6, .pair_ns = 0 };
    struct phases_choice choice;
    size_t n_heavy = 0;
    for (uint32_t i = 0; i < N; i++) {
        bool is_heavy = i < HEAVY;
        totals[i] = (struct calltree_total){ .method = i,
                                             .total_cpu_ticks = is_heavy        ? 40000
                                                                : i < 2 * HEAVY ? 30000
                                                                                : 100,
                                             .cpu_ticks = is_heavy ? 30000 : 100,
                                             .calls = is_heavy ? 1000 : 1 };
    }
    struct phases_criteria options = { PHASES_CPU, -1, -1, 0.01 };
    CHECK("phases of a program with many methods are found",
          phases_select(totals, N, 1000000, &base, &options, &arena, &choice, &err) == 0);
    for (size_t i = 0; i < HEAVY; i++)
        n_heavy += choice.is_chosen[i];
    CHECK("they are no more than a person reads", choice.n_chosen <= PHASES_MANY);
    CHECK_NUMBER("those in which the program spends its time are all there", n_heavy, HEAVY);
    options.weight = 0;
    CHECK("a weight that is given selects what it says",
          phases_select(totals, N, 1000000, &base, &options, &arena, &choice, &err) == 0 && choice.n_chosen == N);
}

static void test_refusals(void)
{
    struct budget_base base = { 0 };
    struct phases_criteria options = { PHASES_WALL, -1, -1, 0.01 };
    struct phases_choice choice;
    CHECK("no methods is an error", phases_select(figure, 0, 1830, &base, &options, &arena, &choice, &err) < 0);
    CHECK_TEXT("that says what to do", err.text,
               "the trace has no calls of the application's methods\n"
               "  next: record longer, or more methods ('mmprof record --all-methods --min-bytecodes 0')");
    CHECK("no time is one too", phases_select(figure, N_FIGURE, 0, &base, &options, &arena, &choice, &err) < 0);
}

/* From the trace to the phases. */
static void test_trace(void)
{
    struct maker m;
    struct calltree tree;
    struct calltree_total *totals;
    struct phases_choice choice;
    size_t n;
    maker_open(&m, "select.dat");
    maker_info(&m, "offcpu", "perf");
    maker_figure_3_3(&m);
    maker_thread(&m, 1, "GC Thread#0", false);
    KERNEL(&m, AT(TRACE_CPU_IN, 1, 1830), AT(TRACE_CPU_OUT, 0, 1830));
    maker_close(&m, 9000);
    struct trace_reader *reader = maker_read(&m);
    maker_must(&m, calltree_build(reader, &(struct calltree_options){ 0 }, &tree, &m.err));
    calltree_totals(&tree, VM_PART_APPLICATION, &arena, &totals, &n);
    uint64_t all = phases_all_ticks(&tree, PHASES_CPU);
    CHECK_NUMBER("the application's time is main's, without the collector's and without waiting", all, 1830);
    CHECK_NUMBER("on the wall clock waiting counts", phases_all_ticks(&tree, PHASES_WALL), 9000);
    struct budget_base base = phases_budget_base(&tree, all, true);
    CHECK_NUMBER("all calls are in the base of the estimate", base.n_invocations, 656);
    tree.n_lost = 44;
    CHECK_NUMBER("those that were lost, too", phases_budget_base(&tree, all, true).n_invocations, 656 + 44);
    struct phases_criteria options = { PHASES_CPU, 0.10, 0.05, 0.01 };
    maker_must(&m, phases_select(totals, n, all, &base, &options, &arena, &choice, &m.err));
    CHECK_TEXT("thesis Figure 3.3, from a trace: main, readData, sortData", chosen(&choice), "025");
    calltree_free(&tree);
    trace_close(reader);
}

static void test_estimates(void)
{
    const struct budget_base little = { .n_invocations = 8, .total_ns = 1, .pair_ns = 1 }, nothing = { 0 };
    struct budget_estimates estimates = budget_estimate(&little, 2);
    CHECK("two calls of 1 ns are twice a program of 1 ns", estimates.time_ratio == 2);
    CHECK("and a quarter of eight calls", estimates.invocations_ratio == 0.25);
    estimates = budget_estimate(&nothing, 2);
    CHECK("what is not known is negative", estimates.time_ratio < 0 && estimates.invocations_ratio < 0);
}

int main(void)
{
    test_estimates();
    test_thresholds();
    test_search();
    test_unknown_estimates();
    test_many();
    test_refusals();
    test_trace();
    arena_free(&arena);
    return tap_done();
}
