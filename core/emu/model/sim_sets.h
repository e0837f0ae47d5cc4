/*
 * Set sampling: of the caches' sets, one of n is simulated, and counts are multiplied by n.
 *
 *     1/8     of 64 classes of sets, by the lowest bits of a line's number in L2, 8 are simulated, in L1 as in L2
 *
 * A line of another class is a hit, and its page alone is looked up; one of these finds its set as it would be if all
 * were simulated, for no line moves from a set to another.  So what is counted of them is exact, and what is estimated
 * is the rest.  Hits are done as without a sample (struct sim_machine), so a sample saves a part of what misses take,
 * and nothing else.  Which classes are simulated is drawn, the same ones in each run; TLBs (fully associative, mostly)
 * and predictors are simulated whole.
 *
 * How far an estimate may be off is told by how much the classes differ from each other: the standard error of a total
 * estimated from a random sample without replacement, with as many degrees of freedom as classes but one.
 */
#ifndef CORE_EMU_MODEL_SIM_SETS_H
#define CORE_EMU_MODEL_SIM_SETS_H

#include "core/emu/model/sim_machine.h"

#define SIM_SETS_DEFAULT 8
#define SIM_SETS_MAX     16
#define SIM_SETS_SEED    UINT64_C(45)

/* "1/8": 1, 2, 4, 8 or 16.  Returns 0, or -1 with *err set. */
int sim_sets_read(const char *text, uint32_t *n, struct err *err);

/* Can one of n sets of this model be simulated (0: all, without a sample)?  Returns 0, or -1 with *err set. */
int sim_sets_check(const struct sim_model *model, uint32_t n, struct err *err);

/* A bit for each of the 64 / n classes that are simulated. */
uint64_t sim_sets_draw(uint32_t n, uint64_t seed);

/* Misses of all sets, estimated, and the square of that estimate's standard error; of 1/1, 0. */
struct sim_sets_estimate {
    double total, variance;
    uint32_t degrees_of_freedom;
};

struct sim_sets_estimate sim_sets_estimate(const struct sim_sets_counts *counts, uint64_t sampled,
                                           enum sim_sets_kind kind);

#endif
