/*
 * What placing objects otherwise would change in simulated misses: each policy's, and its classes', beside those of the
 * program as it is (PEBSI §6.2).
 */
#ifndef REPORT_VIEW_PLACEMENT_TABLE_H
#define REPORT_VIEW_PLACEMENT_TABLE_H

#include "core/emu/placement/placement_result.h"
#include "report/format/table.h"

/*
 * results  of n runs of the same command, with the same policies; borrowed.  Misses are the runs' means; a change is
 *          the mean of the runs' own, with the half of its interval of 95 % (Student's t) from three runs on.
 * top      so many classes, of most misses of the event that is sampled (0: all)
 */
void placement_table(const struct placement_result *results, size_t n, uint64_t top, struct arena *arena,
                     struct table *table);

#endif
