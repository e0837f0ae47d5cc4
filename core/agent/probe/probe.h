/* The native side of the probes: entries and exits of methods go into the thread's ring. */
#ifndef CORE_AGENT_PROBE_H
#define CORE_AGENT_PROBE_H

#include "core/agent/probe/counting.h"
#include "core/agent/probe/open_calls.h"
#include "core/wire/ring.h"

#include <jvmti.h>

/*
 * Let probes with this epoch's tokens record into the segment (borrowed, stays mapped for ever), and hand their
 * counters over to the socket (borrowed until probe_stop; -1: to nobody).
 */
void probe_start(struct segment *segment, const struct counting_plan *plan, jvmtiEnv *jvmti, int socket);

/*
 * Methods have got probes, or lost them: each thread looks for calls under way at its next entry.  find: how; once,
 * before probe_start (NULL: it does not).
 */
void probe_find_with(open_calls_find_fn *find);
void probe_find_open(void);

/* From now on entries record nothing, and exits of earlier entries neither, and no probe uses the socket. */
void probe_stop(void);

/* The current thread ends: give its ring back. */
void probe_thread_ended(void);

/*
 * A virtual thread comes to the current thread, with calls that it left open (a handle of unmounted.h, or 0).  It goes:
 * returns the handle of the calls that it leaves open, or 0.
 */
void probe_mount(uint32_t handle);
uint32_t probe_unmount(void);

/*
 * For calibration: let the current thread's probes write into n_words (a power of two) at words, over and over, until
 * probe_leave_private; tokens must have the given epoch.  They read the plan's counters, as they will in the session.
 *
 * Returns 0, or -1 with *failure set: the counters do not open, and records hold RING_NOT_COUNTED.
 */
int probe_enter_private(struct ring *ring, uint64_t *words, uint32_t n_words, uint32_t epoch,
                        const struct counting_plan *plan, struct counters_failure *failure);
void probe_leave_private(void);

#endif
