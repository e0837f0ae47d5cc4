/* When it pays to compile a method at a higher tier, and which methods are chosen. */
#include "phases/compile/compile_choice.h"

#include "test/unit/tap.h"

#include <math.h>

#define MS 1e6

/* The interpreter takes ten times as long as C1's code, C2's half of that. */
static const struct compile_model model = {
    .speed = { 1, 10, 10, 10, 20 },
    .ns_per_byte = { 0, 100, 100, 100, 10000 },
};

static void test_least(void)
{
    /* Exact: half the chi-square quantile of 2.5 % with 2n degrees of freedom. */
    static const double exact[][2] = { { 2, 0.242 }, { 3, 0.619 }, { 5, 1.623 }, { 10, 4.795 }, { 100, 81.364 } };
    CHECK("no sample says nothing", compile_least_events(0) == 0);
    CHECK("one sample says hardly more", compile_least_events(1) < 0.03);
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++) {
        char claim[80];
        snprintf(claim, sizeof claim, "at least %.3f events are behind %.0f", exact[i][1], exact[i][0]);
        CHECK(claim, fabs(compile_least_events(exact[i][0]) - exact[i][1]) < 0.02);
    }
}

static void test_model(void)
{
    static const struct {
        const char *claim;
        uint32_t tier;
        double n_samples;
        uint32_t code_bytes, expected;
    } rows[] = {
        { "three samples of a small interpreted method are enough", 0, 3, 100, 3 },
        { "one is not, it may be chance", 0, 1, 100000, 0 },
        { "what is profiled goes to C2", 3, 100, 100, 4 },
        { "not where that takes longer than it saves", 3, 100, 100000, 0 },
        { "what C1 compiled without profiling stays, as HotSpot keeps it", 1, 10000, 10, 0 },
        { "what C1 compiled with some profiling goes to C2", 2, 10000, 10, 4 },
        { "C2's code stays", 4, 10000, 10, 0 },
        { "a tier that is not known stays", 99, 10000, 10, 0 },
        { "without samples nothing is worth it", 0, 0, 0, 0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_NUMBER(rows[i].claim,
                     compile_model_choose(&model, rows[i].tier, rows[i].n_samples, 4 * MS, rows[i].code_bytes),
                     rows[i].expected);
    /* 2 samples: 0.2246 by the approximation, of 4 ms, of which nine tenths are saved: 808,560 ns, of 100 a byte. */
    CHECK_NUMBER("a saving above the cost", compile_model_choose(&model, 0, 2, 4 * MS, 8000), 3);
    CHECK_NUMBER("and one below it", compile_model_choose(&model, 0, 2, 4 * MS, 8200), 0);
}

/* Where a choice tips over tells speeds and costs. */
static void test_measured(void)
{
    double past_ns = compile_least_events(100) * MS;
    double most_c1 = past_ns * (1 - 1 / 12.) / 250, most_c2 = past_ns * (1 - 12 / 32.) / 5000;
    static const struct compile_model *measured = &compile_model_measured;
    CHECK("C1 is 12 times as fast as the interpreter, and takes 250 ns a byte",
          compile_model_choose(measured, 0, 100, MS, (uint32_t)(most_c1 * 0.9999)) == 3 &&
              compile_model_choose(measured, 0, 100, MS, (uint32_t)(most_c1 * 1.0001)) == 0);
    CHECK("C2 is 32 times as fast, and takes 5 us a byte",
          compile_model_choose(measured, 3, 100, MS, (uint32_t)(most_c2 * 0.999)) == 4 &&
              compile_model_choose(measured, 3, 100, MS, (uint32_t)(most_c2 * 1.001)) == 0);
    CHECK("a tenth of a sample is none", compile_least_events(0.1) == 0);
}

static struct compile_choice sampled(enum compile_rule rule)
{
    struct compile_choice choice = { .model = &model, .rule = rule, .period_ns = 4 * MS, .random = 1 };
    for (int i = 0; i < 5; i++)
        compile_choice_add(&choice, 7, 0, 100);
    for (int i = 0; i < 200; i++)
        compile_choice_add(&choice, 2, 3, 50);
    for (uint32_t cold = 10; cold < 20; cold++)
        compile_choice_add(&choice, cold, cold % 2 == 0 ? 0 : 3, 1000);
    return choice;
}

static void test_choice(void)
{
    struct compile_decision decisions[8];
    struct compile_choice choice = sampled(COMPILE_BY_MODEL);
    size_t n = compile_choice_decide(&choice, decisions, 8);
    CHECK("the hot ones are chosen, each for its next tier", n == 2 && decisions[0].method == 2 &&
                                                                 decisions[0].tier == 4 && decisions[1].method == 7 &&
                                                                 decisions[1].tier == 3);
    CHECK_NUMBER("samples are counted", choice.n_samples, 215);
    CHECK_NUMBER("candidates end behind the highest number", choice.n_candidates, 20);
    CHECK_NUMBER("and methods with samples", choice.n_sampled, 12);
    CHECK_NUMBER("all of them were weighed", choice.n_proposed, 12);
    CHECK_NUMBER("nothing is chosen twice", compile_choice_decide(&choice, decisions, 8), 0);
    compile_choice_add(&choice, 7, 0, 100);
    CHECK_NUMBER("nor when there are more samples", compile_choice_decide(&choice, decisions, 8), 0);
    for (int i = 0; i < 200; i++)
        compile_choice_add(&choice, 7, 3, 100);
    n = compile_choice_decide(&choice, decisions, 8);
    CHECK("in its new tier it is weighed by the samples in that", n == 1 && decisions[0].tier == 4);
    CHECK("decisions are counted by tier",
          choice.n_chosen == 3 && choice.n_by_tier[3] == 1 && choice.n_by_tier[4] == 2);
    compile_choice_free(&choice);
}

static void test_room(void)
{
    struct compile_decision decisions[1];
    struct compile_choice choice = sampled(COMPILE_BY_MODEL);
    bool one = compile_choice_decide(&choice, decisions, 1) == 1 && decisions[0].method == 2;
    CHECK("what has no room comes in the next round",
          one && compile_choice_decide(&choice, decisions, 1) == 1 && decisions[0].method == 7);
    compile_choice_free(&choice);
}

static void test_random(void)
{
    struct compile_decision decisions[8];
    bool same_tiers = true, cold = false;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct compile_choice choice = sampled(COMPILE_RANDOM);
        choice.random = seed * 2 + 1;
        size_t n = compile_choice_decide(&choice, decisions, 8);
        same_tiers = same_tiers && n == 2 && decisions[0].tier == 4 && decisions[1].tier == 3 &&
                     choice.candidates[decisions[0].method].tier == 3 &&
                     choice.candidates[decisions[1].method].tier == 0;
        cold = cold || decisions[0].method >= 10;
        compile_choice_free(&choice);
    }
    CHECK("random methods are as many, from and to the same tiers", same_tiers);
    CHECK("and not always the hot ones", cold);
}

int main(void)
{
    test_least();
    test_model();
    test_measured();
    test_choice();
    test_room();
    test_random();
    return tap_done();
}
