/*
 * The control groups of a process, version 1 and 2, as files below our own mounts.
 *
 *     struct cgroup group;
 *     bool is_there = cgroup_find("", pid, "memory", &group);
 *     for (; is_there; is_there = cgroup_up(&group))
 *         cgroup_number(&group, group.is_v2 ? "memory.max" : "memory.limit_in_bytes", &limit);
 */
#ifndef CORE_JVM_CGROUP_H
#define CORE_JVM_CGROUP_H

#include "core/base/std.h"

#define CGROUP_PATH_BYTES 4096
#define CGROUP_MAX        UINT64_MAX /* "max", or version 1's number for no limit */

struct cgroup {
    bool is_v2;
    size_t mount_length;          /* of path: where the controller is mounted; its parents end there */
    char path[CGROUP_PATH_BYTES]; /* the group's directory */
};

/*
 * Find the group of a process (0: of ours) in which a controller ("memory", "cpu") counts it.  root is put in front of
 * /proc and of the mount points: "" outside of tests.  Returns false when the process is gone, no hierarchy has the
 * controller, or the group is outside of what our mounts show (another container).
 */
bool cgroup_find(const char *root, pid_t pid, const char *controller, struct cgroup *group);

/* Go to its parent.  Returns false at the top of the mount. */
bool cgroup_up(struct cgroup *group);

/* Read a file of n numbers or "max".  Returns false when the group has no such file, or it has fewer. */
bool cgroup_numbers(const struct cgroup *group, const char *file, uint64_t *numbers, size_t n);

/* Read a file with one number or "max".  Returns false when the group has no such file. */
bool cgroup_number(const struct cgroup *group, const char *file, uint64_t *number);

/* Read a number from a file of lines "KEY NUMBER" (memory.stat, cpu.stat).  Returns false when it is not there. */
bool cgroup_keyed(const struct cgroup *group, const char *file, const char *key, uint64_t *number);

/* The same of n keys at once; numbers of keys that are not there are left alone.  Returns how many are there. */
size_t cgroup_keys(const struct cgroup *group, const char *file, const char *const *keys, uint64_t *numbers, size_t n);
size_t cgroup_keys_in(const char *text, const char *const *keys, uint64_t *numbers, size_t n); /* of a text */

/*
 * The CPU quota of a process' control groups (a container's limit), and how often the kernel has stopped them for it.
 */

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

/*
 * How much memory a process can still be charged for before the kernel kills something: what the limits of its memory
 * groups leave, and what the machine has.
 */

#define MEMORY_ROOM_ANY UINT64_MAX

struct memory_room {
    uint64_t bytes;       /* of the group, or the parent of it, that has least; MEMORY_ROOM_ANY: no limit is known */
    uint64_t limit_bytes; /* of that group; MEMORY_ROOM_ANY: the machine */
    bool knows_group;     /* else it is in another container, whose limits we do not see */
};

/*
 * The room of a process (0: ours).  A group's room is its limit less what it uses; page cache that the kernel can drop
 * at once (inactive and clean) does not count as used.  Swap does not add room: a JVM that swaps is harmed, too.  root:
 * as in cgroup_find.
 */
struct memory_room memory_room_read(const char *root, pid_t pid);

/*
 * Have the kernel kill this process first where memory runs out, and no JVM.  A child inherits that, and the bound
 * below: before it becomes a program that is not ours it calls memory_room_restore, which undoes both.
 */
void memory_room_yield(void);
void memory_room_restore(void);

/*
 * Let this process allocate so many bytes more (RLIMIT_DATA), until memory_room_unbind: what a hostile JVM tells is
 * kept up to there only, and then an allocation fails.
 */
void memory_room_bind(uint64_t bytes);
void memory_room_unbind(void);

#endif
