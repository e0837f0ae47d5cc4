/*
 * The stack samples of a trace as CPU profiles, one for each thread, in the events that V8 writes: "Profile" and
 * "ProfileChunk", both of phase "P".  Perfetto, Chrome's DevTools and speedscope read them.
 */
#ifndef REPORT_EXPORT_EXPORT_PROFILE_H
#define REPORT_EXPORT_EXPORT_PROFILE_H

#include "core/base/arena.h"
#include "report/trace_samples.h"

/* All borrowed. */
struct export_profile {
    const struct trace_samples *samples; /* of a trace that was read to its end */
    const uint32_t *tids;                /* by thread: its track */
    const bool *has_slices;              /* by thread: there are other events on it */
    uint64_t start_ticks;                /* which is 0 us */
    double ns_per_tick;
    struct arena *arena;
    FILE *out;
};

/*
 * Print the events, each after a comma.  Stacks are whole: methods with probes stand in them as all others do.
 * Between samples that are further apart than the time that they stand for, the thread is "(idle)".
 *
 * Chrome's DevTools show no thread that has nothing but a profile, and no time outside of all slices: a thread without
 * other events gets a slice for each stretch of time between two such gaps.
 *
 * n  receives the number of samples; those of traces before minor version 7, which have no moment, are not among them.
 *
 * Returns 0, or -1 with *err set: no memory.
 */
int export_profile_print(const struct export_profile *profile, uint64_t *n, struct err *err);

#endif
