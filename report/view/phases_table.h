/*
 * The tables of 'mmprof phases': methods, threads, and the grid of --sweep; and phases.json.
 */
#ifndef REPORT_VIEW_PHASES_TABLE_H
#define REPORT_VIEW_PHASES_TABLE_H

#include "phases/select/phases_file.h"
#include "phases/select/select.h"
#include "report/source.h"

struct phases_report {
    const struct report_source *source;
    const struct calltree_total *totals; /* of the application's methods */
    size_t n_totals;
    uint64_t all_ticks; /* 100 % */
    const struct phases_criteria *options;
    const struct phases_choice *choice;
    double pair_ns;
    bool all;         /* not only the selected methods */
    double min_share; /* of a method */
};

/* Method, total, per call, calls, share; sorted by total. */
void phases_table(const struct phases_report *report, struct table *table);

/* What is written to phases.json, sorted by total; lives in the arena. */
void phases_rows(const struct phases_report *report, struct phases_file *file);

/* One row per thread: part of the VM, CPU and wall time, probe time, calls lost. */
void phases_threads(const struct phases_report *report, struct table *table);

/* A row for each pair of thresholds: phases, their calls, the estimates of the overhead (thesis Figures 3.4 and 3.5).
 */
void sweep_table(const struct report_source *source, const struct sweep *sweep, const struct budget_base *base,
                 struct table *table);

#endif
