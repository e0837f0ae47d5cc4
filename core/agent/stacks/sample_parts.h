/*
 * The parts of sample_run (sample.h), for its own files: sample.c the rounds; sample_threads.c which threads use how
 * much CPU; sample_methods.c what their methods are.
 */
#ifndef CORE_AGENT_SAMPLE_PARTS_H
#define CORE_AGENT_SAMPLE_PARTS_H

#include "core/agent/stacks/sample.h"
#include "core/wire/samples.h"

/* ---- sample_methods.c ---- */

struct sample_frame {
    uint32_t method;
    bool has_loop, is_straight; /* as far as its code is known */
    bool is_small;              /* straight, and so small that the JIT compiler inlines it */
    uint32_t code_bytes;        /* 0: not known */
    uint64_t class_key;         /* the hash of its class' name */
    jlocation location;
};

struct sample_methods {
    struct sample_method_slot *slots; /* owned; by jmethodID */
    uint32_t n_slots, n_used;
};

/*
 * The number of a method in the log; a new one is named in *out first, and described the second time: most methods are
 * seen once, and then they are no candidates.  All of *frame but the location is set.  Returns -1 when there is no
 * memory or no number left.
 */
int sample_methods_number(struct sample_methods *methods, jvmtiEnv *jvmti, JNIEnv *jni, jmethodID method,
                          struct sink *out, struct sample_frame *frame);
void sample_methods_free(struct sample_methods *methods);

/* ---- sample_threads.c ---- */

#define SAMPLE_LOOPS 8

/* A frame in whose loop a thread was seen. */
struct sample_loop {
    uint32_t method; /* its number */
    uint32_t n_samples;
    uint32_t n_since, n_ended; /* the thread's samples behind the first of these; of them, those that show its end */
    uint32_t code_bytes;
    uint64_t since_ns; /* when the first of them was taken */
    jmethodID id;
    uint64_t class_key;
};

struct sample_thread {
    jthread ref;   /* a global reference, owned */
    jweak mounted; /* the virtual thread on it at its latest sample; owned; NULL: none */
    uint32_t number;
    bool is_seen;        /* in the JVM's latest list */
    uint64_t base_ns;    /* CPU time when the sampling began */
    uint64_t counted_ns; /* CPU time up to the latest sample */
    uint64_t now_ns;     /* CPU time in this round */
    bool has_run;        /* since the round before */
    uint32_t n_samples;
    uint32_t n_loops;
    struct sample_loop loops[SAMPLE_LOOPS];
    uint32_t n_frames;
    struct sample_frame *frames; /* of the latest sample, outermost first; owned, SAMPLES_MAX_FRAMES */
};

struct sample_threads {
    struct sample_thread *all; /* owned */
    uint32_t n, n_room;
    uint32_t n_numbers;
    uint64_t ended_cpu_ns, ended_unseen_ns; /* of threads that are not in the list any more */
};

/* Bring the list up to date; new threads count from 'since the sampling began'.  Returns 0, or -1: no memory. */
int sample_threads_refresh(struct sample_threads *threads, jvmtiEnv *jvmti, JNIEnv *jni);

/* Read the CPU times of all threads. */
void sample_threads_read(struct sample_threads *threads, jvmtiEnv *jvmti);

/* Is it time for its sample: has it a CPU now, or would have one if this thread had not? */
bool sample_thread_runs(const struct sample_thread *thread, jvmtiEnv *jvmti, bool is_single_cpu);
void sample_threads_free(struct sample_threads *threads, JNIEnv *jni);

#endif
