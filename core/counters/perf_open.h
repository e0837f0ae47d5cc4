/*
 * The one door to perf_event_open(2), for the CLI and the agent alike: libc only, no malloc, no stdio.
 */
#ifndef CORE_COUNTERS_PERF_OPEN_H
#define CORE_COUNTERS_PERF_OPEN_H

#include <linux/perf_event.h>
#include <stdint.h>
#include <sys/types.h>

/* Hardware events of one session; each thread has them as one group. */
#define COUNTERS_MAX 8

enum counter_exclude { COUNTER_NO_USER = 1, COUNTER_NO_KERNEL = 2, COUNTER_NO_HYPERVISOR = 4 };

/* An event as the kernel understands it; plain data, so that the CLI can hand it to the agent. */
struct counter_code {
    uint32_t type;    /* perf_event_attr.type */
    uint32_t exclude; /* enum counter_exclude, or-ed */
    uint64_t config, config1, config2;
};

typedef int counters_perf_open_fn(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd, unsigned long flags);

/* Returns a file descriptor, or -1 with errno set. */
int counters_perf_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd, unsigned long flags);

/* Put fn in the place of the system call (for tests); NULL restores the system call.  Not while threads open. */
void counters_perf_open_replace(counters_perf_open_fn *fn);

/*
 * The attributes with which an event counts one thread: enabled at once, not inherited, readable in user space (on
 * aarch64 that has to be asked for), read(2) gives value, time enabled, time running.
 */
void counters_attr(const struct counter_code *code, struct perf_event_attr *attr);

#endif
