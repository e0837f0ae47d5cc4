/*
 * What a row waited, by cause, for the tables of groups and of values.
 */
#ifndef REPORT_VIEW_WAIT_CAUSES_H
#define REPORT_VIEW_WAIT_CAUSES_H

#include "core/trace/trace.h"
#include "report/format/table.h"

/* A member of a row's struct. */
struct wait_causes {
    const char *most;        /* "monitor 12.3 s": the cause of most of it; NULL: nothing was waited */
    double ns[TRACE_CAUSES]; /* NAN: not known */
};

struct wait_causes wait_causes_unknown(void);
struct wait_causes wait_causes_of(const double *ns, bool is_known, struct arena *arena);

/* A column for each cause but ON_CPU, as "monitor_ns", not in text; offset: of the member in the row's struct. */
void wait_causes_columns(size_t offset, struct table *table);

#endif
