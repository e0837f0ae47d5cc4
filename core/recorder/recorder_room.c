/*
 * The memory that a recording may take: what the target's memory group and ours have left of their limits.
 *
 * Near a limit the kernel kills the largest process, which is the JVM.  So a recording does not begin there; it ends
 * when one comes near; and where memory runs out all the same, the kernel is to kill this process.
 */
#include "core/recorder/recorder_parts.h"

#include "core/base/xalloc.h"
#include "core/jvm/cgroup.h"
#include "core/recorder/clock.h"

#define LOOK_NS      500000000u
#define LOOK_FAR_NS  2000000000u /* where more than half of a limit is left: 20 files are read for it */
#define LOOK_NEAR_NS 100000000u  /* where less than an eighth of a limit is left */
#define MB           ((uint64_t)1 << 20)
#define FAR_BYTES    (1024 * MB)
#define START_BYTES  (4 * MB)  /* the agent, its thread, what loading it takes */
#define OWN_BYTES    (16 * MB) /* what mmprof takes itself, without buffers */
#define CHANGE_PART  10 /* of the target's room that changed classes may take of metaspace: of all, five times it */
#define TARGET_PART  8  /* of it that buffers may take, if it is a group's */
#define KEPT_MIN     (32 * MB) /* that we may allocate, a half of our room */
#define KEPT_MAX     (2048 * MB)
#define GROUP_PART   4 /* of our room that buffers may take, if it is a group's */
#define MACHINE_PART 8 /* if it is the machine's */

/* That is left alone. */
static uint64_t reserve_bytes(const struct memory_room *room)
{
    uint64_t bytes = room->limit_bytes / 64;
    return room->limit_bytes == MEMORY_ROOM_ANY ? 32 * MB : bytes < MB ? MB : bytes > 8 * MB ? 8 * MB : bytes;
}

/* pid 0: mmprof itself. */
static void describe(pid_t pid, const struct memory_room *room, char *text, size_t n)
{
    char whose[32] = "mmprof";
    if (pid != 0)
        snprintf(whose, sizeof whose, "JVM %d", (int)pid);
    if (room->limit_bytes == MEMORY_ROOM_ANY)
        snprintf(text, n, "the machine has %.1f MB of memory left", (double)room->bytes / 1e6);
    else
        snprintf(text, n, "%s has %.1f MB left of the memory limit of its control group (%.1f MB)", whose,
                 (double)room->bytes / 1e6, (double)room->limit_bytes / 1e6);
}

static bool is_one_group(pid_t pid)
{
    struct cgroup ours, its;
    return pid == 0 || (cgroup_find("", 0, "memory", &ours) && cgroup_find("", pid, "memory", &its) &&
                        strcmp(ours.path, its.path) == 0);
}

static int check_target(pid_t pid, const struct memory_room *its, struct err *err)
{
    bool is_ours = is_one_group(pid);
    char text[160];
    if (its->bytes >= 2 * reserve_bytes(its) + START_BYTES + (is_ours ? OWN_BYTES : 0))
        return 0;
    describe(pid, its, text, sizeof text);
    err_set(err, "%s: recording could get the JVM killed", text);
    return err_next(err, is_ours ? "run mmprof outside of that group, or give the group more memory"
                                 : "give the group more memory, or the JVM a smaller heap");
}

int recorder_room_open(struct recorder_room *own, pid_t pid, struct ring_memory_plan *plan, struct err *err)
{
    pid_t tids[1];
    struct memory_room ours = memory_room_read("", 0), its = memory_room_read("", pid);
    int n_threads = pid == 0 ? 0 : jvm_process_threads(pid, tids, 0);
    if (check_target(pid, &its, err) < 0)
        return -1;
    own->is_one_group = pid != 0 && is_one_group(pid);
    own->change_bytes =
        its.limit_bytes == MEMORY_ROOM_ANY ? MEMORY_ROOM_ANY : (its.bytes - reserve_bytes(&its)) / CHANGE_PART;
    own->own_bytes = ours.bytes / 2 < KEPT_MIN ? KEPT_MIN : ours.bytes / 2 > KEPT_MAX ? KEPT_MAX : ours.bytes / 2;
    memory_room_bind(own->own_bytes);
    snprintf(own->next, sizeof own->next,
             "mmprof may allocate %.0f MB here: record less, with --include or for a shorter time (-d)",
             (double)own->own_bytes / 1e6);
    out_of_memory_next(own->next);
    plan->n_threads = n_threads > 0 ? (uint32_t)n_threads : 0;
    plan->limit_bytes = ours.bytes / (ours.limit_bytes == MEMORY_ROOM_ANY ? MACHINE_PART : GROUP_PART);
    /* Buffers are touched as they are used, and near the limit the recording ends: no group has one to be killed by. */
    uint64_t for_buffers = its.limit_bytes == MEMORY_ROOM_ANY ? its.bytes : its.bytes / TARGET_PART;
    plan->target_bytes = segment_memory_is_strict() || !its.knows_group ? 0 : for_buffers;
    return 0;
}

void recorder_room_close(void)
{
    memory_room_unbind();
    out_of_memory_next(NULL);
}

bool recorder_room_is_low(struct recorder_room *own, pid_t pid, struct segment *segment)
{
    uint64_t now_ns = clock_ns(CLOCK_MONOTONIC_RAW);
    if (own->why[0] != '\0' || now_ns < own->look_ns)
        return own->why[0] != '\0';
    own->look_ns = now_ns + LOOK_FAR_NS;
    for (int is_target = own->is_one_group; is_target < 2; is_target++) {
        struct memory_room room = memory_room_read("", is_target ? pid : 0);
        uint64_t reserve = reserve_bytes(&room);
        bool is_group = room.limit_bytes != MEMORY_ROOM_ANY;
        if (room.bytes < (is_group ? room.limit_bytes / 2 : FAR_BYTES) && own->look_ns > now_ns + LOOK_NS)
            own->look_ns = now_ns + LOOK_NS;
        if (is_group && room.bytes < room.limit_bytes / 8)
            own->look_ns = now_ns + LOOK_NEAR_NS;
        if (room.bytes < 2 * reserve)
            atomic_store(&segment->changes, SEGMENT_CHANGES_NO_MORE);
        if (is_target && room.bytes < reserve)
            atomic_store(&segment->changes, SEGMENT_CHANGES_NONE);
        if (room.bytes < reserve)
            describe(is_target ? pid : 0, &room, own->why, sizeof own->why);
    }
    return own->why[0] != '\0';
}
