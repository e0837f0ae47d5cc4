/*
 * The log of sampled allocations: a thread of the agent's writes what allocation_events.h has taken, with the names of
 * classes and methods, as core/wire/poll_log.h says.
 */
#ifndef CORE_AGENT_ALLOCATION_LOG_H
#define CORE_AGENT_ALLOCATION_LOG_H

#include "core/base/err.h"

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Begin, in a thread of its own, and append to a log (its descriptor is taken over).
 *
 * part_ppm  of the process' CPU time, in millionths, that it may take in the threads that allocate; a few samples a
 *           second are taken in any case
 * is_tracking  say when each of the objects has gone, too (weak_objects.h)
 *
 * Returns 0, or -1 with *err set: as allocation_events_begin, or there is no thread to be had.
 */
int allocation_log_start(jvmtiEnv *jvmti, JNIEnv *jni, int fd, uint32_t part_ppm, bool is_tracking, struct err *err);

/* End, and wait until that thread has. */
void allocation_log_stop(void);

#endif
