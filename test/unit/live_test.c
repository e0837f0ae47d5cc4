/*
 * What the live session decides, on programs that are simulated: methods that call each other, a clock, gates that the
 * session's orders open and close.
 */
#include "core/trace/ring.h"
#include "phases/live.h"
#include "test/unit/tap.h"

#include <stdlib.h>

#define N_METHODS 16u
#define MS        UINT64_C(1000000)
#define SECOND    (UINT64_C(1000) * MS)
#define PAIR_NS   20

/* A method calls another one n times, and works itself. */
struct sim_method {
    uint32_t callee, n_calls, own_ns;
    double share; /* as the samples find it */
};

struct sim {
    struct sim_method methods[N_METHODS]; /* by id; 0 is none */
    bool has_probes[N_METHODS], is_armed[N_METHODS];
    struct live *live;
    uint64_t now_ns, round_ns, round_end_ns, end_ns, own_ns, pauses_ns, last_batch_ns;
    uint64_t words[1 << 13]; /* then the recorder is woken */
    size_t n_words;
    uint32_t last_n_samples, n_looks, n_batches, n_removed;
    uint64_t look_end_ns, batch_end_ns;
    uint64_t n_probed[N_METHODS]; /* calls with probes */
    uint64_t n_round_calls;
    double busy; /* CPU time of the target per wall time */
    double jit;  /* after a batch, for recovery_ns */
    uint64_t recovery_ns;
    uint64_t first_on_ns[N_METHODS], first_off_ns[N_METHODS]; /* its first record; when it was switched off first */
    uint64_t sample_ns, batch_ns;                             /* what a sample and a batch cost */
    uint64_t sampling_ns, rewriting_ns;
    uint32_t n_samples;
    uint32_t per_look; /* samples that a look has at most; 0: all */
};

static void must(int rc, const struct err *err)
{
    if (rc < 0)
        CHECK_TEXT("the session goes on", err->text, "");
}

static void give_candidates(struct sim *sim)
{
    static const char names[] = "abcdefghijklmnop";
    struct live_candidate found[N_METHODS];
    char texts[N_METHODS][2];
    struct err err = { "" };
    size_t n = 0;
    for (uint32_t id = 1; id < N_METHODS; id++) {
        if (sim->methods[id].share <= 0)
            continue;
        texts[n][0] = names[id];
        texts[n][1] = '\0';
        found[n] = (struct live_candidate){ "Sim", texts[n], "()V", sim->methods[id].share, 0 };
        n++;
    }
    must(live_candidates(sim->live, found, n, &err), &err);
}

static void end_commands(struct sim *sim)
{
    if (sim->look_end_ns != 0 && sim->now_ns >= sim->look_end_ns) {
        sim->look_end_ns = 0;
        give_candidates(sim);
    }
    if (sim->batch_end_ns != 0 && sim->now_ns >= sim->batch_end_ns) {
        sim->batch_end_ns = 0;
        sim->last_batch_ns = sim->now_ns;
        live_batch_done(sim->live);
    }
}

static void follow_orders(struct sim *sim, const struct live_orders *orders)
{
    struct err err = { "" };
    for (size_t i = 0; i < orders->n_arm; i++)
        sim->is_armed[orders->arm[i]] = true;
    for (size_t i = 0; i < orders->n_disarm; i++) {
        uint32_t id = orders->disarm[i];
        sim->is_armed[id] = false;
        if (sim->first_off_ns[id] == 0)
            sim->first_off_ns[id] = sim->now_ns;
    }
    for (size_t i = 0; i < orders->n_instrument; i++) {
        uint32_t id = (uint32_t)(orders->instrument[i].name[0] - 'a');
        struct trace_method method = {
            .id = id, .class_name = "Sim", .name = orders->instrument[i].name, .descriptor = "()V", .source = ""
        };
        must(live_met(sim->live, &method, &err), &err);
        sim->has_probes[id] = sim->is_armed[id] = true;
    }
    for (size_t i = 0; i < orders->n_remove; i++)
        sim->has_probes[orders->remove[i]] = false;
    live_removed(sim->live, orders->remove, orders->n_remove);
    sim->n_removed += (uint32_t)orders->n_remove;
    if (orders->n_samples > 0) {
        sim->n_looks++;
        sim->look_end_ns = sim->now_ns + orders->n_samples * orders->sample_ms * MS;
        sim->last_n_samples = orders->n_samples;
        sim->n_samples += sim->per_look > 0 && sim->per_look < orders->n_samples ? sim->per_look : orders->n_samples;
        sim->sampling_ns += orders->n_samples * sim->sample_ns;
    }
    if (orders->n_instrument + orders->n_remove > 0) {
        sim->n_batches++;
        sim->pauses_ns += 50 * MS;
        sim->rewriting_ns += sim->batch_ns;
        sim->batch_end_ns = sim->now_ns + 50 * MS;
    }
}

static uint64_t jit_ns(const struct sim *sim)
{
    uint64_t since = sim->last_batch_ns == 0 ? 0 : sim->now_ns - sim->last_batch_ns;
    uint64_t busy = since < sim->recovery_ns ? since : sim->recovery_ns;
    return (uint64_t)((double)busy * sim->jit);
}

static void do_round(struct sim *sim)
{
    struct err err = { "" };
    struct live_orders orders;
    sim->own_ns += 20000 + sim->n_words * 10;
    must(live_tree_records(live_tree(sim->live), 0, sim->words, sim->n_words, sim->now_ns, &err), &err);
    sim->n_words = 0;
    end_commands(sim);
    struct live_status status = { .now_ns = sim->now_ns,
                                  .ticks = sim->now_ns,
                                  .ns_per_tick = 1,
                                  .cpu_ns = (uint64_t)((double)sim->now_ns * sim->busy),
                                  .own_cpu_ns = sim->own_ns,
                                  .jit_cpu_ns = jit_ns(sim),
                                  .pair_ns = PAIR_NS,
                                  .pauses_ms = (double)sim->pauses_ns / 1e6,
                                  .sampling_ns = (double)sim->sampling_ns,
                                  .rewriting_ns = (double)sim->rewriting_ns,
                                  .n_samples = sim->n_samples,
                                  .ready = true,
                                  .busy = sim->look_end_ns + sim->batch_end_ns != 0 };
    must(live_round(sim->live, &status, &orders, &err), &err);
    follow_orders(sim, &orders);
    sim->round_end_ns = sim->now_ns + orders.round_ms * MS;
}

static void record(struct sim *sim, enum ring_kind kind, uint32_t id)
{
    sim->words[sim->n_words++] = ring_word(kind, id, sim->now_ns);
    if (sim->n_words == sizeof sim->words / sizeof *sim->words) /* as the recorder: a busy round is short */
        do_round(sim);
}

static void work(struct sim *sim, uint64_t ns)
{
    while (ns > 0) {
        uint64_t left = sim->round_end_ns - sim->now_ns, part = ns < left ? ns : left;
        sim->now_ns += part;
        ns -= part;
        if (sim->now_ns >= sim->round_end_ns)
            do_round(sim);
    }
}

static void call(struct sim *sim, uint32_t id)
{
    const struct sim_method *method = &sim->methods[id];
    bool is_recorded = sim->has_probes[id] && sim->is_armed[id];
    if (is_recorded) {
        sim->n_probed[id]++;
        if (sim->first_on_ns[id] == 0)
            sim->first_on_ns[id] = sim->now_ns;
        record(sim, RING_ENTER, id);
        work(sim, PAIR_NS);
    }
    for (uint32_t i = 0; i < method->n_calls; i++)
        call(sim, method->callee);
    work(sim, method->own_ns);
    if (is_recorded)
        record(sim, RING_EXIT, id);
}

static struct sim *new_sim(const struct live_options *options)
{
    static struct sim sim;
    struct err err = { "" };
    memset(&sim, 0, sizeof sim);
    sim.now_ns = SECOND;
    sim.round_end_ns = sim.now_ns + 5 * MS;
    sim.busy = 1;
    sim.sample_ns = MS / 4;
    sim.batch_ns = 100 * MS;
    must(live_open(&sim.live, options, &err), &err);
    return &sim;
}

static void run(struct sim *sim, uint32_t id, uint64_t seconds)
{
    for (uint64_t end = sim->now_ns + seconds * SECOND; sim->now_ns < end;)
        call(sim, id);
}

static const struct live_method *method_of(const struct sim *sim, uint32_t id)
{
    size_t n;
    const struct live_method *methods = live_methods(sim->live, &n);
    for (size_t i = 0; i < n; i++)
        if (methods[i].id == id)
            return &methods[i];
    return NULL;
}

static bool is_armed(const struct sim *sim, uint32_t id)
{
    return method_of(sim, id) != NULL && method_of(sim, id)->state == LIVE_ARMED;
}

static const struct live_options usual = {
    .budget = 0.01, .weight = 0.01, .grain = 1e-6, .max_methods = 96, .max_more = 64
};

/* A request of 11 ms calls 10 pages of 1 ms, these 100 lines of 10 us. */
static void test_phases(void)
{
    struct sim *sim = new_sim(&usual);
    sim->methods[1] = (struct sim_method){ 2, 10, 1000000, 1 };
    sim->methods[2] = (struct sim_method){ 3, 100, 10000, 0.9 };
    sim->methods[3] = (struct sim_method){ 0, 0, 10000, 0.8 };
    sim->methods[4].share = 0.004; /* below half the weight */
    run(sim, 1, 5);
    CHECK("a look is taken before anything is instrumented", sim->n_looks >= 1 && sim->n_batches >= 1);
    CHECK("what the samples rarely find is left alone", !sim->has_probes[4]);
    CHECK("methods with long calls stay armed", is_armed(sim, 1) && is_armed(sim, 2));
    CHECK("also one that costs 0.2 % of the time", is_armed(sim, 3));
    struct live_account figures;
    live_figures(sim->live, method_of(sim, 2), &figures);
    double mean = (double)figures.cpu_ticks / (double)figures.calls;
    CHECK("and their times are right", mean > 1.01e6 && mean < 1.02e6);
    run(sim, 1, 115);
    CHECK("looks become rare: every 30 s", sim->n_looks >= 5 && sim->n_looks <= 8);
    CHECK_NUMBER("and change nothing when there is nothing new", sim->n_batches, 1);
    CHECK("a call of 10 us is too short after two minutes", !is_armed(sim, 3));
    CHECK("the others stay", is_armed(sim, 1) && is_armed(sim, 2));
    live_close(sim->live);
}

/* A loop of a million calls a second and more: 50 ns each. */
static void test_extreme_rate(void)
{
    struct sim *sim = new_sim(&usual);
    sim->methods[1] = (struct sim_method){ 2, 100000, 1000000, 1 };
    sim->methods[2] = (struct sim_method){ 0, 0, 50, 0.9 };
    run(sim, 1, 4);
    CHECK("a method called 20 million times a second is switched off", sim->n_batches > 0 && !sim->is_armed[2]);
    CHECK("within 5 ms of its first record", sim->first_off_ns[2] - sim->first_on_ns[2] < 5 * MS);
    CHECK("and hardly armed again", sim->n_probed[2] * (PAIR_NS + 50) < 40 * MS);
    CHECK("its caller is not", is_armed(sim, 1));
    CHECK_TEXT("the reason is said", live_why_text(method_of(sim, 2)->why), "it is called too often");
    CHECK("the rate is known", method_of(sim, 2)->calls_per_s > 3e6 && method_of(sim, 2)->calls_per_s < 2.1e7);
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
    live_cost(sim->live, &cost);
    CHECK("the probes' cost is held", cost.probes_now <= 0.01 && cost.probes_now > 0.0005);
    CHECK("the outermost ones stay: their calls are the longest", is_armed(sim, 1) && is_armed(sim, 2));
    CHECK("the innermost ones go", !is_armed(sim, 12) && !is_armed(sim, 11));
    uint32_t n = 0;
    bool is_monotonic = true;
    for (uint32_t id = 1; id <= 12; id++) {
        n += is_armed(sim, id);
        is_monotonic = is_monotonic && (id == 1 || !is_armed(sim, id) || is_armed(sim, id - 1));
    }
    CHECK("the budget raises the grain", is_monotonic && n >= 2 && n <= 8);
    live_close(sim->live);
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
    uint32_t n = 0;
    for (uint32_t id = 1; id <= 12; id++)
        n += is_armed(sim, id);
    CHECK_NUMBER("with half of the time to spend all of them stay", n, 12);
    live_close(sim->live);
}

/* A method whose calls are short for ten seconds, and long from then on. */
static void test_change(void)
{
    struct live_options options = usual;
    options.grain = 1e-4;
    struct sim *sim = new_sim(&options);
    sim->methods[1] = (struct sim_method){ 2, 10, 1000000, 1 };
    sim->methods[2] = (struct sim_method){ 0, 0, 20000, 0.2 };
    run(sim, 1, 25);
    CHECK("calls far below the grain are switched off", !is_armed(sim, 2));
    CHECK_TEXT("for that reason", live_why_text(method_of(sim, 2)->why), "its calls are too short");
    CHECK("it is armed again for moments only", sim->n_probed[2] > 0 && sim->n_probed[2] < 25000);
    sim->methods[2].own_ns = 40000000;
    run(sim, 1, 40);
    CHECK("a method that changes its behaviour is armed again", is_armed(sim, 2));
    struct live_account figures;
    live_figures(sim->live, method_of(sim, 2), &figures);
    CHECK("its figures are those of what it does now", (double)figures.cpu_ticks / (double)figures.calls > 39e6);
    live_close(sim->live);
}

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

/* What the program begins to do later is found by a later look. */
static void test_new_phase(void)
{
    struct sim *sim = new_sim(&usual);
    sim->methods[1] = (struct sim_method){ 0, 0, 1000000, 1 };
    run(sim, 1, 20);
    sim->methods[2] = (struct sim_method){ 0, 0, 2000000, 0.7 };
    run(sim, 2, 60);
    CHECK("a new phase is found", is_armed(sim, 2));
    CHECK_NUMBER("with one batch more", sim->n_batches, 2);
    struct live_account figures;
    live_figures(sim->live, method_of(sim, 1), &figures);
    CHECK("the figures of the old one are kept", figures.calls > 15000);
    live_close(sim->live);
}

/* What a program does at its start must not take all the room. */
static void test_room(void)
{
    struct live_options options = usual;
    options.max_more = 2;
    options.max_methods = 3;
    struct sim *sim = new_sim(&options);
    for (uint32_t id = 1; id < 7; id++)
        sim->methods[id] = (struct sim_method){ 0, 0, 1000000, 1 - 0.1 * id };
    run(sim, 1, 2);
    CHECK("the first look gives probes to two methods with the largest share",
          sim->has_probes[1] && sim->has_probes[2] && !sim->has_probes[3]);
    run(sim, 1, 10);
    CHECK("the second one to the next, as long as there is room", sim->has_probes[3] && !sim->has_probes[4]);
    live_close(sim->live);
}

static double all_costs_ns(const struct sim *sim)
{
    struct live_cost cost;
    live_cost(sim->live, &cost);
    return cost.probes_ns + (double)cost.own_cpu_ns + cost.sampling_ns + cost.rewriting_ns;
}

/* After the first two looks and the first batch all is paid for: 50 ms of samples, and 100 ms of rewriting. */
static void test_all_costs(void)
{
    struct sim *sim = new_sim(&usual);
    sim->methods[1] = (struct sim_method){ 2, 10, 1000000, 1 };
    sim->methods[2] = (struct sim_method){ 0, 0, 1000000, 0.9 };
    run(sim, 1, 14);
    CHECK_NUMBER("until the first two looks and the batch are paid for there is no third one", sim->n_looks, 2);
    run(sim, 1, 16);
    CHECK("then there is", sim->n_looks >= 3);
    for (uint64_t seconds = 0; seconds < 270; seconds += 30) {
        run(sim, 1, 30);
        if (all_costs_ns(sim) > usual.budget * (double)(sim->now_ns - SECOND))
            break;
    }
    CHECK("from then on all costs together keep within the budget", sim->now_ns >= 300 * SECOND);
    CHECK("looks go on", sim->n_looks >= 8);
    live_close(sim->live);
}

/* A program with deep stacks: 20 ms for each sample. */
static void test_dear_samples(void)
{
    struct sim *sim = new_sim(&usual);
    sim->methods[1] = (struct sim_method){ 0, 0, 1000000, 1 };
    sim->sample_ns = 20 * MS;
    run(sim, 1, 60);
    CHECK_NUMBER("samples that cost 2 s a look are not taken a third time in the first minute", sim->n_looks, 2);
    run(sim, 1, 240);
    CHECK("but not never", sim->n_looks >= 3);
    CHECK_NUMBER("with few samples", sim->last_n_samples, 20);
    live_close(sim->live);
}

/* Of a program that shares its CPUs with many others, a look sees little. */
static void test_few_samples(void)
{
    struct sim *sim = new_sim(&usual);
    sim->methods[1] = (struct sim_method){ 0, 0, 1000000, 1 };
    sim->per_look = 12;
    run(sim, 1, 2);
    CHECK("a look with few samples is repeated before it counts", sim->n_batches == 0 && sim->n_looks == 2);
    run(sim, 1, 3);
    CHECK("until there are enough of them", sim->n_batches == 1);
    live_close(sim->live);
}

static void test_new_program(void)
{
    struct live_options options = usual;
    options.is_new = true;
    struct sim *sim = new_sim(&options);
    sim->methods[1] = (struct sim_method){ 0, 0, 1000000, 1 };
    sim->busy = 0.1;
    run(sim, 1, 1);
    CHECK_NUMBER("a program that was just started is not looked at before it has worked for a while", sim->n_looks, 0);
    run(sim, 1, 1);
    CHECK_NUMBER("then it is", sim->n_looks, 1);
    live_close(sim->live);
}

/* A server that does next to nothing. */
static void test_idle(void)
{
    struct sim *sim = new_sim(&usual);
    sim->methods[1] = (struct sim_method){ 0, 0, 1000000, 1 };
    sim->busy = 0.01;
    run(sim, 1, 20);
    CHECK("rounds that cost too much themselves switch nothing off", is_armed(sim, 1));
    CHECK("they become rarer", sim->round_end_ns - sim->now_ns > 30 * MS || sim->own_ns < 20 * 100 * 40000);
    live_close(sim->live);
}

int main(void)
{
    test_phases();
    test_extreme_rate();
    test_budget();
    test_generous_budget();
    test_change();
    test_recovery();
    test_worth();
    test_new_phase();
    test_room();
    test_all_costs();
    test_dear_samples();
    test_few_samples();
    test_new_program();
    test_idle();
    return tap_done();
}
