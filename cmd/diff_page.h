/*
 * The page of 'mmprof diff --html'.
 */
#ifndef CMD_DIFF_PAGE_H
#define CMD_DIFF_PAGE_H

#include "report/diff/diff.h"

/*
 * Read the traces of both sides once more, for their call trees, and write the page.
 *
 * diff   compared
 * table  as text has it
 * runs   likewise, of the runs that were made for it; or NULL
 *
 * Returns 0, or -1 with *err set: a trace or the page cannot be had, no memory.
 */
int diff_page_print(const struct diff *diff, const struct table *table, const struct table *runs, const char *path,
                    struct err *err);

#endif
