/*
 * What the commands that read a trace have in common.
 */
#ifndef CMD_TRACE_ARGUMENT_H
#define CMD_TRACE_ARGUMENT_H

#include "cmd/commands.h"
#include "report/format/table.h"

#define DEFAULT_TRACE "trace.dat"

/*
 * Parse options before and after the trace's name; *path is DEFAULT_TRACE when there is none.  As command_parse,
 * *done is set when the help was printed.  Returns 0, or -1 with *err set.
 */
int command_parse_trace(const char *usage, const char *purpose, const struct options_row *rows, int argc, char **argv,
                        const char **path, bool *done, struct err *err);

/*
 * The same of up to max traces, in their order; *n is 1 when there is none.
 */
int command_parse_traces(const char *usage, const char *purpose, const struct options_row *rows, int argc, char **argv,
                         const char **paths, size_t max, size_t *n, bool *done, struct err *err);

/* Print a table to the standard output as one of the three formats.  Returns 0, or -1 with *err set. */
int command_print_table(const struct table *table, bool as_csv, bool as_json, struct err *err);

#endif
