/*
 * Garbage collections, by kind of pause and one by one, safepoints, and class loading, as the JVM itself counted them.
 */
#ifndef REPORT_VIEW_PAUSES_TABLE_H
#define REPORT_VIEW_PAUSES_TABLE_H

#include "report/view/view_pass.h"

/* "gc_young", "gc_full", "gc_concurrent", or "gc", by the JVM's own name of a kind of pause. */
const char *pause_kind(const char *name);

/*
 * A row for each kind: how often, how long in all, its share of the recording's time.  Returns 0, or -1 with *err set:
 * the trace does not tell, no memory.
 */
int pauses_table(const struct report_source *source, struct table *table, struct err *err);

/*
 * A row for each collection that was seen; of a pass with VIEW_PASS_HEAP.  Returns 0, or -1 with *err set: the trace
 * has none, and why; no memory.
 */
int collections_table(const struct view_pass *pass, struct table *table, struct err *err);

#endif
