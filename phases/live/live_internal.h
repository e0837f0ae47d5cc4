/*
 * Shared by live.c (the session's life), live_choose.c (what gets probes), live_recovery.c (the JIT compiler after a
 * batch) and live_prune.c (which probes stay).
 */
#ifndef PHASES_LIVE_INTERNAL_H
#define PHASES_LIVE_INTERNAL_H

#include "phases/live/live.h"

/* A growing list of method ids. */
struct live_ids {
    uint32_t *ids; /* owned; as much room as there are methods */
    size_t n;
};

/* The compiler's recovery after a batch. */
struct live_recovering {
    uint64_t start_ns, start_ticks, start_cpu_ns, start_jit_ns;
    uint64_t window_ns, window_jit_ns; /* where the present window began */
    double usual_jit;                  /* CPUs that the compiler took before the batch */
    uint32_t n_quiet;                  /* windows in a row */
    bool is_free;                      /* the batch is beside the budget */
    bool is_for_probes;                /* it removes none */
    double price_ns;                   /* what its classes cost; 0: not known */
};

struct live {
    struct live_options options;
    struct arena arena;
    struct live_tree *tree;
    struct live_method *methods; /* owned */
    size_t n_methods, methods_room;
    uint32_t *by_id; /* owned: index plus 1 */
    uint32_t n_ids;
    struct live_account *accounts; /* owned: by index of methods, as of the latest call of live_refresh */
    struct live_account *scratch;  /* owned: by index of the tree */
    uint32_t scratch_room;
    struct live_ids enable, disable, remove;
    struct live_candidate *wanted; /* owned: what the latest look found; what is not paid for comes last */
    size_t n_wanted, n_unpaid;     /* unpaid: candidates whose classes cost the compiler more than there is room for */
    bool has_prices;               /* of the classes of what is wanted */
    struct recompilation_costs prices; /* then: owned copy */
    double work_ns;                    /* and the compilers' CPU time for a unit of work */
    double priced_ns;                  /* what the classes that changed cost, in all batches so far */
    bool knows_price;                  /* of one of these */
    struct live_candidate *asked;      /* owned: what was wanted at the latest batch, paid for or not */
    size_t n_asked, n_asked_paid;      /* paid ones come first */
    bool is_asked_again;               /* it changed no class */
    bool has_candidates;               /* the look has ended */

    enum live_stage stage;
    uint64_t stage_since_ns, next_choice_ns, choice_delay_ns;
    struct live_status first, now; /* the first one with the agent ready */
    bool is_begun;
    uint64_t usual_since_ns, usual_jit_ns; /* where watching the compiler before a batch began */
    struct live_recovering recovering;
    struct live_recovery *recoveries; /* owned */
    size_t n_recoveries;
    uint64_t left_out_ns, left_out_cpu_ns; /* of those that are over: see struct live_cost */
    /* The compiler's CPU time in a recovery, most; in all that were not free; what was more than usual, all. */
    uint64_t dearest_ns, recompiled_ns, recompiling_ns;
    size_t n_put_off;
    uint64_t forgotten_ns, spared_ns; /* see struct live_cost */
    bool is_cut;                      /* likewise */
    uint32_t n_batches, n_removals, n_choices;
    uint64_t sampled_since_ns; /* samples count since then; 0: not yet */
    uint32_t first_sample;     /* then */

    /* The budget. */
    double credit_ns, probes_ns;
    uint64_t records_seen;
    uint64_t mark_ns[2], mark_cpu_ns[2], mark_own_ns[2], mark_records[2]; /* [0] is the older one */
    uint64_t charged_cpu_ns, charged_own_ns;
    uint64_t pruned_ns;
};

/* The next stage. */
void live_go(struct live *live, enum live_stage stage);

/* A batch is ordered; live_batch_done tells its end. */
void live_begin_batch(struct live *live);

/* Is the compiler as busy as before the batch again?  Then the figures count again.  Returns 0, or -1 with *err set. */
bool live_has_recovered(struct live *live);
int live_end_recovery(struct live *live, struct err *err);

/* The method of this id, or NULL. */
struct live_method *live_by_id(const struct live *live, uint32_t id);

/* That of n candidates with these names, or NULL. */
const struct live_candidate *live_find(const struct live_candidate *candidates, size_t n, const char *class_name,
                                       const char *name, const char *descriptor);

/* All of 'what' from 'from'. */
void live_subtract(struct live_account *from, const struct live_account *what);

/* Bring live->accounts up to the present round. */
int live_refresh(struct live *live, struct err *err);

/* Switch a method off, with the reason; on again; on for a moment. */
void live_switch_off(struct live *live, struct live_method *method, enum live_why why);
void live_try(struct live *live, struct live_method *method);

static inline bool live_is_on(const struct live_method *method)
{
    return method->state == LIVE_ENABLED || method->state == LIVE_TRIED;
}

/* The index'th method's figures without what is left out. */
void live_net(const struct live *live, size_t index, struct live_account *figures);

/* Mean CPU time of a call in ns; 0 when there was none. */
double live_call_ns(const struct live *live, const struct live_account *figures);

/* Charge what this round cost, and switch methods off when the credit is used up.  Returns 0, or -1 with *err set. */
int live_charge(struct live *live, struct err *err);

/* Judge the methods by their calls, and try those that were switched off.  Returns 0, or -1 with *err set. */
int live_prune(struct live *live, struct err *err);

/*
 * Which disabled probes are worth a batch that removes them: into live->remove.  Where the budget allows no pause yet,
 * it has to pay for itself within 10 s.
 */
void live_choose_removals(struct live *live, bool may_pause);

/* All of the budget, in ns of CPU time: by the end of the recording, or of the first minute where that comes before. */
double live_whole_ns(const struct live *live);

/*
 * What is left of the budget, in ns of CPU time; less than 0: it was not enough.  Where it is known how long the
 * recording will be, of all its time (of LIVE_AHEAD_S at most), less what it will go on to cost.
 */
double live_left_ns(const struct live *live);

/* Batches with prices have a part of the budget to themselves: where the end is known, all of it is planned. */
static inline bool live_has_parts(const struct live *live)
{
    return live->options.duration_s <= 0;
}

/* Have batches stopped the application for no longer than the budget allows by now?  And has it paid for all so far? */
bool live_may_stop(const struct live *live);
bool live_may_pause(const struct live *live);

/*
 * Are the free looks not over yet, and is no method measured: is there no batch so far, were all of its methods
 * switched off, or has none been called?
 */
bool live_measures_nothing(const struct live *live);

/* Is the program busy with something else than what got probes: is a method without them most of what a look saw? */
bool live_is_elsewhere(const struct live *live);

/*
 * Is the time in what the latest look found, so far, as much as a batch may cost the compiler?  And is that, with the
 * batches before, within the budget, unless the batch is free?
 */
bool live_is_worth_it(const struct live *live, bool is_free);

/* What the classes cost that the latest batch has changed; 0: no price is known. */
double live_changed_ns(const struct live *live);

/* What the next batch may cost the compiler, where the prices of classes are not known. */
double live_price_ns(const struct live *live);

/* May there be a first batch?  Not where it would throw away what took the compiler long: spared_ns is set then. */
bool live_may_begin(struct live *live);

#endif
