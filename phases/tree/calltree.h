/*
 * The annotated call tree: what the thesis calls the annotated dynamic call graph (§3.2, §3.2.2).
 *
 * A trace is streamed into it once.  Per record only the thread's current node is touched: what passed since the
 * record before (time, counters, faults, switches) is the current node's own.  Inclusive values are summed up
 * afterwards, from the leaves to the roots.  Memory depends on the size of the tree and the number of threads, not on
 * the length of the trace.
 *
 * How time is counted:
 *
 * - Wall time is the time between records.  CPU time is wall time less the time that the thread was off the CPU
 *   according to the kernel's switches.  A thread that the recording found already there was on the CPU until its
 *   first switch if that is a switch away from it (or if it wrote a record before), else off.
 * - Counting pauses while a probe logs (thesis §3.2.1): from each interval between two records of a thread the
 *   calibrated cost of the probe is taken away, at most the interval's CPU time, and kept as the thread's probe time.
 *   From an entry to an exit that is the inside cost, from an exit to an entry the outside cost, else half of both.
 * - Counters are treated like time: what passed on them between two records of a thread is the current node's, less the
 *   probe's calibrated cost.  A reading from outside splits an interval of the current node; no probe has a cost there.
 *   Where one end of an interval was not read (the probes do not read, others used the CPU's counters), or they were
 *   opened anew, nothing is known: the time of such intervals is CALLTREE_UNCOUNTED.
 * - Groups of counters that take turns count the events of a part of the time.  All columns are kept as they are, the
 *   times of the groups too; who divides them knows what they stand for.  How far estimates from them are off is told
 *   by batches (phases/tree/estimate.h), of each method of the application with all that it calls.
 * - Each thread has a root, whether it ran probes or not: the root's own time is what was spent outside recorded
 * methods. So all exclusive CPU time plus all probe time is the CPU time of all threads.
 * - Virtual threads come to a carrier and go, and so do their calls: what passes between MOUNT and UNMOUNT on the
 * carrier is theirs, and stands at the root.  While one has no carrier, its calls take no time of either kind.
 * - Without switches (cpu_is_wall) the CPU time of threads that ran probes is their wall time, and that of the others
 * 0.
 */
#ifndef PHASES_TREE_CALLTREE_H
#define PHASES_TREE_CALLTREE_H

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/trace/trace.h"
#include "phases/tree/estimate.h"
#include "symbolize/vm_parts.h"

#define CALLTREE_NONE      UINT32_MAX
#define CALLTREE_ROOT      UINT32_MAX       /* the method of a root */
#define CALLTREE_FOLDED    (UINT32_MAX - 1) /* the method of the node that takes what found no room */
#define CALLTREE_MAX_NODES (UINT32_C(16) << 20)

/* A record of a thread, as the tree takes it: what those hear who look at single calls. */
struct calltree_step {
    enum trace_kind kind; /* TRACE_ENTER to TRACE_GAP */
    uint32_t thread, method;
    uint32_t value;  /* as of a trace_event */
    uint64_t ticket; /* TRACE_MOUNT, TRACE_UNMOUNT */
    enum vm_part part;
    uint64_t ticks;                 /* the moment */
    uint64_t cpu_ticks, wall_ticks; /* of the thread up to this record, less probe time */
    const uint64_t *passed;         /* what the metrics rose by since the thread's record before; faults and switches
                                       that the kernel told of early are not in it */
    size_t n_metrics;               /* 0: there are none yet */
};

/*
 * What is given to a thread's node and when, for those who look at time: between two settlements time passes, on a CPU
 * or off it, and the kernel tells of faults and switches.  Sums of what is settled are the tree's, to the tick.
 */
enum calltree_flow_kind {
    CALLTREE_PASSED,   /* from 'from_ticks' to 'ticks' the thread was on a CPU or off it ('is_on') */
    CALLTREE_SWITCHED, /* it left the CPU at 'ticks'; 'is_on' where it could go on: it was preempted */
    CALLTREE_FAULTED,  /* a page fault, at 'ticks' */
    CALLTREE_SETTLED,  /* all time since the last one was given to 'node', with what the counters rose by */
    CALLTREE_PLACED    /* its part of the VM is known now */
};

struct calltree_flow {
    enum calltree_flow_kind kind;
    bool is_on;
    bool is_placed; /* 'part' is set */
    bool is_wall;   /* SETTLED: cpu_ticks are the wall time.  PLACED: what was settled before does not count */
    uint32_t thread;
    enum vm_part part;
    uint64_t from_ticks, ticks;
    uint64_t n_faults;                                /* FAULTED: it stands for so many */
    uint64_t cpu_ticks, probe_ticks, uncounted_ticks; /* SETTLED: the probes' and uncounted ones are of cpu_ticks */
    const uint64_t *counters;                         /* SETTLED: what they rose by, n_counters; NULL: not known */
    size_t n_counters;
    uint32_t node;                     /* SETTLED, once it is placed */
    const struct calltree_node *nodes; /* parent and method are set */
};

/* Entries and exits of a thread that follow each other on a CPU; no metric rose meanwhile. */
struct calltree_run {
    uint32_t thread;
    enum vm_part part;
    const struct trace_record *records;
    size_t n;
    uint64_t cpu_ticks, wall_ticks; /* of the thread before the first of them, less probe time */
    const uint64_t *passed;         /* by record: what both have passed by since then */
};

struct calltree_observer {
    void *context;                                                 /* borrowed; the first argument */
    void (*step)(void *context, const struct calltree_step *step); /* or NULL */
    void (*run)(void *context, const struct calltree_run *run);    /* in place of many steps; NULL: these are told */
    void (*flow)(void *context, const struct calltree_flow *flow); /* or NULL */
};

struct calltree_options {
    uint32_t max_nodes;                       /* 0: CALLTREE_MAX_NODES, which take 512 MiB */
    bool per_thread;                          /* a tree per thread; else the threads of each part of the VM share one */
    const struct calltree_observer *observer; /* or NULL; borrowed */
};

/* One context: a method, called along one path.  32 bytes: a record touches one cache line.  A parent comes before its
 * children in the array. */
struct calltree_node {
    uint32_t parent; /* itself at a root */
    uint32_t method;
    union { /* 0: none.  The first ones once the tree is built, the others until then */
        uint32_t first_child;
        uint32_t last_child; /* entered last: most often the next one too */
    };
    union {
        uint32_t next_sibling;
        uint32_t follower; /* the sibling entered after this one the last time */
    };
    uint32_t row;       /* of the tree's rows; 0: none */
    uint32_t low_calls; /* of calltree_calls */
    uint64_t cpu_ticks; /* exclusive, less probe time */
};

/* What few contexts have: 7,704 of 1.9 million of javac.  A row is a number for each; the metrics follow. */
enum calltree_row {
    ROW_OFF,        /* ticks: of wall time more than of CPU time, modulo 2^64; wall: of threads that ran probes */
    ROW_HIGH_CALLS, /* 2^32 calls each */
    ROW_UNWINDS,    /* calls left by an exception */
    ROW_OPEN,       /* partial calls: see calltree_partial */
    ROW_METRICS
};

struct calltree_root {
    uint32_t node;
    enum vm_part part;
    uint32_t thread; /* whose tree, or CALLTREE_NONE when threads share it */
};

struct calltree_thread {
    bool is_known;    /* the trace said something of it */
    bool has_records; /* it ran probes */
    enum vm_part part;
    uint32_t root;                  /* index into roots */
    uint64_t cpu_ticks, wall_ticks; /* all of it, probe time included */
    uint64_t probe_ticks;           /* of cpu_ticks: the probes' own */
    uint64_t n_lost;                /* calls not recorded */
    uint64_t n_slices;              /* how often it got a CPU */
    uint64_t wait_ticks;            /* off the CPU though it could run: from where it was preempted */
};

/*
 * A call is partial if no probe saw both of its ends: it was under way when its method got probes, or when the trace
 * or its thread ended, or its probes went meanwhile.  How long it took is not known, so means leave it out.  This is
 * the time of those at a node, with all that they called.
 */
struct calltree_partial {
    uint32_t node;
    uint64_t cpu_ticks, wall_ticks;
};

/* Further metrics of a node: calltree_metrics. */
enum calltree_metric {
    CALLTREE_FAULTS,
    CALLTREE_SWITCHES,
    CALLTREE_UNCOUNTED, /* ticks on the CPU in which the counters are not known; only where there are any */
    CALLTREE_COUNTERS   /* and up: the recorded counters */
};

/* How the recorded counters are arranged.  Indexes are those of the recorded counters. */
struct calltree_groups {
    uint32_t n;                              /* 0: no counters; 1: one group, no times; else they take turns */
    uint32_t first[ESTIMATE_GROUPS_MAX + 1]; /* group g's events are first[g] .. first[g + 1] - 1 */
    uint32_t running, enabled;               /* the first group's time, the others' follow; the thread's.  n > 1 only */
};

#define CALLTREE_PAUSES_KEPT 64

/* When the program stood still, for its classes to be changed: all of them, and when the first ones began. */
struct calltree_pauses {
    uint64_t n, ns, longest_ns;
    struct {
        uint64_t ticks, ns;
    } kept[CALLTREE_PAUSES_KEPT];
};

/* From a moment on the probes of a method record, or do not; or its first call was found, which was under way. */
struct calltree_flag {
    uint32_t method;
    enum { CALLTREE_FLAG_ON, CALLTREE_FLAG_OFF, CALLTREE_FLAG_FOUND } kind;
    uint64_t ticks;
    uint64_t last_exit_ticks; /* OFF: of the calls that were open then, which are recorded to their end; or 0 */
};

/* Virtual threads without a carrier, in calls that were recorded. */
struct calltree_unmounted {
    uint64_t n, ticks;      /* times that they were, and for how long together, those at the end up to there */
    uint32_t n_now, n_most; /* while the tree is built; at the same time, at most */
};

/* How much of a process ran when: ticks by moment, in at most ACTIVITY_BINS equal steps, however long a recording is.
 */
#define ACTIVITY_BINS 8192u /* of a minute: 7 ms each */

enum activity_kind {
    ACTIVITY_CPU,         /* all threads on CPUs */
    ACTIVITY_APPLICATION, /* of them the application's */
    ACTIVITY_WALL,        /* the threads that ran probes, as long as there was one, on a CPU or not */
    ACTIVITY_KINDS
};

struct activity {
    uint64_t start_ticks;
    uint32_t shift; /* a bin is 1 << shift ticks */
    uint64_t *bins; /* ACTIVITY_BINS + 1 for each kind; owned; NULL: there is none */
};

struct calltree {
    struct calltree_node *nodes; /* owned */
    uint32_t n_nodes, n_mapped;  /* 0 is no node; mapped: room for */
    struct calltree_root *roots; /* owned */
    uint32_t n_roots;
    struct calltree_thread *threads; /* by the trace's index; owned */
    uint32_t n_threads;
    size_t n_metrics; /* CALLTREE_COUNTERS + recorded counters, or 0 when nothing but time and calls was seen */
    size_t row_words; /* ROW_METRICS + n_metrics at least */
    uint64_t *rows;   /* exclusive; the first one is all zeros, for nodes without one; owned */
    uint32_t n_rows;
    uint32_t n_methods; /* methods seen have ids below this */

    /* Batches are arrays by group; NULL: there are none.  Of groups that take turns only.  Owned. */
    struct calltree_groups groups;
    struct estimate_batches **batches;               /* by method: of the application's, with all that they call */
    uint32_t n_batches;                              /* methods below this have one, or NULL */
    struct estimate_batches *part_batches[VM_PARTS]; /* all of a part's threads */
    struct estimate_batches *outside_batches;        /* the application's threads outside methods */
    uint64_t probe_counts[TRACE_COLUMNS_MAX];        /* by column: the probes' own, in none of the metrics */

    /* Inclusive: by node, and by row; all callers of a node with a row have one. */
    uint64_t *total_cpu_ticks, *total_rows; /* owned */

    struct calltree_partial *partials; /* by node, one for each that has partial calls; owned */
    size_t n_partials;

    struct calltree_unmounted *unmounted; /* by method: the innermost recorded call; owned */
    uint32_t n_unmounted;                 /* methods below this */

    /* What the whole recording says of itself. */
    uint64_t n_records;         /* entries, exits, unwinds */
    uint64_t n_calls;           /* entries */
    uint64_t n_lost;            /* calls not recorded, all threads */
    uint64_t n_kernel_lost;     /* kernel records lost: CPU times are estimates then */
    uint64_t n_unmatched_exits; /* ignored: no such call was open */
    uint64_t n_missing_exits;   /* calls closed by the exit of a caller */
    uint64_t n_open;            /* calls that never returned */
    uint64_t n_under_way;       /* calls that were under way when their methods got probes */
    uint64_t n_folded;          /* calls that found no room for a node of their own */
    uint64_t n_stray;     /* events ignored: of threads the trace does not describe, or counters running backwards */
    uint64_t probe_ticks; /* all threads */
    uint64_t cpu_ticks;   /* all threads, probe time included */
    struct calltree_pauses pauses;
    struct calltree_flag *flags; /* by method and time; owned. */
    uint32_t n_flags;
    uint64_t probes_since_ticks; /* when the first method got probes; the start, where the trace says nothing of it */
    struct activity activity;
    double inside_ticks, outside_ticks; /* the calibrated probe cost; 0: the trace has none */
    uint64_t start_ticks, end_ticks;
    double ns_per_tick; /* 0: not known */
    bool cpu_is_wall;
    const char *why_wall; /* the trace's words for it; the reader's string */
    bool is_cut;
    uint64_t n_damaged_chunks;
};

/*
 * Stream a whole trace (opened, nothing read yet) into a tree.  The tree borrows the reader's strings.
 *
 * Returns 0 and *tree for calltree_free, or -1 with *err set: damaged.
 */
int calltree_build(struct trace_reader *reader, const struct calltree_options *options, struct calltree *tree,
                   struct err *err);

void calltree_free(struct calltree *tree);

/* What a node has on its own, or with all that it calls: of enum calltree_row, or of enum calltree_metric. */
static inline uint64_t *calltree_row(const struct calltree *tree, uint32_t node)
{
    return tree->rows + tree->nodes[node].row * tree->row_words;
}

static inline uint64_t *calltree_total_row(const struct calltree *tree, uint32_t node)
{
    return tree->total_rows + tree->nodes[node].row * tree->row_words;
}

static inline uint64_t *calltree_metrics(const struct calltree *tree, uint32_t node)
{
    return calltree_row(tree, node) + ROW_METRICS;
}

static inline uint64_t *calltree_total_metrics(const struct calltree *tree, uint32_t node)
{
    return calltree_total_row(tree, node) + ROW_METRICS;
}

/* Entries, those that never returned included. */
static inline uint64_t calltree_calls(const struct calltree *tree, uint32_t node)
{
    return tree->nodes[node].low_calls + (calltree_row(tree, node)[ROW_HIGH_CALLS] << 32);
}

static inline uint64_t calltree_wall_ticks(const struct calltree *tree, uint32_t node)
{
    return tree->nodes[node].cpu_ticks + calltree_row(tree, node)[ROW_OFF];
}

static inline uint64_t calltree_total_wall_ticks(const struct calltree *tree, uint32_t node)
{
    return tree->total_cpu_ticks[node] + calltree_total_row(tree, node)[ROW_OFF];
}

/* The pair's calibrated cost in ns; 0 when the trace has none. */
double calltree_pair_ns(const struct calltree *tree);

/* A walk over a subtree, callers before callees, without recursion: while (calltree_walk(&walk)) ... */
struct calltree_walk {
    const struct calltree *tree;
    uint32_t top, node;
    uint32_t depth;  /* of node below top */
    bool is_leaving; /* node's callees have all been walked; else they come next */
    bool is_begun;
};

struct calltree_walk calltree_walk_from(const struct calltree *tree, uint32_t top);
bool calltree_walk(struct calltree_walk *walk);

/* A method over all its contexts. */
struct calltree_total {
    uint32_t method;
    uint32_t n_open; /* partial calls */
    bool is_recursive;
    uint64_t calls, unwinds;
    uint64_t cpu_ticks, wall_ticks; /* exclusive */
    /* Inclusive; recursion counts once: a context inside another one of the same method adds nothing. */
    uint64_t total_cpu_ticks, total_wall_ticks;
    uint64_t partial_cpu_ticks, partial_wall_ticks; /* of that, the partial calls' */
    uint64_t *total_metrics; /* tree->n_metrics values, or NULL when there are none; the arena's */
};

/*
 * The totals of all methods that were called in threads of one part of the VM, in the order of their ids.  Folded
 * contexts are not among them.
 *
 * totals    receives an array that lives in the arena.
 */
void calltree_totals(const struct calltree *tree, enum vm_part part, struct arena *arena,
                     struct calltree_total **totals, size_t *n_totals);

/* How long the whole calls of a method took, and how many there were; where it calls itself, partial ones count, too.
 */
struct calltree_whole {
    double calls, cpu_ticks, wall_ticks;
};

struct calltree_whole calltree_whole_of(const struct calltree_total *total);

/* The time of the partial calls at a node; zero where there are none. */
struct calltree_partial calltree_partial_at(const struct calltree *tree, uint32_t node);

/* Sort partial calls by node, and join those of the same one.  Returns how many are left. */
size_t calltree_partials_join(struct calltree_partial *partials, size_t n);

/* Inclusive values of all contexts from their own, into the tree's arrays, which are there and zero.  Callers come
 * before callees. */
void calltree_add_up(struct calltree *tree);

/*
 * ---- when the probes of a method recorded, and how much of the process ran meanwhile ----
 *
 * A live recording gives methods probes while it runs, and switches some off.  So the rows of two methods may cover
 * different times; whoever compares them divides by what ran while each was recorded.
 */

struct recorded {
    uint64_t ticks; /* for how long */
    double share;   /* 0..1: what ran then, of what ran in the whole recording */
};

/*
 * Of a method, from when it got probes (or a call of it that was under way then was found) until they were switched
 * off or removed, as often as that happened.
 *
 * kind  of what ran: what the method's time is to be divided by.
 */
struct recorded recorded_of(const struct calltree *tree, uint32_t method, enum activity_kind kind);

/* Did the method's probes record at that moment? */
bool recorded_at(const struct calltree *tree, uint32_t method, uint64_t ticks);

/* The method's own time was in its windows, which begin and end within steps: so no less ran there, of all_ticks. */
static inline void recorded_hold(struct recorded *recorded, double ticks, double all_ticks)
{
    if (recorded->share * all_ticks < ticks && ticks <= all_ticks)
        recorded->share = ticks / all_ticks;
}

/* The application's part, 0..1, on that clock, of its time that had passed when the first method got probes. */
double recorded_before_probes(const struct calltree *tree, bool is_wall);

#endif
