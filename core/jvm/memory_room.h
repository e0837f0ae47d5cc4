/*
 * How much memory a process can still be charged for before the kernel kills something: what the limits of its memory
 * groups leave, and what the machine has.
 */
#ifndef CORE_JVM_MEMORY_ROOM_H
#define CORE_JVM_MEMORY_ROOM_H

#include "core/jvm/cgroup.h"

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
