/*
 * What holds the target's control groups back, sampled: CPU quotas that stop them, memory limits, and what the kernel
 * says of waiting (PSI).  The files stay open, so that a reading is a pread for each: some 10 us of CPU time.
 */
#ifndef CORE_RECORDER_PRESSURE_H
#define CORE_RECORDER_PRESSURE_H

#include "core/jvm/cgroup.h"
#include "core/trace/trace.h"

#define PRESSURE_PERIOD_NS 90000000u /* readings are at least so far apart, */
#define PRESSURE_READINGS  36000u    /* and farther in a recording of more than an hour */
#define PRESSURE_WAITING   16u

enum pressure_file { PRESSURE_CPU, PRESSURE_MEMORY, PRESSURE_IO, PRESSURE_LIMIT, PRESSURE_KILLS, PRESSURE_FILES };

struct pressure {
    struct cpu_quota start, latest; /* of the groups: when a file of the trace began, and now */
    bool is_machine, has_told;      /* PSI is not the group's, but of all that runs; the trace has that */
    int stats[CPU_QUOTA_LEVELS];    /* cpu.stat of each group; -1: none, also of those that follow */
    int files[PRESSURE_FILES];
    uint64_t values[TRACE_PRESSURES]; /* the latest ones; of the quota: sums since the first reading */
    uint64_t first_ns, read_ns, read_ticks;
    struct trace_pressure waiting[PRESSURE_WAITING]; /* to be written */
    uint32_t n_waiting;
};

void pressure_init(struct pressure *pressure);

/* Find the groups of a process, and read them for the first time; root as in cgroup_find. */
void pressure_open(struct pressure *pressure, const char *root, pid_t pid, uint64_t now_ns, uint64_t ticks);
void pressure_close(struct pressure *pressure);

/* Read them, if it is time (or always); what has changed waits to be written.  Also when the process has ended: what
 * cannot be read stays as it was. */
void pressure_look(struct pressure *pressure, uint64_t now_ns, uint64_t ticks, bool always);

/* Returns 0, or -1 with *err set. */
int pressure_write(struct pressure *pressure, struct trace_writer *writer, struct err *err);

#endif
