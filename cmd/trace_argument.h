/* What the commands that read a trace have in common. */
#ifndef CMD_TRACE_ARGUMENT_H
#define CMD_TRACE_ARGUMENT_H

#include "cmd/commands.h"
#include "cmd/display.h"
#include "core/base/arena.h"
#include "report/format/table.h"

#define DEFAULT_TRACE       "trace.dat"
#define TRACE_ARGUMENTS_MAX 4096 /* two days of files of a minute each */

/*
 * Parse options before and after the trace's name; *path is DEFAULT_TRACE when there is none.  As command_parse,
 * *done is set when the help was printed.  Returns 0, or -1 with *err set.
 */
int command_parse_trace(const char *usage, const char *purpose, const struct options_row *rows, int argc, char **argv,
                        const char **path, bool *done, struct err *err);

/* The same of up to max traces, in their order; *n is 1 when there is none. */
int command_parse_traces(const char *usage, const char *purpose, const struct options_row *rows, int argc, char **argv,
                         const char **paths, size_t max, size_t *n, bool *done, struct err *err);

/*
 * Put in the place of a directory the traces in it: phases.dat, as 'profile' writes it, or trace.dat, or those of the
 * groups of events (phases.1.dat, ...), or those of mmprof-profile in it.  DEFAULT_TRACE that is not there stands for
 * the working directory.  Names are the arena's.  Returns 0, or -1 with *err set: there is none, or more than max.
 */
int trace_argument_find(struct arena *arena, const char **paths, size_t max, size_t *n, struct err *err);

/* The same of one trace, of commands that read no more. */
int trace_argument_one(struct arena *arena, const char **path, struct err *err);

/*
 * The name of a file that is made from a trace (cmd/output_file.h): %p is the process ID of its JVM, which is looked up
 * only for that.  option: by which the pattern was given.  Returns 0, or -1 with *err set.
 */
int trace_argument_output(const char *trace, bool salvage, const char *pattern, const char *option, char name[PATH_MAX],
                          struct err *err);

/* Print a table to the standard output as one of the three formats, text as display wants it.  Returns 0, or -1 with
 * *err set. */
int command_print_table(const struct table *table, bool as_csv, bool as_json, struct display *display, struct err *err);

#endif
