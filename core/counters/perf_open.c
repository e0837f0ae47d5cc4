#include "core/counters/perf_open.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

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
    attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
#if defined(__aarch64__)
    if (attr->type != PERF_TYPE_SOFTWARE && attr->type != PERF_TYPE_TRACEPOINT)
        attr->config1 |= ARMV8_USER_READ;
#else
    (void)ARMV8_USER_READ;
#endif
}
