/*
 * The call tree as other tools get it: which contexts are written, their names, their values.
 */
#ifndef REPORT_EXPORT_EXPORT_TREE_H
#define REPORT_EXPORT_EXPORT_TREE_H

#include "core/base/hash.h"
#include "report/export/export.h"

#define EXPORT_GROUPS_MAX 16
#define EXPORT_VALUES_MAX (TRACE_COUNTERS_MAX + 4)

/* A value of each context. */
struct export_value {
    const char *name; /* "cpu", "wall", "calls", "samples", or the event's */
    const char *unit; /* "nanoseconds" or "count" */
    enum { EXPORT_CPU, EXPORT_WALL, EXPORT_CALLS, EXPORT_SAMPLES, EXPORT_METRICS } kind;
    const uint64_t *samples, *total_samples; /* by node, without and with its callees'; the arena's */
    size_t metrics[EXPORT_GROUPS_MAX];       /* whose sum it is */
    size_t n_metrics;
    double scale; /* of the sum: counters that took turns had a part of the time */
};

struct export_tree {
    const struct report_source *source; /* borrowed */
    uint32_t *owner;    /* by node: itself, or the nearest caller that is written; CALLTREE_NONE: in no tree; owned */
    const char **names; /* by method; the arena's */
    const char **root_names; /* by root; the arena's */
    struct hash_set roots;   /* by node: its root */
};

/* Returns 0 and *tree for export_tree_close, or -1 with *err set: no memory. */
int export_tree_open(struct export_tree *tree, const struct report_source *source, double min_share, struct err *err);
void export_tree_close(struct export_tree *tree);

/* The name of a node's method, or of its root; and that root's number, or n_roots: it is none's. */
const char *export_name(const struct export_tree *tree, uint32_t node);
uint32_t export_root(const struct export_tree *tree, uint32_t node);

/* All values that a trace has: cpu, wall, calls, (with_samples) samples, events.  Returns how many, at most
 * EXPORT_VALUES_MAX. */
size_t export_values(const struct report_source *source, bool with_samples, struct export_value *values);

/* The one of a name; an event's heading will do.  Returns 0, or -1 with *err set. */
int export_value_find(const struct report_source *source, const char *name, struct export_value *value,
                      struct err *err);

/* A value of one context, without and with what it calls, times in ns; of calls both are its own. */
double export_own(const struct export_tree *tree, uint32_t node, const struct export_value *value);
double export_inclusive(const struct export_tree *tree, uint32_t node, const struct export_value *value);

/* A value of each node, by node: exclusive, with that of the callees that are not written.  free() it; NULL: no memory.
 */
uint64_t *export_self(const struct export_tree *tree, const struct export_value *value);

#endif
