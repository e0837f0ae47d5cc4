/*
 * The controller's own: its life (live.c), methods (live_methods.c), what gets probes (live_choose.c), batches
 * (live_batch.c), which probes stay (live_prune.c).  The budget and the recompilation window know nothing of it.
 */
#ifndef PHASES_LIVE_INTERNAL_H
#define PHASES_LIVE_INTERNAL_H

#include "phases/live/live.h"
#include "phases/live/live_budget.h"
#include "phases/live/live_window.h"

/* A growing list of method ids. */
struct live_ids {
    uint32_t *ids; /* owned; as much room as there are methods */
    size_t n;
};

/* What gets probes: from what was asked of the candidates to the batch. */
struct live_chooser {
    struct live_candidate *wanted;     /* owned: what the latest choice found; what is over budget comes last */
    size_t n_wanted, n_unpaid;         /* unpaid: over budget */
    bool has_prices;                   /* the recompilation costs of their classes are known: */
    struct recompilation_costs prices; /* owned copy */
    double work_ns;                    /* the compilers' CPU time for a unit of work */
    struct live_candidate *asked;      /* owned: what was wanted at the latest batch, over budget or not */
    size_t n_asked, n_asked_paid;      /* those within the budget come first */
    bool is_asked_again;               /* it changed no class */
    bool has_candidates;               /* live_candidates has come since it was asked for */
    size_t n_put_off;                  /* see struct live_cost */
    uint64_t next_choice_ns, choice_delay_ns;
    uint32_t n_choices;
    uint64_t sampled_since_ns; /* samples count since then; 0: not yet */
    uint32_t first_sample;     /* then */
    uint64_t spared_ns;        /* see struct live_cost */
};

/* Which probes stay: what it orders. */
struct live_pruner {
    struct live_ids enable, disable, remove;
    uint64_t pruned_ns; /* when all methods were judged last */
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
    enum live_stage stage;
    bool is_begun;
    struct live_status first, now; /* the first one with the agent ready */
    struct live_budget budget;
    struct live_chooser chooser;
    struct live_pruner pruner;
    struct live_window window;
};

/* The next stage. */
void live_go(struct live *live, enum live_stage stage);

/* A batch is ordered; live_batch_done tells its end. */
void live_begin_batch(struct live *live);

/* Its recompilation window is over: the figures count again.  Returns 0, or -1 with *err set. */
int live_end_window(struct live *live, struct err *err);

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

/* Batches with prices have a part of the budget to themselves: where the end is known, all of it is planned. */
static inline bool live_has_parts(const struct live *live)
{
    return live->options.duration_s <= 0;
}

/*
 * Are the free choices not over yet, and is no method measured: is there no batch so far, were all of its methods
 * switched off, or has none been called?
 */
bool live_measures_nothing(const struct live *live);

/* Is the program busy with something else than what got probes: is a method without them most of what samples saw? */
bool live_is_elsewhere(const struct live *live);

/*
 * Is the time in what the latest choice found, so far, as much as a batch may cost the compiler?  And is that, with the
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
