#include "core/jvm/cgroup.h"

static double read_cpus(const struct cgroup *group)
{
    uint64_t numbers[2] = { CGROUP_MAX, 0 };
    if (group->is_v2)
        cgroup_numbers(group, "cpu.max", numbers, 2);
    else if (cgroup_number(group, "cpu.cfs_quota_us", &numbers[0]))
        cgroup_number(group, "cpu.cfs_period_us", &numbers[1]);
    return numbers[0] == CGROUP_MAX || numbers[1] == 0 ? 0 : (double)numbers[0] / (double)numbers[1];
}

static void read_level(const struct cgroup *group, struct cpu_quota_level *level)
{
    uint64_t n, time;
    if (!cgroup_keyed(group, "cpu.stat", "nr_throttled", &n) ||
        !cgroup_keyed(group, "cpu.stat", group->is_v2 ? "throttled_usec" : "throttled_time", &time))
        return;
    *level = (struct cpu_quota_level){ read_cpus(group), n, group->is_v2 ? time * 1000 : time };
}

bool cpu_quota_find(const char *root, pid_t pid, struct cpu_quota *quota)
{
    struct cgroup at;
    bool has_quota = false;
    memset(quota, 0, sizeof *quota);
    if (!cgroup_find(root, pid, "cpu", &quota->group))
        return false;
    at = quota->group;
    do
        quota->n++;
    while (quota->n < CPU_QUOTA_LEVELS && cgroup_up(&at));
    cpu_quota_read(quota);
    for (uint32_t i = 0; i < quota->n; i++)
        has_quota = has_quota || quota->levels[i].cpus > 0;
    return has_quota;
}

void cpu_quota_read(struct cpu_quota *quota)
{
    struct cgroup at = quota->group;
    for (uint32_t i = 0; i < quota->n; i++) {
        read_level(&at, &quota->levels[i]);
        cgroup_up(&at);
    }
}

bool cpu_quota_since(const struct cpu_quota *start, const struct cpu_quota *end, struct cpu_quota_level *most)
{
    bool has_quota = false;
    for (uint32_t i = 0; i < end->n && i < start->n; i++) {
        const struct cpu_quota_level *from = &start->levels[i], *to = &end->levels[i];
        uint64_t ns = to->stopped_ns - from->stopped_ns;
        bool is_more = !has_quota || ns > most->stopped_ns || (ns == most->stopped_ns && to->cpus < most->cpus);
        if (to->cpus <= 0 || to->stopped_ns < from->stopped_ns || !is_more)
            continue;
        *most = (struct cpu_quota_level){ to->cpus, to->n_stopped - from->n_stopped, ns };
        has_quota = true;
    }
    return has_quota;
}
