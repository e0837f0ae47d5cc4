/*
 * What the live controller decides: choices, methods that stay enabled, the budget.
 */
#include "test/unit/live_sim.h"

/* A request of 11 ms calls 10 pages of 1 ms, these 100 lines of 10 us. */
static void test_phases(void)
{
    struct sim *sim = new_sim(&usual);
    sim->methods[1] = (struct sim_method){ 2, 10, 1000000, 1 };
    sim->methods[2] = (struct sim_method){ 3, 100, 10000, 0.9 };
    sim->methods[3] = (struct sim_method){ 0, 0, 10000, 0.8 };
    sim->methods[4].share = 0.004; /* below half the weight */
    run(sim, 1, 5);
    CHECK("samples are judged before anything is instrumented", sim->n_choices >= 1 && sim->n_batches >= 1);
    CHECK("what the samples rarely find is left alone", !sim->has_probes[4]);
    CHECK("methods with long calls stay enabled", is_enabled(sim, 1) && is_enabled(sim, 2));
    CHECK("also one that costs 0.2 % of the time", is_enabled(sim, 3));
    struct live_account figures;
    figures = live_method_figures(&sim->live->methods, method_of(sim, 2));
    double mean = (double)figures.cpu_ticks / (double)figures.calls;
    CHECK("and their times are right", mean > 1.01e6 && mean < 1.02e6);
    run(sim, 1, 115);
    CHECK("choices become rare: every 30 s", sim->n_choices >= 5 && sim->n_choices <= 8);
    CHECK_NUMBER("and change nothing when there is nothing new", sim->n_batches, 1);
    CHECK("a call of 10 us is too short after two minutes", !is_enabled(sim, 3));
    CHECK("the others stay", is_enabled(sim, 1) && is_enabled(sim, 2));
    live_close(sim->live);
}

/* A loop of a million calls a second and more: 50 ns each. */
static void test_extreme_rate(void)
{
    struct sim *sim = new_sim(&usual);
    sim->methods[1] = (struct sim_method){ 2, 100000, 1000000, 1 };
    sim->methods[2] = (struct sim_method){ 0, 0, 50, 0.9 };
    run(sim, 1, 3);
    CHECK("a method called 20 million times a second is switched off", sim->n_batches > 0 && !sim->is_enabled[2]);
    CHECK("within 5 ms of its first record", sim->first_off_ns[2] - sim->first_on_ns[2] < 5 * MS);
    CHECK("and hardly enabled again", sim->n_probed[2] * (PAIR_NS + 50) < 40 * MS);
    CHECK("its caller is not", is_enabled(sim, 1));
    CHECK_TEXT("the reason is said", live_why_text(method_of(sim, 2)->why), "it is called too often");
    CHECK("the rate is known", method_of(sim, 2)->calls_per_s > 3e6 && method_of(sim, 2)->calls_per_s < 2.1e7);
    run(sim, 1, 3);
    CHECK_NUMBER("its closed probes are removed, in one batch", sim->n_removed, 1);
    uint64_t before = sim->n_probed[2];
    run(sim, 1, 60);
    CHECK_NUMBER("then it costs nothing any more", sim->n_probed[2], before);
    live_close(sim->live);
}

/* Many methods that each fit and together do not: 30,000 calls a second cost 30,000 * (20 + 30) ns = 0.15 % each. */
static void test_budget(void)
{
    struct sim *sim = new_sim(&usual);
    for (uint32_t id = 1; id < 12; id++)
        sim->methods[id] = (struct sim_method){ id + 1, 1, 2500, 0.5 };
    sim->methods[12] = (struct sim_method){ 0, 0, 2500, 0.5 };
    run(sim, 1, 20);
    struct live_cost cost;
    cost = live_cost(sim->live);
    CHECK("the probes' cost is within the budget", cost.probes_now <= 0.01 && cost.probes_now > 0.0005);
    CHECK("the outermost ones stay: their calls are the longest", is_enabled(sim, 1) && is_enabled(sim, 2));
    CHECK("the innermost ones go", !is_enabled(sim, 12) && !is_enabled(sim, 11));
    uint32_t n = n_enabled(sim, 12);
    bool is_monotonic = true;
    for (uint32_t id = 2; id <= 12; id++)
        is_monotonic = is_monotonic && (!is_enabled(sim, id) || is_enabled(sim, id - 1));
    CHECK("the budget raises the grain", is_monotonic && n >= 2 && n <= 8);
    live_close(sim->live);
}

/* How many of ten methods stay that cost 0.05 % each, where a batch takes so long? */
static uint32_t n_that_stay(uint64_t batch_ns)
{
    struct sim *sim = new_sim(&usual);
    sim->batch_ns = batch_ns;
    sim->sample_ns = 1000;
    for (uint32_t id = 1; id < 10; id++)
        sim->methods[id] = (struct sim_method){ id + 1, 1, 10000, 0.5 };
    sim->methods[10] = (struct sim_method){ 0, 0, 10000, 0.5 };
    run(sim, 1, 20);
    uint32_t n = n_enabled(sim, 10);
    live_close(sim->live);
    return n;
}

/* 600 ms are the budget of a minute. */
static void test_others_cost(void)
{
    CHECK_NUMBER("what costs 0.5 % stays where all else was cheap", n_that_stay(MS), 10);
    CHECK_NUMBER("as where the rest of a minute's budget is enough for it", n_that_stay(150 * MS), 10);
    uint32_t n = n_that_stay(360 * MS);
    CHECK("less where a batch took more than half of that", n >= 4 && n < 10);
    n = n_that_stay(3000 * MS);
    CHECK("but some, whatever it took", n >= 3 && n < 6);
}

static void test_generous_budget(void)
{
    struct live_options options = usual;
    options.budget = 0.5;
    struct sim *sim = new_sim(&options);
    for (uint32_t id = 1; id < 12; id++)
        sim->methods[id] = (struct sim_method){ id + 1, 1, 2500, 0.5 };
    sim->methods[12] = (struct sim_method){ 0, 0, 2500, 0.5 };
    run(sim, 1, 5);
    CHECK_NUMBER("with half of the time to spend all of them stay", n_enabled(sim, 12), 12);
    live_close(sim->live);
}

/* A pair of probes takes 20 ns, and its two records 30: they are the budget of 5 us. */
static void test_costly_calls(void)
{
    struct sim *sim = new_sim(&usual);
    sim->methods[1] = (struct sim_method){ 2, 10, 1000000, 1 };
    sim->methods[2] = (struct sim_method){ 3, 1, 1500, 0.5 };
    sim->methods[3] = (struct sim_method){ 0, 0, 4500, 0.5 };
    run(sim, 1, 5);
    CHECK("a method whose calls cost more than the budget of them is switched off", !is_enabled(sim, 3));
    CHECK_TEXT("they are too short", live_why_text(method_of(sim, 3)->why), "its calls are too short");
    CHECK("one whose calls cost less is not", is_enabled(sim, 2));
    live_close(sim->live);
}

/* Half of the CPU time is the compilers', 30 s of 60: a millionth of the rest by the margin is 7.5 us. */
static void test_compilers_time(void)
{
    struct sim *sim = new_sim(&usual);
    sim->busy = 2;
    sim->jit = 1;
    sim->window_ns = 100 * SECOND;
    sim->methods[1] = (struct sim_method){ 2, 10, 1000000, 1 };
    sim->methods[2] = (struct sim_method){ 3, 1, 3000, 0.5 };
    sim->methods[3] = (struct sim_method){ 0, 0, 7000, 0.5 };
    run(sim, 1, 30);
    CHECK("what is too short goes by the program's time, not by its compilers'", is_enabled(sim, 2));
    CHECK("and is found by it", !is_enabled(sim, 3));
    live_close(sim->live);
}

/* 25 s of a method whose calls are far below the grain. */
static struct sim *new_short_calls(void)
{
    struct live_options options = usual;
    options.grain = 1e-4;
    struct sim *sim = new_sim(&options);
    sim->methods[1] = (struct sim_method){ 2, 10, 1000000, 1 };
    sim->methods[2] = (struct sim_method){ 0, 0, 20000, 0.2 };
    run(sim, 1, 25);
    return sim;
}

/* A method whose calls are short at first, and long from then on. */
static void test_change(void)
{
    struct sim *sim = new_short_calls();
    CHECK("calls far below the grain are switched off", !is_enabled(sim, 2));
    CHECK_TEXT("for that reason", live_why_text(method_of(sim, 2)->why), "its calls are too short");
    CHECK("it is enabled again for moments only", sim->n_probed[2] > 0 && sim->n_probed[2] < 25000);
    sim->methods[2].own_ns = 40000000;
    run(sim, 1, 40);
    CHECK("a method that changes its behaviour is enabled again", is_enabled(sim, 2));
    struct live_account figures;
    figures = live_method_figures(&sim->live->methods, method_of(sim, 2));
    CHECK("its figures are those of what it does now", (double)figures.cpu_ticks / (double)figures.calls > 39e6);
    live_close(sim->live);
}

/* It is enabled again for a moment, and not called any more. */
static void test_quiet_moment(void)
{
    struct sim *sim = new_short_calls();
    sim->methods[1].n_calls = 0;
    uint64_t longest = 0, end_ns = sim->now_ns + 300 * SECOND;
    while (sim->now_ns < end_ns && method_of(sim, 2)->state != LIVE_ENABLED) {
        call(sim, 1);
        if (method_of(sim, 2)->state != LIVE_ON_TRIAL)
            continue;
        uint64_t round_ns = sim->round_end_ns - sim->now_ns;
        longest = round_ns > longest ? round_ns : longest;
    }
    CHECK("a moment's rounds are short", longest > 0 && longest <= 10 * MS);
    CHECK("a method that is not called at all stays armed", is_enabled(sim, 2));
    live_close(sim->live);
}

/* What the program begins to do later is found by a later choice. */
static void test_new_phase(void)
{
    struct sim *sim = new_sim(&usual);
    sim->methods[1] = (struct sim_method){ 0, 0, 1000000, 1 };
    run(sim, 1, 20);
    sim->methods[2] = (struct sim_method){ 0, 0, 2000000, 0.7 };
    run(sim, 2, 60);
    CHECK("a new phase is found", is_enabled(sim, 2));
    CHECK_NUMBER("with one batch more", sim->n_batches, 2);
    struct live_account figures;
    figures = live_method_figures(&sim->live->methods, method_of(sim, 1));
    CHECK("the figures of the old one stay", figures.calls > 15000);
    live_close(sim->live);
}

/* What a program does at its start must not take all the room. */
static void test_room(void)
{
    struct live_options options = usual;
    options.max_more = 2;
    options.max_methods = 3;
    struct sim *sim = new_sim(&options);
    sim->window_ns = 200 * MS;
    sim->jit = 0.5;
    for (uint32_t id = 1; id < 7; id++)
        sim->methods[id] = (struct sim_method){ 0, 0, 1000000, 0.3 - 0.04 * id };
    run(sim, 1, 2);
    CHECK("the first choice gives probes to two methods with the largest share",
          sim->has_probes[1] && sim->has_probes[2] && !sim->has_probes[3]);
    run(sim, 1, 8);
    CHECK_NUMBER("another batch has to wait until the budget has room", sim->n_batches, 1);
    run(sim, 1, 60);
    CHECK("then the next one gets probes, as long as there is room", sim->has_probes[3] && !sim->has_probes[4]);
    live_close(sim->live);
}

static double all_costs_ns(const struct sim *sim)
{
    struct live_cost cost;
    cost = live_cost(sim->live);
    return sim->live->budget.probes_ns + (double)cost.own_cpu_ns + (double)sim->n_samples * (double)sim->sample_ns +
           (double)sim->rewriting_ns;
}

/* After the first batch all is within the budget: 100 ms of rewriting, and 2 ms of samples a second. */
static void test_all_costs(void)
{
    struct sim *sim = new_sim(&usual);
    sim->methods[1] = (struct sim_method){ 2, 10, 1000000, 1 };
    sim->methods[2] = (struct sim_method){ 0, 0, 1000000, 0.9 };
    run(sim, 1, 30);
    for (uint64_t seconds = 0; seconds < 270; seconds += 30) {
        run(sim, 1, 30);
        if (all_costs_ns(sim) > usual.budget * (double)(sim->now_ns - SECOND))
            break;
    }
    CHECK("after half a minute all costs together keep within the budget", sim->now_ns >= 300 * SECOND);
    CHECK("choices go on", sim->n_choices >= 8);
    live_close(sim->live);
}

/* A program of which there are few samples. */
static void test_few_samples(void)
{
    struct sim *sim = new_sim(&usual);
    sim->methods[1] = (struct sim_method){ 0, 0, 1000000, 1 };
    sim->busy = 0.1;
    run(sim, 1, 2);
    CHECK_NUMBER("nothing is chosen by a dozen of them", sim->n_choices, 0);
    run(sim, 1, 3);
    CHECK_NUMBER("but when there are more", sim->n_batches, 1);
    live_close(sim->live);
}

static void test_new_program(void)
{
    struct live_options options = usual;
    options.is_new = true;
    struct sim *sim = new_sim(&options);
    sim->methods[1] = (struct sim_method){ 0, 0, 1000000, 1 };
    sim->busy = 0.4;
    run(sim, 1, 1);
    CHECK_NUMBER("a program that was just started is not judged before it has worked for a while", sim->n_choices, 0);
    run(sim, 1, 2);
    CHECK_NUMBER("then it is", sim->n_choices, 1);
    live_close(sim->live);
}

/* A server that does next to nothing. */
static void test_idle(void)
{
    struct sim *sim = new_sim(&usual);
    sim->methods[1] = (struct sim_method){ 0, 0, 1000000, 1 };
    sim->busy = 0.01;
    sim->batch_ns = sim->sample_ns = 1000;
    run(sim, 1, 60);
    CHECK("rounds that cost too much themselves switch nothing off", is_enabled(sim, 1));
    CHECK("they become rarer", sim->round_end_ns - sim->now_ns > 30 * MS || sim->own_ns < 60 * 100 * 40000);
    live_close(sim->live);
}

int main(void)
{
    test_phases();
    test_extreme_rate();
    test_budget();
    test_others_cost();
    test_generous_budget();
    test_costly_calls();
    test_compilers_time();
    test_change();
    test_quiet_moment();
    test_new_phase();
    test_room();
    test_all_costs();
    test_few_samples();
    test_new_program();
    test_idle();
    return tap_done();
}
