/* The time line of a trace as a table: counters in fixed steps by part of the VM, and the application's regions. */
#ifndef REPORT_VIEW_TIMELINE_TABLE_H
#define REPORT_VIEW_TIMELINE_TABLE_H

#include "phases/tree/timeline.h"
#include "report/call_metrics.h"
#include "report/some_threads.h"
#include "report/sampled_tree.h"
#include "report/view/phase_report.h"

struct timeline_read {
    struct timeline *timeline;                /* for timeline_close */
    const struct throttled_reading *pressure; /* what held the program back; borrowed; NULL: nothing is known */
    struct timeline_regions regions;
    struct call_metrics rates; /* CPI and misses: sums of metrics by which a cell's are computed */
    struct report_row *rows;   /* what row i is of; the arena's */
    size_t n_rows;
};

/*
 * Before the pass over the trace.
 *
 * outline  the trace's (trace_outline).
 * step_ns  0: choose, so that there are at most steps_max.
 * read     for timeline_close(read->timeline), whatever is returned.
 * observers  one more.
 *
 * Returns 0, or -1 with *err set: the step is too short.
 */
int timeline_begin(const struct trace_reader *outline, struct arena *arena, double step_ns, uint32_t steps_max,
                   struct timeline_read *read, struct observers *observers, struct err *err);

/*
 * After it.  Rows are those that report_make() has for the same options, methods that only stack samples know among
 * them.  In each step samples divide the time of each row that was measured, as often as they were in a method, or in
 * what it calls; so all rows together keep that time.  Where no sample was in a row, those of the nearest step count.
 *
 * source  of the trace, read to its end, with what samples saw in its tree.
 * totals  of the application's methods.
 *
 * Returns 0, or -1 with *err set: too many steps.
 */
int timeline_end(const struct report_source *source, const struct calltree_total *totals, size_t n_totals,
                 const struct report_row_options *options, struct timeline_read *read, struct err *err);

/* CPI or misses of a cell; NAN: not measured then.  rate: an index into rates.of; 0 is "time/call", which no cell has.
 */
double timeline_rate(const struct timeline_read *read, size_t rate, enum vm_part part, uint32_t step);

/* The same of sums of cells' metrics. */
double timeline_rate_of(const struct timeline_read *read, size_t rate, const uint64_t *metrics, size_t n_metrics);

/*
 * The table.  Text has a row for each step; CSV and JSON one for each step and part of the VM, for each region, and for
 * each phase.
 */
void timeline_table(const struct report_source *source, const struct timeline_read *read, bool is_text,
                    struct table *table);

/* Stack samples in the time line. */

/*
 * Divide the rows' ticks of each step as its samples are; of a step without, as those of the nearest one are.  Rows
 * that have calls whose end no probe saw, and what ran behind it, are divided together: which of them a sample is in is
 * known, but not when the call ended.
 *
 * On the wall clock samples alone tell what rows have: each what it was given in the tree, a wait in the steps that it
 * lasted; the sum over all rows is not the CPU time of the step then, but that of all threads that ran or waited.
 *
 * source  with samples in its tree
 * row_of  by method of that tree; borrowed
 */
void timeline_divide(const struct report_source *source, const uint32_t *row_of, struct timeline_read *read);

/* When what a sample stands for began, in ticks: a wait before its end, a wait for a CPU before it was had. */
uint64_t timeline_since(const struct report_source *source, const struct trace_kept_sample *sample);

#endif
