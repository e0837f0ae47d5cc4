/*
 * One event for each CPU in place of one for each thread and CPU: its period goes on from thread to thread, so that
 * threads which use less than a period have samples for their time, too.
 */
#include "core/perf/perf_rings_internal.h"

#include "core/perf/process_filter.h"

#include <sys/ioctl.h>
#include <unistd.h>

static int open_on_cpu(struct perf_rings *rings, struct perf_ring *ring, int filter)
{
    struct perf_event_attr attr;
    struct err ignored;
    perf_attr_cpu_samples(rings, &attr);
    int fd = counters_perf_open(&attr, -1, (int)ring->cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0 || perf_rings_take(rings, ring, fd, NO_OWNER, &ignored) < 0)
        return -1;
    rings->files[rings->n_files - 1].period = attr.sample_period;
    return ioctl(fd, PERF_EVENT_IOC_SET_BPF, filter) < 0 ? -1 : ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
}

bool perf_rings_cover_cpus(struct perf_rings *rings)
{
    int filter = process_filter_load(rings->pid);
    rings->has_cpus = filter >= 0;
    for (size_t i = 0; rings->has_cpus && i < rings->n_rings; i++)
        rings->has_cpus = open_on_cpu(rings, &rings->rings[i], filter) == 0;
    if (filter >= 0)
        close(filter);
    if (!rings->has_cpus)
        perf_rings_close_files(rings);
    return rings->has_cpus;
}
