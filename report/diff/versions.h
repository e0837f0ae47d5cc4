/*
 * Several versions of a program, each measured several times: every pair of them, in every row and metric.
 *
 * A run is one observation.  Values vary by factors, so logarithms are compared where all are positive.  Two versions
 * are compared by Welch's t; more by an analysis of variance, and Tukey's honestly significant difference
 * (phases/samples/significance.h).  The p of the rows, of an analysis where there is one, are corrected at once by
 * false discovery rate; a pair's p is not less than its row's.
 */
#ifndef REPORT_DIFF_VERSIONS_H
#define REPORT_DIFF_VERSIONS_H

#include "report/diff/diff.h"

#define VERSIONS_MAX 8

/* A row and metric; all borrowed. */
struct versions_series {
    const char *kind, *label, *metric;
    enum table_unit unit;
    bool is_main;                       /* text has it even where nothing differs */
    const double *values[VERSIONS_MAX]; /* by version and run; NAN: not known */
    struct method_name names;
};

/*
 * Limits on how each version differs from the first one, such as 'CPU time>5%', and what versions_table finds of them:
 * a limit is broken where the difference is significant and exceeds it.
 */
struct versions_gate {
    const struct diff_limit *limits; /* diff_limit_read; borrowed, as all here */
    size_t n_limits;
    size_t n_broken;
    const char *said; /* lines for the user: what breaks a limit, and what may do so unseen; "": nothing */
};

struct versions {
    struct arena *arena;             /* borrowed, as all below */
    const char *names[VERSIONS_MAX]; /* "before", "after", ... */
    const char *what[VERSIONS_MAX];  /* for the lines above the table: a command, or traces */
    size_t n_versions, n_runs[VERSIONS_MAX];
    const struct versions_series *series;
    size_t n_series;
    double least;               /* smaller changes (fractions) are of no interest */
    struct versions_gate *gate; /* NULL: none */
};

/* Returns 0, or -1 with *err set: a limit is on a metric that no series has. */
int versions_check_gate(const struct versions *versions, struct err *err);

/* The table; metadata and notes may be added. */
void versions_table(const struct versions *versions, bool is_text, struct table *table);

/* Compare traces: paths by version.  Returns 0, or -1 with *err set: a version with one trace, one cannot be read. */
int versions_of_traces(const struct diff_row_options *options, const char *const *const paths[VERSIONS_MAX],
                       const size_t *n_traces, struct versions *versions, struct err *err);

#endif
