#include "report/switches.h"

static double switching_ns(const struct trace_cpu_time *cpu_time)
{
    return (double)cpu_time->accounted_ns - (double)cpu_time->slices_ns;
}

static const struct trace_cpu_time *cpu_time_of(const struct report_source *source, uint32_t thread)
{
    static const struct trace_cpu_time none;
    const struct trace_thread *about = trace_thread(source->reader, thread);
    return about == NULL ? &none : &about->cpu_time;
}

/* ns for each run slice, of all threads that were read; 0 where there are none, or the host kept more. */
static double mean_ns(const struct report_source *source)
{
    double ns = 0, n = 0;
    for (uint32_t i = 0; i < source->tree->n_threads; i++) {
        const struct trace_cpu_time *cpu_time = cpu_time_of(source, i);
        ns += cpu_time->is_known ? switching_ns(cpu_time) : 0;
        n += cpu_time->is_known ? (double)cpu_time->n_slices : 0;
    }
    return n > 0 && ns > 0 ? ns / n : 0;
}

void switches_compute(const struct report_source *source, struct switches *switches)
{
    const struct calltree *tree = source->tree;
    double mean = mean_ns(source);
    memset(switches, 0, sizeof *switches);
    if (tree->cpu_is_wall || tree->n_kernel_lost > 0)
        return;
    for (uint32_t i = 0; i < tree->n_threads; i++) {
        const struct calltree_thread *thread = &tree->threads[i];
        const struct trace_cpu_time *cpu_time = cpu_time_of(source, i);
        uint64_t n_read = cpu_time->is_known ? cpu_time->n_slices : 0;
        double rest_ns = thread->n_slices > n_read ? (double)(thread->n_slices - n_read) * mean : 0;
        switches->are_known = switches->are_known || cpu_time->is_known;
        switches->part_ns[thread->part] += (cpu_time->is_known ? switching_ns(cpu_time) : 0) + rest_ns;
        switches->spread_ns += rest_ns;
    }
    for (size_t p = 0; p < VM_PARTS; p++)
        switches->all_ns += switches->part_ns[p];
}
