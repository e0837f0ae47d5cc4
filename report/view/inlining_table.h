/*
 * Calls that the JIT compilers inlined, and those that they did not, by what stack samples found the callee's own code
 * in: its caller's, or its own.
 *
 * The samples are taken from outside, so that the code is what runs without mmprof; where the trace has the JIT
 * compilers' events, they say beside it what probes changed.
 */
#ifndef REPORT_VIEW_INLINING_TABLE_H
#define REPORT_VIEW_INLINING_TABLE_H

#include "report/view/view_pass.h"

struct inlining_options {
    double min_share; /* of all time: smaller rows are left out */
    uint64_t top;     /* rows; 0: all */
};

/*
 * A row for each method, place that calls it and method that is inlined or called there, by the callee's own time.
 *
 * Returns 0, or -1 with *err set: the trace's samples do not say it, no memory.
 */
int inlining_table(const struct view_pass *pass, const struct inlining_options *options, struct table *table,
                   struct err *err);

#endif
