/* Rows of sampled objects, by whatever they have in common: for the views of allocations and of live objects. */
#ifndef REPORT_VIEW_ALLOCATION_ROWS_H
#define REPORT_VIEW_ALLOCATION_ROWS_H

#include "core/base/err.h"
#include "core/base/hash.h"
#include "core/base/method_name.h"
#include "report/view/phase_report.h"
#include "report/view/view_pass.h"

struct trace_reader;
struct view_pass;

/*
 * Whose an allocation is: the method of the program that has it made, the one that makes it, and the phase around both.
 */

#define ALLOCATION_NO_METHOD UINT32_MAX

/* What is known of methods, by number in the trace; the pass' arena's. */
struct allocation_methods {
    uint32_t *first;                  /* of the same name */
    bool *is_jdk, *is_own, *is_phase; /* own: of the program, not of a framework */
    uint32_t n;
};

/* Methods by number in the trace, the first one of the same name; ALLOCATION_NO_METHOD: there is none. */
struct allocation_site {
    uint32_t method;    /* the innermost one of the program's own, or else of a framework */
    uint32_t allocator; /* the innermost one */
    uint32_t phase;     /* the innermost one that has probes */
};

void allocation_methods_know(const struct view_pass *pass, struct allocation_methods *methods);

/* Of a calling context; 0: none is known. */
struct allocation_site allocation_site_of(const struct allocation_methods *methods, const struct trace_reader *reader,
                                          uint32_t context);

/* Its names are NULL: there is none. */
struct method_name allocation_method_name(const struct trace_reader *reader, uint32_t method);

/* A sampled object: methods by number in the trace, the first one of the same name. */
struct allocation_item {
    struct allocation_site site;
    uint32_t row, class_number;
    const char *class_name;
    double bytes, objects; /* that it stands for, of all samples */
    double weight;         /* the bytes by which it counts: those, or more where only some samples count */
    uint32_t collections;  /* of one that lives, as what follows: live_objects.h */
    double age_ns, when;
};

/* What there are several of in a row is that of most of its bytes. */
struct allocation_row {
    struct method_name method;    /* names are NULL: no Java method was on the stack, or it is not known */
    struct method_name allocator; /* the innermost method on the stack; names are NULL: it is 'method' itself */
    struct method_name phase;     /* the innermost method with probes on the stack; names are NULL: there is none */
    const char *class_name;       /* "java/lang/String", "[B" */
    double bytes, objects;
    double share, share_error; /* of the bytes of all rows, and half of its 95 % interval */
    double squares;            /* the sum of those of weights */
    uint64_t n_samples;
    double bytes_per_s; /* of allocations */
    /* Of live objects. */
    const char *range; /* "1 to 10 s"; NULL: rows are not of ranges */
    uint32_t range_order;
    double bytes_error;                    /* half of the 95 % interval */
    double allocated_bytes;                /* those and the freed ones; NAN in ranges */
    double age_ns, oldest_ns, collections; /* means by bytes, and the oldest */
    double when;       /* mean moment, by the order of samples: from 0, the first, to 1, the last one before the last
                          collection */
    uint64_t n_middle; /* samples of the middle third of that time */
};

struct allocation_rows {
    struct allocation_row *all; /* the arena's */
    size_t n;
};

/* The key of what items have in common: of hash.h. */
uint64_t allocation_key_of_method(const struct allocation_item *item);
uint64_t allocation_key_of_class(const struct allocation_item *item);
uint64_t allocation_key_of_site(const struct allocation_item *item);

/*
 * Make a row for each key, with sums of weights (as bytes), objects and samples, shares, and names.
 *
 * items   n of them: their rows are set, and their order changes.
 * numbers by key: 1 more than the row; for hash_free.
 */
void allocation_rows_make(const struct view_pass *pass, struct allocation_item *items, size_t n,
                          uint64_t (*key_of)(const struct allocation_item *item), struct hash_set *numbers,
                          struct allocation_rows *rows);

/* For qsort: most bytes first; ranges in their order. */
int allocation_rows_order(const void *a, const void *b);

/* ---- tables of them ---- */

/* How many have a row of their own. */
size_t allocation_rows_printed(const struct allocation_rows *rows, const struct report_row_options *options);

/* The sum of those from one on, and its share of all bytes. */
struct allocation_row allocation_rows_sum(const struct allocation_rows *rows, size_t first, double all_bytes,
                                          const struct table *table);

/* Cells of a row: short names, unmeasured where there is none; its objects as a whole number. */
struct table_cell allocation_cell_method(const void *row, struct arena *arena);
struct table_cell allocation_cell_allocator(const void *row, struct arena *arena);
struct table_cell allocation_cell_phase(const void *row, struct arena *arena);
struct table_cell allocation_cell_class(const void *row, struct arena *arena);
struct table_cell allocation_cell_objects(const void *row, struct arena *arena);

/* How much methods allocate with all that they call: bytes per second, for the table of phases. */

struct allocated; /* the arena's */

/* From the allocations of a pass (VIEW_PASS_ALLOCATIONS).  NULL: there are none. */
const struct allocated *allocated_find(const struct view_pass *pass);

/* Of a method by its name; 0: no sample was in it.  And of all. */
double allocated_per_s(const struct allocated *allocated, const struct method_name *name);
double allocated_all_per_s(const struct allocated *allocated);

#endif
