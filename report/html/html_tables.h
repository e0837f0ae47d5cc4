/*
 * Tables of a command as one page.
 */
#ifndef REPORT_HTML_HTML_TABLES_H
#define REPORT_HTML_HTML_TABLES_H

#include "report/html/html_data.h"

/* How a part is drawn: as its table, as a curve of live bytes and its table, or a paragraph for each hint. */
enum html_part_kind { HTML_PART_TABLE, HTML_PART_LIVE_BYTES, HTML_PART_HINTS };

/* Everything is borrowed. */
struct html_part {
    enum html_part_kind kind;
    const char *id;    /* a word, in the page's address */
    const char *title; /* a heading */
    const char *lead;  /* one or two sentences */
    const char *why;   /* what "-" in a cell means */
    const struct table *table;
};

struct html_tables {
    const char *title, *of; /* of: the trace or command */
    const struct html_part *parts;
    size_t n;
    struct arena *arena;
};

/* Write the page.  Returns 0, or -1 with *err set: no memory, or out cannot be written. */
int html_tables_write(const struct html_tables *tables, FILE *out, struct err *err);

#endif
