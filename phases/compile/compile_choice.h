/*
 * Samples by method, and which of the methods to compile at a higher tier now.
 *
 * Is it worth it?  A method's future time is taken to be its past time, which is known from samples; compiled at
 * another tier it takes that time over the quotient of both tiers' speeds, and the compiler's time besides, by the size
 * of the method's bytecode.
 *
 * Source: thesis §4.1.2 (after Arnold et al., OOPSLA 2000), for HotSpot's tiers.
 */
#ifndef PHASES_COMPILE_CHOICE_H
#define PHASES_COMPILE_CHOICE_H

#include "core/base/std.h"

#define COMPILE_TIERS 5u /* 0: interpreted; 1, 2, 3: C1 without, with some and with all profiling; 4: C2 */

struct compile_model {
    double speed[COMPILE_TIERS];       /* in units of the interpreter's */
    double ns_per_byte[COMPILE_TIERS]; /* of the compiler's CPU time, for a byte of bytecode with what is inlined */
};

extern const struct compile_model compile_model_measured;

/*
 * The number of events that is exceeded with a probability of 97.5 % where n of them happened by chance: the lower end
 * of a 95 % interval.  Source: the approximation of Wilson and Hilferty to the chi-square distribution.
 */
double compile_least_events(double n);

/*
 * The tier that saves most, where the saving is larger than the cost even if the samples were many by chance; 0: none.
 *
 * tier        of the method's code now; 4 is the highest
 * n_samples   of the method at that tier, each for period_ns of CPU time
 * code_bytes  of its bytecode
 *
 * A method that is interpreted is compiled with profiling (3) first: C2 needs what is counted there.
 */
uint32_t compile_model_choose(const struct compile_model *model, uint32_t tier, double n_samples, double period_ns,
                              uint32_t code_bytes);

enum compile_rule {
    COMPILE_BY_MODEL,
    COMPILE_RANDOM, /* as many methods at the same tiers as the model chooses, but any that have samples */
    COMPILE_NOTHING /* the same samples and decisions, which nobody carries out */
};

struct compile_candidate {
    uint32_t tier, n_samples; /* since it has this tier */
    uint32_t code_bytes;
    bool is_sampled, is_proposed, has_news, was_chosen; /* the last: from this tier */
};

struct compile_choice {
    const struct compile_model *model; /* borrowed */
    enum compile_rule rule;
    double period_ns;                     /* CPU time for which a sample stands */
    struct compile_candidate *candidates; /* owned; by the sampler's number */
    uint32_t n_candidates;
    size_t room;
    uint64_t random;                             /* the state of its numbers; not 0 */
    uint64_t n_samples;                          /* in methods */
    uint32_t n_sampled, n_proposed;              /* methods: with samples; weighed by the model */
    uint32_t n_chosen, n_by_tier[COMPILE_TIERS]; /* decisions, and to which tier */
};

struct compile_decision {
    uint32_t method, tier;
};

/* A sample in a method's code, or in what is inlined in it. */
void compile_choice_add(struct compile_choice *choice, uint32_t method, uint32_t tier, uint32_t code_bytes);

/* What to compile now: at most n of 'decisions'.  Returns how many. */
size_t compile_choice_decide(struct compile_choice *choice, struct compile_decision *decisions, size_t n);

void compile_choice_free(struct compile_choice *choice);

#endif
