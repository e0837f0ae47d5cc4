/*
 * What a live recording switched off, why, and in whose time the methods' time is since.
 */
#ifndef REPORT_PRUNED_H
#define REPORT_PRUNED_H

#include "report/source.h"

/*
 * A row for each method whose probes were off at the end, those with most unrecorded time first: the reason, for how
 * long it was recorded, its calls a second and their time as of then, an estimate of its CPU time while it was not
 * recorded, and the recorded method that most of this time is part of.
 *
 * The estimate takes the method's share of the time while it was recorded for its share of the rest; it is at most the
 * own time of the callers that it is part of.  Times of methods that call each other overlap.
 *
 * totals  of the application's methods (calltree_totals).
 *
 * Returns the number of rows, 0 when there is none of them (or was no live one), or -1 with *err set.
 */
int pruned_make(const struct report_source *source, const struct calltree_total *totals, size_t n_totals,
                struct table *table, struct err *err);

#endif
