/*
 * Which probes stay while a program runs: one recording that needs no preparatory run and keeps a budget.
 *
 * It decides and does nothing else: it is told of samples, methods, records and clocks, and answers with orders.
 * Whoever carries them out (live_session.c, a test) calls, in each round: live_met, live_tree_records and
 * live_tree_kernel for what came, then live_round.  POLICY.md says what it decides, in which order, and why;
 * live_policy.h has the numbers.
 */
#ifndef PHASES_LIVE_H
#define PHASES_LIVE_H

#include "core/base/arena.h"
#include "core/recorder/recompilation_cost.h"
#include "phases/live/live_tree.h"

#include <stdbool.h>

#define LIVE_UNKNOWN UINT64_MAX

struct live_options {
    double budget;        /* fraction of the target's CPU time */
    double weight, grain; /* thresholds of a phase, fractions: a lower bound of what will be chosen at the end */
    uint32_t max_methods; /* enabled at any time */
    bool is_new;          /* the program has just been started: its start says little */
    bool forgets_code;    /* the JVM throws all compiled code away at the first batch: jvm_forgets_code */
    bool leaves_classes;  /* none may be changed: samples are all there is */
    double recompile_s;   /* then there is none where its compilers took more CPU time than this so far */
    double duration_s;    /* of the recording; 0: until somebody ends it */
    uint32_t max_more; /* instrumented after a choice, those with the largest share: what comes later needs room, too */
    struct live_tree_options tree;
};

#define LIVE_BUDGET      0.01
#define LIVE_WEIGHT      0.01
#define LIVE_GRAIN       1e-6 /* the lowest that the search for thresholds tries */
#define LIVE_MAX_METHODS 256u
#define LIVE_MAX_MORE    64u
#define LIVE_RECOMPILE_S 30.0
#define LIVE_SAMPLED_MAX 64u /* methods told of that got no probes */

#define LIVE_OPTIONS                                                                                        \
    {                                                                                                       \
        .budget = LIVE_BUDGET, .weight = LIVE_WEIGHT, .grain = LIVE_GRAIN, .max_methods = LIVE_MAX_METHODS, \
        .max_more = LIVE_MAX_MORE, .recompile_s = LIVE_RECOMPILE_S                                          \
    }

/* A method that samples found on the stack: internal form. */
struct live_candidate {
    const char *class_name, *name, *descriptor;
    double share, self_share; /* of the samples' CPU time, callees included; without */
    uint32_t class_number;    /* of its class among those whose prices were asked for; others: no price is known */
    double price_ns;          /* what the session found its class to cost the compilers; 0: not known */
};

/* Why samples find a method that has no probes. */
enum live_without {
    LIVE_NO_BATCH,  /* none has come since it was found, or it had no room in it */
    LIVE_DEAR,      /* compiling its class again is not paid for */
    LIVE_UNCHANGED, /* its class was to be changed, and was not */
    LIVE_HELD,      /* a loop of its class is under way */
    LIVE_SPARED,    /* no class is changed, for the JVM would throw all compiled code away */
    LIVE_ARCHIVED   /* no class is changed, for the JVM writes its classes into an archive */
};

enum live_stage {
    LIVE_WAITING,       /* for the agent */
    LIVE_CHOOSING,      /* what the candidates' classes cost is asked for */
    LIVE_INSTRUMENTING, /* or removing probes */
    LIVE_RECOVERING,    /* the JIT compiler compiles again what the batch threw away */
    LIVE_WATCHING
};

enum live_state { LIVE_ENABLED, LIVE_DISABLED, LIVE_TRIED, LIVE_REMOVED }; /* tried: enabled for a moment */

enum live_why { LIVE_KEPT, LIVE_TOO_SHORT, LIVE_TOO_FREQUENT, LIVE_OVER_BUDGET };

/* One instrumented method. */
struct live_method {
    uint32_t id;
    const char *class_name, *name, *descriptor; /* the session's */
    bool is_held; /* it has no probes yet, for a loop of its class is under way: others' probes find it on the stack */
    enum live_state state;
    enum live_why why;
    uint64_t enabled_since_ns;    /* while enabled or tried */
    uint64_t enabled_ns;          /* before that */
    uint64_t disabled_ns;         /* when it was switched off last */
    uint64_t next_look_ns;        /* while disabled */
    uint32_t n_looks;             /* since it was switched off */
    uint64_t n_disabled;          /* times */
    struct live_account base;     /* what is left out of its figures: calls in recovery, and before it was tried */
    struct live_account frozen;   /* its figures when the latest batch began */
    struct live_account marks[2]; /* at the two latest marks */
    double calls_per_s, call_ns;  /* as of when it was switched off */
};

/* What is measured, once per round. */
struct live_status {
    uint64_t now_ns; /* monotonic */
    uint64_t ticks;  /* the same moment */
    double ns_per_tick;
    uint64_t cpu_ns;     /* of the target, since the start */
    uint64_t own_cpu_ns; /* of this program, since the start */
    uint64_t jit_cpu_ns; /* of the target's compiler threads; LIVE_UNKNOWN */
    double pair_ns;      /* calibrated cost of an entry and exit */
    double pauses_ms;    /* for which batches and samples have stopped the application so far */
    double sampling_ns;  /* what stack and IP samples have cost the target so far */
    double rewriting_ns; /* likewise batches: CPU time, the stops included */
    uint32_t n_samples;  /* of stacks, so far */
    uint64_t start_ns;   /* monotonic: of the recording and of sampling */
    bool ready;          /* the agent takes orders */
    bool busy;           /* a batch is under way, or what classes cost is being found out */
};

/* What is to be done; all of it is the session's and lives until the next round. */
struct live_orders {
    const uint32_t *enable, *disable, *remove; /* ids */
    size_t n_enable, n_disable, n_remove;
    const struct live_candidate *instrument;
    size_t n_instrument;
    bool chooses;      /* what the candidates' classes cost is asked for: live_candidates is to follow */
    bool begins_anew;  /* samples from now on count: what was before is not what the program is for */
    uint32_t round_ms; /* the longest that the next round should wait: less while much may happen */
};

/* What the session has cost so far. */
struct live_cost {
    double probes_ns; /* records times half a pair */
    double sampling_ns, rewriting_ns;
    uint64_t own_cpu_ns, cpu_ns;
    double pauses_ms;
    double recovery_ms; /* the compiler's recoveries that are over */
    /* Time, and the target's CPU time, that no figure covers: of batches and recoveries so far, the present one's, too.
     */
    uint64_t left_out_ns, left_out_cpu_ns;
    bool is_cut;             /* one of them went on for longer than it was watched */
    uint64_t forgotten_ns;   /* CPU time of the compilers for the code that the first batch threw away; 0: it did not */
    uint64_t spared_ns;      /* likewise, would have thrown away: there is no batch; 0: nothing is spared */
    uint64_t recompiling_ns; /* CPU time of the compiler's in them, more than before; LIVE_UNKNOWN */
    double compiling_ns;     /* likewise as the budget has it: expected, or what it was if that is more */
    size_t n_put_off;        /* candidates of the latest choice that were not worth a batch */
    uint32_t n_batches;      /* of instrumentation and removal */
    double probes_now;       /* of late: the probes' cost as a share of the target's CPU time */
};

/* A recovery, excluded from the figures. */
struct live_recovery {
    uint64_t start_ticks, end_ticks;
};

struct live;

/* Returns 0 and *live for live_close, or -1 with *err set. */
int live_open(struct live **live, const struct live_options *options, struct err *err);
void live_close(struct live *live);

/* Feed it with records and kernel events. */
struct live_tree *live_tree(struct live *live);

/*
 * A method has probes now, enabled ones; without code (code_bytes 0): its class could not be changed, and its calls are
 * seen where others' probes find them on the stack.  Returns 0, or -1 with *err set.
 */
int live_met(struct live *live, const struct trace_method *method, struct err *err);

/*
 * The samples have come to this; sorted by share, largest first; copied.  prices: of their classes, or NULL.  Returns
 * 0, or -1 with *err set.
 */
int live_candidates(struct live *live, const struct live_candidate *candidates, size_t n,
                    const struct recompilation_costs *prices, struct err *err);

/*
 * A batch has ended, and so many classes were changed; 0: it was none, and there is nothing to recover from.  The
 * methods that were removed are known by their ids.
 */
void live_batch_done(struct live *live, uint32_t n_classes);
void live_removed(struct live *live, const uint32_t *ids, size_t n);

/* Once per round, after what came in it.  Returns 0 with *orders set, or -1 with *err set. */
int live_round(struct live *live, const struct live_status *status, struct live_orders *orders, struct err *err);

/* The recording is over: so is a recovery that is under way.  Returns 0, or -1 with *err set. */
int live_finish(struct live *live, struct err *err);

enum live_stage live_stage(const struct live *live);
const struct live_method *live_methods(const struct live *live, size_t *n);
const struct live_recovery *live_recoveries(const struct live *live, size_t *n);
void live_cost(const struct live *live, struct live_cost *cost);

/* A method's figures up to the last round: what calls took in recoveries is left out. */
void live_figures(const struct live *live, const struct live_method *method, struct live_account *figures);

/* Has a method calls that were recorded, or probes, or has it had them? */
bool live_knows(const struct live *live, const char *class_name, const char *name, const char *descriptor);

/* Are its calls seen only where others' probes find them, for its class could not be changed yet? */
bool live_is_held(const struct live *live, const char *class_name, const char *name, const char *descriptor);

/* Why does a method that samples found have no probes?  *price_ns: what its class costs the compilers; 0: not known. */
enum live_without live_why_without(const struct live *live, const char *class_name, const char *name,
                                   const char *descriptor, double *price_ns);

/* Is this method measured, and has it been called while its calls counted? */
bool live_has_figures(const struct live *live, const struct live_method *method);

/* Has any? */
bool live_has_calls(const struct live *live);

/* Do calls count at the moment?  Not during a batch and the recovery from it. */
bool live_is_frozen(const struct live *live);

/* "enabled", "disabled", "tried", "removed" */
const char *live_state_name(enum live_state state);

/* "its calls are too short", and so on; "" for those that are enabled. */
const char *live_why_text(enum live_why why);

#endif
