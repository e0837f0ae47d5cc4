/*
 * What happened when: the threads' time and counters in steps of equal length over the whole recording, by part of the
 * VM; which phases the application was in; and regions, steps in which it did much the same (thesis, Figures 1.2 and
 * 3.7).
 *
 * It is the observer of the pass that builds the call tree.  When the recording began and ended must be known before
 * (trace_outline).  Which methods are rows need not: what is given to the nodes of the tree is kept by node and step,
 * and once the phases are chosen timeline_rows() adds it up.  So sums over all steps are the tree's totals, to the tick
 * and the event.
 *
 * What is known of an interval only (counters between two readings, what a probe cost) is spread over the interval's
 * steps by the thread's time on a CPU in each.  Readings are 10 ms apart or, with many threads, more: shorter steps
 * have no more detail than that, but where there are records.
 *
 * Use:
 *
 *     struct timeline_options options = timeline_options_of(outline);
 *     timeline_open(&timeline, &options, err);
 *     struct calltree_observer observer = timeline_observer(timeline);
 *     struct calltree_options options = { .observer = &observer };
 *     calltree_build(reader, &options, &tree, err);
 *     timeline_rows(timeline, &tree, row_of, n_methods, n_rows, err);
 *     timeline_cell(timeline, VM_PART_GC, step)->cpu_ticks ...
 *     timeline_close(timeline);
 *
 * report/view/timeline_table.h has all of that.
 */
#ifndef PHASES_TREE_TIMELINE_H
#define PHASES_TREE_TIMELINE_H

#include "phases/tree/calltree.h"

#define TIMELINE_STEPS_MAX 100000 /* at about 100 bytes for each part of the VM */

struct timeline_options {
    uint64_t start_ticks, end_ticks; /* of the recording */
    double ns_per_tick;              /* 0: not known, a tick is taken for a ns */
    double step_ns;                  /* 0: choose 1, 2 or 5 times a power of ten, 1 ms at least */
    uint32_t steps_max;              /* at most as many steps where it is chosen; 0: 100 */
    size_t n_metrics;                /* enum calltree_metric: the tree's at most */
};

/* Times and metrics from a trace's outline; the rest is zero. */
struct timeline_options timeline_options_of(const struct trace_reader *outline);

/* What the threads of a part did in a step. */
struct timeline_cell {
    uint64_t cpu_ticks; /* on a CPU; of VM_PART_MMPROF: what probes cost the other parts, too */
    uint64_t
        runnable_ticks; /* preempted, waiting for a CPU again; waking threads wait, too, but nobody tells of that */
    const uint64_t *metrics; /* n_metrics: enum calltree_metric; the time line's */
};

struct timeline;

/* Returns 0, or -1 with *err set: the step is too short for the recording. */
int timeline_open(struct timeline **timeline, const struct timeline_options *options, struct err *err);
void timeline_close(struct timeline *timeline); /* NULL is fine */

/* For calltree_options; lives as long as the time line. */
struct calltree_observer timeline_observer(struct timeline *timeline);

/* ---- after calltree_build ---- */

/*
 * Make the rows: those of the methods below n_methods that have one, row_of[method] < n_rows.
 *
 * tree  that was built.
 *
 * Returns 0, or -1 with *err set: too many steps for so many rows.
 */
int timeline_rows(struct timeline *timeline, const struct calltree *tree, const uint32_t *row_of, uint32_t n_methods,
                  uint32_t n_rows, struct err *err);

uint32_t timeline_n_steps(const struct timeline *timeline); /* one at least */
double timeline_step_ns(const struct timeline *timeline);   /* the last step ends with the recording, maybe earlier */

/* When a step begins, in ns since the start of the recording; of timeline_n_steps: when the recording ends. */
double timeline_start_ns(const struct timeline *timeline, uint32_t step);

/* Ticks in ns. */
double timeline_ns(const struct timeline *timeline, uint64_t ticks);

size_t timeline_n_metrics(const struct timeline *timeline);
uint32_t timeline_n_rows(const struct timeline *timeline); /* without the one outside all rows */

/* Whether any thread of that part was there: else all of its cells are zero. */
bool timeline_has_part(const struct timeline *timeline, enum vm_part part);

struct timeline_cell timeline_cell(const struct timeline *timeline, enum vm_part part, uint32_t step);

/* Which step a moment is in. */
uint32_t timeline_step_at(struct timeline *timeline, uint64_t ticks);

/*
 * Spread ticks evenly over the steps between two moments: take() gets each step's part, in their order, and the parts
 * add up.  Where 'from' is not before 'to', the step of 'to' has all of it.
 *
 * Returns false where take() did, which ends it; else true.
 */
bool timeline_spread(struct timeline *timeline, uint64_t from, uint64_t to, uint64_t ticks,
                     bool (*take)(void *context, uint32_t step, uint64_t ticks), void *context);

/*
 * Of a trace that has nothing but stack samples, before timeline_rows: a thread of that part was on a CPU for so long
 * about that moment.
 */
void timeline_sample(struct timeline *timeline, enum vm_part part, uint64_t ticks, uint64_t cpu_ticks);

/*
 * The application's ticks on a CPU in a row, without the rows that it calls: a context that has no row counts for its
 * caller's.  row n_rows is what was outside all rows.  They add up to the application's cell.
 */
uint64_t timeline_row_ticks(const struct timeline *timeline, uint32_t row, uint32_t step);

/* Who divides them anew says what a row has: all rows of a step keep their sum. */
void timeline_set_row_ticks(struct timeline *timeline, uint32_t row, uint32_t step, uint64_t ticks);

/* What a context of the application was given in a step; node 0: it was in none. */
struct timeline_given {
    uint32_t node, step;
    uint64_t ticks;
};

/* All of that, by step and node; after timeline_rows, until timeline_close. */
const struct timeline_given *timeline_given(const struct timeline *timeline, size_t *n);

/* ---- regions ---- */

/* The number of steps in which application and collector hardly ran: less than a hundredth of one CPU. */
#define TIMELINE_IDLE 0

struct timeline_region {
    bool is_gc;          /* the collector took more CPU time than the application */
    uint32_t n_steps;    /* that it has */
    uint32_t n_times;    /* runs of consecutive steps */
    uint64_t cpu_ticks;  /* application and collector */
    uint64_t *row_ticks; /* the application's, n_rows + 1 */
};

struct timeline_regions {
    enum vm_part gc; /* whose threads collect: a serial collector's is the VM thread */
    uint32_t n;      /* numbers are 1 .. n; the collector's is 1 if there is one, others as they appear */
    struct timeline_region *regions; /* n + 1, by number; that of TIMELINE_IDLE has its steps */
    uint32_t *of_step;               /* the number of each step's region */
    uint32_t *of_row; /* where most of a row's time is, the collector's region aside, n_rows + 1; TIMELINE_IDLE: it has
                         none */
};

struct timeline_regions_options {
    /* The next four are 0 without counters: metrics whose sums are cycles and instructions of the same time. */
    const uint8_t *cycles, *instructions; /* indexes as in enum calltree_metric; borrowed */
    size_t n_cycles, n_instructions;
    double distance; /* steps that differ by less are one region; 0: 0.3 */
};

/*
 * Group steps in which the program behaves alike into regions.
 *
 * Steps differ by the larger of two numbers: half the sum of the differences of their rows' shares of the application's
 * CPU time (0: the same methods for the same time, 1: quite others), and the logarithm of their quotient of CPI.
 * Neighbours that are alike become segments, segments that are alike become regions, nearest first, so a region may
 * come again.  A step in which the collector took more CPU time than the application is the collector's region; a
 * serial one runs in the VM thread.
 *
 * regions    lives in the arena.
 *
 * Source: thesis §3.3.2; clustering by the share of code, after Sherwood et al., ASPLOS 2002.
 */
void timeline_find_regions(const struct timeline *timeline, const struct timeline_regions_options *options,
                           struct arena *arena, struct timeline_regions *regions);

/* Sum up the rows' ticks of each region anew, where they were divided since. */
void timeline_sum_rows(const struct timeline *timeline, struct timeline_regions *regions);

#endif
