/*
 * How far the estimates of events are off, whose groups took turns on the counters.
 *
 * A group counts in a part of a phase's time only.  What is estimated is what the group would have counted in all of
 * it: the phase's own rate in this very run, not that of other runs.
 *
 *     rate of event e of group g    R = sum of e / sum of instructions, both while g counted        (a ratio)
 *     instructions of the phase     I = sum over all groups * time enabled / sum of the groups' times
 *     events of the phase           R * I
 *     cycles per instruction        sum of cycles / sum of instructions, over all groups
 *
 * The interval around R comes from batch means.  A thread's time is cut into turns: the time that a group is on the
 * counters without a pause, or the interval between two readings, if that is longer.  What passes of a turn in one
 * phase is one observation, however many calls it was.  Observations that follow each other are merged into 16 to 31
 * batches of about the same time, and so memory is bounded: when 32 are full, pairs become one and the next batches
 * are twice as long.  With y and x the events and instructions of a batch and d = y - R x,
 *
 *     V(sum of d) = n / (n - 1) * sum of (d[k + 1] - d[k])^2 / 2
 *     V(R)        = (1 - f) * V(sum of d) / (sum of x)^2          f: the share of the phase's time that g counted
 *     interval    = R +- t(0.975, 2 (n - 1)^2 / (3 n - 4)) * sqrt(V(R))
 *
 * which is the delta method for a ratio, the finite population correction, and Student's t with the degrees of freedom
 * that the differences have.  Turns are a systematic sample: what changes slowly over the run is in all groups alike,
 * and differences of neighbours leave it out, as the variance about the mean would not.
 *
 * Assumptions: which turns a group gets has nothing to do with what the program does; the differences of neighbouring
 * batches tell how much the time between a group's turns differs from the turns.
 *
 * How good it is: test/unit/estimate_test.c counts how often the interval of 95 % has the truth, on synthetic counts.
 *
 * - 93 to 98 %: independent turns; bursts; phases of calls much shorter than a turn; rates that last for a part of a
 *   turn, and for some turns where the phase runs now and then; long calls, read every 10 ms.
 * - over 98 %: rates that last for one turn and longer in a phase that runs all the time, or drift over the run.  The
 *   group's turns see each of them, so the estimate is up to 6 times better than the interval says.
 * - under 92 %: events that almost all come in less than ten short bursts; a program in step with the turns (the same
 *   loop of 16 ms under 4 groups of 4 ms): nothing in the counts can tell that.
 *
 * It is not valid for a group that a phase hardly had (fewer than ESTIMATE_BATCHES_MIN batches): there is none then.
 *
 * Sources: batch means, Law and Kelton, Simulation Modeling and Analysis, section 9.5; ratios and the finite population
 * correction, Cochran, Sampling Techniques, chapters 2 and 6; differences of neighbours, von Neumann et al., The Mean
 * Square Successive Difference (1941), and for systematic samples Wolter, Introduction to Variance Estimation, ch. 8.
 */
#ifndef PHASES_TREE_ESTIMATE_H
#define PHASES_TREE_ESTIMATE_H

#include "core/base/std.h"

#define ESTIMATE_BATCHES_ROOM 32
#define ESTIMATE_BATCHES_MIN  5
#define ESTIMATE_GROUPS_MAX   16

/* ---- turns ---- */

enum estimate_turn_state { ESTIMATE_TURN_OFF, ESTIMATE_TURN_BEGUN, ESTIMATE_TURN_ON };

/* The turns of one thread's groups.  All zero: none was seen yet. */
struct estimate_turns {
    uint8_t states[ESTIMATE_GROUPS_MAX]; /* enum estimate_turn_state */
};

/*
 * An interval of the thread: which of the n_groups groups counted for how long, and how long they could have.  Returns
 * a bit for each group whose turn ends with this interval.
 */
uint32_t estimate_turns_take(struct estimate_turns *turns, const uint64_t *running_ns, uint32_t n_groups,
                             uint64_t enabled_ns);

/* ---- batches ---- */

/* What one phase counted of one group: (32 times 8 bytes) for each value, and as much again for the time. */
struct estimate_batches {
    uint32_t n_values; /* the group's events */
    uint32_t n;        /* batches that are full; one more has begun if has_more */
    bool has_more;
    uint64_t turn;    /* of what was added last */
    double target_ns; /* a batch is full at the end of a turn that makes it this long */
    double *rows;     /* a batch's time in ns, then its values; owned */
};

void estimate_batches_open(struct estimate_batches *batches, uint32_t n_values);
void estimate_batches_close(struct estimate_batches *batches);

/* Add what the phase had of a turn; a turn that another thread's interrupts counts as two.  values: n_values. */
void estimate_batches_add(struct estimate_batches *batches, uint64_t turn, uint64_t running_ns, const uint64_t *values);

/* ---- variances ---- */

/* Of a sum of independent parts. */
struct estimate_variance {
    double variance;
    double squares_by_freedom; /* Satterthwaite's: variance^2 / degrees of freedom, summed up */
    bool is_unknown;           /* some part has too few batches */
};

/*
 * Add factor^2 times the variance of the sum of (y - ratio * x) over the batches.  y, x: indexes of values.
 * share: of the time that the group counted, 0..1.  Where it is 1 there is nothing to add, however few the batches.
 */
void estimate_variance_add(struct estimate_variance *sum, const struct estimate_batches *batches, size_t y, size_t x,
                           double ratio, double share, double factor);

/* Half the width of the interval of 95 %; negative when it is unknown. */
double estimate_half_width(const struct estimate_variance *sum);

/* The 0.975 quantile of Student's t; degrees of freedom from 2 up, and fractions of them. */
double estimate_student(double degrees_of_freedom);

#endif
