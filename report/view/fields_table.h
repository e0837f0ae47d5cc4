/*
 * Fields, or classes, whose accesses miss the caches, told in two ways: by the object that an address was in, and by
 * what the bytecode names.  An object's class may be a subclass of the one that the bytecode names; the interpreter and
 * the JVM read headers, and collections all fields, on behalf of no bytecode.
 *
 * Source: PEBSI §5.1.4, Figure 6.1 and Table 6.3.
 */
#ifndef REPORT_VIEW_FIELDS_TABLE_H
#define REPORT_VIEW_FIELDS_TABLE_H

#include "report/view/misses_report.h"

/*
 * A row for each, at most 'top' (0: all), with most misses of L2, in either way, first, or with most heat where misses
 * decay; then those of none.  In both ways each miss is of one row.
 *
 * misses  read by field; borrowed.
 *
 * Returns 0, or -1 with *err set: no memory, or the trace does not tell of bytecodes.
 */
int fields_table(const struct report_source *source, struct misses *misses, bool by_class, uint64_t top,
                 struct table *table, struct err *err);

#endif
