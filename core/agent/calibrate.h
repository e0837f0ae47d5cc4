/* What a pair of probes costs. */
#ifndef CORE_AGENT_CALIBRATE_H
#define CORE_AGENT_CALIBRATE_H

#include "core/agent/probe/counting.h"
#include "core/wire/ring.h"

#include <jvmti.h>

/*
 * Once a session, before its first class is changed: define the probes' class, measure what a pair of probes costs
 * between its timestamps and outside of them, in ticks and in each counter's events, and publish it in the segment.
 * Returns 0, or -1 with *err set.
 */
int calibrate_once(jvmtiEnv *jvmti, JNIEnv *jni, const struct counting_plan *plan, struct segment *segment,
                   struct err *err);

#endif
