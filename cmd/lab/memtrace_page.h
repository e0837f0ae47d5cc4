/*
 * The page of 'mmprof memtrace --html': the tables of an address trace.
 */
#ifndef CMD_LAB_MEMTRACE_PAGE_H
#define CMD_LAB_MEMTRACE_PAGE_H

#include "core/base/err.h"

#include <stdint.h>

/*
 * Write the page of a trace to a file that is named by --html: objects that could be replaced and points for
 * collections, where it has last uses; live bytes; lifetimes.  top: rows of each table; 0: all.
 *
 * Returns 0, or -1 with *err set: the trace is damaged, the page cannot be written, no memory.
 */
int memtrace_page_write(const char *path, const char *html, uint64_t top, struct err *err);

#endif
