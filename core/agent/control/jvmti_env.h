/* The agent's environment of the JVM's tool interface, and threads in it. */
#ifndef CORE_AGENT_JVMTI_ENV_H
#define CORE_AGENT_JVMTI_ENV_H

#include "core/base/std.h"
#include "core/base/err.h"

#include <jvmti.h>
#include <pthread.h>

/* ---- jvmti_env ---- */

/* The agent's environment; before it is set, NULL.  Kept for ever: probes may use it at any time. */
jvmtiEnv *jvmti_env(void);
void jvmti_env_set(jvmtiEnv *jvmti);

/* Hear of n kinds of events in an environment, or not any more.  Returns 0, or -1: not of all. */
int jvmti_env_switch(jvmtiEnv *jvmti, jvmtiEventMode mode, const jvmtiEvent *events, size_t n);

/* Run a function in a new thread that no program sees as its own.  argument: its third.  Returns 0, or -1. */
int jvmti_env_run_thread(JNIEnv *jni, jvmtiStartFunction function, void *argument);

/* ---- events_env ---- */

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

/* ---- agent_thread ---- */

typedef void agent_thread_function(jvmtiEnv *jvmti, JNIEnv *jni, int fd);

/* A thread of the agent's that writes to a descriptor until it is told to end.  It runs once at a time. */
struct agent_thread {
    agent_thread_function *function;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    bool is_prepared; /* 'changed' goes by the monotonic clock */
    bool runs, ends;
    int fd; /* owned while it runs */
};

/*
 * Start it: the function runs with this descriptor, which is closed behind it.  To be called by one thread at a time.
 * Returns 0, or -1 with *err set: the JVM has no thread; the descriptor is still the caller's then.
 */
int agent_thread_start(struct agent_thread *thread, agent_thread_function *function, JNIEnv *jni, int fd,
                       struct err *err);
bool agent_thread_is_running(struct agent_thread *thread);

/* For its function: is it to end? */
bool agent_thread_is_ending(struct agent_thread *thread);

/* Likewise: sleep up to that time of CLOCK_MONOTONIC.  Returns false, at once, if it is to end. */
bool agent_thread_sleep_until(struct agent_thread *thread, uint64_t ns);

/* End it, and wait until it has.  wake: ends what it may be waiting for besides; NULL: nothing. */
void agent_thread_stop(struct agent_thread *thread, void (*wake)(void));

#endif
