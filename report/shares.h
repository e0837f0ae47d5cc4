/* Who has the process' time: each tick of every thread belongs to exactly one row. */
#ifndef REPORT_SHARES_H
#define REPORT_SHARES_H

#include "report/source.h"

/* What the kernel charges threads beyond their run slices: mostly for getting and losing them. */
struct switches {
    bool are_known;
    double part_ns[VM_PARTS]; /* negative: the host of a virtual machine kept more from it */
    double all_ns;
    double spread_ns; /* of it: not read of the threads, but what all were charged for a run slice on average */
};

struct shares {
    uint64_t *self_ticks;              /* by row: the phase's own, and what it calls that is no row; the arena's */
    uint64_t before_ticks;             /* the application's, before the first method had probes */
    uint64_t outside_ticks;            /* the application's since then, in none of the rows */
    uint64_t other_ticks;              /* the application's threads' that the source's tree leaves out */
    uint64_t outside_cpu_ticks;        /* the same on the CPU, less probe time, whatever the clock */
    uint64_t *outside_metrics;         /* the same, of the tree's metrics; the arena's, or NULL */
    uint64_t part_ticks[VM_PARTS];     /* all of a part's threads, less probe time; the VM's: switches, too */
    uint64_t *part_metrics[VM_PARTS];  /* all of a part's threads; NULL where the tree has none; the arena's */
    uint64_t *all_metrics;             /* their sums */
    uint64_t part_cpu_ticks[VM_PARTS]; /* the same on the CPU, less probe time, whatever the clock */
    bool part_is_known[VM_PARTS];      /* it has threads that were measured on this clock */
    uint64_t probe_ticks;
    struct switches switches;
    uint64_t switch_ticks; /* of the application's threads: charged beyond their run slices */
    uint64_t kept_ticks;   /* of all threads: less than them, as steal time; that stays in the phases' times */
    uint64_t kernel_ticks; /* of the process, but of no thread: its end, and switches where they are not known */
    uint64_t all_ticks;    /* 100 % */
};

/*
 * rows    the application's methods that are rows, by id: row_of[method] is the row's index or CALLTREE_NONE;
 *         tree->n_methods entries, borrowed.
 */
void shares_compute(const struct report_source *source, const uint32_t *row_of, size_t n_rows, struct shares *shares);

/* What one thread adds to its part, by its index; 0: it was not measured. */
uint64_t shares_thread_ticks(const struct report_source *source, uint32_t index);

#endif
