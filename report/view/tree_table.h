/*
 * The call tree as a table, a row for each context: callees below their callers, or callers below the method that they
 * call.  Its values are those of the report.
 */
#ifndef REPORT_VIEW_TREE_TABLE_H
#define REPORT_VIEW_TREE_TABLE_H

#include "report/tree_view.h"

struct tree_table_options {
    enum tree_view_kind kind;
    const char *method; /* of views of callees and callers: as 'mmprof annotate' takes it */
    double min_share;   /* rows with less of the time are left out */
    bool is_text;       /* names are indented */
};

/*
 * source  with what samples saw in its tree.
 *
 * Shares are as in the report: of all the time; of one method that was recorded for a part of it, and of which no
 * samples tell the rest, of that part.
 *
 * Returns 0, or -1 with *err set: no such method, no memory.
 */
int tree_table(const struct report_source *source, const struct tree_table_options *options, struct table *table,
               struct err *err);

#endif
