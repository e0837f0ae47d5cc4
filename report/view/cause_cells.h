/*
 * Cells of what a row waited, by cause, as the tables of groups and of values have them.
 */
#ifndef REPORT_VIEW_CAUSE_CELLS_H
#define REPORT_VIEW_CAUSE_CELLS_H

#include "core/trace/trace.h"
#include "report/sample_cells.h"

/* A column for each cause but ON_CPU, as "monitor_ns", which text does not have; and a row's cells.  waited_ns: by
 * cause; NULL: it is not known. */
void cause_cells_hide(struct table *table);
void cause_cells_put(struct sample_cells *to, const double *waited_ns);

/* "monitor 12.3 s": the cause of most of it; "-" where nothing was waited. */
struct table_cell cause_cells_most(const double *waited_ns, struct arena *arena);

#endif
