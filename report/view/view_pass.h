/*
 * One pass over a trace: its call tree, and all that the views listen to meanwhile.
 *
 * What must be known before (when the recording began and ended, its events, what a live recording says of itself)
 * comes from the trace's outline, which skips the events.  What is chosen only after it (which methods are phases) is
 * applied to what was kept.  So no view reads a trace a second time, but 'misses', which is of other traces.
 */
#ifndef REPORT_VIEW_VIEW_PASS_H
#define REPORT_VIEW_VIEW_PASS_H

#include "report/folding.h"
#include "report/recompilation.h"
#include "report/sampled_tree.h"
#include "report/view/slow_calls.h"
#include "report/view/throttled.h"
#include "report/view/timeline_table.h"
#include "report/view/value_calls.h"
#include "report/view/waits.h"
#include "report/view/where.h"

/* Who listens. */
#define VIEW_PASS_SAMPLES     1u /* stack samples */
#define VIEW_PASS_JIT         2u /* JIT events: shapes */
#define VIEW_PASS_STATISTICS  4u /* how calls vary */
#define VIEW_PASS_RECOVERY    8u
#define VIEW_PASS_WHERE       16u
#define VIEW_PASS_TIMELINE    32u
#define VIEW_PASS_WAITS       64u
#define VIEW_PASS_ALLOCATIONS 128u
#define VIEW_PASS_WAIT_STACKS 256u   /* each wait, with its stack; on the wall clock always */
#define VIEW_PASS_HEAP        512u   /* its use after collections */
#define VIEW_PASS_HEAP_EVENTS 1024u  /* what became of sampled objects, and the heap's use before collections */
#define VIEW_PASS_VALUES      2048u  /* calls by what tells them apart */
#define VIEW_PASS_SLOW        4096u  /* single calls, and their times off the CPU; with WAITS and WAIT_STACKS */
#define VIEW_PASS_PRESSURE    8192u  /* what a CPU quota, and lack of memory and I/O, held back */
#define VIEW_PASS_QUANTILES   16384u /* of STATISTICS, the quantiles of the calls' time only */
#define VIEW_PASS_LIVE        (VIEW_PASS_ALLOCATIONS | VIEW_PASS_HEAP | VIEW_PASS_HEAP_EVENTS)

/* Bytes of the heap that are in use after the collection that begins then; young_bytes of them in survivor spaces. */
struct heap_use {
    uint64_t ticks, bytes, young_bytes;
};

struct view_pass_options {
    const char *path;
    bool salvage;
    unsigned parts;                       /* VIEW_PASS_... */
    enum phases_clock clock;              /* as asked for */
    bool per_thread;                      /* a tree for each thread */
    const struct folding_list *libraries; /* classes that are not the program's own; NULL: the JDK's */
    const char *only_threads;             /* or NULL (report/some_threads.h); with per_thread */
    double step_ns;                       /* of the time line; 0: choose, at most steps_max */
    uint32_t steps_max;
    const struct calltree_observer *observer; /* another one who listens; borrowed; or NULL */
    FILE *progress;     /* where it is said how much has been read, while it takes long; or NULL */
    uint32_t max_nodes; /* of the call tree; 0: as many as calltree.h allows */
};

struct view_pass {
    struct view_pass_options options;
    struct arena *arena;
    struct trace_reader *outline, *reader;
    struct calltree tree;
    struct report_source source;
    struct calltree_total *totals; /* of the application's methods; the arena's */
    size_t n_totals;
    struct trace_samples samples;
    struct heap_use *heap_uses; /* owned; in the order of the trace */
    size_t n_heap_uses, heap_uses_room;
    struct trace_wait *kept_waits; /* owned; of all threads */
    size_t n_kept_waits, kept_waits_room;
    struct trace_samples *wall_samples;   /* with both VIEW_PASS_SAMPLES and WAIT_STACKS; NULL: no waits; the arena's */
    struct trace_allocation *allocations; /* owned; of all threads, by their numbers */
    size_t n_allocations, allocations_room;
    struct trace_heap_event *heap_events; /* owned; in the order of the trace */
    size_t n_heap_events, heap_events_room;
    struct trace_code_change *code_changes; /* owned */
    size_t n_code_changes, code_changes_room;
    struct jit_shapes *shapes;
    struct call_metrics metrics; /* of the statistics, and of the calls by value */
    struct statistics *statistics;
    struct value_calls *value_calls; /* NULL: the trace has no values */
    struct slow_calls *slow_calls;
    struct throttled_reading throttled; /* without times off the CPU where no quota stopped the program */
    struct recompilation_reading *recompiling;
    struct recompilation recompilation;
    struct where where;
    struct where_reading *finding;
    struct waits waits;
    struct waits_reading *waiting;
    struct wait_sites *sites;
    struct timeline_read line; /* until timeline_end */
    struct observers observers;
    struct err heard_err;         /* what went wrong in a listener, or "" */
    struct err no_line, no_where; /* why they could not be had, or "": which is no error of the pass */
};

/*
 * Read the trace.
 *
 * pass  for view_pass_close, whatever is returned; stays where it is.
 *
 * Returns 0, or -1 with *err set: it cannot be read.
 */
int view_pass_read(const struct view_pass_options *options, struct arena *arena, struct view_pass *pass,
                   struct err *err);
void view_pass_close(struct view_pass *pass);

/* The stack samples for a source of this pass, on its clock (report/sampled_tree.h). */
const struct trace_samples *view_pass_samples(const struct view_pass *pass, const struct report_source *source);

#endif
