/*
 * What the parts of the live controller read: options, and the state of a round.
 */
#ifndef PHASES_LIVE_LIVE_STATUS_H
#define PHASES_LIVE_LIVE_STATUS_H

#include "phases/live/live_tree.h"

#include <stdbool.h>

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

#endif
