/*
 * Time, waiting and allocation by groups: Java packages, threads of one kind of name, requests (what libraries call of
 * the program), or the calls of a method, each class that has it for itself.
 *
 * Own times are the report's (report/shares.h): each tick of the process is in one row, as each allocated byte and each
 * wait is.  What a group has with all that it calls counts once for it, however often it is on the stack.
 */
#ifndef REPORT_VIEW_GROUPS_H
#define REPORT_VIEW_GROUPS_H

#include "report/shares.h"
#include "report/view/phase_report.h"
#include "report/view/view_pass.h"

#define GROUPS_NONE UINT32_MAX /* no row */

enum groups_by { GROUPS_BY_PACKAGE, GROUPS_BY_THREAD, GROUPS_BY_METHOD, GROUPS_BY_REQUEST };

/* With what is called; and own: with the group's method innermost, or for time the innermost one of a group. */
struct group_sums {
    double ticks, waited_ns, idle_ns, bytes; /* waited: for other things than work (waiting_samples.h) */
};

struct groups_row {
    const char *label;       /* "com.shop", "http-exec-*", "JsonServlet.doGet" */
    struct method_name name; /* by method; else its texts are NULL */
    struct group_sums all, own;
    double cause_ns[TRACE_CAUSES];   /* of all.waited_ns */
    double time_error, self_error;   /* of shares of all time: half of a 95 % interval; NAN: measured, or not known */
    double n_samples, probe_ticks;   /* stack samples in it; of all.ticks what probes measured in their own calls */
    double calls, p50, p99, longest; /* by method: of calls with probes, in ns; NAN: there was none */
    uint32_t n_threads;              /* by thread */
    uint32_t caller_of;              /* the row is of the calls that 'name' makes to that method; NONE: it is a group */
    /* While it is made. */
    struct method_name kinds; /* of a request: what it calls by this name is a request; NULL: it chooses none */
    double kinds_ticks;
    bool is_dispatcher; /* these are of several classes */
    uint32_t method;    /* the number of the row; of callers, of the method's */
    uint32_t called;    /* the tree's method with calls */
    uint64_t latest;    /* the wait or allocation that was counted in it last */
    double order;       /* what rows are sorted by */
};

/* In the arena of the pass. */
struct groups {
    enum groups_by by;
    struct groups_row *rows; /* most time of their own first, by method: most time, and waited of requests; its
                               callers behind each */
    size_t n;
    struct group_sums rest, total; /* rest: of the application, in none of the rows */
    struct shares shares;          /* total.ticks are all of it */
    bool has_waits, has_allocations;
};

/*
 * pass      with VIEW_PASS_SAMPLES, _STATISTICS, _WAIT_STACKS and _ALLOCATIONS
 * source    its tree, with samples in it (report/sampled_tree.h)
 * argument  "package" (or ""), "thread", "request"; else a method, as java_names_is takes it
 *
 * Returns 0, or -1 with *err set: the trace has no such method.
 */
int groups_find(const struct view_pass *pass, const struct report_source *source, const char *argument,
                struct groups *groups, struct err *err);

/*
 * The requests that take most, for a screen: no table where there are fewer than two kinds that have anything, or all
 * of them have little of the time and of the waiting.
 *
 * Returns 1, 0 where there is no table, or -1 with *err set.
 */
int groups_requests(const struct view_pass *pass, const struct report_source *source, struct table *table,
                    struct err *err);

/* A thread's name without the number at its end: "http-exec-*".  The arena's. */
const char *groups_thread_pattern(struct arena *arena, const char *name);

/* The table; top and min_share of rows count.  Returns 0, or -1 with *err set. */
int groups_table(const struct view_pass *pass, const struct report_source *source, const char *argument,
                 const struct report_row_options *rows, struct table *table, struct err *err);

#endif
