/* An environment of the JVM's tool interface for events of compiled code alone. */
#ifndef CORE_AGENT_EVENTS_ENV_H
#define CORE_AGENT_EVENTS_ENV_H

#include "core/base/err.h"

#include <jvmti.h>
#include <stddef.h>

struct events_env {
    JavaVM *vm;
    jvmtiEnv *jvmti; /* NULL: it is not made yet; kept for ever: events may be on their way */
};

/*
 * Make it, once: it can hear of compiled methods, and what else is wanted, and tells these callbacks.  Returns 0, or -1
 * with *err set.
 */
int events_env_make(struct events_env *env, JNIEnv *jni, const jvmtiCapabilities *wanted,
                    const jvmtiEventCallbacks *callbacks, struct err *err);

#endif
