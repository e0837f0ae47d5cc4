/*
 * Allocations that the agent samples in a recording.
 */
#ifndef CORE_RECORDER_RECORDER_ALLOCATIONS_H
#define CORE_RECORDER_RECORDER_ALLOCATIONS_H

#include "core/recorder/poll_sampler.h"
#include "core/recorder/recorder_now.h"
#include "core/recorder/sample_log.h"

struct recorder_allocations {
    const struct recorder_now *now; /* borrowed, as the next two are */
    struct recorder_link *link;
    struct sample_log *log;       /* of the stack samples, whose contexts they share */
    struct poll_sampler *sampler; /* owned; NULL: not yet, or never */
    uint64_t drained_ns;
    bool is_ours;  /* the recording has failed, not the sampling */
    char why[256]; /* there are none, if so */
};

/*
 * Begin, or write what was sampled since the last call, twice a second, or with all now; write the metadata of a file;
 * and write what is left when the agent has ended, with the metadata.  Each returns 0, or -1 with *err set.
 */
int recorder_write_allocations(struct recorder_allocations *a, bool all, struct err *err);
int recorder_tell_allocations(struct recorder_allocations *a, struct err *err);
int recorder_end_allocations(struct recorder_allocations *a, struct err *err);
void recorder_close_allocations(struct recorder_allocations *a);

/* CPU time that the JVM lost by them. */
uint64_t recorder_allocations_ns(const struct recorder_allocations *a);

#endif
