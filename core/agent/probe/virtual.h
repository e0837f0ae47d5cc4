/*
 * Virtual threads (JDK 21 and later): the agent hears when one comes to a carrier and when it goes.
 *
 * By the JVM's own events, 50 ns each; they are HotSpot's extensions to JVMTI, posted in the carrier, the first after a
 * virtual thread's start and the last before its end.  What a virtual thread left open is found again by its JVMTI
 * thread-local storage.
 */
#ifndef CORE_AGENT_VIRTUAL_H
#define CORE_AGENT_VIRTUAL_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

/* What the JVM can tell, if it has virtual threads at all: once in its life, when the environment is made. */
void virtual_init(jvmtiEnv *jvmti);

/* Hear of them in the session of an epoch, or no more (0). */
void virtual_listen(jvmtiEnv *jvmti, uint32_t epoch);

/* The carrier of the current thread as a local reference, or NULL: it is itself no virtual thread. */
jthread virtual_carrier(jvmtiEnv *jvmti);

/* Is the current thread virtual, or one of those that carry them?  Any thread, at any time. */
bool virtual_is_near(jvmtiEnv *jvmti, JNIEnv *jni);

/* The virtual thread on a carrier, now, as a local reference, or NULL: there is none. */
jthread virtual_mounted(jvmtiEnv *jvmti, jthread carrier);

#endif
