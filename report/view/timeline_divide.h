/*
 * Stack samples in the time line.
 */
#ifndef REPORT_VIEW_TIMELINE_DIVIDE_H
#define REPORT_VIEW_TIMELINE_DIVIDE_H

#include "report/sampled_tree.h"
#include "report/view/timeline_table.h"

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
