/*
 * A program for the kernel (BPF) that lets through the samples of one process: of an event that counts a whole CPU, the
 * kernel drops those of others before it copies anything.
 */
#ifndef CORE_PERF_PROCESS_FILTER_H
#define CORE_PERF_PROCESS_FILTER_H

#include <sys/types.h>

/*
 * pid: in our PID namespace; the process may be in one below.  For PERF_EVENT_IOC_SET_BPF.
 *
 * Returns a file descriptor, the caller's to close, or -1: no such process, not permitted (CAP_BPF and CAP_PERFMON), or
 * a kernel before Linux 5.7.
 */
int process_filter_load(pid_t pid);

#endif
