/*
 * The calls of a method by the value that tells them apart: a request's URI, a kind of job.
 *
 * Time, calls and latency are those that probes measured.  What a thread waited and allocated belongs to the calls that
 * were open in it then, each value once.
 */
#ifndef REPORT_VIEW_VALUES_H
#define REPORT_VIEW_VALUES_H

#include "report/shares.h"
#include "report/view/phase_report.h"
#include "report/view/view_pass.h"

struct values_row {
    const struct trace_value *value;      /* NULL: those whose value is not known */
    const char *text;                     /* as trace_value_text has it; "(not known)" */
    uint32_t key, method;                 /* of value_calls.h; the trace's */
    uint64_t calls, unwinds;              /* begun; left by an exception */
    double ticks, mean;                   /* on the clock, of those that ended: all, and of one; mean: NAN: none did */
    double wall_ticks, p50, p99, longest; /* of the clock on the wall; NAN: none ended */
    uint64_t ended;                       /* calls */
    double wall_error, p99_low, p99_high; /* half the 95 % interval of wall_ticks, NAN: too few calls; that of p99 */
    double waited_ns, cause_ns[TRACE_CAUSES], bytes;
    uint64_t latest; /* while it is made: the wait or allocation that was counted last */
};

/* In the arena of the pass. */
struct value_rows {
    struct values_row *rows; /* most time first */
    size_t n;
    struct method_name *methods; /* that have rows; the reader's */
    size_t n_methods;
    struct shares shares; /* all_ticks are 100 % */
    bool has_waits, has_allocations;
};

/*
 * pass    with VIEW_PASS_VALUES, _WAIT_STACKS and _ALLOCATIONS, as far as they are to be known
 * method  as java_names_is takes it; NULL: any
 *
 * n is 0 where no such method is told apart by values.
 */
void values_find(const struct view_pass *pass, const struct report_source *source, const char *method,
                 struct value_rows *values);

/* Are there values of such a method's calls?  NULL: of any. */
bool values_has(const struct view_pass *pass, const char *method);

/* The table; top and min_share of rows count. */
void values_table(const struct view_pass *pass, const struct report_source *source, const char *method,
                  const struct report_row_options *rows, struct table *table);

#endif
