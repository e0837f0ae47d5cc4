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

#endif
