/*
 * Stack samples by polling, at safepoints: every so often a thread of the agent's takes the stacks of the Java threads
 * that run, as JVMTI tells them.  poll.c has the rounds; poll_threads.c which threads use how much CPU; poll_methods.c
 * what their methods are.
 *
 * A thread is stopped only while its own stack is walked, and only if it uses a CPU.  A carrier's stack is that of the
 * virtual thread on it.
 */
#ifndef CORE_AGENT_POLL_H
#define CORE_AGENT_POLL_H

#include "core/base/err.h"
#include "core/base/hash.h"
#include "core/wire/poll_log.h"

#include <jvmti.h>

/*
 * Begin, in a thread of its own, and append to a log (its descriptor is taken over) as core/wire/poll_log.h says.
 *
 * period_us  from one round to the next; longer where that would take more than
 * part_ppm   of the process' CPU time, in millionths
 *
 * Returns 0, or -1 with *err set: the JVM tells no CPU times, it samples already, or there is no thread to be had.
 */
int poll_start(jvmtiEnv *jvmti, JNIEnv *jni, int fd, uint32_t period_us, uint32_t part_ppm, struct err *err);

/* End, and wait until that thread has. */
void poll_stop(void);

/* ---- poll_methods.c ---- */

struct poll_methods {
    struct hash_set numbers;   /* by jmethodID: the number, plus 1 */
    struct polled_method *all; /* owned; by number */
    uint32_t n, room;
};

/* Let the JVM tell all of methods that it can: it has these capabilities at any time, at no cost. */
void poll_methods_prepare(jvmtiEnv *jvmti);

/*
 * The number of a method in the log; a new one is described in *out first, and how often it was called is said again
 * each time that it has been seen twice as often.  Returns -1 when there is no memory or no number left.
 */
int poll_methods_number(struct poll_methods *methods, jvmtiEnv *jvmti, JNIEnv *jni, jmethodID method, struct sink *out);
void poll_methods_free(struct poll_methods *methods);

/* ---- poll_threads.c ---- */

struct poll_thread {
    jthread ref; /* a global reference, owned */
    uint32_t number;
    int32_t tid;         /* 0: not known */
    bool is_seen;        /* in the JVM's latest list */
    uint64_t counted_ns; /* CPU time up to the latest sample */
    uint64_t now_ns;     /* CPU time in this round */
    bool has_run;        /* since the round before */
    uint64_t name;       /* the hash of what it was called at its latest sample */
};

struct poll_threads {
    struct poll_thread *all; /* owned */
    uint32_t n, n_room, n_numbers;
    jfieldID native; /* of java.lang.Thread: the JVM's own structure; NULL: not known */
};

/* Bring the list up to date; new threads count from 'since the sampling began'.  Returns 0, or -1: no memory. */
int poll_threads_refresh(struct poll_threads *threads, jvmtiEnv *jvmti, JNIEnv *jni);

/* Read the CPU times of all threads. */
void poll_threads_read(struct poll_threads *threads, jvmtiEnv *jvmti);

/* Is it time for its sample: has it a CPU now, or would have one if this thread had not? */
bool poll_thread_runs(const struct poll_thread *thread, jvmtiEnv *jvmti, bool is_single_cpu);
void poll_threads_free(struct poll_threads *threads, JNIEnv *jni);

#endif
