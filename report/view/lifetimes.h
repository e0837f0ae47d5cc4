/*
 * How long objects were used: by class, by the line that created them, and as a distribution (thesis §2.4.3,
 * Figure 2.9).
 */
#ifndef REPORT_VIEW_LIFETIMES_H
#define REPORT_VIEW_LIFETIMES_H

#include "core/emu/memtrace/memtrace.h"
#include "report/format/table.h"

enum lifetimes_by { LIFETIMES_BY_CLASS, LIFETIMES_BY_SITE, LIFETIMES_BY_LENGTH };

/* "class", "site", "distribution"; "" is the first.  Returns 0, or -1 with *err set. */
int lifetimes_by_parse(const char *text, enum lifetimes_by *by, struct err *err);

struct lifetimes;

/* All objects of an address trace.  Returns 0, or -1 with *err set: the trace is damaged. */
int lifetimes_read(struct lifetimes **lifetimes, struct memtrace_reader *reader, struct err *err);
void lifetimes_free(struct lifetimes *lifetimes);

/*
 * The rows with most objects, at most top of them (0: all); of a distribution, one for each power of two.  path: the
 * file's, to be told.
 */
void lifetimes_table(const struct lifetimes *lifetimes, const char *path, enum lifetimes_by by, uint64_t top,
                     struct arena *arena, struct table *table);

#endif
