#include "core/pmu/perf_open.h"

#include <sys/syscall.h>

/* armv8 PMU, config1: bit 0 asks for a 64-bit counter, bit 1 for reads in user space. */
#define ARMV8_USER_READ UINT64_C(2)

static int system_call(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd, unsigned long flags)
{
    return (int)syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, flags);
}

static counters_perf_open_fn *open_event = system_call;

int counters_perf_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd, unsigned long flags)
{
    return open_event(attr, pid, cpu, group_fd, flags);
}

void counters_perf_open_replace(counters_perf_open_fn *fn)
{
    open_event = fn != NULL ? fn : system_call;
}

void counters_attr(const struct counter_code *code, struct perf_event_attr *attr)
{
    memset(attr, 0, sizeof *attr);
    attr->size = sizeof *attr;
    attr->type = code->type;
    attr->config = code->config;
    attr->config1 = code->config1;
    attr->config2 = code->config2;
    attr->exclude_user = (code->exclude & COUNTER_NO_USER) != 0;
    attr->exclude_kernel = (code->exclude & COUNTER_NO_KERNEL) != 0;
    attr->exclude_hv = (code->exclude & COUNTER_NO_HYPERVISOR) != 0;
    attr->read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
#if defined(__aarch64__)
    if (attr->type != PERF_TYPE_SOFTWARE && attr->type != PERF_TYPE_TRACEPOINT)
        attr->config1 |= ARMV8_USER_READ;
#else
    (void)ARMV8_USER_READ;
#endif
}

static bool read_call(int leader_fd, struct counters_reading *reading)
{
    const size_t head_bytes = offsetof(struct counters_reading, values);
    ssize_t n = read(leader_fd, reading, sizeof *reading);
    return n >= (ssize_t)head_bytes && (size_t)n == head_bytes + reading->n * sizeof reading->values[0];
}

static counters_perf_read_fn *read_group = read_call;

bool counters_read_group(int leader_fd, uint32_t n, struct counters_reading *reading)
{
    return n <= COUNTERS_GROUP_MAX && read_group(leader_fd, reading) && reading->n == n;
}

void counters_perf_read_replace(counters_perf_read_fn *fn)
{
    read_group = fn != NULL ? fn : read_call;
}

/* ---- layouts ---- */

static uint32_t group_max(const struct counter_code *first)
{
    return first->type == COUNTERS_SIMULATED ? COUNTERS_EVENTS_MAX : COUNTERS_GROUP_MAX;
}

int counter_layout_add(struct counter_layout *layout, const struct counter_code *codes, const uint8_t *events,
                       uint32_t n)
{
    if (n < 1 || n > group_max(codes) || layout->n_groups == COUNTERS_GROUPS_MAX ||
        layout->n_slots + n > COUNTERS_SLOTS_MAX)
        return -1;
    layout->first[0] = 0;
    for (uint32_t i = 0; i < n; i++, layout->n_slots++) {
        layout->codes[layout->n_slots] = codes[i];
        layout->event[layout->n_slots] = events[i];
    }
    layout->first[++layout->n_groups] = layout->n_slots;
    return 0;
}

bool counter_layout_valid(const struct counter_layout *layout)
{
    if (layout->n_groups > COUNTERS_GROUPS_MAX || layout->n_slots > COUNTERS_SLOTS_MAX)
        return false;
    if (layout->n_groups == 0)
        return layout->n_slots == 0;
    for (uint32_t g = 0; g < layout->n_groups; g++)
        if (layout->first[g + 1] <= layout->first[g] || layout->first[g] >= COUNTERS_SLOTS_MAX ||
            layout->first[g + 1] - layout->first[g] > group_max(&layout->codes[layout->first[g]]))
            return false;
    return layout->first[0] == 0 && layout->first[layout->n_groups] == layout->n_slots;
}

uint32_t counter_layout_columns(const struct counter_layout *layout)
{
    return layout->n_slots + (layout->n_groups > 1 ? layout->n_groups + 1 : 0);
}
