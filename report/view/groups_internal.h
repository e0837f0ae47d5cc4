/* What makes groups: shared by the files that do. */
#ifndef REPORT_VIEW_GROUPS_INTERNAL_H
#define REPORT_VIEW_GROUPS_INTERNAL_H

#include "core/base/map.h"
#include "report/view/groups.h"

struct groups_making {
    const struct view_pass *pass;
    const struct report_source *source;
    const char *argument;
    struct groups *found;
    struct groups_row *rows; /* owned */
    uint32_t n, room;
    struct map known;                             /* rows by what they are of */
    uint32_t *of_method, *of_sampled, *of_thread; /* the row of the tree's methods, the trace's sampled ones, threads */
    uint32_t *stack;                              /* rows of a sample */
    uint32_t *caller_of_context; /* the row of who called a method of a row there; NULL: there are no such rows */
    uint32_t *request_of_node, *request_of_context; /* NULL: rows are no requests */
    uint64_t n_counted;                             /* waits and allocations so far */
};

/* The number of a row, made if it is new: rows may move then. */
uint32_t groups_row_of_key(struct groups_making *making, const char *key, const char *label,
                           const struct method_name *name);

/* Is a context of the tree in the calls of another one of that row? */
bool groups_is_inside(const struct groups_making *making, uint32_t node, uint32_t row);

/* Find the requests, of the tree and of the trace's contexts; before the times. */
void groups_know_requests(struct groups_making *making);

/* Set the rows' kinds, by requests of nodes.  Returns whether one of them has some. */
bool groups_find_kinds(struct groups_making *making);
bool groups_is_kind(const struct method_name *kind, const struct method_name *name);

/* Is a method the program's own? */
bool groups_is_own(const struct groups_making *making, const struct method_name *name);

/* Add the time of each to its row. */
void groups_add_requests(struct groups_making *making);

/* The row of a context of the trace; GROUPS_NONE: it is in no request, or rows are none. */
uint32_t groups_request(const struct groups_making *making, uint32_t context);

/* Set the intervals of rows that samples are in by of_node: by node of the tree, a row or GROUPS_NONE or beyond. */
void groups_errors_of_nodes(struct groups_making *making, const uint32_t *of_node);

/*
 * A row for each method that calls a row's method, with the time of these calls; waits are added by caller_of_context.
 * After the times of the rows.
 */
void groups_add_callers(struct groups_making *making);

#endif
