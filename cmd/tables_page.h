/* --html of commands whose result is tables. */
#ifndef CMD_TABLES_PAGE_H
#define CMD_TABLES_PAGE_H

#include "report/html/html.h"

/* --html beside --csv or --json: -1 with *err set. */
int tables_page_check(const char *html, bool as_csv, bool as_json, struct err *err);

/* The command that a page is of, argv up to NULL.  In the arena. */
const char *tables_page_command(struct arena *arena, char *const *argv);

/*
 * Write the page to a file that is named by --html (%t and %h are replaced; "-" is the standard output).  Returns 0, or
 * -1 with *err set: it cannot be written.
 */
int tables_page_write(const struct html_tables *tables, const char *pattern, struct err *err);

#endif
