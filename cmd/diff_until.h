/*
 * mmprof diff --until: runs the versions in turns until the intervals of their differences are narrow enough.
 */
#ifndef CMD_DIFF_UNTIL_H
#define CMD_DIFF_UNTIL_H

#include "report/diff/versions.h"

struct diff_until {
    double until;           /* half the interval, a fraction of the mean */
    const char *runs;       /* "LEAST:MOST" of each version */
    const char *iterations; /* an expression for the output, or NULL */
    const char *steady;     /* "ITERATIONS:COV" */
    const char *directory;  /* where traces of the runs go; NULL: they are not recorded */
    bool by_wall;           /* the intervals are of wall time, not CPU time */
    bool is_quiet;          /* no progress */
};

/* Sentences; the arena's. */
struct diff_until_end {
    const char *intervals; /* how many runs, and how wide their intervals are */
    const char *steady;    /* after how many iterations; NULL: no iterations were asked for */
    bool is_narrow, is_steady;
};

/* Run versions->what[]; sets the rest of *versions.  Returns 0, or -1 with *err set: malformed, a command fails, no
 * memory. */
int diff_until_run(const struct diff_until *options, struct versions *versions, struct diff_until_end *end,
                   struct err *err);

#endif
