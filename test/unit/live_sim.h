/*
 * Programs that are simulated, for what the live session decides: methods that call each other, a clock, flags that the
 * session's orders open and close.
 */
#ifndef TEST_UNIT_LIVE_SIM_H
#define TEST_UNIT_LIVE_SIM_H

#include "core/wire/ring.h"
#include "phases/live/live.h"
#include "test/unit/tap.h"

#include <stdlib.h>

#define N_METHODS 16u
#define MS        UINT64_C(1000000)
#define SECOND    (UINT64_C(1000) * MS)
#define PAIR_NS   20
#define SIM_HZ    50

/* A method calls another one n times, and works itself. */
struct sim_method {
    uint32_t callee, n_calls, own_ns;
    double share; /* as the samples find it */
};

struct sim {
    struct sim_method methods[N_METHODS]; /* by id; 0 is none */
    bool has_probes[N_METHODS], is_enabled[N_METHODS];
    struct live *live;
    uint64_t now_ns, round_ns, round_end_ns, end_ns, own_ns, pauses_ns, last_batch_ns;
    uint64_t words[1 << 13]; /* then the recorder is woken */
    size_t n_words;
    uint32_t n_choices, n_asked, n_batches, n_removed; /* asked: choices for which costs were to be found out */
    uint32_t n_changed;                                /* classes, by the latest batch: each has one method */
    uint64_t choice_end_ns, batch_end_ns;
    uint64_t n_probed[N_METHODS]; /* calls with probes */
    uint32_t n_samples;
    double busy; /* CPU time of the target per wall time */
    double jit;  /* after a batch, for window_ns */
    uint64_t window_ns;
    uint64_t compiled_ns;                                     /* the compilers had taken before */
    uint64_t first_on_ns[N_METHODS], first_off_ns[N_METHODS]; /* its first record; when it was switched off first */
    uint64_t sample_ns, batch_ns;                             /* what a sample and a batch cost */
    uint64_t rewriting_ns;
    uint32_t refused;                        /* a method that gets no probes; 0: none */
    uint32_t deferred;                       /* one that is known to have none yet, for its loop is active; 0: none */
    const struct recompilation_costs *costs; /* of classes: a method's number is its class' one; NULL: not known */
};

static inline void must(int rc, const struct err *err)
{
    if (rc < 0)
        CHECK_TEXT("the session goes on", err->text, "");
}

static inline void give_candidates(struct sim *sim)
{
    static const char names[] = "abcdefghijklmnop";
    struct live_candidate found[N_METHODS];
    char texts[N_METHODS][2];
    size_t n = 0;
    for (uint32_t id = 1; id < N_METHODS; id++) {
        if (sim->methods[id].share <= 0)
            continue;
        texts[n][0] = names[id];
        texts[n][1] = '\0';
        found[n] = (struct live_candidate){ .class_name = "Sim",
                                            .name = texts[n],
                                            .descriptor = "()V",
                                            .share = sim->methods[id].share,
                                            .class_number = id };
        n++;
    }
    live_chooser_candidates(&sim->live->chooser, found, n, sim->costs);
}

static inline void end_commands(struct sim *sim)
{
    if (sim->choice_end_ns != 0 && sim->now_ns >= sim->choice_end_ns) {
        sim->choice_end_ns = 0;
        give_candidates(sim);
    }
    if (sim->batch_end_ns != 0 && sim->now_ns >= sim->batch_end_ns) {
        sim->batch_end_ns = 0;
        sim->last_batch_ns = sim->now_ns;
        live_batch_done(sim->live, sim->n_changed);
    }
}

static inline void follow_orders(struct sim *sim, const struct live_orders *orders)
{
    for (size_t i = 0; i < orders->n_enable; i++)
        sim->is_enabled[orders->enable[i]] = true;
    for (size_t i = 0; i < orders->n_disable; i++) {
        uint32_t id = orders->disable[i];
        sim->is_enabled[id] = false;
        if (sim->first_off_ns[id] == 0)
            sim->first_off_ns[id] = sim->now_ns;
    }
    if (orders->n_instrument + orders->n_remove > 0)
        sim->n_changed = 0;
    for (size_t i = 0; i < orders->n_instrument; i++) {
        uint32_t id = (uint32_t)(orders->instrument[i].name[0] - 'a');
        if (id == sim->refused)
            continue;
        struct trace_method method = { .id = id, .names = { "Sim", orders->instrument[i].name, "()V" }, .source = "" };
        method.code_bytes = id == sim->deferred ? 0 : 1;
        live_methods_add(&sim->live->methods, &method, sim->live->now.now_ns);
        sim->has_probes[id] = sim->is_enabled[id] = id != sim->deferred;
        sim->n_changed += id != sim->deferred;
    }
    for (size_t i = 0; i < orders->n_remove; i++)
        sim->has_probes[orders->remove[i]] = false;
    live_removed(sim->live, orders->remove, orders->n_remove);
    sim->n_removed += (uint32_t)orders->n_remove;
    sim->n_changed += (uint32_t)orders->n_remove;
    if (orders->chooses) {
        sim->n_choices++;
        sim->n_asked += orders->asks;
        sim->choice_end_ns = sim->now_ns + 5 * MS;
    }
    if (orders->n_instrument + orders->n_remove > 0) {
        sim->n_batches++;
        sim->pauses_ns += 50 * MS;
        sim->rewriting_ns += sim->batch_ns;
        sim->batch_end_ns = sim->now_ns + 50 * MS;
    }
}

static inline uint64_t jit_ns(const struct sim *sim)
{
    uint64_t since = sim->last_batch_ns == 0 ? 0 : sim->now_ns - sim->last_batch_ns;
    uint64_t busy = since < sim->window_ns ? since : sim->window_ns;
    return sim->compiled_ns + (uint64_t)((double)busy * sim->jit);
}

static inline void do_round(struct sim *sim)
{
    struct live_orders orders;
    sim->own_ns += 20000 + sim->n_words * 10;
    live_tree_records(sim->live->methods.tree, 0, sim->words, sim->n_words, sim->now_ns);
    sim->n_words = 0;
    end_commands(sim);
    sim->n_samples = (uint32_t)((double)(sim->now_ns - SECOND) * sim->busy * SIM_HZ / 1e9);
    struct live_status status = { .now_ns = sim->now_ns,
                                  .ticks = sim->now_ns,
                                  .ns_per_tick = 1,
                                  .cpu_ns = (uint64_t)((double)sim->now_ns * sim->busy),
                                  .own_cpu_ns = sim->own_ns,
                                  .jit_cpu_ns = jit_ns(sim),
                                  .pair_ns = PAIR_NS,
                                  .pauses_ms = (double)sim->pauses_ns / 1e6,
                                  .sampling_ns = (double)sim->n_samples * (double)sim->sample_ns,
                                  .rewriting_ns = (double)sim->rewriting_ns,
                                  .n_samples = sim->n_samples,
                                  .start_ns = SECOND,
                                  .is_changing = sim->choice_end_ns + sim->batch_end_ns != 0 };
    live_round(sim->live, &status, &orders);
    follow_orders(sim, &orders);
    sim->round_end_ns = sim->now_ns + orders.round_ms * MS;
    if (sim->batch_end_ns != 0 && sim->batch_end_ns < sim->round_end_ns) /* the answer wakes the recorder */
        sim->round_end_ns = sim->batch_end_ns;
}

static inline void record(struct sim *sim, enum ring_kind kind, uint32_t id)
{
    sim->words[sim->n_words++] = ring_word(kind, id, sim->now_ns);
    if (sim->n_words == sizeof sim->words / sizeof *sim->words) /* as the recorder: a busy round is short */
        do_round(sim);
}

static inline void work(struct sim *sim, uint64_t ns)
{
    while (ns > 0) {
        uint64_t left = sim->round_end_ns - sim->now_ns, part = ns < left ? ns : left;
        sim->now_ns += part;
        ns -= part;
        if (sim->now_ns >= sim->round_end_ns)
            do_round(sim);
    }
}

static inline bool is_recorded(const struct sim *sim, uint32_t id)
{
    return sim->has_probes[id] && sim->is_enabled[id];
}

/* How many of the next n calls are nothing but work until the round ends: they are done in one step. */
static inline uint32_t n_plain(const struct sim *sim, uint32_t id, uint32_t n)
{
    const struct sim_method *method = &sim->methods[id];
    if (is_recorded(sim, id) || method->n_calls > 0 || method->own_ns == 0)
        return 0;
    uint64_t until_round = (sim->round_end_ns - sim->now_ns + method->own_ns - 1) / method->own_ns;
    return until_round < n ? (uint32_t)until_round : n;
}

static inline void call(struct sim *sim, uint32_t id)
{
    const struct sim_method *method = &sim->methods[id];
    bool has_records = is_recorded(sim, id);
    if (has_records) {
        sim->n_probed[id]++;
        if (sim->first_on_ns[id] == 0)
            sim->first_on_ns[id] = sim->now_ns;
        record(sim, RING_ENTER, id);
        work(sim, PAIR_NS);
    }
    for (uint32_t i = 0, n; i < method->n_calls; i += n) {
        n = n_plain(sim, method->callee, method->n_calls - i);
        if (n > 0)
            work(sim, (uint64_t)n * sim->methods[method->callee].own_ns);
        else
            call(sim, method->callee);
        n += n == 0;
    }
    work(sim, method->own_ns);
    if (has_records)
        record(sim, RING_EXIT, id);
}

static inline struct sim *new_sim(const struct live_options *options)
{
    static struct sim sim;
    memset(&sim, 0, sizeof sim);
    sim.now_ns = SECOND;
    sim.round_end_ns = sim.now_ns + 5 * MS;
    sim.busy = 1;
    sim.sample_ns = MS / 50;
    sim.batch_ns = 100 * MS;
    sim.live = live_open(options);
    return &sim;
}

static inline void run(struct sim *sim, uint32_t id, uint64_t seconds)
{
    for (uint64_t end = sim->now_ns + seconds * SECOND; sim->now_ns < end;)
        call(sim, id);
}

static inline const struct live_method *method_of(const struct sim *sim, uint32_t id)
{
    return live_methods_by_id(&sim->live->methods, id);
}

static inline bool is_enabled(const struct sim *sim, uint32_t id)
{
    return method_of(sim, id) != NULL && method_of(sim, id)->state == LIVE_ENABLED;
}

/* Of the methods 1 to last. */
static inline uint32_t n_enabled(const struct sim *sim, uint32_t last)
{
    uint32_t n = 0;
    for (uint32_t id = 1; id <= last; id++)
        n += is_enabled(sim, id);
    return n;
}

static const struct live_options usual = {
    .budget = 0.01, .weight = 0.01, .grain = 1e-6, .max_methods = 96, .max_more = 64
};

#endif
