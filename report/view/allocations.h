/*
 * What the program allocates, from the objects that the JVM sampled: bytes and objects by method or class.
 *
 * Each sample stands for all allocations that could have been drawn in its place (trace_allocation_objects): so sums
 * are estimates without bias, and their intervals come from the samples' weights.  The JVM's own counters know the sum
 * of all threads: where the trace has it, a row's bytes are its share of that, and what the samples alone say stands
 * above the table.
 */
#ifndef REPORT_VIEW_ALLOCATIONS_H
#define REPORT_VIEW_ALLOCATIONS_H

#include "report/view/allocation_rows.h"

enum allocations_by {
    ALLOCATIONS_BY_METHOD, /* the innermost one of the program's own, or else of a framework */
    ALLOCATIONS_BY_CLASS,  /* of the objects */
    ALLOCATIONS_BY_SITE    /* that method, the one that allocates, and the class */
};

struct allocations {
    struct allocation_rows rows; /* most bytes first */
    double bytes;                /* of all rows */
    uint64_t n_samples;
    double sampled_bytes, error; /* what the samples alone say of all threads, and half of its 95 % interval */
    double jvm_bytes;            /* by the JVM's own counters in this time, of all threads; NAN: not known */
    double seconds;              /* in which allocations were sampled */
    uint64_t n_lost;             /* samples for which there was no room */
    double n_pauses, pauses_ns;  /* of collections, in the whole recording; NAN: not known */
};

/*
 * pass  with VIEW_PASS_ALLOCATIONS; of its only_threads, if it has some.
 *
 * Returns 0 with *found in the pass' arena; -1 with *err set: the trace has no allocations (why not, if it says so), no
 * memory.
 */
int allocations_find(const struct view_pass *pass, enum allocations_by by, struct allocations *found, struct err *err);

/* "method" (or ""), "class", "site".  Returns 0, or -1 with *err set. */
int allocations_by_name(const char *word, enum allocations_by *by, struct err *err);

/* The table; top and min_share of rows count.  Returns 0, or -1 with *err set. */
int allocations_table(const struct view_pass *pass, enum allocations_by by, const struct report_row_options *rows,
                      struct table *table, struct err *err);

#endif
