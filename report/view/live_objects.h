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
    LIVE_OBJECTS_BY_AGE,         /* in time */
    LIVE_OBJECTS_BY_COLLECTIONS, /* how many they survived */
    LIVE_OBJECTS_BY_METHOD
};

/* What is in use after collections, from the first quarter of them to the last. */
struct heap_growth {
    size_t n_collections;           /* whose heap is known */
    double first_bytes;             /* after the first one */
    double bytes;                   /* by how much more, of the least in each quarter */
    double least_bytes, most_bytes; /* the same of the others: what the growth is between */
    bool is_steady;                 /* from each quarter to the next */
};

struct live_objects {
    struct allocation_rows rows; /* most bytes first, or youngest range first */
    double bytes, bytes_error;   /* of all rows; half of the 95 % interval */
    uint64_t n_samples;
    double young_bytes; /* allocated after the last collection began: none of these could be freed */
    uint64_t n_tracked, n_freed, n_dropped;
    double one_in;          /* one sample of so many is tracked at the end */
    double seconds;         /* from the beginning to the last collection */
    uint64_t n_collections; /* in this time; 0: not known */
    double file;            /* of a recording in several, from 1 on: only objects of this one are known */
    double heap_bytes;      /* in use after the last one; NAN: not known */
    struct heap_growth growth;
};

/*
 * pass  with VIEW_PASS_LIVE; of its only_threads (that allocated them), if it has some.
 *
 * Returns 0 with *found in the pass' arena; -1 with *err set: no objects were tracked; the
 * heap's growth is in *found all the same.
 */
int live_objects_find(const struct view_pass *pass, enum live_objects_by by, struct live_objects *found,
                      struct err *err);

/* "site" (or ""), "class", "age", "collections", "method".  Returns 0, or -1 with *err set. */
int live_objects_by_name(const char *word, enum live_objects_by *by, struct err *err);

/* The table; top and min_share of rows count.  Returns 0, or -1 with *err set. */
int live_objects_table(const struct view_pass *pass, enum live_objects_by by, const struct report_row_options *rows,
                       struct table *table, struct err *err);

#endif
