/*
 * What the live session makes of what a batch costs the JIT compiler.
 */
#include "test/unit/live_sim.h"

static void test_recovery(void)
{
    struct sim *sim = new_sim(&usual);
    struct live_account figures;
    size_t n;
    sim->methods[1] = (struct sim_method){ 0, 0, 1000000, 1 };
    sim->jit = 0.8;
    sim->recovery_ns = 1500 * MS;
    run(sim, 1, 2);
    CHECK("while the compiler is busy the session waits", live_stage(sim->live) == LIVE_RECOVERING);
    run(sim, 1, 2);
    CHECK("then it goes on", live_stage(sim->live) != LIVE_RECOVERING);
    const struct live_recovery *recoveries = live_recoveries(sim->live, &n);
    CHECK_NUMBER("the recovery is known", n, 1);
    double ms = (double)(recoveries[0].end_ticks - recoveries[0].start_ticks) / 1e6;
    CHECK("and how long it took", ms > 1500 && ms < 2000);
    live_figures(sim->live, method_of(sim, 1), &figures);
    CHECK("its calls are not in the figures", figures.calls > 100 && figures.calls < sim->n_probed[1] - 1400);
    live_close(sim->live);
}

/* What rates and shares of the figures are of: the time less that. */
static void test_left_out(void)
{
    struct sim *sim = new_sim(&usual);
    struct live_cost cost, later;
    size_t n;
    sim->methods[1] = (struct sim_method){ 0, 0, 1000000, 1 };
    sim->busy = 2;
    sim->jit = 0.8;
    sim->recovery_ns = 2500 * MS;
    run(sim, 1, 1);
    live_cost(sim->live, &cost);
    run(sim, 1, 1);
    live_cost(sim->live, &later);
    CHECK("in a recovery the time goes by that no figure covers",
          live_is_frozen(sim->live) && later.left_out_ns - cost.left_out_ns > 900 * MS);
    CHECK("and there is no method with figures", method_of(sim, 1) != NULL && !live_has_calls(sim->live));
    run(sim, 1, 3);
    live_cost(sim->live, &cost);
    run(sim, 1, 1);
    live_cost(sim->live, &later);
    CHECK("behind it that time stands still", later.left_out_ns == cost.left_out_ns && !live_is_frozen(sim->live));
    const struct live_recovery *recoveries = live_recoveries(sim->live, &n);
    CHECK("and is that of the recovery",
          n == 1 && later.left_out_ns == recoveries[0].end_ticks - recoveries[0].start_ticks);
    CHECK("its CPU time is known, too", later.left_out_cpu_ns == 2 * later.left_out_ns);
    CHECK("then the method has figures", live_has_figures(sim->live, method_of(sim, 1)) && live_has_calls(sim->live));
    live_close(sim->live);
}

/* Its compiler takes 1.2 s of CPU time after each batch. */
static void test_worth(void)
{
    struct sim *sim = new_sim(&usual);
    struct live_cost cost;
    sim->methods[1] = (struct sim_method){ 2, 100000, 1000000, 1 };
    sim->methods[2] = (struct sim_method){ 0, 0, 50, 0.9 };
    sim->jit = 0.8;
    sim->recovery_ns = 1500 * MS;
    run(sim, 1, 5);
    sim->methods[3].share = 0.03;
    run(sim, 1, 20);
    live_cost(sim->live, &cost);
    CHECK("what compiling again costs is known", cost.recompiling_ns > 1100 * MS && cost.recompiling_ns < 1300 * MS);
    CHECK("a method with 3 % of 20 s is not worth a batch", !sim->has_probes[3] && sim->n_batches == 1);
    CHECK_NUMBER("and is counted as put off", cost.n_put_off, 1);
    CHECK_NUMBER("nor is it to remove closed probes that cost 0.7 % since", sim->n_removed, 0);
    run(sim, 1, 80);
    CHECK("nor within the budget: 1.2 s of 105 s", !sim->has_probes[3]);
    run(sim, 1, 60);
    CHECK("when it is both, it gets probes", sim->has_probes[3]);
    run(sim, 1, 120);
    CHECK_NUMBER("and closed probes go when they have cost as much", sim->n_removed, 1);
    live_close(sim->live);
}

/* The JVM throws all code away, for which its compilers took 20 s. */
static struct sim *new_forgetful(double recompile_s)
{
    struct live_options options = usual;
    options.forgets_code = true;
    options.recompile_s = recompile_s;
    struct sim *sim = new_sim(&options);
    sim->methods[1] = (struct sim_method){ 0, 0, 1000000, 1 };
    sim->compiled_ns = 20 * SECOND;
    sim->jit = 0.8;
    sim->recovery_ns = 12 * SECOND;
    return sim;
}

static void test_forgotten(void)
{
    struct sim *sim = new_forgetful(30);
    struct live_cost cost;
    size_t n;
    run(sim, 1, 10);
    CHECK("a recovery of all code is watched for longer", live_stage(sim->live) == LIVE_RECOVERING);
    run(sim, 1, 5);
    live_cost(sim->live, &cost);
    const struct live_recovery *recoveries = live_recoveries(sim->live, &n);
    double ms = n == 0 ? 0 : (double)(recoveries[0].end_ticks - recoveries[0].start_ticks) / 1e6;
    CHECK("to its end", n == 1 && ms > 12000 && ms < 12500 && !cost.is_cut);
    CHECK("what was thrown away is known", cost.forgotten_ns == 20 * SECOND && cost.spared_ns == 0);
    live_close(sim->live);
}

static void test_cut(void)
{
    struct err err = { "" };
    struct sim *sim = new_forgetful(30);
    struct live_cost cost;
    run(sim, 1, 10);
    must(live_finish(sim->live, &err), &err);
    live_cost(sim->live, &cost);
    CHECK("the end of a recording cuts a recovery short", cost.is_cut && cost.recovery_ms > 8000);
    live_close(sim->live);
    sim = new_forgetful(30);
    sim->recovery_ns = 100 * SECOND;
    run(sim, 1, 40);
    live_cost(sim->live, &cost);
    CHECK("nor is one watched for ever", cost.is_cut && cost.recovery_ms > 29000 && cost.recovery_ms < 31000);
    live_close(sim->live);
}

static void test_spared(void)
{
    struct sim *sim = new_forgetful(19);
    struct live_cost cost;
    double price_ns;
    run(sim, 1, 60);
    live_cost(sim->live, &cost);
    CHECK_NUMBER("where that took long, no class is changed", sim->n_batches, 0);
    CHECK("looks go on", sim->n_choices > 3);
    CHECK("it is said what is spared", cost.spared_ns == 20 * SECOND && cost.forgotten_ns == 0);
    CHECK("and why what was seen has no probes",
          live_why_without(sim->live, "Sim", "outer", "()V", &price_ns) == LIVE_SPARED);
    live_close(sim->live);
}

/* The JVM writes its classes into an archive. */
static void test_archived(void)
{
    struct live_options options = usual;
    double price_ns;
    options.leaves_classes = true;
    struct sim *sim = new_sim(&options);
    sim->methods[1] = (struct sim_method){ 0, 0, 1000000, 1 };
    run(sim, 1, 60);
    CHECK("where no class may be changed, looks go on and none is", sim->n_choices > 3 && sim->n_batches == 0);
    CHECK("and it is said why what was seen has no probes",
          live_why_without(sim->live, "Sim", "outer", "()V", &price_ns) == LIVE_ARCHIVED);
    live_close(sim->live);
}

int main(void)
{
    test_recovery();
    test_left_out();
    test_worth();
    test_forgotten();
    test_cut();
    test_spared();
    test_archived();
    return tap_done();
}
