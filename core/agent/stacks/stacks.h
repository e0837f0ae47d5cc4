/* Stacks that the agent takes inside the JVM. */
#ifndef CORE_AGENT_STACKS_H
#define CORE_AGENT_STACKS_H

#include "core/agent/probe/probe.h"
#include "core/agent/stacks/sample_out.h"
#include "core/agent/control/jvmti_env.h"
#include "core/base/err.h"
#include "core/base/hash.h"
#include "core/hotspot/vm_heap.h"
#include "core/wire/poll_log.h"

#include <jvmti.h>
#include <semaphore.h>
#include <stdatomic.h>

/* ---- stack ---- */

open_calls_find_fn stack_find;

/* Are there so many bytes left of the calling thread's own stack, for functions of the JVM? */
bool stack_has_room(size_t n_bytes);

/* ---- poll ---- */

/*
 * Stack samples by polling, at safepoints: every so often a thread of the agent's takes the stacks of the Java threads
 * that run, as JVMTI tells them.  poll.c has the rounds; poll_threads.c which threads use how much CPU; poll_methods.c
 * what their methods are.
 *
 * A thread is stopped only while its own stack is walked, and only if it uses a CPU.  A carrier's stack is that of the
 * virtual thread on it.
 */

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

/* ---- allocation_log ---- */

/*
 * The log of sampled allocations: a thread of the agent's writes what is taken below, with the names of
 * classes and methods, as core/wire/poll_log.h says.
 */

/*
 * Begin, in a thread of its own, and append to a log (its descriptor is taken over).
 *
 * part_ppm  of the process' CPU time, in millionths, that it may take in the threads that allocate; a few samples a
 *           second are taken in any case
 * is_tracking  say when each of the objects has gone, too (sample_out.h)
 *
 * Returns 0, or -1 with *err set: as allocation_events_begin, or there is no thread to be had.
 */
int allocation_log_start(jvmtiEnv *jvmti, JNIEnv *jni, int fd, uint32_t part_ppm, bool is_tracking, struct err *err);

/* End, and wait until that thread has. */
void allocation_log_stop(void);

/* ---- allocation_events ---- */

/*
 * Objects that the JVM samples when they are allocated (JVMTI's SampledObjectAlloc, JDK 11 and later).
 *
 * Of each thread's bytes the JVM draws after how many it samples the next object, with a mean of one interval.  In the
 * thread itself only its stack is taken, into a slot of a table; the thread of allocation_log.c takes it from there,
 * and finds out what its methods are called.  The interval is made longer at once when samples come too fast, and
 * shorter by and by when they are few: at most about a hundred a second, whatever the program does, and at a cost.
 */

#define ALLOCATION_FRAMES_MAX 256
#define ALLOCATION_SLOTS      256u
#define ALLOCATION_ENDED_KEPT 256u /* that the JVM may still list, such as the one that called System.exit() */

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

/* ---- heap_before ---- */

/*
 * How much of the heap is in use when a collection begins: the JVM says when (GarbageCollectionStart), in a thread of
 * its own and with all threads stopped; its structures say how much.  A system call for each collection.
 */

/* Begin, where the JVM says when and how much; else nothing is told. */
void heap_before_begin(jvmtiEnv *jvmti);
void heap_before_end(jvmtiEnv *jvmti);

/* Append what there is to a log.  Returns 0, or -1: it cannot be written. */
int heap_before_put(struct sample_out *out);

/* The JVM's event. */
void heap_before_collection(void);

/* ---- all that the room writes to ---- */

#define STACK_SLOTS 4096u

struct allocation_events_state {
    struct allocation_slot *slots; /* owned, for ever: threads may be on their way */
    sem_t wake;
    _Atomic bool is_on, is_tracking;
    _Atomic uint32_t n_inside, interval, n_of_second, ticket;
    _Atomic uint64_t n_lost, cost_ns, ended_bytes;
    _Atomic uint64_t ended[ALLOCATION_ENDED_KEPT]; /* the JVM's own structures of the latest threads in ended_bytes */
    _Atomic uint32_t n_ended;
    uint64_t start_cpu_ns;            /* of the process */
    uint32_t first_ticket, n_seconds; /* the same: of its samples, and since its start */
    _Atomic(jfieldID) native;         /* of java.lang.Thread: the JVM's own structure; NULL: not known */
};

#define HEAP_BEFORE_ENTRIES 256u /* more, between two looks of the log's thread, are not told */

struct heap_before {
    uint64_t time_ns, bytes;
};

/* One collection begins at a time: one writes, and the log's thread reads. */
struct heap_before_state {
    struct vm_heap heap; /* set while is_on is false */
    _Atomic bool is_on;
    _Atomic uint32_t head, tail;
    struct heap_before entries[HEAP_BEFORE_ENTRIES];
};

struct stacks {
    _Atomic uint64_t words[STACK_SLOTS]; /* stack.c: what methods are, each in a single word */
    struct {
        struct agent_thread thread;
        uint32_t period_us, part_ppm; /* set before it starts */
    } poll;
    struct {
        struct agent_thread thread;
        uint32_t part_ppm; /* set before it starts, as is the next */
        bool is_tracking;
    } log;
    struct allocation_events_state events;
    struct heap_before_state heap;
};

extern struct stacks stacks;

#endif
