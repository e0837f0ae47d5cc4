/*
 * Which of the objects that the JVM sampled when they were allocated still live at the end of a recording, and since
 * when.
 *
 * Only what a collection could have freed counts: objects allocated before the last one began.  A sample stands for as
 * many bytes as in the view of allocations (allocations.h); where not all samples were tracked, for the others, too.
 */
#ifndef REPORT_VIEW_LIVE_OBJECTS_H
#define REPORT_VIEW_LIVE_OBJECTS_H

#include "report/view/phase_report.h"
#include "report/view/view_pass.h"

enum live_objects_by {
    LIVE_OBJECTS_BY_SITE, /* method of the program, method that allocates, class */
    LIVE_OBJECTS_BY_CLASS,
    LIVE_OBJECTS_BY_AGE,        /* in time */
    LIVE_OBJECTS_BY_COLLECTIONS /* how many they survived */
};

/* What there are several of in a row is that of most of its bytes. */
struct live_objects_row {
    struct method_name method, allocator; /* as of allocations */
    const char *class_name;
    const char *range; /* "1 to 10 s"; NULL by site and class */
    uint32_t range_order;
    double bytes, bytes_error, objects;    /* _error: half of the 95 % interval */
    double share, share_error;             /* of the live bytes of all rows */
    double allocated_bytes;                /* those and the freed ones; NAN in ranges */
    double age_ns, oldest_ns, collections; /* means by bytes, and the oldest */
    double when, when_error;               /* mean moment of allocation: 0, the beginning, to 1, the last collection */
    double middle, middle_error;           /* share of its bytes that was allocated in the middle third of that time */
    uint64_t n_samples;
};

struct live_objects {
    struct live_objects_row *rows; /* most bytes first, or youngest range first; the arena's */
    size_t n_rows;
    double bytes, bytes_error, objects;
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
