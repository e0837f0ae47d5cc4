/*
 * Why a method is a candidate or not, in words: what tests and tools print.
 */
#ifndef TEST_TOOLS_CANDIDATE_TEXTS_H
#define TEST_TOOLS_CANDIDATE_TEXTS_H

#include "phases/samples/candidates.h"

static inline const char *candidate_reason_text(enum candidate_reason reason)
{
    static const char *const texts[CANDIDATE_N_REASONS] = {
        [CANDIDATE_OUTER] = "in all samples of a thread",
        [CANDIDATE_HEAVY] = "over the weight",
        [CANDIDATE_POSSIBLE] = "perhaps over the weight",
        [CANDIDATE_UNWANTED] = "not to be instrumented",
        [CANDIDATE_TINY] = "no loop, no call: over at once",
        [CANDIDATE_SHORT] = "calls too short",
        [CANDIDATE_WITHIN] = "within calls too short",
        [CANDIDATE_RARE] = "too few samples",
        [CANDIDATE_LIGHT] = "below the weight",
        [CANDIDATE_SURPLUS] = "too many larger ones",
    };
    return texts[reason];
}

#endif
