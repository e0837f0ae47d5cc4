/* Questions to the rows of a fleet (the view 'phases' of fleet_files.h), in the SQL of the engine. */
#ifndef REPORT_FLEET_FLEET_QUERIES_H
#define REPORT_FLEET_FLEET_QUERIES_H

#include "report/fleet/fleet_engine.h"

/*
 * The phases of each service over all of its runs: methods that have at least this share of the service's CPU time and,
 * a call, at least this time, both with all that they call.  Columns: service, phase, time_share, self_share, calls,
 * ns_per_call, runs.
 *
 * engine   that is asked; NULL: DuckDB.
 * service  only this one; NULL: all.
 *
 * Returns the query, the arena's.
 * Source: thesis section 3.2.2 (after Huang et al., ISCA 2003).
 */
const char *fleet_select_sql(const struct fleet_engine *engine, struct arena *arena, const char *service, double weight,
                             double grain_ns);

/*
 * The same methods by day (UTC) and version.  Columns: service, phase, version, day (2026-11-28), ns_per_call, share of
 * the service's CPU time of that day and version; of all methods, by service, phase, version and day.
 */
const char *fleet_days_sql(const struct fleet_engine *engine, struct arena *arena, const char *service);

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
 * Returns 0, or -1 with *err set: a side is malformed or has too few runs.
 */
int fleet_compare(struct fleet_engine *engine, const struct fleet_compare_options *options, struct arena *arena,
                  struct fleet_difference **differences, size_t *n, struct err *err);

/*
 * Runs of a fleet that are unlike the others of their service, on the same JDK and CPU model.
 *
 * Of each run there is one value; logarithms are compared with the median of their group by the median of the absolute
 * deviations (MAD), which outliers hardly move.  The distance over 1.4826 MAD is taken as Student's t with 0.37 (n - 1)
 * degrees of freedom, as the MAD tells a deviation as well as 0.37 n values do, and p is corrected for the number of
 * runs (fleet_correct): of experiments without outliers, of 8 to 1,000 runs, at most 0.9 % have one that is found.
 *
 * Sources: Hampel, The Influence Curve and its Role in Robust Estimation, JASA 69, 1974 (MAD, and its efficiency).
 */

#define FLEET_GROUP_LEAST 10 /* runs of a group: fewer tell no outliers */

enum fleet_measure {
    FLEET_CPI,      /* cycles per instruction of the whole process, counted by hardware */
    FLEET_CALL_TIME /* the median over its phases of CPU time per call over the phase's median of all runs */
};

struct fleet_outliers_options {
    enum fleet_measure measure;
    const char *service; /* or NULL: all */
};

struct fleet_outlier {
    const char *service, *version, *host, *run, *jdk, *cpu_model; /* the arena's; NULL: not known */
    double value, median;
    double mads;   /* from the median, over 1.4826 MAD; of logarithms */
    double n_runs; /* of its group */
    double p;      /* corrected */
};

struct fleet_outliers {
    struct fleet_outlier *runs; /* those that are judged, the least p first; the arena's */
    size_t n;
    size_t n_uncounted; /* runs without the value */
    size_t n_few;       /* in groups of less than FLEET_GROUP_LEAST, */
    size_t n_alike;     /* or in one of which half has the same value: no spread is known */
};

/* "cpi" or "call-time".  Returns 0, or -1 with *err set. */
int fleet_measure_parse(const char *text, enum fleet_measure *measure, struct err *err);

/* Returns 0, or -1 with *err set: no run has the value. */
int fleet_outliers_find(struct fleet_engine *engine, const struct fleet_outliers_options *options, struct arena *arena,
                        struct fleet_outliers *outliers, struct err *err);

#endif
