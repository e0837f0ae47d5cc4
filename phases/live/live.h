/*
 * Which probes stay while a program runs: one recording that needs no preparatory run and keeps a budget.
 *
 * It decides and does nothing else: it is told of samples, methods, records and clocks, and answers with orders.
 * Whoever carries them out (live_session.c, a test) calls, in each round, live_methods_add, live_tree_records and
 * live_tree_kernel for what came, then live_round; and live_chooser_candidates when these were asked for.  POLICY.md
 * says what it decides, in which order, and why; live_policy.h has the numbers.
 */
#ifndef PHASES_LIVE_H
#define PHASES_LIVE_H

#include "phases/live/live_chooser.h"
#include "phases/live/live_parts.h"

enum live_stage {
    LIVE_WAITING,       /* for the agent */
    LIVE_CHOOSING,      /* what recompiling the candidates' classes costs is asked for */
    LIVE_INSTRUMENTING, /* or removing probes */
    LIVE_RECOMPILING,   /* the JIT compiler compiles again what the batch discarded */
    LIVE_WATCHING
};

/* What is to be done; all of it is the controller's and lives until the next round. */
struct live_orders {
    const uint32_t *enable, *disable, *remove; /* ids */
    size_t n_enable, n_disable, n_remove;
    const struct live_candidate *instrument;
    size_t n_instrument;
    bool chooses;      /* candidates are asked for: live_chooser_candidates is to follow */
    bool asks;         /* then what recompiling their classes costs is to be found out before, for a batch may follow */
    bool begins_anew;  /* samples from now on count: what was before is not what the program is for */
    uint32_t round_ms; /* the longest that the next round should wait: less while much may happen */
};

/* The parts know what they are given; all of them together are known only here.  To be read by others, not written. */
struct live {
    struct live_options options;
    struct live_status first, now;
    enum live_stage stage;
    bool is_begun;
    bool is_for_probes; /* the batch: it removes none */
    double expected_ns; /* of all batches for probes: to compile again what they threw away; NAN: not known */
    struct live_methods methods;
    struct live_budget budget;
    struct live_chooser chooser;
    struct live_pruner pruner;
    struct live_window window;
};

struct live *live_open(const struct live_options *options);
void live_close(struct live *live);

/*
 * A batch has ended, and so many classes were changed; 0: it was none, and nothing is recompiled.  The methods that
 * were removed are known by their ids.
 */
void live_batch_done(struct live *live, uint32_t n_classes);
void live_removed(struct live *live, const uint32_t *ids, size_t n);

/* Once per round with the agent ready, after what came in it. */
void live_round(struct live *live, const struct live_status *status, struct live_orders *orders);

/* The recording is over: so is a recompilation window. */
void live_finish(struct live *live);

/* What the recording has cost so far, beside what its parts say. */
struct live_cost {
    uint64_t own_cpu_ns;
    /* Time, and the target's CPU time, that no figure covers: of batches and windows so far, the present one's, too. */
    uint64_t left_out_ns, left_out_cpu_ns;
    uint64_t recompiling_ns; /* CPU time of the compilers in windows, more than before; LIVE_UNKNOWN */
    double compiling_ns;     /* likewise as the budget has it: expected, or what it was if that is more */
    double probes_now;       /* of late: the probes' cost as a share of the target's CPU time */
};

struct live_cost live_cost(const struct live *live);

#endif
