/*
 * The comparison of two versions as one page: a differential flame graph and the table.
 */
#ifndef REPORT_HTML_HTML_DIFF_H
#define REPORT_HTML_HTML_DIFF_H

#include "report/html/html_stacks.h"

/* What is said of a method in the graph.  Borrowed. */
struct html_change {
    uint32_t frame; /* of the stacks */
    int direction;  /* 1: more of the time, -1: less, both more than chance; 0: not shown */
    const char *words;
};

/*
 * Everything is borrowed.
 *
 * sides   of the traces before and after, as the page calls them
 * stacks  values 0 and 1: before and after, each as a share of its time
 * table   of the comparison, as text has it
 * runs    what the runs themselves took, or NULL: mmprof did not run them
 */
struct html_diff {
    const char *sides[2];
    const char *clock; /* "CPU time" or "wall time" */
    const struct html_stacks *stacks;
    const struct html_change *changes;
    size_t n_changes;
    const struct table *table, *runs;
    struct arena *arena;
};

/* Write the page.  Returns 0, or -1 with *err set: no memory, or out cannot be written. */
int html_diff_write(const struct html_diff *diff, FILE *out, struct err *err);

#endif
