/*
 * The report: per phase the share of the process' time, calls, CPI and misses per 1,000 instructions, and the VM's
 * parts (thesis Tables 3.5 to 3.8).
 */
#ifndef REPORT_VIEW_PHASE_REPORT_H
#define REPORT_VIEW_PHASE_REPORT_H

#include "phases/select/statistics.h"
#include "report/folding.h"
#include "report/source.h"

#define REPORT_DETAILS_WIDE 2 /* details that need not be seen first: how rows are known, and waiting */

struct report_row_options {
    const char *sort;                /* "time", "self", "calls", "percall", "cpi", or the name or heading of an event */
    double min_share;                /* of the process' time that a method needs for a row, whether all is set or not */
    uint64_t top;                    /* not more rows of methods than this, those with most time; 0: no limit */
    bool all;                        /* rows for methods that are no phases, too */
    const struct folding_list *fold; /* no rows for what only calls the next method, and for these; NULL: for all */
    const struct statistics *calls;  /* of single calls, for CSV and JSON; NULL: none */
    const uint32_t *region_of;       /* by method: the region of the time line with most of its time; NULL: no column */
    uint32_t collector_region;       /* that of the collector; TIMELINE_IDLE: it has none */
};

/*
 * Make the report's table.  Rows are the phases: all methods of a recording of phases, else those that
 * phases_select() chooses within a budget of 1 %; then the application's other code, the VM's parts, mmprof itself
 * and the total.  Shares are of the time of all threads, so that the column "Self" adds up to 100 %; those of a phase
 * of the time of all threads while it was recorded (report_recorded).  Where the source has a tree with samples in it
 * (report/sampled_tree.h), methods that only these know are rows, too, and all shares are of all the time.
 *
 * totals  of the application's methods, as probes measured them (calltree_totals).
 *
 * Returns 0, or -1 with *err set: an unknown key to sort by.
 */
int report_make(const struct report_source *source, const struct calltree_total *totals, size_t n_totals,
                const struct report_row_options *options, struct table *table, struct err *err);

struct report_trace {
    const struct report_source *source;
    const struct calltree_total *totals; /* of the application's methods */
    size_t n_totals;
};

/*
 * The same of several recordings of one program, each with events of its own ('mmprof record --groups separate'). Rows,
 * times and calls are the first one's; what it did not measure comes from the first of the others that did, as a rate:
 * a count is that rate's in the first one's instructions.
 *
 * traces  n_traces, at least one.
 *
 * Returns 0, or -1 with *err set: also when they are of different programs or phases.
 */
int report_make_joined(const struct report_trace *traces, size_t n_traces, const struct report_row_options *options,
                       struct table *table, struct err *err);

/* A row of a method.  Of one that only samples know, total->calls is 0. */
struct report_row {
    const struct calltree_total *total; /* what probes measured; borrowed */
    const char *label;
    double ticks, self_ticks; /* with what it calls, and its own; what samples say is in them */
};

/*
 * Which methods report_make() makes rows of, those with most time first; the arena's.
 *
 * Returns 0, or -1 with *err set.
 */
int report_rows(const struct report_source *source, const struct calltree_total *totals, size_t n_totals,
                const struct report_row_options *options, struct report_row **rows, size_t *n_rows, struct err *err);

#endif
