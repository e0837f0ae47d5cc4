/*
 * A trace as slices of time: the calls of recorded methods, and the time of the VM's own threads on a CPU.
 */
#ifndef REPORT_EXPORT_EXPORT_SLICES_H
#define REPORT_EXPORT_EXPORT_SLICES_H

#include "core/base/err.h"
#include "core/trace/trace.h"
#include "symbolize/vm_parts.h"

struct slice {
    uint32_t thread;
    uint32_t method; /* or SLICE_ON_CPU */
    enum vm_part part;
    bool is_found; /* a call that was under way before it got probes: it may have ended long before its end here */
    uint64_t start_ticks, end_ticks;
};

#define SLICE_ON_CPU UINT32_MAX

/*
 * Read all of a trace (opened, nothing read yet) and hand over its slices in the order of their ends; calls that never
 * return end with the trace.
 *
 * named      a reader of the same trace that has read all of it, for a thread gets its last name late; or NULL: any
 * thread that has run no probes may be the VM's then. gap_ticks  pauses of a VM's thread that are shorter do not part
 * its slices.
 *
 * Returns 0, or -1 with *err set: damaged, no memory.
 */
int slices_read(struct trace_reader *reader, const struct trace_reader *named, uint64_t gap_ticks,
                void (*take)(void *context, const struct slice *slice), void *context, struct err *err);

#endif
