/*
 * Why the slowest calls of a phase are slow: the slowest hundredth of them against those in the middle.
 *
 * A call's wall time is its time on a CPU and its times off it, which the kernel tells exactly.  Why it was off the CPU
 * is known where it was preempted, or a CPU quota stopped it, where a visit to the threads fell into that time
 * (report/view/waits.h), and where a collection did; the rest is not known.  So the parts of a call add up to its time,
 * and the differences of their means to the difference of the means.
 */
#ifndef REPORT_VIEW_SLOW_H
#define REPORT_VIEW_SLOW_H

#include "report/view/view_pass.h"

#define SLOW_CALLS_LEAST 100u /* of a method */
#define SLOW_PART        0.01 /* of its calls are the slowest ones, */
#define SLOW_MIDDLE      0.2  /* and so many around the median are those in the middle */

/* TRACE_CAUSE_ON_CPU: its CPU time; READY: preempted, and ready to run; UNKNOWN: not known. */
#define SLOW_COLLECTION TRACE_CAUSES
#define SLOW_THROTTLED  (TRACE_CAUSES + 1) /* a CPU quota stopped it (report/view/throttled.h) */
#define SLOW_PARTS      (TRACE_CAUSES + 2)

struct slow_row {
    uint32_t method;
    uint64_t calls;                    /* that have ended */
    uint32_t n_slow;                   /* the slowest ones, of those that were kept */
    double p50_ns, p99_ns, longest_ns; /* of all */
    double slow_ns, middle_ns;         /* means of the slowest, and of those in the middle */
    double parts_ns[SLOW_PARTS];       /* of slow_ns - middle_ns, which they add up to; some may be negative */
    const struct trace_value *value;   /* that most of the slowest have; NULL: none, or the argument is not recorded */
    uint32_t n_slow_value;             /* of n_slow */
    double value_share;                /* of all calls, those with it */
    const struct wait_row *lock;       /* that the slowest waited for most; NULL: none, or not known */
};

/* Rows are the methods with so many calls; those whose slow calls take most of the time together come first. */
struct slow_rows {
    struct slow_row *rows; /* the arena's */
    size_t n, n_few;       /* n_few: methods with fewer calls */
};

void slow_find(const struct view_pass *pass, const struct report_source *source, struct slow_rows *rows);

/* Its slow calls take at least half as long again as those in the middle. */
bool slow_has_tail(const struct slow_row *row);

/* Returns 0, or -1 with *err set: the trace does not tell when threads were off the CPU. */
int slow_table(const struct view_pass *pass, const struct report_source *source,
               const struct report_row_options *options, struct table *table, struct err *err);

#endif
