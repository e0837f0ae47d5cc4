/*
 * Which candidates get probes, where it is known what their classes cost the JIT compilers.
 */
#include "phases/live/live_policy.h"
#include "test/unit/live_sim.h"

#define CLASS(id) (UINT64_C(1) << (id))

#define MS_WORK 4000 /* the compilers' work in a millisecond */

/* The compilers took 1 s for what was compiled (in ms).  Costs are in ms, and become work. */
static struct sim *new_with_costs(double budget, struct recompilation_cost *all, size_t n, double compiled)
{
    static struct recompilation_costs costs;
    struct live_options options = usual;
    options.budget = budget;
    struct sim *sim = new_sim(&options);
    for (size_t i = 0; i < n; i++)
        all[i].work *= MS_WORK;
    costs = (struct recompilation_costs){ .all = all, .n = n, .compiled = compiled * MS_WORK };
    sim->costs = &costs;
    sim->compiled_ns = SECOND;
    sim->methods[1] = (struct sim_method){ 0, 0, 1000000, 1 };
    return sim;
}

/* Its session begins anew. */
static void reopen(struct sim *sim, const struct live_options *options)
{
    live_close(sim->live);
    sim->live = live_open(options);
}

static void test_room(void)
{
    struct recompilation_cost all[] = {
        { CLASS(2), 10 }, { CLASS(2) | CLASS(3), 10 }, { CLASS(3), 5 }, { CLASS(4), 500 }
    };
    struct sim *sim = new_with_costs(0.01, all, 4, 1000);
    sim->methods[2].share = 0.5;
    sim->methods[3].share = 0.3;
    sim->methods[4].share = 0.9;
    run(sim, 1, 3);
    CHECK("a class without compiled code is changed", sim->has_probes[1]);
    CHECK("as are those within the budget of three seconds", sim->has_probes[2] && sim->has_probes[3]);
    CHECK("one for which it does not is left alone", !sim->has_probes[4]);
    CHECK_NUMBER("and counted", sim->live->chooser.n_over_budget, 1);
    CHECK_NUMBER("that it was seen before is no reason for a free batch", sim->n_batches, 1);
    run(sim, 1, 27);
    CHECK("nor is 1 % of 30 s enough for 0.5 s", !sim->has_probes[4]);
    run(sim, 1, 150);
    CHECK("but it gets probes when the budget has room", sim->has_probes[4]);
    live_close(sim->live);
}

/* Does a class of 90 ms get probes in the first batch, and one of 400, when the recording will be so long? */
static void check_ahead(double seconds, bool fits, const char *name)
{
    struct recompilation_cost all[] = { { CLASS(2), 20 }, { CLASS(3), 90 }, { CLASS(4), 400 } };
    struct sim *sim = new_with_costs(0.01, all, 3, 1000);
    struct live_options options = usual;
    options.duration_s = seconds;
    reopen(sim, &options);
    for (uint32_t id = 2; id <= 4; id++)
        sim->methods[id].share = 0.9;
    run(sim, 1, 3);
    CHECK(name, sim->n_batches == 1 && sim->has_probes[2] && sim->has_probes[3] == fits && !sim->has_probes[4]);
    live_close(sim->live);
}

/* What the compilers took more than they should have is charged, too, as far as the code explains it. */
static void test_more_than_expected(void)
{
    struct live_cost cost;
    for (unsigned i = 0; i < 2; i++) {
        struct recompilation_cost all[] = { { CLASS(2), 20 }, { CLASS(3), 50 } };
        struct sim *sim = new_with_costs(0.01, all, 2, 1000);
        sim->methods[2].share = 0.9;
        sim->methods[3].share = 0.5;
        sim->window_ns = i * SECOND;
        sim->jit = 0.5;
        run(sim, 1, 60);
        cost = live_cost(sim->live);
        CHECK("a second class fits into the budget by and by", sim->has_probes[2] && sim->has_probes[3]);
        double ns = (i == 0 ? 1 : RECOMPILED_MOST) * 20e6 + 50e6;
        CHECK(i == 0 ? "they cost what was expected"
                     : "the first one three times that, where the compilers took half a second",
              cost.compiling_ns > 0.99 * ns && cost.compiling_ns < 1.01 * ns);
        live_close(sim->live);
    }
}

/* Is a class of 22 ms changed beside one of 5 ms, in the first seconds? */
static bool has_second(bool is_new)
{
    struct recompilation_cost all[] = { { CLASS(2), 22 }, { CLASS(3), 5 } };
    struct sim *sim = new_with_costs(0.01, all, 2, 1000);
    struct live_options options = usual;
    options.is_new = is_new;
    reopen(sim, &options);
    sim->methods[2].share = 0.5;
    sim->methods[3].share = 0.5;
    run(sim, 1, 3);
    CHECK("the cheaper one is", sim->has_probes[3]);
    bool has = sim->has_probes[2];
    live_close(sim->live);
    return has;
}

static void test_new_work(void)
{
    CHECK("30 ms are room for 27 in a JVM that has worked for long", has_second(false));
    CHECK("not in one that has just begun, where it takes more", !has_second(true));
}

static void test_worth(void)
{
    struct recompilation_cost all[] = { { CLASS(2), 22 }, { CLASS(3), 8 } };
    struct sim *sim = new_with_costs(0.01, all, 2, 1000);
    sim->methods[2].share = 0.02;
    sim->methods[3].share = 0.5;
    run(sim, 1, 2);
    CHECK("a class costs no more than the time that was spent in it", !sim->has_probes[2] && sim->has_probes[3]);
    live_close(sim->live);
}

static void test_one_at_least(void)
{
    struct recompilation_cost all[] = { { CLASS(1), 60 }, { CLASS(2), 60 } };
    struct sim *sim = new_with_costs(0.001, all, 2, 1000);
    sim->methods[2].share = 0.9;
    run(sim, 1, 3);
    CHECK("one class is changed where that is a small part of its time", sim->has_probes[1]);
    CHECK("no second one", !sim->has_probes[2]);
    live_close(sim->live);
    all[0].work = 9000;
    sim = new_with_costs(0.001, all, 1, 1000);
    run(sim, 1, 3);
    CHECK("but not one for all of its time", !sim->has_probes[1] && sim->n_batches == 0);
    live_close(sim->live);
}

/* The first batch has used up more than there was; then the program does something else. */
static void test_later(void)
{
    for (unsigned i = 0; i < 3; i++) {
        struct recompilation_cost all[] = { { CLASS(1), 55 }, { CLASS(2), 20 }, { CLASS(3), i == 1 ? 400 : 20 } };
        struct sim *sim = new_with_costs(0.001, all, 3, 1000);
        run(sim, 1, 3);
        CHECK("a first batch costs more than the budget", sim->has_probes[1]);
        sim->methods[2].share = 0.2;
        sim->methods[3].share = i == 2 ? 0.3 : 0.5;
        run(sim, 1, 87);
        CHECK(i == 0   ? "what has most of the time later gets probes before the budget has room"
              : i == 1 ? "unless it costs more than a hundredth of the time in it"
                       : "or has less than a third of the time",
              sim->has_probes[3] == (i == 0));
        CHECK("what has not does not", !sim->has_probes[2]);
        live_close(sim->live);
    }
}

/* Does the first batch have a class of 90 ms, the one that there is, in a recording of so many seconds? */
static void check_whole(double seconds, bool fits, const char *name)
{
    struct recompilation_cost all[] = { { CLASS(1), 90 } };
    struct sim *sim = new_with_costs(0.01, all, 1, 1000);
    struct live_options options = usual;
    options.duration_s = seconds;
    reopen(sim, &options);
    run(sim, 1, 3);
    CHECK(name, sim->has_probes[1] == fits && sim->live->chooser.n_over_budget == !fits);
    live_close(sim->live);
}

/* The class with the most time for its cost has short calls only; what calls them has long ones. */
static void test_useless(void)
{
    for (unsigned i = 0; i < 2; i++) {
        struct recompilation_cost all[] = { { CLASS(1), i == 0 ? 45 : 9000 }, { CLASS(2), 10 } };
        struct sim *sim = new_with_costs(0.001, all, 2, 1000);
        sim->methods[1] = (struct sim_method){ 2, 1000, 1000, 1 };
        sim->methods[2] = (struct sim_method){ 0, 0, 1000, 0.9 };
        run(sim, 1, 2);
        CHECK("a first batch finds short calls only", sim->has_probes[2] && !is_enabled(sim, 2) && !sim->has_probes[1]);
        run(sim, 1, 60);
        CHECK(i == 0 ? "then a second one has a class for which there is no room, too" : "unless that costs too much",
              is_enabled(sim, 1) == (i == 0));
        CHECK_NUMBER("and there is no third one", sim->n_batches - sim->n_removed, i == 0 ? 2 : 1);
        live_close(sim->live);
    }
}

/* Why has a method no probes? */
static bool is_without(const struct sim *sim, const char *name, enum live_without why, double ms)
{
    double cost_ns;
    return live_chooser_why(&sim->live->chooser, "Sim", name, "()V", &cost_ns) == why && cost_ns > (ms - 0.5) * 1e6 &&
           cost_ns < (ms + 0.5) * 1e6;
}

static void test_why(void)
{
    struct recompilation_cost all[] = { { CLASS(2), 10 }, { CLASS(3), 500 } };
    struct sim *sim = new_with_costs(0.01, all, 2, 1000);
    sim->methods[2].share = 0.9;
    sim->methods[3].share = 0.9;
    sim->refused = 2;
    run(sim, 1, 3);
    CHECK("a class was to be changed, and was not",
          sim->has_probes[1] && is_without(sim, "c", LIVE_WITHOUT_CHANGE, 10));
    CHECK("another one is over budget, and its cost is known", is_without(sim, "d", LIVE_WITHOUT_BUDGET, 500));
    CHECK("of a method that no choice found nothing is", is_without(sim, "e", LIVE_WITHOUT_BATCH, 0));
    run(sim, 1, 30);
    CHECK("later choices know it, too", is_without(sim, "d", LIVE_WITHOUT_BUDGET, 500));
    live_close(sim->live);
}

static void test_unknown(void)
{
    struct recompilation_cost all[] = { { CLASS(1), 900 } };
    struct sim *sim = new_with_costs(0.001, all, 1, 0);
    run(sim, 1, 3);
    CHECK("where no cost is known, the first batch has all", sim->has_probes[1]);
    live_close(sim->live);
}

/* The agent does not change the class now: its loop is under way. */
static void test_refused(void)
{
    struct recompilation_cost all[] = { { CLASS(1), 60 } };
    struct sim *sim = new_with_costs(0.001, all, 1, 1000);
    struct live_cost cost;
    sim->refused = 1;
    run(sim, 1, 2);
    cost = live_cost(sim->live);
    CHECK("a class that could not be changed has no probes", !sim->has_probes[1] && sim->n_batches == 1);
    CHECK("nothing is recompiled for that", sim->live->budget.n_batches == 0 && cost.left_out_ns == 0);
    sim->refused = 0;
    run(sim, 1, 3);
    CHECK("it is let in after the next choice, for nothing was charged", sim->has_probes[1]);
    live_close(sim->live);
}

/*
 * The class with the most time for its cost has an active loop; the second choice has another one.  When the loop is
 * over, it is changed as well, once it fits.
 */
static void test_deferred(void)
{
    struct recompilation_cost all[] = { { CLASS(1), 40 }, { CLASS(2), 50 } };
    struct sim *sim = new_with_costs(0.001, all, 2, 1000);
    struct live_cost cost;
    sim->methods[1] = (struct sim_method){ 2, 100, 1000000, 1 };
    sim->methods[2] = (struct sim_method){ 0, 0, 1000000, 0.9 };
    sim->deferred = 1;
    sim->batch_ns = MS;
    run(sim, 1, 2);
    cost = live_cost(sim->live);
    CHECK("a class that is deferred has no probes, and nothing is charged",
          !sim->has_probes[1] && sim->n_batches == 1 && cost.compiling_ns <= 0);
    CHECK("which is why", is_without(sim, "b", LIVE_WITHOUT_EXIT, 40));
    CHECK("its calls are not known", !live_methods_know(&sim->live->methods, "Sim", "b", "()V"));
    run(sim, 1, 3);
    cost = live_cost(sim->live);
    CHECK("the second choice has another one", !sim->has_probes[1] && is_enabled(sim, 2));
    CHECK("and that is charged", cost.compiling_ns > 49e6 && cost.compiling_ns < 51e6);
    sim->deferred = 0;
    run(sim, 1, 30);
    CHECK("what was deferred has no room yet", !sim->has_probes[1]);
    run(sim, 1, 400);
    cost = live_cost(sim->live);
    CHECK("but is changed when it has",
          is_enabled(sim, 1) && live_methods_know(&sim->live->methods, "Sim", "b", "()V"));
    CHECK("and charged then", cost.compiling_ns > 89e6 && cost.compiling_ns < 91e6);
    live_close(sim->live);
}

/* What the first batch found is not called any more. */
static void test_not_called(void)
{
    struct recompilation_cost all[] = { { CLASS(2), 10 }, { CLASS(3), 45 } };
    struct sim *sim = new_with_costs(0.001, all, 2, 1000);
    sim->methods[1].share = 0;
    sim->methods[2].share = 0.9;
    sim->methods[3].share = 0.9;
    run(sim, 1, 2);
    CHECK("one class is changed", sim->has_probes[2] && !sim->has_probes[3]);
    run(sim, 1, 3);
    CHECK("whose methods are not called: the second choice has another one", sim->has_probes[3]);
    live_close(sim->live);
}

/* The code of before is gone, and nobody knows of it. */
static void test_gone(void)
{
    struct recompilation_cost all[] = { { CLASS(1), 100 } };
    struct sim *sim = new_with_costs(0.002, all, 1, 100);
    run(sim, 1, 3);
    CHECK("what was compiled before is not taken for what is there", sim->has_probes[1]);
    live_close(sim->live);
}

int main(void)
{
    test_room();
    check_ahead(0, false, "what exceeds the budget of the time so far is put off");
    check_ahead(10, false, "as in a recording of ten seconds");
    check_ahead(60, true, "where it is known to be a minute long, it fits at once");
    check_ahead(3600, true, "and in an hour no more than in that");
    check_whole(30, true, "the first batch may have one class that takes what the rest leaves of the budget");
    check_whole(20, false, "but none that takes more: such a recording has samples only");
    test_more_than_expected();
    test_new_work();
    test_worth();
    test_one_at_least();
    test_later();
    test_useless();
    test_why();
    test_unknown();
    test_gone();
    test_refused();
    test_deferred();
    test_not_called();
    return tap_done();
}
