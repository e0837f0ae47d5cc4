/*
 * The call tree as other tools get it: which contexts are written, their names, their values.
 */
#ifndef REPORT_EXPORT_EXPORT_TREE_H
#define REPORT_EXPORT_EXPORT_TREE_H

#include "core/base/map.h"
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
    /* Of export_stacks, else NULL: */
    const struct export_tree_options *options; /* borrowed */
    struct export_value value;                 /* that of the options */
    uint64_t *self;                            /* export_self of it; owned */
};

/* Begin *tree, for export_tree_close. */
void export_tree_open(struct export_tree *tree, const struct report_source *source, double min_share);
void export_tree_close(struct export_tree *tree);

/* Nodes of a stack, innermost first; all zero: empty. */
struct export_path {
    uint32_t *nodes; /* owned */
    size_t n, room;
};

/* Set it to a node and its callers. */
void export_path_find(struct export_path *path, const struct export_tree *tree, uint32_t node);

/* Methods are numbered from 1 on, then roots, then comes the one of calls that found no room; and a node's number. */
uint64_t export_location(const struct export_tree *tree, uint32_t node);
#define EXPORT_FOLDED_NAME "(calls that found no room)"

/* Texts that a format numbers as they come, from 0 on. */
struct export_strings {
    struct map of;
    uint32_t n;
};

/* The number of a text, cleaned; *fresh: it, where it has none yet, or NULL. */
uint32_t export_string(struct export_strings *strings, const char *text, const char **fresh);

/* The name of a node's method, or of its root; and that root's number, or n_roots: it is none's. */
const char *export_name(const struct export_tree *tree, uint32_t node);
uint32_t export_root(const struct export_tree *tree, uint32_t node);

/* All values that a trace has: cpu, wall, calls, (with_samples) samples, events.  Returns how many, at most
 * EXPORT_VALUES_MAX. */
size_t export_values(const struct report_source *source, bool with_samples, struct export_value *values);

/* A value of one context, without and with what it calls, times in ns; of calls both are its own. */
double export_own(const struct export_tree *tree, uint32_t node, const struct export_value *value);
double export_inclusive(const struct export_tree *tree, uint32_t node, const struct export_value *value);

/* A value of each node, by node: exclusive, with that of the callees that are not written.  free() it. */
uint64_t *export_self(const struct export_tree *tree, const struct export_value *value);

#endif
