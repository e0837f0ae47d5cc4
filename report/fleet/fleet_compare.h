/*
 * Two groups of runs of a fleet: which phases differ by more than runs do.
 *
 * The unit is the run, never the row: of each run a phase has one value, its time per call or, where no calls were
 * counted, its own share of the run's CPU time.  Logarithms are compared by Welch's t over the runs, and p is corrected
 * for the number of tests (Holm): a phase that is found is an alarm, so where nothing differs, nothing is found but in
 * one of a hundred comparisons.
 *
 * Much of what differs between runs is the same in all phases: the machine was faster or slower.  Without this factor,
 * the median over the phases, small changes are found, and one slow machine does not make all phases differ; it is a
 * row of its own.
 */
#ifndef REPORT_FLEET_FLEET_COMPARE_H
#define REPORT_FLEET_FLEET_COMPARE_H

#include "report/fleet/fleet_engine.h"

#define FLEET_RUNS_LEAST   5    /* on a side */
#define FLEET_SIGNIFICANCE 0.01 /* of a whole comparison */

struct fleet_compare_options {
    const char *before, *after; /* "version=1.2" */
    const char *service;        /* or NULL: all */
    double weight;              /* a phase has at least this share of its service's CPU time in all these runs */
};

enum fleet_difference_of {
    FLEET_OF_CALL,  /* ns per call, over the factor that the run's phases have in common */
    FLEET_OF_SHARE, /* shares of the run's CPU time */
    FLEET_OF_ALL    /* that factor, to its mean */
};

struct fleet_difference {
    const char *service, *phase; /* the arena's; service: or NULL */
    enum fleet_difference_of of;
    double n_before, n_after;
    double before, after;    /* geometric means */
    double ratio, low, high; /* after to before, and its interval of 95 % */
    double p;                /* corrected */
};

/*
 * The p of a test among n, by Holm's method.
 *
 * before  the corrected p of the one before it in the order of their own p, the least first; 0 of the first one
 * rank    in that order, from 0
 *
 * Source: Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of Statistics 6, 1979.
 */
double fleet_correct(double before, double p, size_t rank, size_t n);

/*
 * differences  receives an array that lives in the arena, the least p first.
 *
 * Returns 0, or -1 with *err set: a side is malformed or has too few runs, no memory.
 */
int fleet_compare(struct fleet_engine *engine, const struct fleet_compare_options *options, struct arena *arena,
                  struct fleet_difference **differences, size_t *n, struct err *err);

#endif
