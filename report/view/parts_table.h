/*
 * The application against the VM's parts, for each thing that was measured (thesis Figure 3.6).
 */
#ifndef REPORT_VIEW_PARTS_TABLE_H
#define REPORT_VIEW_PARTS_TABLE_H

#include "report/source.h"

/*
 * A row for the time and for each event: which share of all of it each part has.  The columns after "of" are the parts
 * that the trace knows.  A row whose shares are not known, because a part's threads were not counted, says so in a
 * note.
 */
void parts_table(const struct report_source *source, struct table *table);

#endif
