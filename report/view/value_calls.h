/*
 * The calls of methods that are told apart by a value (mmprof-record(1), --argument), while the call tree is built: how
 * many there were of each value, what they took, and from when to when.
 *
 * A mark of the program (core/agent/Marks.java) counts as a call that lasts until the thread's next mark, or until a
 * virtual thread leaves its carrier.
 *
 * Keys are ids: of a value (trace_value), or of the method itself for its calls whose value is not known.
 */
#ifndef REPORT_VIEW_VALUE_CALLS_H
#define REPORT_VIEW_VALUE_CALLS_H

#include "phases/select/statistics.h"
#include "phases/tree/calltree.h"

#define VALUE_CALLS_KEPT (UINT32_C(1) << 20) /* of which it is known when they were */
#define VALUE_CALLS_NONE UINT32_MAX

/* A call in a thread; of a virtual thread's, a part of it. */
struct value_call {
    uint32_t key;
    uint32_t outer; /* the call around it, of those that are kept; VALUE_CALLS_NONE: there is none */
    uint64_t start_ticks, end_ticks;
};

struct value_calls_thread;

struct value_calls {
    struct statistics *by_clock, *by_wall; /* by key; owned */
    bool *is_told_apart;                   /* by method; owned */
    uint32_t n_told_apart;                 /* methods are below this */
    uint32_t mark;                         /* the method mmprof.Marks.mark; VALUE_CALLS_NONE: the trace has none */
    const struct trace_reader *outline;    /* borrowed */
    uint64_t *entries, *unwinds;           /* by key; owned */
    uint32_t n_keys, n_unwinds_room;       /* room for */
    struct value_calls_thread *threads;    /* owned */
    uint32_t n_threads;
    uint64_t n_kept, n_not_kept; /* calls */
};

/*
 * outline  the trace's (trace_outline); it has values; borrowed
 * metrics  of a call, the time on the clock first (report/call_metrics.h); borrowed
 * calls    for value_calls_close
 */
void value_calls_open(struct value_calls **calls, const struct trace_reader *outline,
                      const struct statistics_options *metrics);
void value_calls_close(struct value_calls *calls); /* NULL is fine */

/* For calltree_options; lives as long as the calls. */
struct calltree_observer value_calls_observer(struct value_calls *calls);

/* ---- after calltree_build ---- */

uint64_t value_calls_entries(const struct value_calls *calls, uint32_t key);
uint64_t value_calls_unwinds(const struct value_calls *calls, uint32_t key);

/* The innermost call that was open in a thread at a moment, and the one around a call; NULL: none. */
const struct value_call *value_calls_at(const struct value_calls *calls, uint32_t thread, uint64_t ticks);
const struct value_call *value_calls_outer(const struct value_calls *calls, uint32_t thread,
                                           const struct value_call *call);

#endif
