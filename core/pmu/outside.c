#include "core/pmu/outside.h"

static int open_slot(const struct counter_layout *layout, uint32_t slot, pid_t tid, int leader)
{
    struct perf_event_attr attr;
    counters_attr(&layout->codes[slot], &attr);
    return counters_perf_open(&attr, tid, -1, leader, PERF_FLAG_FD_CLOEXEC);
}

int counters_outside_open(struct counters_outside *outside, const struct counter_layout *layout, pid_t tid,
                          struct counters_failure *failure)
{
    *outside = (struct counters_outside){ .n_slots = 0 };
    *failure = (struct counters_failure){ .error = EINVAL, .step = COUNTERS_OPEN };
    if (layout->n_groups == 0 || !counter_layout_valid(layout))
        return -1;
    for (uint32_t g = 0; g < layout->n_groups; g++)
        for (uint32_t slot = layout->first[g]; slot < layout->first[g + 1]; slot++) {
            int leader = slot == layout->first[g] ? -1 : outside->fds[layout->first[g]];
            outside->fds[slot] = open_slot(layout, slot, tid, leader);
            if (outside->fds[slot] < 0) {
                *failure = (struct counters_failure){ .error = errno, .step = COUNTERS_OPEN, .i = slot };
                counters_outside_close(outside);
                return -1;
            }
            outside->n_slots = slot + 1;
        }
    return 0;
}

void counters_outside_adopt(struct counters_outside *outside, const struct counter_layout *layout,
                            const int *leader_fds)
{
    *outside = (struct counters_outside){ .n_slots = layout->n_slots };
    for (uint32_t slot = 0; slot < layout->n_slots; slot++)
        outside->fds[slot] = -1;
    for (uint32_t g = 0; g < layout->n_groups; g++)
        outside->fds[layout->first[g]] = leader_fds[g];
}

void counters_outside_simulated(struct counters_outside *outside, const struct counter_layout *layout,
                                const struct simulated_thread *thread, bool since_base)
{
    int none[COUNTERS_GROUPS_MAX];
    for (int g = 0; g < COUNTERS_GROUPS_MAX; g++)
        none[g] = -1;
    counters_outside_adopt(outside, layout, none);
    outside->simulated = *thread;
    outside->simulated.since_base = since_base;
}

bool counters_outside_read(struct counters_outside *outside, const struct counter_layout *layout, uint64_t *columns)
{
    struct counters_reading reading;
    if (outside->n_slots == 0)
        return false;
    if (outside->simulated.slot != NULL) {
        outside->simulated.read(&outside->simulated, layout, columns);
        return true;
    }
    for (uint32_t g = 0; g < layout->n_groups; g++) {
        uint32_t slot = layout->first[g], n = layout->first[g + 1] - slot;
        if (!counters_read_group(outside->fds[slot], n, &reading))
            return false;
        for (uint32_t i = 0; i < n; i++)
            columns[slot + i] = reading.values[i];
        if (layout->n_groups > 1)
            columns[layout->n_slots + g] = reading.running_ns;
        if (g == 0 && layout->n_groups > 1)
            columns[layout->n_slots + layout->n_groups] = reading.enabled_ns;
    }
    if (layout->n_groups > 1)
        return true;
    uint64_t missed_ns = reading.enabled_ns - reading.running_ns;
    if (!outside->has_first)
        outside->missed_ns = missed_ns;
    outside->has_first = true;
    return missed_ns == outside->missed_ns;
}

void counters_outside_close(struct counters_outside *outside)
{
    /* The leaders last: without them the others would become groups of their own. */
    for (uint32_t slot = outside->n_slots; slot > 0; slot--)
        if (outside->fds[slot - 1] >= 0)
            close(outside->fds[slot - 1]);
    outside->n_slots = 0;
}
