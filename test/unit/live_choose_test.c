/*
 * Which candidates get probes, where it is known what their classes cost the JIT compilers.
 */
#include "test/unit/live_sim.h"

#define CLASS(id) (UINT64_C(1) << (id))

/* The compilers took 1 s for 1000 units of work, so a unit is a millisecond. */
static struct sim *new_priced(double budget, struct code_price *all, size_t n, double compiled)
{
    static struct code_prices prices;
    struct live_options options = usual;
    options.budget = budget;
    struct sim *sim = new_sim(&options);
    prices = (struct code_prices){ .all = all, .n = n, .compiled = compiled };
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
    all[0].work = 400;
    sim = new_priced(0.001, all, 1, 1000);
    run(sim, 1, 3);
    CHECK("but not one for half of its time", !sim->has_probes[1] && sim->n_batches == 0);
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

int main(void)
{
    test_room();
    test_worth();
    test_one_at_least();
    test_unknown();
    return tap_done();
}
