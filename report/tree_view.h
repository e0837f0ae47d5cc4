/*
 * What a table of the call tree shows: all of it, or the contexts of one method, merged, with its callees below it or
 * with its callers.
 */
#ifndef REPORT_TREE_VIEW_H
#define REPORT_TREE_VIEW_H

#include "core/base/hash.h"
#include "report/sampled_tree.h"

enum tree_view_kind { TREE_VIEW_ALL, TREE_VIEW_CALLEES, TREE_VIEW_CALLERS };

/*
 * A line: a method along one path.  In a view of callers all values are the asked method's, in calls along that path.
 * Times are in ticks of the clock.
 */
struct tree_line {
    uint32_t parent, first_child, next; /* lines; 0: none */
    uint32_t method;                    /* of a root of the tree: CALLTREE_ROOT */
    uint32_t root;                      /* then: its index among the tree's */
    uint32_t depth;
    double ticks, self_ticks, probe_ticks; /* with and without what it calls; of ticks, what probes measured */
    bool is_ended;                         /* samples tell the end of some calls */
    double calls, n_open, n_samples;       /* n_samples: in calls that no probe recorded */
    double partial_ticks;                  /* of probe_ticks, the partial calls' */
    bool is_recursive;
    double share_error, self_error; /* of all time; NAN: not from samples, or not known */
};

struct tree_view {
    const struct report_source *source; /* borrowed */
    enum tree_view_kind kind;
    uint32_t method;         /* the asked one */
    struct tree_line *lines; /* owned; 0 is none */
    uint32_t n_lines, room;
    struct hash_set by_call; /* a line's parent and its method, but of roots: the line */
    uint32_t *line_of;       /* owned; by node: the innermost line that its time is in; 0: none */
    bool *is_small;          /* owned; by node: it has no line of its own, in a view of all */
    double all_ticks;        /* 100 % */
};

/*
 * The methods that are called so, those with most time first; the arena's.  names: as 'mmprof annotate' takes it.
 *
 * Returns 0, or -1 with *err set: there is none (with what is named alike).
 */
int tree_view_find(const struct report_source *source, const char *names, uint32_t **methods, size_t *n,
                   struct err *err);

/* What is 100 % in the report of that source, in ticks of its clock. */
void tree_view_all(const struct report_source *source, double *all_ticks);

/*
 * method     the asked one; of a view of all: any
 * min_share  of a view of all: contexts with less of the time are left out
 * all_ticks  100 %
 * view       for tree_view_free
 */
void tree_view_make(const struct report_source *source, enum tree_view_kind kind, uint32_t method, double min_share,
                    double all_ticks, struct tree_view *view);
void tree_view_free(struct tree_view *view);

/* "probes", "17 samples", "probes, 17 samples", "probes, end by samples"; of a root "kernel", or "samples".  The
 * arena's, or a literal. */
const char *tree_view_known_by(const struct tree_view *view, const struct tree_line *line);

#endif
