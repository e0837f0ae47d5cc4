/*
 * From the kernel's rings into the trace: when threads start, end, get a CPU, leave it, and fault.
 */
#ifndef CORE_RECORDER_KERNEL_H
#define CORE_RECORDER_KERNEL_H

#include "core/counters/kernel_rings.h"
#include "core/recorder/clock.h"
#include "core/recorder/threads.h"

#include <stdbool.h>

struct kernel {
    struct kernel_rings *rings; /* owned; NULL: not available */
    struct threads *threads;    /* borrowed */
    struct trace_event *events; /* owned: of this round */
    size_t n_events, room;
    uint64_t n_lost;
    pid_t pid;                                     /* events of other processes are left out; 0: not known yet */
    const struct clock_point *first, *last, *near; /* during a round */
    bool out_of_memory;
};

/*
 * Watch all threads of a process, or a child that has not run its command yet.  Returns 0; or -1 with *err set, and
 * then the recording has to do without.
 */
int kernel_open(struct kernel *kernel, struct threads *threads, pid_t pid, bool is_child, bool page_faults,
                struct err *err);
void kernel_close(struct kernel *kernel);

/*
 * Write what happened up to a moment (ns, CLOCK_MONOTONIC_RAW) that has passed.  first and last are far apart, last is
 * near.  Returns 0, or -1 with *err set.
 */
int kernel_write(struct kernel *kernel, struct trace_writer *writer, uint64_t until_ns,
                 const struct clock_point *first, const struct clock_point *last, struct err *err);

#endif
