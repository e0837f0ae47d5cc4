/*
 * What the probes say while a recording runs: per thread the calls that are open, per method its calls and its time.
 *
 * It takes the rings' words and the kernel's events as the recorder drains them, in the order that the trace keeps
 * (core/trace/trace.h).  A record costs a few ns: it touches its thread's stack and its method's account, not a tree of
 * contexts.  Memory depends on the number of methods and threads, not on the number of records: each thread has a stack
 * of at most LIVE_DEPTH_MAX calls (deeper ones are only counted) and 4 bytes per method.
 *
 * Times are inclusive: a method's own and its callees'; a call within a call of the same method adds nothing.  CPU time
 * is wall time less the time off the CPU; where the kernel tells nothing, it is wall time.  The probes' own time is in
 * it: these are figures to decide on, the trace has the exact ones.
 */
#ifndef PHASES_LIVE_TREE_H
#define PHASES_LIVE_TREE_H

#include "core/base/err.h"
#include "core/trace/trace.h"

#include <stddef.h>
#include <stdint.h>

#define LIVE_DEPTH_MAX    4096u
#define LIVE_COUNTERS_MAX 4u

struct live_tree_options {
    uint32_t n_columns; /* words that follow each record */
    uint32_t n_tracked;
    uint32_t tracked[LIVE_COUNTERS_MAX]; /* which of them are added up per method */
};

/* A method's figures since the start. */
struct live_account {
    uint64_t calls;
    uint64_t cpu_ticks, wall_ticks;       /* inclusive, of the calls that have ended */
    uint64_t n_counted;                   /* outermost calls whose counters were read at both ends */
    uint64_t counters[LIVE_COUNTERS_MAX]; /* of those, inclusive */
};

struct live_tree;

/* Returns 0 and *tree for live_tree_close, or -1 with *err set. */
int live_tree_open(struct live_tree **tree, const struct live_tree_options *options, struct err *err);
void live_tree_close(struct live_tree *tree);

/*
 * Take a thread's ring words (core/wire/ring.h): whole records; now is a moment (in ticks) after the last one.  Words
 * that make no sense are ignored.  Returns 0, or -1 with *err set: no memory.
 */
int live_tree_records(struct live_tree *tree, uint32_t thread, const uint64_t *words, size_t n_words, uint64_t now,
                      struct err *err);

/* Take kernel events, sorted by ticks, none later than the records that follow them by much.  As above. */
int live_tree_kernel(struct live_tree *tree, const struct trace_event *events, size_t n, struct err *err);

/* A thread has ended, and its number is another's from now on: what its calls took stays, if they had an exit or not.
 */
void live_tree_forget(struct live_tree *tree, uint32_t thread);

/* Accounts are by method id; there are so many, zeros for ids that no record has had. */
uint32_t live_tree_n_accounts(const struct live_tree *tree);

/*
 * The accounts with what open calls have taken up to now (in ticks); the array has room for live_tree_n_accounts().
 * Counters are those of the calls that have ended.
 */
void live_tree_accounts(struct live_tree *tree, uint64_t now, struct live_account *accounts);

uint64_t live_tree_n_records(const struct live_tree *tree);

#endif
