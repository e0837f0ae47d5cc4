/*
 * The views 'waits' and 'locks': why and where the application's threads were off the CPU, and who held what they
 * waited for.
 */
#ifndef REPORT_VIEW_WAITS_TABLE_H
#define REPORT_VIEW_WAITS_TABLE_H

#include "report/view/waits.h"

struct waits_table_options {
    double min_share; /* of all threads' wall time: smaller rows are left out; not those of locks */
    uint64_t top;     /* rows at most; 0: all */
};

/*
 * A row for each cause and method that waited; those that wait for work behind the others, then the time on a CPU.
 *
 * Returns 0, or -1 with *err set: the trace does not say what threads waited for, no memory.
 */
int waits_table(const struct report_source *source, const struct waits *waits,
                const struct waits_table_options *options, struct table *table, struct err *err);

/* A row for each class of monitors and locks, and method that waited for one.  As above. */
int locks_table(const struct report_source *source, const struct waits *waits,
                const struct waits_table_options *options, struct table *table, struct err *err);

#endif
