/* The call tree as other tools get it: which contexts are written, their names, their values. */
#ifndef REPORT_EXPORT_EXPORT_TREE_H
#define REPORT_EXPORT_EXPORT_TREE_H

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/map.h"
#include "core/trace/trace.h"
#include "report/export/export.h"
#include "report/trace_samples.h"
#include "symbolize/vm_parts.h"

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

/*
 * The stack samples of a trace as CPU profiles, one for each thread, in the events that V8 writes: "Profile" and
 * "ProfileChunk", both of phase "P".  Perfetto, Chrome's DevTools and speedscope read them.
 */

/* All borrowed. */
struct export_profile {
    const struct trace_samples *samples; /* of a trace that was read to its end */
    const uint32_t *tids;                /* by thread: its track */
    const bool *has_slices;              /* by thread: there are other events on it */
    uint64_t start_ticks;                /* which is 0 us */
    double ns_per_tick;
    struct arena *arena;
    FILE *out;
};

/*
 * Print the events, each after a comma.  Stacks are whole: methods with probes stand in them as all others do.
 * Between samples that are further apart than the time that they stand for, the thread is "(idle)".
 *
 * Chrome's DevTools show no thread that has nothing but a profile, and no time outside of all slices: a thread without
 * other events gets a slice for each stretch of time between two such gaps.
 *
 * Returns the number of samples; those that have no moment are not among them.
 */
uint64_t export_profile_print(const struct export_profile *profile);

/* A trace as slices of time: the calls of recorded methods, and the time of the VM's own threads on a CPU. */

struct slice {
    uint32_t thread;
    uint32_t method; /* or SLICE_ON_CPU */
    enum vm_part part;
    bool is_found; /* a call that was under way before it got probes: it may have ended long before its end here */
    uint64_t start_ticks, end_ticks;
};

#define SLICE_ON_CPU UINT32_MAX

/*
 * Read all of a trace (opened, nothing read yet) and hand over its slices in the order of their ends; calls that never
 * return end with the trace.
 *
 * named      a reader of the same trace that has read all of it, for a thread gets its last name late; or NULL: any
 * thread that has run no probes may be the VM's then. gap_ticks  pauses of a VM's thread that are shorter do not part
 * its slices.
 *
 * Returns 0, or -1 with *err set: damaged.
 */
int slices_read(struct trace_reader *reader, const struct trace_reader *named, uint64_t gap_ticks,
                void (*take)(void *context, const struct slice *slice), void *context, struct err *err);

#endif
