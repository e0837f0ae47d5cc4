/*
 * What the live controller makes of what a batch costs the JIT compiler.
 */
#include "test/unit/live_sim.h"

static void test_window(void)
{
    struct sim *sim = new_sim(&usual);
    struct live_account figures;
    sim->methods[1] = (struct sim_method){ 0, 0, 1000000, 1 };
    sim->jit = 0.8;
    sim->window_ns = 1500 * MS;
    run(sim, 1, 2);
    CHECK("while the compiler works more than before the controller waits", sim->live->stage == LIVE_RECOMPILING);
    run(sim, 1, 2);
    CHECK("then it goes on", sim->live->stage != LIVE_RECOMPILING);
    const struct live_recompilation *windows = sim->live->window.all;
    CHECK_NUMBER("the window is known", sim->live->window.n, 1);
    double ms = (double)(windows[0].end_ticks - windows[0].start_ticks) / 1e6;
    CHECK("and how long it took", ms > 1500 && ms < 2000);
    figures = live_method_figures(&sim->live->methods, method_of(sim, 1));
    CHECK("its calls are not in the figures", figures.calls > 100 && figures.calls < sim->n_probed[1] - 1400);
    live_close(sim->live);
}

/* What rates and shares of the figures are of: the time less that. */
static void test_left_out(void)
{
    struct sim *sim = new_sim(&usual);
    struct live_cost cost, later;
    sim->methods[1] = (struct sim_method){ 0, 0, 1000000, 1 };
    sim->busy = 2;
    sim->jit = 0.8;
    sim->window_ns = 2500 * MS;
    run(sim, 1, 1);
    cost = live_cost(sim->live);
    run(sim, 1, 1);
    later = live_cost(sim->live);
    CHECK("in a window the time goes by that no figure covers",
          sim->live->methods.is_frozen && later.left_out_ns - cost.left_out_ns > 900 * MS);
    CHECK("and there is no method with figures",
          method_of(sim, 1) != NULL && !live_methods_have_figures(&sim->live->methods));
    run(sim, 1, 3);
    cost = live_cost(sim->live);
    run(sim, 1, 1);
    later = live_cost(sim->live);
    CHECK("behind it that time stands still", later.left_out_ns == cost.left_out_ns && !sim->live->methods.is_frozen);
    const struct live_recompilation *windows = sim->live->window.all;
    CHECK("and is that of the window",
          sim->live->window.n == 1 && later.left_out_ns == windows[0].end_ticks - windows[0].start_ticks);
    CHECK("its CPU time is known, too", later.left_out_cpu_ns == 2 * later.left_out_ns);
    CHECK("then the method has figures", live_method_has_figures(&sim->live->methods, method_of(sim, 1)) &&
                                             live_methods_have_figures(&sim->live->methods));
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
    sim->window_ns = 1500 * MS;
    run(sim, 1, 5);
    sim->methods[3].share = 0.03;
    run(sim, 1, 20);
    cost = live_cost(sim->live);
    CHECK("what compiling again costs is known", cost.recompiling_ns > 1100 * MS && cost.recompiling_ns < 1300 * MS);
    CHECK("a method with 3 % of 20 s is not worth a batch", !sim->has_probes[3] && sim->n_batches == 1);
    CHECK_NUMBER("and is counted as put off", sim->live->chooser.n_over_budget, 1);
    CHECK_NUMBER("nor is it to remove closed probes that cost 0.7 % since", sim->n_removed, 0);
    run(sim, 1, 80);
    CHECK("nor is it within the budget, half of 1 % of 105 s", !sim->has_probes[3]);
    run(sim, 1, 200);
    CHECK("when it is, it gets probes", sim->has_probes[3]);
    run(sim, 1, 120);
    CHECK_NUMBER("and closed probes go when they have cost as much", sim->n_removed, 1);
    live_close(sim->live);
}

/* The JVM discards all code, for which its compilers took 20 s. */
static struct sim *new_discarding(double recompile_s)
{
    struct live_options options = usual;
    options.discards_code = true;
    options.recompile_s = recompile_s;
    struct sim *sim = new_sim(&options);
    sim->methods[1] = (struct sim_method){ 0, 0, 1000000, 1 };
    sim->compiled_ns = 20 * SECOND;
    sim->jit = 0.8;
    sim->window_ns = 12 * SECOND;
    return sim;
}

static void test_discarded(void)
{
    struct sim *sim = new_discarding(30);
    run(sim, 1, 10);
    CHECK("a window of all code is watched for longer", sim->live->stage == LIVE_RECOMPILING);
    run(sim, 1, 5);
    const struct live_recompilation *windows = sim->live->window.all;
    double ms = sim->live->window.n == 0 ? 0 : (double)(windows[0].end_ticks - windows[0].start_ticks) / 1e6;
    CHECK("to its end", sim->live->window.n == 1 && ms > 12000 && ms < 12500 && !sim->live->window.is_cut);
    CHECK("what was discarded is known",
          sim->live->window.discarded_ns == 20 * SECOND && sim->live->chooser.skipped_ns == 0);
    struct live_cost cost = live_cost(sim->live);
    CHECK("and what it took again", cost.compiling_ns > 9.5e9 && cost.compiling_ns < 9.7e9);
    live_close(sim->live);
    sim = new_discarding(30);
    sim->compiled_ns = 2 * SECOND;
    run(sim, 1, 15);
    cost = live_cost(sim->live);
    CHECK("but what was compiled beyond that is warm-up", cost.compiling_ns > 1.9e9 && cost.compiling_ns < 2.1e9);
    live_close(sim->live);
}

static void test_cut(void)
{
    struct sim *sim = new_discarding(30);
    run(sim, 1, 10);
    live_finish(sim->live);
    CHECK("the end of a recording cuts a window short",
          sim->live->window.is_cut && (double)sim->live->window.ns / 1e6 > 8000);
    live_close(sim->live);
    sim = new_discarding(30);
    sim->window_ns = 100 * SECOND;
    run(sim, 1, 40);
    CHECK("nor is one watched for ever", sim->live->window.is_cut && (double)sim->live->window.ns / 1e6 > 29000 &&
                                             (double)sim->live->window.ns / 1e6 < 31000);
    live_close(sim->live);
}

static void test_skipped(void)
{
    struct sim *sim = new_discarding(19);
    double cost_ns;
    run(sim, 1, 60);
    CHECK_NUMBER("where that took long, no class is changed", sim->n_batches, 0);
    CHECK("choices go on", sim->n_choices > 3);
    CHECK_NUMBER("but what classes cost is found out once", sim->n_asked, 1);
    CHECK("it is said what is not discarded",
          sim->live->chooser.skipped_ns == 20 * SECOND && sim->live->window.discarded_ns == 0);
    CHECK("and why what was seen has no probes",
          live_chooser_why(&sim->live->chooser, "Sim", "outer", "()V", &cost_ns) == LIVE_WITHOUT_LOSS);
    live_close(sim->live);
}

/* The JVM writes its classes into an archive. */
static void test_archived(void)
{
    struct live_options options = usual;
    double cost_ns;
    options.samples_only = true;
    struct sim *sim = new_sim(&options);
    sim->methods[1] = (struct sim_method){ 0, 0, 1000000, 1 };
    run(sim, 1, 60);
    CHECK("where no class may be changed, choices go on and none is",
          sim->n_choices > 3 && sim->n_batches == 0 && sim->n_asked == 0);
    CHECK("and it is said why what was seen has no probes",
          live_chooser_why(&sim->live->chooser, "Sim", "outer", "()V", &cost_ns) == LIVE_WITHOUT_CLASSES);
    live_close(sim->live);
}

int main(void)
{
    test_window();
    test_left_out();
    test_worth();
    test_discarded();
    test_cut();
    test_skipped();
    test_archived();
    return tap_done();
}
