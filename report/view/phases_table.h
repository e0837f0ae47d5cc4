/*
 * The table of 'mmprof phases', that of its threads, and phases.json.
 */
#ifndef REPORT_VIEW_PHASES_TABLE_H
#define REPORT_VIEW_PHASES_TABLE_H

#include "phases/select/phases_file.h"
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

/* Method, total, per call, calls, share; sorted by total.  Returns 0, or -1 with *err set. */
int phases_table(const struct phases_report *report, struct table *table, struct err *err);

/* What is written to phases.json, sorted by total; lives in the arena.  Returns 0, or -1 with *err set. */
int phases_rows(const struct phases_report *report, struct phases_file *file, struct err *err);

/* One row per thread: part of the VM, CPU and wall time, probe time, calls lost. */
int phases_threads(const struct phases_report *report, struct table *table, struct err *err);

#endif
