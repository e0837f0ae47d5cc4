/*
 * What the kernel charges a thread beyond its run slices: for getting and losing them, 1 to 4 us each time, which is
 * in no context switch record; less what a virtual machine's host kept from it.  Each thread's CPU time is read from
 * /proc now and then, and set against the run slices up to the same moment.
 */
#ifndef CORE_RECORDER_CPU_ACCOUNTING_H
#define CORE_RECORDER_CPU_ACCOUNTING_H

#include "core/perf/perf_records.h"
#include "core/recorder/threads.h"

struct cpu_accounting {
    struct threads *threads; /* borrowed */
    bool is_sparing;         /* a budget is kept: 10 readings a second */
    uint32_t next;           /* the thread whose turn it is */
    uint64_t read_ns;        /* when the latest one was read, CLOCK_MONOTONIC_RAW */
};

/* Follow what the kernel's events, in the order of time, tell of a thread. */
void cpu_accounting_follow(struct recorder_thread *thread, const struct kernel_event *event);

/* Read at most one thread's CPU time, 100 times a second: that takes 0.1 % of a CPU.  Where is_sparing, 10 times. */
void cpu_accounting_take(struct cpu_accounting *accounting, pid_t pid);

/* At the end, before the last of the kernel's events are taken up: read all threads that have run. */
void cpu_accounting_take_all(struct cpu_accounting *accounting, pid_t pid);

/* And after it: what is known of them by now is to be written. */
void cpu_accounting_finish(struct cpu_accounting *accounting);

#endif
