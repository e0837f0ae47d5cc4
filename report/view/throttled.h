/*
 * For how long a CPU quota stopped threads, and in which calls.
 *
 * The kernel says of each of some 100 ms how often it stopped the group, and for how long, all CPUs together; and of
 * each thread when it could run and had no CPU.  A thread was stopped once each time at most: so its longest waits for
 * a CPU in such a step, as many as there were stops, are the quota's, and no longer than the kernel says.  The sum over
 * threads is more than the kernel's figure where several threads share a CPU.  Threads that wake while their group is
 * stopped wait, too, but nobody tells of that.
 */
#ifndef REPORT_VIEW_THROTTLED_H
#define REPORT_VIEW_THROTTLED_H

#include "phases/tree/timeline.h"
#include "report/source.h"

#define THROTTLED_OFF_OF_ALL (UINT64_C(1) << 22)

struct view_pass;

/* A time for which a thread could run, and had no CPU. */
struct throttled_off {
    uint64_t start_ticks, end_ticks;
    uint64_t stopped_ticks; /* of it, by the quota; after throttled_join */
    uint32_t thread, node;  /* node: of the measured tree, 0: not known; before it is, the one before + 1 */
    enum vm_part part;
    bool is_taken;
};

struct throttled_thread {
    uint32_t latest, unsettled; /* indexes of its times + 1; 0: none */
    bool is_preempted;
};

/* What the pass over a trace keeps. */
struct throttled_reading {
    struct trace_pressure *steps; /* owned; in the order of time */
    size_t n_steps, steps_room;
    struct throttled_off *off; /* owned; after throttled_join by thread and time */
    size_t n_off, off_room;
    struct throttled_thread *threads; /* owned */
    uint32_t n_threads;
};

void throttled_hear(struct throttled_reading *reading, const struct trace_pressure *pressure);
struct calltree_observer throttled_observer(struct throttled_reading *reading);
void throttled_join(struct throttled_reading *reading, double ns_per_tick); /* after the pass */
void throttled_close(struct throttled_reading *reading);

/* Of a time off the CPU of a thread, which ended then: the ticks for which the quota stopped it. */
uint64_t throttled_ticks(const struct throttled_reading *reading, uint32_t thread, uint64_t end_ticks);

/* Threads' time in ticks; the source's arena's. */
struct throttled {
    double part_ticks[VM_PARTS], all_ticks;
    double *method_ticks; /* by method of the source's tree, with what it calls */
    double *node_ticks;   /* by node of that tree: its own */
};

/* NULL: the trace has none.  whole: of the pass, with what samples saw in its tree. */
const struct throttled *throttled_find(const struct view_pass *pass, const struct report_source *whole);

/* What rose in each step of a time line: by step, then kind; the arena's. */
const uint64_t *throttled_spread(const struct throttled_reading *reading, struct timeline *timeline,
                                 struct arena *arena);

/* A cell of a time of threads, as a share of that and their CPU time, in ticks; on the wall clock, of their time. */
struct table_cell throttled_cell(const struct report_source *source, double ticks, double time_ticks);

#endif
