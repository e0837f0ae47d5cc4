/*
 * The parts of the live controller (live.h): what probes say, options and state, the budget, the methods with probes,
 * recompilation windows, and the pruner.  POLICY.md says which part decides what.
 */
#ifndef PHASES_LIVE_LIVE_PARTS_H
#define PHASES_LIVE_LIVE_PARTS_H

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/trace/trace.h"

/* ---- what the probes say ---- */

/*
 * What the probes say while a recording runs: per thread the calls that are open, per method its calls and its time.
 *
 * It takes the rings' words and the kernel's events as the recorder drains them, in the order that the trace keeps
 * (core/trace/trace.h).  A record costs a few ns: it touches its thread's stack and its method's account, not a tree of
 * contexts.  Memory depends on the number of methods and threads, not on the number of records: each thread has a stack
 * of at most LIVE_DEPTH_MAX calls (deeper ones are only counted) and 4 bytes per method.
 *
 * Times are inclusive: a method's own and its callees'; a call within a call of the same method adds nothing.  CPU time
 * is wall time less the time off the CPU; where the kernel tells nothing, it is wall time.  The probes' own time is in
 * it: these are figures to decide on, the trace has the exact ones.
 */

#define LIVE_DEPTH_MAX    4096u
#define LIVE_COUNTERS_MAX 4u

struct live_tree_options {
    uint32_t n_columns; /* words that follow each record */
    uint32_t n_tracked;
    uint32_t tracked[LIVE_COUNTERS_MAX]; /* which of them are added up per method */
};

/* A method's figures since the start. */
struct live_account {
    uint64_t calls;
    uint64_t cpu_ticks, wall_ticks;       /* inclusive, of the calls that have ended */
    uint64_t n_counted;                   /* outermost calls whose counters were read at both ends */
    uint64_t counters[LIVE_COUNTERS_MAX]; /* of those, inclusive */
};

struct live_tree;

/* */
struct live_tree *live_tree_open(const struct live_tree_options *options);
void live_tree_close(struct live_tree *tree);

/*
 * Take a thread's ring words (core/wire/ring.h): whole records; now is a moment (in ticks) after the last one.  Words
 * that make no sense are ignored.
 */
void live_tree_records(struct live_tree *tree, uint32_t thread, const uint64_t *words, size_t n_words, uint64_t now);

/* Take kernel events, sorted by ticks, none later than the records that follow them by much.  As above. */
void live_tree_kernel(struct live_tree *tree, const struct trace_event *events, size_t n);

/* A thread has ended, and its number is another's from now on: what its calls took stays, if they had an exit or not.
 */
void live_tree_forget(struct live_tree *tree, uint32_t thread);

/* Accounts are by method id; there are so many, zeros for ids that no record has had. */
uint32_t live_tree_n_accounts(const struct live_tree *tree);

/*
 * The accounts with what open calls have taken up to now (in ticks); the array has room for live_tree_n_accounts().
 * Counters are those of the calls that have ended.
 */
void live_tree_accounts(struct live_tree *tree, uint64_t now, struct live_account *accounts);

uint64_t live_tree_n_records(const struct live_tree *tree);

/* ---- options, and the state of a round ---- */

#define LIVE_UNKNOWN UINT64_MAX

struct live_options {
    double budget;        /* fraction of the target's CPU time */
    double weight, grain; /* thresholds of a phase, fractions: a lower bound of what will be chosen at the end */
    uint32_t max_methods; /* enabled at any time */
    bool is_new;          /* the program has just been started: its start says little */
    bool discards_code;   /* the JVM discards all compiled code at the first batch: jvm_forgets_code */
    bool samples_only;    /* no class may be changed */
    double
        recompile_s;   /* of code to discard: no batch where compiling it takes more CPU time; 0: what the budget has */
    double duration_s; /* of the recording; 0: until somebody ends it */
    bool is_reported;  /* this program makes a report then */
    uint32_t max_more; /* instrumented after a choice, those with the largest share: what comes later needs room, too */
    struct live_tree_options tree;
};

#define LIVE_BUDGET      0.01
#define LIVE_WEIGHT      0.01
#define LIVE_GRAIN       1e-6 /* the lowest that the search for thresholds tries */
#define LIVE_MAX_METHODS 256u
#define LIVE_MAX_MORE    64u
#define LIVE_RECOMPILE_S 0.0

#define LIVE_OPTIONS                                                                                        \
    {                                                                                                       \
        .budget = LIVE_BUDGET, .weight = LIVE_WEIGHT, .grain = LIVE_GRAIN, .max_methods = LIVE_MAX_METHODS, \
        .max_more = LIVE_MAX_MORE, .recompile_s = LIVE_RECOMPILE_S                                          \
    }

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
    uint64_t n_classes;  /* that the target had loaded when the recording began; 0: not known, or it has just begun */
    uint32_t n_samples;  /* of stacks, so far */
    uint32_t n_waits;    /* visits to threads that wait for something else than work, so far */
    uint64_t start_ns;   /* monotonic: of the recording and of sampling */
    bool is_changing;    /* a batch is under way, or what classes cost is being found out */
};

/* ---- the budget ---- */

/*
 * The budget: what a recording may cost, what it has cost, and what is left.
 *
 * Cost is what the probes take, this program's own CPU time, samples, and changed classes with the compilation that
 * follows.  A credit grows with the target's CPU time and shrinks with the cost of probes and of their records: when it
 * is used up, probes are to be switched off.
 */

struct live_budget {
    const struct live_options *options;    /* borrowed */
    const struct live_status *first, *now; /* borrowed: the first state with the agent ready, and the present one */
    double credit_ns, probes_ns;           /* probes: of all records so far */
    double disabled_ns;                    /* of calls through probes that are switched off, estimated */
    double recompilation_ns;               /* of changed classes: as expected, or measured if that was more */
    uint32_t n_batches;
    uint64_t n_records;
    /* Costs are compared over the time since the older mark, [0]: 0.5 to 1 times what the whole credit is for. */
    uint64_t mark_ns[2], mark_cpu_ns[2], mark_records[2];
    uint64_t charged_cpu_ns, charged_own_ns;
};

/* What a round has come to. */
struct live_charged {
    bool is_over; /* the credit is used up, and by probes, not by this program's own rounds only */
    bool is_mark; /* it is time for live_budget_mark */
};

/* With options, first and now set. */
void live_budget_begin(struct live_budget *b);

/* Charge what this round cost; n_records: of all rounds. */
struct live_charged live_budget_charge(struct live_budget *b, uint64_t n_records);
void live_budget_mark(struct live_budget *b);

/* The target's CPU time so far, and per second, in ns. */
double live_budget_cpu_ns(const struct live_budget *b);
double live_budget_cpu_ns_per_s(const struct live_budget *b);

/* All of the budget, in ns of CPU time: by the end of the recording, or of the first minute where that comes before. */
double live_budget_whole_ns(const struct live_budget *b);

/*
 * What is left of the budget, in ns of CPU time; less than 0: it was not enough.  Where it is known how long the
 * recording will be, of all its time (of PLANNED_AHEAD_S at most), less what it will go on to cost.
 */
double live_budget_left_ns(const struct live_budget *b);

/*
 * What a batch costs, in ns of CPU time, whatever it changes: the JVM looks through all its classes, and again when the
 * probes are removed; and probes are calibrated before the first one.
 */
double live_budget_batch_ns(const struct live_budget *b);

/*
 * What changed classes and their recompilation may cost in a batch now: of what is left, or in any case a part of the
 * budget; less live_budget_batch_ns.
 */
double live_budget_recompilation_ns(const struct live_budget *b);

/* Likewise with the one class beyond it that a batch may have: no more where the end is known. */
double live_budget_extra_ns(const struct live_budget *b);

/*
 * What compiling all code again may take, in ns of CPU time, where the first batch discards it: half of the budget of
 * the whole recording, of a minute or less no more than may be spent now; or where nobody knows its end, of the first
 * minute or of the time so far, or DISCARD_ALWAYS_NS.
 */
double live_budget_discard_ns(const struct live_budget *b);

/* The share of the target's CPU time that probes, and what writes their records, may have. */
double live_budget_probes_share(const struct live_budget *b);

/* How often to sample stacks, per second of CPU time, where one sample costs so many ns: as often as the budget
 * affords, but that a recording of known length has LIVE_SAMPLES_LEAST of a busy CPU; of unknown length, which may be
 * short, as often as is useful. */
uint32_t live_samples_hz(const struct live_options *options, double sample_ns, uint32_t most_hz);

/* What one call of an enabled method costs, in ns: its pair of probes, and writing two records. */
double live_budget_call_ns(const struct live_budget *b);

/*
 * Is a batch within the budget now: have batches stopped the application for no longer than it allows of the time
 * elapsed, and is there something left of it, where the recording's end is known?
 */
bool live_budget_allows_batch(const struct live_budget *b);

/* ---- methods ---- */

/* The methods that have got probes, or were to get some, and their figures. */

enum live_state { LIVE_ENABLED, LIVE_DISABLED, LIVE_ON_TRIAL, LIVE_REMOVED }; /* on trial: enabled for a moment */

enum live_why { LIVE_NOT_DISABLED, LIVE_TOO_SHORT, LIVE_TOO_FREQUENT, LIVE_OVER_BUDGET };

/* One instrumented method. */
struct live_method {
    uint32_t id;
    const char *class_name, *name, *descriptor; /* in the methods' arena */
    bool is_deferred; /* it has no probes yet, for a loop of its class is active: others' probes find it on the stack */
    enum live_state state;
    enum live_why why;
    uint64_t enabled_since_ns;    /* while enabled or on trial */
    uint64_t enabled_ns;          /* before that */
    uint64_t told_ns;             /* of both, in files before this one */
    uint64_t disabled_ns;         /* when it was switched off last */
    uint64_t next_trial_ns;       /* while disabled */
    uint32_t n_trials;            /* since it was switched off */
    struct live_account all;      /* as of the latest live_methods_refresh */
    struct live_account base;     /* what is left out of its figures: calls in recompilation, and before its trial */
    struct live_account frozen;   /* its figures when the latest batch began */
    struct live_account marks[2]; /* at the two latest marks of the budget */
    double calls_per_s, call_ns;  /* as of when it was switched off */
    double off_calls_per_s; /* without what probes take of the time: that of steps(n - 1) + steps(n - 2) is most */
};

struct live_methods {
    struct live_tree *tree; /* owned */
    struct arena arena;
    struct live_method *all; /* owned */
    size_t n, room;
    struct live_account *accounts; /* owned: for live_methods_refresh */
    uint32_t accounts_room;
    bool is_frozen; /* a batch or its recompilation window is under way: calls do not count */
};

/* */
void live_methods_open(struct live_methods *methods, const struct live_tree_options *options);
void live_methods_free(struct live_methods *methods);

/* A method has probes from now on, enabled ones; without code (code_bytes 0) it has none yet. */
void live_methods_add(struct live_methods *methods, const struct trace_method *method, uint64_t now_ns);

/* By id, or by name; NULL: there is none. */
struct live_method *live_methods_by_id(const struct live_methods *methods, uint32_t id);
struct live_method *live_methods_find(const struct live_methods *methods, const char *class_name, const char *name,
                                      const char *descriptor);

/* Has a method calls that were recorded, or probes, or has it had them? */
bool live_methods_know(const struct live_methods *methods, const char *class_name, const char *name,
                       const char *descriptor);

/* Bring each method's account up to the present round (ticks). */
void live_methods_refresh(struct live_methods *methods, uint64_t ticks);

/* Their calls do not count from now on; or they do again, as if those in between had not been (after a refresh). */
void live_methods_freeze(struct live_methods *methods);
void live_methods_thaw(struct live_methods *methods);

/* A method's figures without what is left out; those of a frozen one are from before, */
struct live_account live_method_figures(const struct live_methods *methods, const struct live_method *method);

/* or what it has so far, to decide on, if there were none. */
struct live_account live_method_net(const struct live_methods *methods, const struct live_method *method);

/* Is this method measured, and has it been called while its calls counted?  Is there any? */
bool live_method_has_figures(const struct live_methods *methods, const struct live_method *method);
bool live_methods_have_figures(const struct live_methods *methods);

/* Mean CPU time of a call in ns, and its wall time; 0 when there was none. */
double live_account_call_ns(const struct live_account *figures, double ns_per_tick);
double live_account_wall_ns(const struct live_account *figures, double ns_per_tick);

static inline bool live_method_is_on(const struct live_method *method)
{
    return method->state == LIVE_ENABLED || method->state == LIVE_ON_TRIAL;
}

/* "armed", "disarmed", "tried", "removed": as mmprof.trace(5) has them */
const char *live_state_name(enum live_state state);

/* "its calls are too short", and so on; "" for those that are enabled. */
const char *live_why_text(enum live_why why);

/* ---- recompilation windows ---- */

/*
 * The recompilation window: from the moment that a batch of classes changes until the JIT compilers take no more CPU
 * time than before.  Calls in it are slower than usual, and are left out of all figures.
 *
 * It is told of the state once per round, and says when the window is over and what it cost.  Where the compilers' CPU
 * time is not known, it is as long as most are.
 */

/* A window that is over, in ticks. */
struct live_recompilation {
    uint64_t start_ticks, end_ticks;
};

struct live_window {
    uint64_t usual_since_ns, usual_jit_ns; /* where watching the compilers before a batch began */
    double usual_jit;                      /* CPUs that they took before this one */
    uint64_t start_ns, start_ticks, start_cpu_ns, start_jit_ns;
    uint64_t step_ns, step_jit_ns; /* where the present step began */
    uint32_t n_quiet;              /* steps in a row in which they took no more than before */
    double expected_ns;            /* what its classes were expected to cost; NAN: not known */
    bool is_cut;                   /* a window went on for longer than it was watched */

    /* Of those that are over. */
    struct live_recompilation *all; /* owned */
    size_t n, room;
    uint64_t ns, cpu_ns;                  /* how long they were, and the target's CPU time in them */
    uint64_t most_ns, more_than_usual_ns; /* the compilers' CPU time in one, at most; in all, more than usual */
    double booked_ns;                     /* of that in all, what the changed classes are charged for */
    uint64_t discarded_ns;                /* for the code that the first batch discarded; 0: it did not */
};

void live_window_free(struct live_window *window);

/* The compilers are watched from now on: what they do is usual. */
void live_window_watch(struct live_window *window, const struct live_status *now);

/* A batch is ordered.  discards_all: the JVM discards all its code for it. */
void live_window_begin(struct live_window *window, const struct live_status *now, bool discards_all);

/*
 * The classes have changed, or (live_window_cancel) none has: it was no batch.
 *
 * expected_ns  to compile their code again that was there; NAN: not known
 */
void live_window_changed(struct live_window *window, const struct live_status *now, double expected_ns);
void live_window_cancel(struct live_window *window, bool is_first);

/* Do the compilers take no more than before again, or is it watched no longer? */
bool live_window_is_over(struct live_window *window, const struct live_status *now);

/*
 * It ends now.  Returns what its classes are charged for, which is what was expected, or more.
 *
 * Compilers that were quiet before compile again what the batch threw away: what they took more than usual is its cost,
 * as far as RECOMPILED_MOST times what was expected explains it.  Compilers that were busy, as those of a program
 * that warms up, would have compiled without it, too, and their usual is none: the cost is what was expected.
 */
double live_window_end(struct live_window *window, const struct live_status *now);

/* ---- the pruner ---- */

/*
 * The pruner: which probes stay enabled.  It switches methods off whose calls are too short, or that the budget does
 * not allow; tries for a moment whether that has changed; and says which disabled probes are worth removing.
 *
 * It reads the budget's state and methods' figures, and sets their states and reasons.
 */

/* Method ids. */
struct live_ids {
    uint32_t *all; /* owned */
    size_t n, room;
};

struct live_pruner {
    struct live_budget *budget;              /* borrowed: its credit is charged */
    struct live_methods *methods;            /* borrowed */
    struct live_ids enable, disable, remove; /* what it decides in a round */
    uint64_t judged_ns;                      /* when all methods were judged last */
    uint64_t charged_ns;                     /* when what is off was charged last; 0: never */
};

void live_pruner_free(struct live_pruner *p);

/* A round begins: charge what it cost, and switch methods off when the credit is used up. */
void live_pruner_charge(struct live_pruner *p);

/* Judge the methods by their calls, and try those that were switched off. */
void live_pruner_judge(struct live_pruner *p);

/* Which disabled probes have cost more than a batch that removes them?  batch_ns: of the compilers, for the largest. */
void live_pruner_choose_removals(struct live_pruner *p, double batch_ns);

/* Is one on trial? */
bool live_pruner_tries(const struct live_pruner *p);

#endif
