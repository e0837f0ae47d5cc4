#include "core/jvm/cgroup.h"

#include "core/jvm/process.h"

#include <fcntl.h>
#include <sys/resource.h>

/* Page cache that the kernel can take back without much ado, in the group and those below it. */
static uint64_t reclaimable(const struct cgroup *group)
{
    static const char *const v1[] = { "total_inactive_file", "total_active_file", "total_dirty", "total_writeback" };
    static const char *const v2[] = { "inactive_file", "active_file", "file_dirty", "file_writeback" };
    uint64_t n[4] = { 0, 0, 0, 0 };
    cgroup_keys(group, "memory.stat", group->is_v2 ? v2 : v1, n, 4);
    uint64_t cache = n[0] + n[1] / 2, busy = n[2] + n[3];
    return cache > busy ? cache - busy : 0;
}

/* Lower the room to what one limit of a group leaves. */
static void lower(const struct cgroup *group, const char *limit_file, const char *used_file, struct memory_room *room)
{
    uint64_t limit, used;
    if (!cgroup_number(group, limit_file, &limit) || limit == CGROUP_MAX || !cgroup_number(group, used_file, &used))
        return;
    uint64_t cache = reclaimable(group);
    used -= cache < used ? cache : used;
    uint64_t left = limit > used ? limit - used : 0;
    if (left < room->bytes)
        *room = (struct memory_room){ left, limit, room->knows_group };
}

static void lower_to_machine(const char *root, struct memory_room *room)
{
    char path[CGROUP_PATH_BYTES], info[4096];
    snprintf(path, sizeof path, "%s/proc/meminfo", root);
    const char *line = jvm_read_file(path, info, sizeof info) > 0 ? strstr(info, "MemAvailable:") : NULL;
    uint64_t bytes = line == NULL ? MEMORY_ROOM_ANY : strtoull(line + strlen("MemAvailable:"), NULL, 10) * 1024;
    if (bytes < room->bytes)
        *room = (struct memory_room){ bytes, MEMORY_ROOM_ANY, room->knows_group };
}

struct memory_room memory_room_read(const char *root, pid_t pid)
{
    struct cgroup group;
    struct memory_room room = { MEMORY_ROOM_ANY, MEMORY_ROOM_ANY, cgroup_find(root, pid, "memory", &group) };
    for (bool is_there = room.knows_group; is_there; is_there = cgroup_up(&group)) {
        if (group.is_v2) {
            lower(&group, "memory.max", "memory.current", &room);
            lower(&group, "memory.high", "memory.current", &room);
        } else {
            lower(&group, "memory.limit_in_bytes", "memory.usage_in_bytes", &room);
            lower(&group, "memory.memsw.limit_in_bytes", "memory.memsw.usage_in_bytes", &room);
        }
    }
    lower_to_machine(root, &room);
    return room;
}

#define OOM_FILE  "/proc/self/oom_score_adj"
#define OOM_FIRST "1000"

/* This process' score before it was raised; "": it was not. */
static char oom_before[16];

static bool write_score(const char *score)
{
    int fd = open(OOM_FILE, O_WRONLY | O_CLOEXEC);
    bool is_written = fd >= 0 && write(fd, score, strlen(score)) > 0;
    if (fd >= 0)
        close(fd);
    return is_written;
}

void memory_room_yield(void)
{
    char before[sizeof oom_before];
    if (oom_before[0] == '\0' && jvm_read_file(OOM_FILE, before, sizeof before) > 0 && write_score(OOM_FIRST))
        memcpy(oom_before, before, sizeof before);
}

void memory_room_restore(void)
{
    if (oom_before[0] != '\0' && write_score(oom_before))
        oom_before[0] = '\0';
    memory_room_unbind();
}

static struct rlimit data_before;
static bool is_bound;

/* Of this process: what RLIMIT_DATA counts. */
static uint64_t data_bytes(void)
{
    char statm[256];
    unsigned long pages = 0;
    if (jvm_read_file("/proc/self/statm", statm, sizeof statm) > 0)
        sscanf(statm, "%*u %*u %*u %*u %*u %lu", &pages);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

void memory_room_bind(uint64_t bytes)
{
    if (is_bound || getrlimit(RLIMIT_DATA, &data_before) < 0)
        return;
    struct rlimit limit = { data_bytes() + bytes, data_before.rlim_max };
    if (limit.rlim_cur < data_before.rlim_cur)
        is_bound = setrlimit(RLIMIT_DATA, &limit) == 0;
}

void memory_room_unbind(void)
{
    if (is_bound)
        is_bound = setrlimit(RLIMIT_DATA, &data_before) < 0;
}
