/*
 * A part of a run: from a method's call number N to the next call of it, or to the JVM's end, as of an iteration of a
 * benchmark.  The method has a breakpoint at its beginning (JVMTI): it is interpreted from then on, and no other one
 * is.
 */
#ifndef CORE_AGENT_LAB_COUNT_WINDOW_H
#define CORE_AGENT_LAB_COUNT_WINDOW_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

/* What is done at its beginning and its end, in the thread that calls the method. */
struct count_window_user {
    void (*open)(jvmtiEnv *jvmti, JNIEnv *jni);
    void (*close)(jvmtiEnv *jvmti, JNIEnv *jni);
};

/*
 * At the JVM's start: set what it needs in 'wanted' and 'callbacks'.  method: a pattern (core/base/pattern.h); nth:
 * from 1 on.  Returns false: that is no pattern.
 */
bool count_window_start(const char *method, uint32_t nth, const struct count_window_user *user,
                        jvmtiCapabilities *wanted, jvmtiEventCallbacks *callbacks);

/* In VMInit: from now on calls of the method count. */
void count_window_listen(jvmtiEnv *jvmti, JNIEnv *jni);

#endif
