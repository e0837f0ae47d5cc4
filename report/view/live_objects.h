/*
 * Which of the objects that the JVM sampled when they were allocated still live at the end of a recording, and since
 * when.
 *
 * Only what a collection could have freed counts: objects allocated before the last one began.  A sample stands for as
 * many bytes as in the view of allocations (allocations.h); where not all samples were tracked, for the others, too.
 */
#ifndef REPORT_VIEW_LIVE_OBJECTS_H
#define REPORT_VIEW_LIVE_OBJECTS_H

#include "report/view/allocation_rows.h"

enum live_objects_by {
    LIVE_OBJECTS_BY_SITE, /* method of the program, method that allocates, class */
    LIVE_OBJECTS_BY_CLASS,
    LIVE_OBJECTS_BY_AGE,        /* in time */
    LIVE_OBJECTS_BY_COLLECTIONS /* how many they survived */
};

struct live_objects {
    struct allocation_rows rows; /* most bytes first, or youngest range first */
    double bytes, bytes_error;   /* of all rows; half of the 95 % interval */
    uint64_t n_samples;
    double young_bytes; /* allocated after the last collection began: none of these could be freed */
    uint64_t n_tracked, n_freed, n_dropped;
    double one_in;                      /* one sample of so many is tracked at the end */
    double seconds;                     /* from the beginning to the last collection */
    uint64_t n_collections;             /* in this time; 0: not known */
    double heap_bytes, heap_rise_bytes; /* in use after the last one; by how much more than at first; NAN: not known */
};

/*
 * pass  with VIEW_PASS_LIVE; of its only_threads (that allocated them), if it has some.
 *
 * Returns 0 with *found in the pass' arena; -1 with *err set: no objects were tracked, no memory.
 */
int live_objects_find(const struct view_pass *pass, enum live_objects_by by, struct live_objects *found,
                      struct err *err);

/* "site" (or ""), "class", "age", "collections".  Returns 0, or -1 with *err set. */
int live_objects_by_name(const char *word, enum live_objects_by *by, struct err *err);

/* The table; top and min_share of rows count.  Returns 0, or -1 with *err set. */
int live_objects_table(const struct view_pass *pass, enum live_objects_by by, const struct report_row_options *rows,
                       struct table *table, struct err *err);

#endif
