/* A thread of the agent's that writes to a descriptor until it is told to end. */
#ifndef CORE_AGENT_AGENT_THREAD_H
#define CORE_AGENT_AGENT_THREAD_H

#include "core/base/err.h"

#include <jvmti.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

typedef void agent_thread_function(jvmtiEnv *jvmti, JNIEnv *jni, int fd);

/* Runs once at a time.  Static, with AGENT_THREAD(function) as its first value. */
struct agent_thread {
    agent_thread_function *function;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    bool is_prepared; /* 'changed' goes by the monotonic clock */
    bool runs, ends;
    int fd; /* owned while it runs */
};

#define AGENT_THREAD(function)                      \
    {                                               \
        function, .lock = PTHREAD_MUTEX_INITIALIZER \
    }

/*
 * Start it: the function runs with this descriptor, which is closed behind it.  To be called by one thread at a time.
 * Returns 0, or -1 with *err set: the JVM has no thread; the descriptor is still the caller's then.
 */
int agent_thread_start(struct agent_thread *thread, JNIEnv *jni, int fd, struct err *err);
bool agent_thread_is_running(struct agent_thread *thread);

/* For its function: is it to end? */
bool agent_thread_is_ending(struct agent_thread *thread);

/* Likewise: sleep up to that time of CLOCK_MONOTONIC.  Returns false, at once, if it is to end. */
bool agent_thread_sleep_until(struct agent_thread *thread, uint64_t ns);

/* End it, and wait until it has.  wake: ends what it may be waiting for besides; NULL: nothing. */
void agent_thread_stop(struct agent_thread *thread, void (*wake)(void));

#endif
