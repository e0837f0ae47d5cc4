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
#ifndef REPORT_FLEET_FLEET_OUTLIERS_H
#define REPORT_FLEET_FLEET_OUTLIERS_H

#include "report/fleet/fleet_engine.h"

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

/* Returns 0, or -1 with *err set: no run has the value, no memory. */
int fleet_outliers_find(struct fleet_engine *engine, const struct fleet_outliers_options *options, struct arena *arena,
                        struct fleet_outliers *outliers, struct err *err);

#endif
