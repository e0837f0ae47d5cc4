/* The agent's environment of the JVM's tool interface, and threads in it. */
#ifndef CORE_AGENT_JVMTI_ENV_H
#define CORE_AGENT_JVMTI_ENV_H

#include <jvmti.h>
#include <stddef.h>

/* The agent's environment; before it is set, NULL.  Kept for ever: probes may use it at any time. */
jvmtiEnv *jvmti_env(void);
void jvmti_env_set(jvmtiEnv *jvmti);

/* Hear of n kinds of events in an environment, or not any more.  Returns 0, or -1: not of all. */
int jvmti_env_switch(jvmtiEnv *jvmti, jvmtiEventMode mode, const jvmtiEvent *events, size_t n);

/* Run a function in a new thread that no program sees as its own.  argument: its third.  Returns 0, or -1. */
int jvmti_env_run_thread(JNIEnv *jni, jvmtiStartFunction function, void *argument);

#endif
