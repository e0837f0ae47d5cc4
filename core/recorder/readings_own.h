/*
 * For readings.c: where a thread's counters are; nobody else includes it.
 */
#ifndef CORE_RECORDER_READINGS_OWN_H
#define CORE_RECORDER_READINGS_OWN_H

#include "core/recorder/readings.h"

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

#endif
