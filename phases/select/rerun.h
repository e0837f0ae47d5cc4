/*
 * Whether more runs are needed: until all intervals between versions are narrow enough, or there are too many runs.
 *
 * An interval that is looked at after each run, and taken when it happens to be narrow, is too narrow: of drawn
 * experiments with five runs or more 93.5 % instead of 95 % have the truth in them.  So it must have been narrow twice
 * in a row, which gives 93.6 to 95.5 % (test/unit/pairwise_test.c).
 */
#ifndef PHASES_SELECT_RERUN_H
#define PHASES_SELECT_RERUN_H

#include "phases/select/pairwise.h"

#define RERUN_IN_A_ROW 2

struct rerun {
    size_t n_versions;
    double until; /* half the interval of 95 %, as a fraction of the mean; 0: as many runs as there may be */
    uint64_t runs_least, runs_most; /* of each version; at least 2 */
    /* set by the functions below */
    unsigned n_narrow; /* times in a row */
    bool is_narrow;
    double half; /* half the widest interval, a fraction; NAN: not known yet */
    struct pairwise pairwise;
};

void rerun_begin(struct rerun *rerun);

/* After a run of each: groups are of logarithms, by version, borrowed.  Are more needed? */
bool rerun_again(struct rerun *rerun, const struct moments *groups);

#endif
