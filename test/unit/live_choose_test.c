/*
 * Which candidates get probes, where it is known what their classes cost the JIT compilers.
 */
#include "test/unit/live_sim.h"

#define CLASS(id) (UINT64_C(1) << (id))

#define MS_WORK 4000 /* the compilers' work in a millisecond */

/* The compilers took 1 s for what was compiled (in ms).  Prices are in ms, and become work. */
static struct sim *new_priced(double budget, struct code_price *all, size_t n, double compiled)
{
    static struct code_prices prices;
    struct live_options options = usual;
    options.budget = budget;
    struct sim *sim = new_sim(&options);
    for (size_t i = 0; i < n; i++)
        all[i].work *= MS_WORK;
    prices = (struct code_prices){ .all = all, .n = n, .compiled = compiled * MS_WORK };
    sim->prices = &prices;
    sim->compiled_ns = SECOND;
    sim->methods[1] = (struct sim_method){ 0, 0, 1000000, 1 };
    return sim;
}

static void test_room(void)
{
    struct code_price all[] = { { CLASS(2), 10 }, { CLASS(2) | CLASS(3), 10 }, { CLASS(3), 5 }, { CLASS(4), 500 } };
    struct sim *sim = new_priced(0.01, all, 4, 1000);
    struct live_cost cost;
    sim->methods[2].share = 0.5;
    sim->methods[3].share = 0.3;
    sim->methods[4].share = 0.9;
    run(sim, 1, 3);
    live_cost(sim->live, &cost);
    CHECK("a class without compiled code is changed", sim->has_probes[1]);
    CHECK("as are those that the budget of three seconds pays for", sim->has_probes[2] && sim->has_probes[3]);
    CHECK("one for which it does not is left alone", !sim->has_probes[4]);
    CHECK_NUMBER("and counted", cost.n_put_off, 1);
    CHECK_NUMBER("that it was seen before is no reason for a free batch", sim->n_batches, 1);
    run(sim, 1, 27);
    CHECK("nor is 1 % of 30 s enough for 0.5 s", !sim->has_probes[4]);
    run(sim, 1, 100);
    CHECK("but it gets probes when it is paid for", sim->has_probes[4]);
    live_close(sim->live);
}

static void test_worth(void)
{
    struct code_price all[] = { { CLASS(2), 22 }, { CLASS(3), 8 } };
    struct sim *sim = new_priced(0.01, all, 2, 1000);
    sim->methods[2].share = 0.02;
    sim->methods[3].share = 0.5;
    run(sim, 1, 2);
    CHECK("a class costs no more than the time that was spent in it", !sim->has_probes[2] && sim->has_probes[3]);
    live_close(sim->live);
}

static void test_one_at_least(void)
{
    struct code_price all[] = { { CLASS(1), 60 }, { CLASS(2), 60 } };
    struct sim *sim = new_priced(0.001, all, 2, 1000);
    sim->methods[2].share = 0.9;
    run(sim, 1, 3);
    CHECK("one class is changed where that is a small part of its time", sim->has_probes[1]);
    CHECK("no second one", !sim->has_probes[2]);
    live_close(sim->live);
    all[0].work = 9000;
    sim = new_priced(0.001, all, 1, 1000);
    run(sim, 1, 3);
    CHECK("but not one for all of its time", !sim->has_probes[1] && sim->n_batches == 0);
    live_close(sim->live);
}

static void test_unknown(void)
{
    struct code_price all[] = { { CLASS(1), 900 } };
    struct sim *sim = new_priced(0.001, all, 1, 0);
    run(sim, 1, 3);
    CHECK("where no price is known, the first batch has all", sim->has_probes[1]);
    live_close(sim->live);
}

/* The agent does not change the class now: its loop is under way. */
static void test_refused(void)
{
    struct code_price all[] = { { CLASS(1), 60 } };
    struct sim *sim = new_priced(0.001, all, 1, 1000);
    sim->refused = 1;
    run(sim, 1, 2);
    CHECK("a class that could not be changed has no probes", !sim->has_probes[1] && sim->n_batches == 1);
    sim->refused = 0;
    run(sim, 1, 3);
    CHECK("it is let in after the next look, for nothing was paid", sim->has_probes[1]);
    live_close(sim->live);
}

/* The code of before is gone, and nobody knows of it. */
static void test_gone(void)
{
    struct code_price all[] = { { CLASS(1), 100 } };
    struct sim *sim = new_priced(0.001, all, 1, 100);
    run(sim, 1, 3);
    CHECK("what was compiled before is not taken for what is there", sim->has_probes[1]);
    live_close(sim->live);
}

int main(void)
{
    test_room();
    test_worth();
    test_one_at_least();
    test_unknown();
    test_gone();
    test_refused();
    return tap_done();
}
