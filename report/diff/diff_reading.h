/*
 * The state of reading traces into rows of values (diff_read.c, diff_rows.c).
 */
#ifndef REPORT_DIFF_DIFF_READING_H
#define REPORT_DIFF_DIFF_READING_H

#include "report/diff/diff_internal.h"
#include "report/view/view_pass.h"

/* The traces in which a method had probes, a bit each. */
struct diff_measured {
    uint64_t traces[DIFF_SIDES];
};

struct diff_reading {
    struct diff *diff;
    struct map rows, metrics;    /* by text, to indexes */
    struct map pairs;            /* of rows, to indexes */
    struct map measured;         /* of methods that had probes in some trace, to indexes of where */
    struct diff_measured *where; /* the arena's */
    size_t n_where, where_room;
    enum diff_side side;
    size_t trace; /* of the side's */
    bool with_statistics;
    /* of the trace being read; local: until the next one */
    struct arena local;
    struct view_pass pass;
    struct report_source source; /* the pass', with what samples saw in its tree */
    struct calltree_total *totals;
    size_t n_totals;
    struct table table;
};

/* Take the metrics and rows of the trace being read: r->table, r->source and r->pass. */
void diff_rows_take(struct diff_reading *r);

/* The row of a method of the trace being read; SIZE_MAX: none. */
size_t diff_rows_find(struct diff_reading *r, uint32_t method);

/* After all traces: what was measured but not called took no time. */
void diff_rows_finish(struct diff_reading *r);

#endif
