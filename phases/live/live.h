/*
 * Which probes stay while a program runs: one recording that needs no preparatory run and keeps a budget.
 *
 * It decides and does nothing else: it is told of samples, methods, records and clocks, and answers with orders.
 * Whoever carries them out (phases/live/live_session.c, a test) calls, in each round: live_met, live_tree_records and
 * live_tree_kernel for what came, then live_round.
 *
 * A session's life: stack samples come all the time (phases/live/live_samples.h), and cost the JIT compiler nothing ->
 * candidates -> instrument them in one batch -> wait until the compiler has recovered -> watch and prune -> choose
 * again, ever more rarely, and so on.  A 'look' is a choice: it asks what the candidates' classes would cost.  Where
 * stacks cannot be sampled from outside, the agent samples during a look, and all that is said of a look's cost is of
 * that.
 *
 * When a method's probes are switched off
 *
 * - LIVE_TOO_SHORT: its calls took less than 1/LIVE_MARGIN of theta_grain of the time elapsed, on the average.  This is
 *   sound because the total only grows.  Let A be the application's CPU time so far, and let a method have k calls of
 *   the mean m < grain * A / M.  At the end, with A' >= A, it is a phase only if the mean of all its calls is at least
 *   grain * A', so the calls still to come must have a mean of at least grain * A' >= grain * A > M * m: a method that
 *   becomes a phase after all is one whose later calls are more than M times longer than those so far.  That is a
 *   change of behaviour, and it is looked for: see below.  A is not known while the program runs; the CPU time of the
 *   whole process less that of the JIT compiler's threads is, garbage collector included: with it M shrinks by A's
 *   share of it, so that LIVE_MARGIN 4 leaves M >= 2 as long as the application has half of that CPU time.  Where the
 *   compiler's threads are not known, all counts, and the margin is twice as large.  Also: its calls are so short that
 *   their probes, and writing their records, cost more than the budget of their own time.
 * - LIVE_TOO_FREQUENT, LIVE_OVER_BUDGET: what its calls cost does not fit into the budget; for the first alone, for the
 *   second together with the methods whose calls take longer.  So the budget raises the grain, as the search for
 *   thresholds does (phases/select/select.h).
 *
 * Switching off makes the call tree coarser, not wrong: from then on its time is its caller's.
 *
 * The budget: cost, i.e. records times half the calibrated pair, plus this program's own CPU time, against the target's
 * CPU time.  A credit grows with the target's CPU time (at most to what LIVE_CREDIT_NS earn) and shrinks with the cost.
 * When it is used up, methods are switched off, those with the shortest calls first, until the rest costs less than
 * LIVE_AIM of the budget.  A method called 20 million times a second uses the credit up in 3 ms: it is off in the round
 * after it appeared.
 *
 * What cannot be switched off any more is paid for as well, and of the budget the probes have what it leaves: by the
 * end of the recording, or of the first minute (LIVE_AHEAD_S) where that comes before or the end is not known; but not
 * less than three tenths, for a recording without calls is of no use.  Those are looks (the samples' cost, by what one
 * of them cost so far), batches (the CPU time of rewriting) and what the compiler takes for them (below).  One look is
 * free, and its batch; and a second look where all methods of the first batch had to be switched off or none was
 * called, or a program has just been started and prices (below) are not known: its batch is, too, where it does
 * something else by then, i.e. where a method without probes has most of what that look saw. They are what the session
 * is for, and cost some tens of ms each.  From then on a look takes as many samples as the budget of the time elapsed
 * has left over from all costs together, and is put off while those are too few, but not for ever: short looks have a
 * part of the budget to themselves, LIVE_LOOKING_PART, or half of it where the end is known; else a minute would be
 * known by its first second where compiling again took more than expected.  A batch waits until the time that all
 * batches stopped the application is at most the budget of the time elapsed, and until it is paid for; there, if prices
 * are known, batches have a part of the budget to themselves, too: see LIVE_COMPILE.  Else a program of half a minute,
 * whose first seconds used the budget up, would be known by what it did in them.
 *
 * What the JIT compiler takes to compile again what a batch throws away is known beforehand, where the JVM tells of its
 * code (core/recorder/recompilation_cost.h).  A batch has the classes with the most time for their price, as long as
 * the budget pays for them and all before them, and each only if the program has spent as much time in it as it costs.
 * Where it is known how long the recording will be, that is the budget of all of it, of LIVE_AHEAD_S at most, less what
 * the rest of it will take and a quarter for later: so the compiler's work comes first, and what it is for is recorded
 * from then on.  In any case it and rewriting may take LIVE_COMPILE of the budget of the time elapsed, of
 * LIVE_ADVANCE_NS at least; and where most of the time is in what is new, one class may cost more: a hundredth of the
 * time that was spent in it.  Code that is hardly called is hardly compiled: so methods with long calls cost little,
 * and what costs much is called so often that most of it would be switched off again.  With all classes at once,
 * programs of ten seconds lost up to a quarter of their CPU time.  What it took after all is known where the program
 * does not warm up, and counts if it is more; in one that has just begun, three times what the code took is expected.
 * The first batch may have one class that takes the whole budget, by the end of the recording or of LIVE_AHEAD_S, and
 * none that takes more: of a short recording of large classes samples are all there is.  Where the compilers took more
 * than the whole budget, nothing is bought any more.
 *
 * Where that is not known, the free batches have all.  In a program that compiles for seconds the first one could not
 * be paid for in minutes.  Each batch after the first must be worth it: the time that the program spent so far in what
 * would get probes is at least the compiler's CPU time in the dearest recovery so far (in a program that warms up: than
 * it took to compile all, once), or closed probes that it would remove have cost as much.  And where it is not free,
 * that time, with what the later batches took so far, must be within the budget of the time elapsed.
 *
 * A JVM that was attached to may throw all its code away at the first batch (forgets_code): then a program is several
 * times slower until its compilers have done again what they did since its start.  Where that took them more CPU time
 * than recompile_s, no class is changed: looks go on, and samples are all there is.  A service that took minutes to
 * warm up is not to be put back to its start by somebody who wants to look at it.
 *
 * A method that was switched off is enabled again for a moment (LIVE_LOOK_CALLS calls or LIVE_LOOK_NS, whichever comes
 * first) after LIVE_FIRST_LOOK_NS, then after twice this time and so on up to LIVE_LAST_LOOK_NS; it stays enabled when
 * its calls have become long enough, or when it is hardly called any more.
 */
#ifndef PHASES_LIVE_H
#define PHASES_LIVE_H

#include "core/base/arena.h"
#include "core/recorder/recompilation_cost.h"
#include "phases/live/live_tree.h"

#include <stdbool.h>

#define LIVE_MARGIN        4.0
#define LIVE_AIM           0.7
#define LIVE_CREDIT_NS     UINT64_C(100000000)
#define LIVE_MIN_CALLS     20u /* no mean of fewer calls is judged */
#define LIVE_LOOK_CALLS    50u
#define LIVE_LOOK_NS       UINT64_C(20000000)
#define LIVE_FIRST_LOOK_NS UINT64_C(2000000000)
#define LIVE_LAST_LOOK_NS  UINT64_C(300000000000)
#define LIVE_UNKNOWN       UINT64_MAX

struct live_options {
    double budget;        /* fraction of the target's CPU time */
    double weight, grain; /* thresholds of a phase, fractions: a lower bound of what will be chosen at the end */
    uint32_t max_methods; /* enabled at any time */
    bool is_new;          /* the program has just been started: its start says little */
    bool forgets_code;    /* the JVM throws all compiled code away at the first batch: jvm_forgets_code */
    bool leaves_classes;  /* none may be changed: samples are all there is */
    double recompile_s;   /* then there is none where its compilers took more CPU time than this so far */
    double duration_s;    /* of the recording; 0: until somebody ends it */
    uint32_t max_more; /* instrumented after a look, those with the largest share: what comes later needs room, too */
    struct live_tree_options tree;
};

#define LIVE_BUDGET       0.01
#define LIVE_WEIGHT       0.01
#define LIVE_GRAIN        1e-6 /* the lowest that the search for thresholds tries */
#define LIVE_MAX_METHODS  256u
#define LIVE_MAX_MORE     64u
#define LIVE_RECOMPILE_S  30.0
#define LIVE_POLLING_PART 0.3 /* of the budget, for stack samples where the agent takes them */
#define LIVE_COMPILE      0.5 /* of the budget of the time elapsed, for changed classes, whatever all else took */
#define LIVE_ADVANCE_NS   6e9 /* of CPU time: what that is in so long the compiler is given at once */
#define LIVE_AHEAD_S      60.0
#define LIVE_LOSS         2.0 /* the compiler's work and, as long as it is not done, slower code: of that work */
#define LIVE_SAMPLED_MAX  64u /* methods told of that got no probes */

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

enum live_state { LIVE_ENABLED, LIVE_DISABLED, LIVE_TRIED, LIVE_REMOVED }; /* tried: enabled for a moment, to look */

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
    size_t n_put_off;        /* candidates of the latest look that were not worth a batch */
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

/* Why does a method that a look found have no probes?  *price_ns: what its class costs the compilers; 0: not known. */
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
