/*
 * The agent: what runs inside the target.  It is a guest: it never exits, aborts or prints; a probe takes no lock,
 * allocates nothing and makes no system call, but for one when its thread's ring fills while the recorder waits; on
 * trouble it stops and says why over the control connection.
 *
 * Here are the library's entry points and the session's thread (agent.c), what the recorder asks for (commands.c), what
 * a probe costs (calibrate.c), what is done in an emulator (emulate.c, emulated.c, track_objects.c), and counting
 * objects and receivers (count_objects.c, count_receivers.c).
 */
#ifndef CORE_AGENT_AGENT_H
#define CORE_AGENT_AGENT_H

#include "core/agent/control/control.h"
#include "core/agent/probe/probe.h"
#include "core/wire/ring.h"

#include <jvmti.h>

/* ---- agent ---- */

/* ---- commands.c ---- */

/* Borrowed. */
struct commands_session {
    struct control *control;
    const struct counting_plan *plan;
    struct segment *segment;
    uint32_t epoch;
};

/*
 * Do what the recorder asks for in this session, until it says stop or the connection ends; whatever was
 * under way has ended then.
 */
void commands_run(jvmtiEnv *jvmti, JNIEnv *jni, const struct commands_session *session);

/* ---- calibrate ---- */

/*
 * Once a session, before its first class is changed: define the probes' class, measure what a pair of probes costs
 * between its timestamps and outside of them, in ticks and in each counter's events, and publish it in the segment.
 * Returns 0, or -1 with *err set.
 */
int calibrate_once(jvmtiEnv *jvmti, JNIEnv *jni, const struct counting_plan *plan, struct segment *segment,
                   struct err *err);

#endif
