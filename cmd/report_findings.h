/*
 * What costs most, in plain English: above a report's table, and while a recording still runs.
 */
#ifndef CMD_REPORT_FINDINGS_H
#define CMD_REPORT_FINDINGS_H

#include "report/findings/findings.h"
#include "report/format/table.h"

/* Print them as they stand above a report, most of them at most (0: all), on lines that the look has room for.  Returns
 * 0, or -1 with *err set: no memory. */
int report_findings_print(const struct findings_input *input, size_t most, const struct table_look *look, FILE *out,
                          struct err *err);

/*
 * The same of what a trace that may still be written has by now.  Returns the text, for free(), "" where nothing costs
 * much; or NULL with *err set: the trace cannot be read yet, or no memory.
 */
char *report_findings_of(const char *path, const struct table_look *look, struct err *err);

#endif
