/*
 * Samples by method, and which of the methods to compile now.
 */
#ifndef PHASES_COMPILE_CHOICE_H
#define PHASES_COMPILE_CHOICE_H

#include "phases/compile/compile_model.h"

#include <stdbool.h>
#include <stddef.h>

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

/* A sample in a method's code, or in what is inlined in it.  Returns 0, or -1: no memory. */
int compile_choice_add(struct compile_choice *choice, uint32_t method, uint32_t tier, uint32_t code_bytes);

/* What to compile now: at most n of 'decisions'.  Returns how many. */
size_t compile_choice_decide(struct compile_choice *choice, struct compile_decision *decisions, size_t n);

void compile_choice_free(struct compile_choice *choice);

#endif
