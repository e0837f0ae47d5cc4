/*
 * The CPU quota of a process' control groups (a container's limit), and how often the kernel has stopped them for it.
 */
#ifndef CORE_JVM_CPU_QUOTA_H
#define CORE_JVM_CPU_QUOTA_H

#include "core/jvm/cgroup.h"

#define CPU_QUOTA_LEVELS 8 /* groups, from the process' own up */

struct cpu_quota_level {
    double cpus;         /* that the group may use; 0: no quota */
    uint64_t n_stopped;  /* periods in which the group was stopped, since it was made */
    uint64_t stopped_ns; /* for so long, of all CPUs together */
};

struct cpu_quota {
    struct cgroup group; /* the process' own */
    struct cpu_quota_level levels[CPU_QUOTA_LEVELS];
    uint32_t n; /* 0: it is in no such group */
};

/*
 * Find the groups of a process and read them; root as in cgroup_find.  Returns whether one of them has a quota; without
 * a group, quota->n is 0.
 */
bool cpu_quota_find(const char *root, pid_t pid, struct cpu_quota *quota);

/* Read them again, also when the process has ended; what cannot be read stays as it was. */
void cpu_quota_read(struct cpu_quota *quota);

/* The group with a quota that was stopped longest between two readings; false: none has a quota. */
bool cpu_quota_since(const struct cpu_quota *start, const struct cpu_quota *end, struct cpu_quota_level *most);

#endif
