/*
 * Views of 'mmprof report' of a simulated trace, and its page's table of fields; as parts.h has them.
 */
#ifndef CMD_LAB_MISSES_VIEWS_H
#define CMD_LAB_MISSES_VIEWS_H

#include "cmd/report_run.h"

int misses_view(struct report_run *run, struct table *table, struct err *err);
int fields_view(struct report_run *run, struct table *table, struct err *err);
int fields_of_page(struct report_run *run, struct table *table);

#endif
