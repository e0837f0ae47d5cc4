/* Parts of readings.c. */
#ifndef CORE_RECORDER_READINGS_PARTS_H
#define CORE_RECORDER_READINGS_PARTS_H

#include "core/recorder/readings.h"

/* For readings.c: where a thread's counters are; nobody else includes it. */

/*
 * Open what counts a thread from now on.  Returns 0, or -1 with *failure set; EAGAIN: the simulator has not seen the
 * thread yet.
 */
int readings_open_own(const struct readings *readings, struct counters_outside *own, pid_t tid,
                      struct counters_failure *failure);

/* Of a thread with a ring, the simulated counters as its probes read them; NULL: there are none. */
struct counters_outside *readings_simulated_probes(struct readings *readings, const struct recorder_thread *thread);

/* Is a descriptor that came from outside an event?  Reading anything else could wait for ever. */
bool readings_is_event(int fd);

/* For readings.c: a round's readings, which wait to be written; nobody else includes it. */

struct pending_reading {
    uint32_t thread, series;
    uint64_t ticks;
    size_t values; /* index of the first one */
};

/* One more, with room for its values. */
struct pending_reading *readings_pending_new(struct readings *readings);

/* The first one of a thread after these ticks, or NULL. */
struct pending_reading *readings_pending_after(struct readings *readings, uint32_t thread, uint64_t ticks);

void readings_pending_free(struct readings *readings);

#endif
