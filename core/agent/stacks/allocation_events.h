/*
 * Objects that the JVM samples when they are allocated (JVMTI's SampledObjectAlloc, JDK 11 and later).
 *
 * Of each thread's bytes the JVM draws after how many it samples the next object, with a mean of one interval.  In the
 * thread itself only its stack is taken, into a slot of a table; the thread of allocation_log.c takes it from there,
 * and finds out what its methods are called.  The interval is made longer at once when samples come too fast, and
 * shorter by and by when they are few: at most about a hundred a second, whatever the program does, and at a cost.
 */
#ifndef CORE_AGENT_ALLOCATION_EVENTS_H
#define CORE_AGENT_ALLOCATION_EVENTS_H

#include "core/base/err.h"

#include <jvmti.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define ALLOCATION_FRAMES_MAX 256
#define ALLOCATION_SLOTS      256u

enum allocation_slot_state { ALLOCATION_FREE, ALLOCATION_TAKEN, ALLOCATION_READY };

struct allocation_slot {
    _Atomic int state;
    int32_t tid;
    uint64_t time_ns, size_bytes, interval_bytes, before_bytes;
    char *signature; /* of the object's class, the JVM's; NULL: not known */
    jweak ref;       /* to the object, owned; NULL: it is not tracked */
    jint n_frames;   /* the innermost first */
    jvmtiFrameInfo frames[ALLOCATION_FRAMES_MAX + 1];
};

/* ALLOCATION_SLOTS of them, from the first allocation_events_begin on. */
struct allocation_slot *allocation_slots(void);

/*
 * Begin; with weak references to the objects, if they are to be tracked.  Returns 0, or -1 with *err set: the JVM does
 * not sample, another agent has it do so, no memory.
 */
int allocation_events_begin(jvmtiEnv *jvmti, bool is_tracking, struct err *err);

/* The JVM is as it was before, but for what still waits in slots. */
void allocation_events_end(jvmtiEnv *jvmti);

/*
 * About once a second: is the interval to be longer, for samples have cost more than this part of the process' CPU
 * time, or shorter, for they are few?
 */
void allocation_events_adjust(jvmtiEnv *jvmti, double part);

/* Samples for which there was no room; CPU time in the threads that allocated; bytes of threads that have ended. */
uint64_t allocation_events_lost(void);
uint64_t allocation_events_cost_ns(void);
uint64_t allocation_events_ended_bytes(void);

/* Is this thread, by the JVM's own structure, in ended_bytes?  The JVM may list it for a while, or until it exits. */
bool allocation_events_has_ended(uint64_t native);

/* The JVM's own structure of a thread; 0: there is none. */
uint64_t allocation_native_thread(JNIEnv *jni, jthread thread);

/* Wait until many slots are ready, or for so long; and wake who does. */
void allocation_events_wait(uint32_t ms);
void allocation_events_wake(void);

/* ---- the JVM's events ---- */

void JNICALL allocation_sampled(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object, jclass class_ref,
                                jlong size_bytes);
void JNICALL allocation_thread_started(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread);
void allocation_thread_ended(JNIEnv *jni, jthread thread);

#endif
