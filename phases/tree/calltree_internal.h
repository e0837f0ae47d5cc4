/* Shared by the files that build the call tree: the node store and the clock of a thread. */
#ifndef PHASES_TREE_CALLTREE_INTERNAL_H
#define PHASES_TREE_CALLTREE_INTERNAL_H

#include "phases/tree/calltree.h"

/* ---- nodes ---- */

struct node_store {
    struct calltree_node *nodes; /* mapped, page aligned: two nodes are a cache line */
    uint32_t n_nodes, n_mapped;
    uint32_t max_nodes; /* beyond it only roots and folded nodes are made */
    uint32_t *slots;    /* (parent, method) -> node, open addressing; 0: free; mapped */
    uint32_t n_slots;   /* a power of two */
    size_t n_metrics;   /* 0: none yet */
    size_t row_words;
    uint64_t *rows; /* owned */
    uint32_t n_rows;
    size_t rows_room;   /* words */
    uint32_t n_methods; /* highest id seen, plus 1 */
};

void node_store_open(struct node_store *store, uint32_t max_nodes);
void node_store_close(struct node_store *store);
void node_store_free_slots(struct node_store *store);

/* A node without siblings. */
uint32_t node_store_root(struct node_store *store);

/* The child of a node by method, made if need be; CALLTREE_NONE: the store is full and has no such child. */
uint32_t node_store_child(struct node_store *store, uint32_t parent, uint32_t method);

/* The child that takes what found no room; made beyond the limit. */
uint32_t node_store_folded_child(struct node_store *store, uint32_t parent);

/* The first row, for nodes without one; there are so many columns of counters. */
void node_store_rows(struct node_store *store, size_t n_columns);

/* A new row for a node. */
uint64_t *node_store_new_row(struct node_store *store, uint32_t node);

/* A node's row, made if need be; until the next one is made. */
static inline uint64_t *node_store_row(struct node_store *store, uint32_t node)
{
    uint32_t row = store->nodes[node].row;
    return row != 0 ? store->rows + row * store->row_words : node_store_new_row(store, node);
}

static inline void node_store_call(struct node_store *store, uint32_t node)
{
    if (++store->nodes[node].low_calls == 0)
        node_store_row(store, node)[ROW_HIGH_CALLS]++;
}

/* All nodes are there: children come in lists, the newest first; callers of a node with a row get one. */
void node_store_finish(struct node_store *store);

/* ---- a thread's clock ---- */

enum clock_state { CLOCK_UNSEEN, CLOCK_OFF, CLOCK_ON, CLOCK_ENDED };

struct clock_event {
    uint64_t ticks;
    enum trace_kind kind;
};

/* Joins the kernel's events with the records of one thread. */
struct thread_clock {
    uint64_t now;       /* accounted up to here */
    uint64_t cpu, wall; /* since the record before: not a node's yet */
    uint64_t off_since; /* while CLOCK_OFF */
    enum clock_state state;
    struct clock_event *pending; /* kernel events ahead of the records: a ring of n_room; owned */
    uint32_t first, n_pending, n_room;
    uint64_t round;   /* of the last pending event */
    uint32_t n_older; /* pending events of earlier rounds */
};

static inline void clock_advance(struct thread_clock *clock, uint64_t ticks)
{
    if (ticks <= clock->now)
        return;
    uint64_t passed = ticks - clock->now;
    clock->now = ticks;
    if (clock->state == CLOCK_ENDED)
        return;
    clock->wall += passed;
    if (clock->state == CLOCK_ON)
        clock->cpu += passed;
}

/* Queue a kernel event, or a reading; each of the two come sorted, round by round. */
void clock_push(struct thread_clock *clock, const struct clock_event *event);

/* Take the first pending event if it is not later than ticks, and account the time up to it. */
bool clock_apply(struct thread_clock *clock, uint64_t ticks, struct clock_event *event);

/*
 * The thread writes a record at ticks: it is on the CPU then, whatever was said before.  The kernel's times are
 * converted from another clock and may be wrong by a microsecond, in which a thread writes ten records.  So a record of
 * a thread that is off the CPU was written either before it left, or after it came back, whichever is nearer.
 */
void clock_record(struct thread_clock *clock, uint64_t ticks);

/* ---- what the probes cost, and the counters ---- */

/* What a thread's record before was, as far as the probe's cost goes. */
enum step_kind { STEP_NONE, STEP_ENTER, STEP_EXIT, STEP_GAP, STEPS };

/* Costs are added up in 1/65536, so that fractions are not lost. */
#define COST_FRACTION_BITS 16

struct step_costs {
    uint64_t of[STEPS][STEPS]; /* between two records, by what they are */
};

struct probe_costs {
    double inside_ticks, outside_ticks; /* 0: the trace has none */
    struct step_costs ticks, counters[TRACE_COLUMNS_MAX];
};

/* What the trace said of them up to now; the times of groups have no costs. */
void costs_read(const struct trace_reader *reader, const struct calltree_groups *groups, struct probe_costs *costs);

/* The arrangement of a trace's recorded counters.  Returns 0, or -1 with *err set: an impossible one. */
int groups_read(const struct trace_reader *reader, struct calltree_groups *groups, struct err *err);

/* The whole ticks or events of a cost, at most those that passed; *fraction keeps the rest for the next time. */
static inline uint64_t cost_take(uint64_t cost, uint32_t *fraction, uint64_t passed)
{
    uint64_t exact = *fraction + cost, probe = exact >> COST_FRACTION_BITS;
    *fraction = (uint32_t)(exact & ((1u << COST_FRACTION_BITS) - 1));
    return probe < passed ? probe : passed;
}

/* Counters of a thread were read: by its probe, or from outside. */
struct counts {
    uint64_t series;        /* values of different series tell nothing of each other */
    const uint64_t *values; /* NULL: none of them could be read */
};

#define SERIES_OF_RECORDS 1

/* Of a thread that has any.  The arrays have n elements. */
struct thread_counters {
    size_t n;
    bool are_known; /* they were read at the record before */
    uint64_t series;
    uint64_t *values; /* then; owned, with the arrays below */
    uint64_t *passed; /* since the record before: 0 where that is not known */
    uint64_t *sums;   /* of passed */
    uint64_t *told;   /* sums at the last record that an observer heard of */
    uint64_t *early;  /* sums before the thread was placed: not a node's yet; so are the next three */
    uint64_t early_cpu, early_wall, early_uncounted;
    uint64_t uncounted, told_uncounted; /* ticks, since the thread's first, and then */
    uint32_t *fractions;                /* of an event of probe cost */
    uint64_t *waiting;                  /* readings ahead of the records: series, values; owned */
    size_t first_waiting, n_waiting, waiting_room;
};

struct thread_counters *thread_counters_new(size_t n);
void thread_counters_free(struct thread_counters *counters);

/*
 * Take what was read: passed[] and own[] get what passed since the record before, less the probe's cost for that (NULL:
 * none), which is added to probe[].  A value that could not be read makes this interval and the next one unknown, for
 * all counters.
 *
 * Returns 1 when it was counted, 0 when it is unknown, -1 when a counter ran backwards (unknown, too).
 */
int counters_take(struct thread_counters *counters, const struct counts *counts, const struct probe_costs *costs,
                  enum step_kind before, enum step_kind now, uint64_t *own, uint64_t *probe);

/* Whether all of them could be read; NULL: no. */
bool counts_are_read(const uint64_t *values, size_t n);

/* Whether some value of a is below that of b: they were not read in this order, or opened anew in between. */
bool counts_run_backwards(const uint64_t *a, const uint64_t *b, size_t n);

/* Queue a reading; take the first one, whose values are the queue's. */
void counts_push(struct thread_counters *counters, const struct counts *counts);
struct counts counts_pop(struct thread_counters *counters);

/* ---- the builder ---- */

/* A call that has no node of its own: where its exit leads back to. */
struct fold {
    uint32_t depth, caller, method;
};

/* A phase that a thread is in now: SPAN_PART, SPAN_OUTSIDE, or a method by its outermost call. */
struct calls_span {
    uint32_t method, depth;
};

#define SPAN_PART    UINT32_MAX       /* all of the thread */
#define SPAN_OUTSIDE (UINT32_MAX - 1) /* outside recorded methods */

/* Of groups that take turns: where each span's counts stood when they were last put into its batches. */
struct thread_spans {
    struct calls_span *spans;
    uint64_t *since; /* n_columns for each span; owned */
    uint32_t n, room;
    size_t since_room;
    struct estimate_turns turns;
    uint64_t turn[ESTIMATE_GROUPS_MAX]; /* unique over all threads */
};

/* When a call began: the thread's time up to then, less probe time. */
struct call_entry {
    uint64_t cpu, wall;
    bool is_found; /* it did not: it was under way */
};

/* Those of a thread's open calls, from the outermost on; a virtual thread takes them along. */
struct call_entries {
    struct call_entry *all; /* owned */
    uint32_t room;
    uint32_t n_taken;   /* of calls that the virtual thread came with, and that are to be taken up again */
    uint64_t cpu, wall; /* of the thread that it left, then */
};

/* Where the carrier of a virtual thread stands; its calls wait until the virtual thread has gone. */
struct carrier {
    uint32_t node, depth, n_folds, folds_room;
    struct fold *folds; /* owned */
    struct call_entries entries;
};

struct thread {
    struct thread_clock clock;
    uint32_t node, depth; /* the current call's */
    uint32_t n_folds, folds_room;
    enum step_kind step;
    uint32_t fraction;  /* of a tick of probe cost not subtracted yet */
    struct fold *folds; /* owned */
    struct call_entries entries;
    struct carrier carrier; /* while a virtual thread is here */
    bool is_mounted;
    bool is_placed;
    uint64_t n_told[CALLTREE_UNCOUNTED]; /* faults and switches, so far */
    uint64_t on_since;                   /* when it got the CPU that it has, or NOT_ON */
    uint64_t preempted_since;            /* when it lost the CPU that it waits for, or 0 */
    struct early_runs *runs;             /* of a thread whose name is not its own yet; owned, or NULL */
    struct calltree_thread known;
    struct thread_counters *counters; /* owned, or NULL */
    struct thread_spans spans;
};

#define NOT_ON UINT64_MAX

/* A new thread has its parent's name, and gets its own some ms later: its first runs wait for that. */
#define EARLY_RUNS 64

struct early_runs {
    uint32_t n;
    struct {
        uint64_t from_ticks, to_ticks;
    } all[EARLY_RUNS];
};

/* What is known of a method's probes. */
struct flagged {
    bool is_found;   /* a call was found that was under way */
    bool was_told;   /* of its probes */
    uint32_t off_at; /* 1 + the index of the flag that is closed now; 0: it is open */
};

/* What was given to a thread's node last. */
struct settled {
    uint64_t cpu_ticks, probe_ticks, uncounted_ticks;
    bool is_wall, is_counted;
};

/* The calls that a virtual thread left open with a ticket: the innermost one's node, and their number; 0: none. */
struct unmounted {
    uint32_t node, depth;
    uint64_t since; /* ticks */
    struct call_entries entries;
};

struct builder {
    struct trace_reader *reader; /* borrowed */
    struct calltree *tree;
    struct node_store store;
    struct thread *threads; /* owned */
    uint32_t n_threads, threads_room;
    struct probe_costs costs;
    size_t n_columns; /* recorded counters */
    bool take_turns;  /* their groups do */
    bool knows_groups;
    uint64_t n_turns;
    uint64_t fault_period;       /* how many faults one that was recorded stands for; 0: not read yet */
    const uint64_t *next_values; /* of the record that comes after the kernel's events being applied, or NULL */
    uint64_t round;              /* of kernel events and the records that follow them */
    bool in_records, is_begun, per_thread, has_switches;
    const struct calltree_observer *observer; /* of steps, or NULL */
    const struct calltree_observer *flow;     /* of flows, or NULL */
    struct settled settled;                   /* for it */
    uint64_t n_told[CALLTREE_UNCOUNTED];      /* the thread's before this record, for it */
    uint64_t *passed;                         /* its: what the metrics rose by; owned */
    uint64_t *run_passed;                     /* its: a run's; owned */
    size_t run_room;
    uint32_t shared_roots[VM_PARTS]; /* index into roots, or CALLTREE_NONE */
    struct unmounted *unmounted;     /* by ticket; owned */
    uint32_t n_unmounted;
    uint32_t roots_room, flags_room;
    size_t partials_room;
    struct flagged *flagged; /* by method; owned; NULL: nothing is known of flags */
    uint32_t n_flagged;
    uint64_t probes_since, first_record, paused; /* ticks; 0: none yet */
};

/* Give the time since the record before to the current node, less the probe's cost.  Returns it, in ticks on the CPU.
 */
static inline uint64_t thread_settle(struct builder *b, struct thread *t, uint64_t cost)
{
    struct calltree_node *node = &b->store.nodes[t->node];
    uint64_t wall = t->clock.wall, cpu = b->tree->cpu_is_wall ? wall : t->clock.cpu;
    uint64_t probe = cost_take(cost, &t->fraction, cpu);
    node->cpu_ticks += cpu - probe;
    if (wall != cpu)
        node_store_row(&b->store, t->node)[ROW_OFF] += wall - cpu;
    t->known.cpu_ticks += cpu;
    t->known.wall_ticks += wall;
    t->known.probe_ticks += probe;
    t->clock.cpu = t->clock.wall = 0;
    if (b->flow != NULL)
        b->settled = (struct settled){ cpu, probe, 0, b->tree->cpu_is_wall, false };
    return cpu - probe;
}

/*
 * Give the current node what its thread's counters say; where they do not, its ticks on the CPU were not counted.
 * costs: of the probe that read them; NULL: nobody's.
 */
void thread_count(struct builder *b, struct thread *t, const struct counts *counts, const struct probe_costs *costs,
                  enum step_kind now, uint64_t ticks);

/* A thread that find_thread() does not know yet. */
struct thread *find_new_thread(struct builder *b, uint32_t index);

/* NULL: the trace does not describe it. */
static inline struct thread *find_thread(struct builder *b, uint32_t index)
{
    return index < b->n_threads && b->threads[index].known.is_known ? &b->threads[index] : find_new_thread(b, index);
}

static inline void need_counters(const struct builder *b, struct thread *t)
{
    if (t->counters == NULL)
        t->counters = thread_counters_new(b->n_columns);
}

/* ---- events ---- */

/* Records of one thread. */
void records_take(struct builder *b, const struct trace_records *records);

/* What the kernel said, or a reading: it waits for the thread's records. */
void kernel_take(struct builder *b, const struct trace_event *event);

/* Take what waits up to a moment, at most n_max of it. */
void kernel_apply(struct builder *b, struct thread *t, uint64_t ticks, uint32_t n_max);

/* ---- a thread's stack ---- */

struct frame {
    uint32_t node, depth, n_folds;
};

static inline bool frame_is_folded(const struct thread *t, const struct frame *f)
{
    return f->n_folds > 0 && t->folds[f->n_folds - 1].depth == f->depth;
}

static inline uint32_t frame_method(const struct builder *b, const struct thread *t, const struct frame *f)
{
    return frame_is_folded(t, f) ? t->folds[f->n_folds - 1].method : b->store.nodes[f->node].method;
}

static inline void frame_up(const struct builder *b, const struct thread *t, struct frame *f)
{
    f->node = frame_is_folded(t, f) ? t->folds[--f->n_folds].caller : b->store.nodes[f->node].parent;
    f->depth--;
}

/* ---- batches of groups that take turns ---- */

/* The thread's counters have passed on: a turn may have ended. */
void spans_count(struct builder *b, struct thread *t);

/* The thread has entered a method (else CALLTREE_NONE: left some), and stands at its new depth. */
void spans_follow(struct builder *b, struct thread *t, uint32_t entered);

/* The thread's part is over. */
void spans_end(struct builder *b, struct thread *t);
void spans_free(struct thread_spans *spans);
void calltree_batches_free(struct estimate_batches *batches, uint32_t n_groups);

/* ---- threads ---- */

/* The metrics of the thread's node, if it is placed; from now on there are metrics. */
uint64_t *need_metrics(struct builder *b, const struct thread *t);

/*
 * Find a thread's root.  A thread has its parent's name at first, so its part of the VM is looked at as late as
 * possible: at its first record, or at the end.
 */
void place_thread(struct builder *b, struct thread *t, uint32_t index);

/* ---- what the recorder did, and when threads ran ---- */

/* Events of the kinds ENABLED to RECOVERED. */
void control_take(struct builder *b, const struct trace_event *event);

/* A call that was under way was found. */
void control_found(struct builder *b, uint32_t method, uint64_t ticks);

/* A call of a method ended.  Where the method is switched off, it was recorded up to now for this call's sake. */
static inline void control_left(struct builder *b, uint32_t method, uint64_t ticks)
{
    if (method >= b->n_flagged || b->flagged[method].off_at == 0)
        return;
    struct calltree_flag *flag = &b->tree->flags[b->flagged[method].off_at - 1];
    flag->last_exit_ticks = ticks > flag->last_exit_ticks ? ticks : flag->last_exit_ticks;
}

/* How many faults a recorded one stands for. */
uint64_t control_faults(struct builder *b);

/* The trace has ended, and the tree knows when it began. */
void control_end(struct builder *b);

/* The kernel has told of the thread; was_seen: not for the first time. */
void runs_switch(struct builder *b, struct thread *t, bool was_seen, const struct clock_event *event);

/* The thread's time is over: its clock stands at the end of it.  about: what the trace says of it, or NULL. */
void runs_end(struct builder *b, struct thread *t, const struct trace_thread *about);

/* ---- who looks at time ---- */

/* The kernel has told of the thread; cpu and wall: what its clock had before. */
void flow_kernel(struct builder *b, const struct thread *t, uint64_t cpu, uint64_t wall,
                 const struct clock_event *event);

/* The thread's clock has advanced to a record, or to the end. */
void flow_passed(struct builder *b, const struct thread *t, uint64_t cpu, uint64_t wall);

/* Its node was given what b->settled and its counters say.  ticks: when. */
void flow_settled(struct builder *b, const struct thread *t, uint64_t ticks);

void flow_placed(struct builder *b, const struct thread *t, bool is_dropped);

/* ---- virtual threads ---- */

/* One comes: the thread stands at its root; or it goes, and the thread stands where its carrier did. */
void virtual_mount(struct builder *b, struct thread *t, uint64_t ticket);
void virtual_unmount(struct builder *b, struct thread *t, uint64_t ticket);

/* At the end: the calls that were left open and not taken up again never returned. */
void virtual_end(struct builder *b);

/* ---- partial calls ---- */

static inline uint64_t thread_cpu(const struct thread *t)
{
    return t->known.cpu_ticks - t->known.probe_ticks;
}

static inline uint64_t thread_wall(const struct thread *t)
{
    return t->known.wall_ticks - t->known.probe_ticks;
}

/* Room for the entries of so many open calls.  Returns all of them. */
struct call_entry *entries_room(struct thread *t, uint32_t depth);

/* The thread's innermost call, at its depth, has begun; or it was under way, or is taken up again. */
void entries_begin(struct thread *t, enum trace_kind kind);

/* Its time is still open: the calls go with a virtual thread, or come with it. */
void entries_leave(struct thread *t, struct call_entries *to);
void entries_take(struct thread *t, struct call_entries *from, uint32_t depth);

/* The call at a frame of the thread, which is over: is it partial? */
void partial_leave(struct builder *b, struct thread *t, const struct frame *frame, bool is_missing);

/* A call at this node, and those around it, never returned. */
void count_open(struct builder *b, uint32_t node, uint32_t depth, const struct call_entries *entries);

/* ---- who looks at single calls ---- */

/* After a record's time and counters were given to the thread's node: tell the observer. */
void observe_after(struct builder *b, const struct thread *t, const struct trace_event *event);

/* Records from the i-th on were taken at once, and b->run_passed is set; the thread's times are those before them. */
void observe_run(struct builder *b, const struct thread *t, const struct trace_records *records, size_t i, size_t n);

/* ---- activity ---- */

void activity_open(struct activity *activity, uint64_t start_ticks);
void activity_close(struct activity *activity);

/* Something ran from one moment to another; what was before the start does not count. */
void activity_add(struct activity *activity, enum activity_kind kind, uint64_t from_ticks, uint64_t to_ticks);

/* No more is added: from now on activity_between answers. */
void activity_sum_up(struct activity *activity);

/* The ticks of all that ran between two moments; a bin that is partly between them counts by that part. */
double activity_between(const struct activity *activity, enum activity_kind kind, uint64_t from_ticks,
                        uint64_t to_ticks);

#endif
