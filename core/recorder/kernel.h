/* From the kernel's rings into the trace: when threads start, end, get a CPU, leave it, and fault. */
#ifndef CORE_RECORDER_KERNEL_H
#define CORE_RECORDER_KERNEL_H

#include "core/perf/perf_rings.h"
#include "core/recorder/clock.h"
#include "core/recorder/ip_samples.h"
#include "core/recorder/threads.h"

struct kernel {
    struct perf_rings *rings;      /* owned; NULL: not available */
    struct threads *threads;       /* borrowed */
    struct ip_samples *ip_samples; /* borrowed: takes up where threads were found */
    struct trace_event *events;    /* owned: of this round */
    size_t n_events, room;
    uint64_t latest_ticks;
    pid_t pid;                              /* events of other processes are left out; 0: not known yet */
    const struct clock_point *first, *last; /* during a round */
};

/*
 * Watch all threads of a process, or a child that has not run its command yet.  Returns 0; or -1 with *err set, and
 * then the recording has to do without.
 */
int kernel_open(struct kernel *kernel, struct threads *threads, struct ip_samples *ip_samples, pid_t pid,
                const struct perf_rings_options *options, struct err *err);
void kernel_close(struct kernel *kernel);

/*
 * Write what happened up to a moment (ns, CLOCK_MONOTONIC_RAW), and the threads that it tells of.  All that a thread's
 * records could have seen is there: the kernel tells of a switch before the thread can run again.  first and last are
 * far apart, last is near.  Returns 0, or -1 with *err set.
 */
int kernel_write(struct kernel *kernel, struct trace_writer *writer, uint64_t until_ns, const struct clock_point *first,
                 const struct clock_point *last, struct err *err);

/*
 * At the end: a thread that had the CPU all the time was never switched; say that it has it until now (a first event
 * that takes a CPU away means that the thread had it before).
 */
int kernel_write_last(struct kernel *kernel, struct trace_writer *writer, const struct clock_point *first,
                      const struct clock_point *last, struct err *err);

/* A descriptor that polls as readable when a ring is half full, or -1. */
int kernel_fd(const struct kernel *kernel);

/* Records that the kernel could not write, or that made no sense. */
uint64_t kernel_n_lost(const struct kernel *kernel);

#endif
