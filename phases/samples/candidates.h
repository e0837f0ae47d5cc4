/*
 * Methods that are worth probes, from stack samples: a first look that leaves the program's code alone.
 *
 * Samples tell how much of the time a method and its callees take, within their error.  They do not tell how often it
 * is called: two samples in the same call and two in different ones can look alike.  But where a caller has moved on
 * in between, its callees are certainly other calls; so there is a least number of calls, and a most that one takes.
 */
#ifndef PHASES_SAMPLES_CANDIDATES_H
#define PHASES_SAMPLES_CANDIDATES_H

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/method_name.h"

enum sample_method_flag {
    SAMPLE_HAS_LOOP = 1,  /* a backward branch */
    SAMPLE_HAS_CALLS = 2, /* its bytecode calls something */
    SAMPLE_IS_WANTED = 4, /* the session's configuration lets it have probes, and the JVM its class be changed */
    SAMPLE_IS_NATIVE = 8
};

/*
 * One thread's stack at a moment when the thread had a CPU, or waited: weights are of one clock.
 *
 * same   the outermost frames that may be the same calls as in this thread's sample before: all of them and their
 *        call sites are as they were.  The frames within are certainly other calls.
 */
struct sample_stack {
    uint32_t thread;
    uint64_t cpu_ns; /* the sample's weight */
    bool is_cut;     /* there are more frames outside of these */
    bool is_waiting; /* the innermost frame's own code takes none of it */
    uint32_t n_frames, n_same;
    const uint32_t *methods; /* outermost first; borrowed */
};

struct candidates; /* samples added up */

struct candidates *candidates_open(void);
void candidates_close(struct candidates *candidates);

#define CANDIDATES_NONE UINT32_MAX

/* The index of a method, from 0 on, new or known. */
uint32_t candidates_method(struct candidates *candidates, const char *class_name, const char *name,
                           const char *descriptor);

/* What its code is: enum sample_method_flag. */
void candidates_describe(struct candidates *candidates, uint32_t method, uint32_t code_bytes, uint32_t flags);

/* Take up a sample; its methods are indexes. */
void candidates_stack(struct candidates *candidates, const struct sample_stack *stack);

/*
 * The records of a method show that its calls are too short: so are those of what it calls.  What samples from now on
 * find in its calls only is no candidate.
 */
void candidates_too_short(struct candidates *candidates, const char *class_name, const char *name,
                          const char *descriptor);

/* How many samples there are so far. */
uint64_t candidates_n_samples(const struct candidates *candidates);

struct candidates_criteria {
    double weight;        /* the share of the time that makes a phase, 0..1: what may reach it is a candidate */
    double grain;         /* likewise in one call; what surely stays below it is none.  0: not known */
    uint32_t min_samples; /* in fewer a method is not a candidate: 1 is an accident */
    size_t most;          /* so many candidates at most, those with the largest share */
};

/* What a user who says nothing gets. */
#define CANDIDATES_CRITERIA ((struct candidates_criteria){ .weight = 0.01, .min_samples = 2, .most = 150 })

enum candidate_reason {
    /* why it is one */
    CANDIDATE_OUTER,    /* a thread spends all its time in it */
    CANDIDATE_HEAVY,    /* its share is over the weight */
    CANDIDATE_POSSIBLE, /* its share may be over the weight */
    /* why it is none */
    CANDIDATE_UNWANTED, /* it may not be instrumented, or the rule of the first pass leaves it out */
    CANDIDATE_TINY,     /* neither loops nor calls: a call is over in less than a microsecond */
    CANDIDATE_SHORT,    /* its calls are too short: many are certain in the time that it took */
    CANDIDATE_WITHIN,   /* likewise: it is called in calls that are too short */
    CANDIDATE_RARE,     /* too few samples */
    CANDIDATE_LIGHT,    /* its share is surely below the weight */
    CANDIDATE_SURPLUS,  /* there are too many larger ones */
    CANDIDATE_N_REASONS
};

#define CANDIDATE_IS_ONE(reason) ((reason) <= CANDIDATE_POSSIBLE)

struct candidate {
    struct method_name names;            /* the candidates' */
    double share, share_low, share_high; /* of the time in all samples, callees included; 95 % interval; 0..1 */
    double self_share;
    uint32_t code_bytes;
    uint64_t n_samples;
    uint64_t n_calls_least;  /* so many calls are certain */
    double per_call_most_ns; /* a call's mean time is at most this */
    enum candidate_reason reason;
};

struct candidate_list {
    struct candidate *all; /* every method seen, candidates first, largest share first; the arena's */
    size_t n_all, n;       /* n of them are candidates */
    size_t n_reasons[CANDIDATE_N_REASONS];
    double n_effective; /* samples of equal weight that would say as much */
};

/*
 * Choose the candidates.  A share's interval is Wilson's for a binomial share, of as many samples
 * as would have this error if all had the same weight (Kish's effective sample size).
 *
 * Returns 0, or -1 with *err set: there are no samples.
 * Source: thesis §3.2.2 for the thresholds; Wilson, JASA 22 (1927); Kish, Survey Sampling (1965).
 */
int candidates_choose(struct candidates *candidates, const struct candidates_criteria *criteria, struct arena *arena,
                      struct candidate_list *list, struct err *err);

#endif
