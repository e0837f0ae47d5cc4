/*
 * An address trace as text: all of it, or its sums.
 */
#ifndef CMD_LAB_MEMTRACE_PRINT_H
#define CMD_LAB_MEMTRACE_PRINT_H

#include "core/emu/memtrace/memtrace.h"

/* One line for each entry and access.  Returns 0, or -1 with *err set; what stands before the damage is printed. */
int memtrace_print(FILE *out, struct memtrace_reader *reader, struct err *err);

/* path: the file's.  As above. */
int memtrace_summarize(FILE *out, struct memtrace_reader *reader, const char *path, struct err *err);

#endif
