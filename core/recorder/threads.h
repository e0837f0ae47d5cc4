/*
 * The threads of the target, numbered in the order of their appearance.  Thread ids are used again by the kernel;
 * numbers are not within one file of a recording: a thread that had ended before that began leaves its number to others
 * (threads_recycle), so that memory depends on the threads of two files, not on all that ever were.
 */
#ifndef CORE_RECORDER_THREADS_H
#define CORE_RECORDER_THREADS_H

#include "core/base/arena.h"
#include "core/base/hash.h"
#include "core/wire/ring.h"
#include "core/trace/trace.h"

#define COMM_BYTES 48 /* 15 of the kernel's, each of which may be malformed, and so grow to three */

/* When a thread runs on CPUs, in ns of CLOCK_MONOTONIC_RAW: cpu_accounting.h. */
struct thread_run_slices {
    bool is_followed;             /* its CPU time at its first event is known */
    bool is_seen;                 /* so is whether it is on a CPU */
    bool is_on;                   /* one */
    uint64_t on_since_ns;         /* or, before it is seen, since its first event */
    uint64_t ns, n;               /* of those that have ended; how often it got a CPU */
    uint64_t read_at_ns, read_ns; /* its CPU time was read, but not all events up to then are known; 0: was not */
    uint64_t base_cpu_ns; /* its CPU time from which on is counted, when it had run base_ns in base_n of these */
    uint64_t base_ns, base_n;
    bool base_is_stale; /* it was on a CPU then: the kernel had counted it up to its latest timer tick */
};

struct recorder_thread {
    struct trace_thread info;                     /* name and comm point into this struct */
    char name[RING_NAME_BYTES], comm[COMM_BYTES]; /* UTF-8 */
    bool changed;                                 /* since it was written to the trace */
    bool has_own_name, is_renamed;                /* not its parent's; and it has had another one since */
    bool switched;                                /* the kernel told of it getting or losing a CPU */
    bool is_off;                                  /* the latest that it told was that it lost one */
    bool has_run;                                 /* and of either since its counters were read */
    bool is_free;                                 /* its number is another's from now on */
    int32_t ring;                                 /* number of its ring, or -1 */
    struct trace_cpu_time written;                /* of it, in the trace */
    uint64_t found_cpu_ns;                        /* CPU time before the recording; TRACE_UNKNOWN: not known */
    uint64_t gone_ticks;                          /* it was missed then: threads_miss; TRACE_UNKNOWN: it was not */
    struct thread_run_slices slices;
};

struct threads {
    struct arena arena;
    struct hash_set by_tid;       /* the index of a tid's latest thread */
    struct recorder_thread **all; /* owned array, elements in the arena */
    uint32_t n;                   /* with those whose numbers are free: they have ended */
    uint32_t *free;               /* owned: their numbers */
    uint32_t n_free, free_room;
    uint64_t n_renamed; /* of all */
};

void threads_init(struct threads *threads);
void threads_free(struct threads *threads);

/* The thread that has this tid now, or NULL. */
struct recorder_thread *threads_find(const struct threads *threads, int32_t tid);

/* A new thread.  start_ticks may be TRACE_UNKNOWN. */
struct recorder_thread *threads_add(struct threads *threads, int32_t tid, uint64_t start_ticks);

/*
 * Both: the one that had this tid at that moment, or a new one.  TRACE_UNKNOWN: now.  What is told of a thread, such as
 * a sample, may come after its end.
 */
struct recorder_thread *threads_get(struct threads *threads, int32_t tid, uint64_t ticks);

/* The thread has another id from now on. */
void threads_rename(struct threads *threads, struct recorder_thread *thread, int32_t tid);

/*
 * Where nobody tells the ends of threads that have no ring: ask whether each is there, and remember that it was not at
 * this moment.  When it ended stays unknown.
 */
typedef bool threads_is_there_fn(void *context, int32_t tid);
void threads_miss(struct threads *threads, uint64_t now_ticks, threads_is_there_fn *is_there, void *context);

/*
 * Threads that had ended, or were missed, before a moment, and of which no more will come: their numbers become free.
 * forget is told of each of them first.
 */
typedef void threads_forget_fn(void *context, uint32_t index);
void threads_recycle(struct threads *threads, uint64_t before_ticks, threads_forget_fn *forget, void *context);

void threads_set_comm(struct recorder_thread *thread, const char *comm);
void threads_set_name(struct recorder_thread *thread, const char *name);

/* The thread has a name, by the kernel, or by Java; is it another one than before? */
void threads_hear_name(struct threads *threads, struct recorder_thread *thread, const char *name, bool is_java);

/* Write what is new to the trace.  Returns 0, or -1 with *err set. */
int threads_write(struct threads *threads, struct trace_writer *writer, struct err *err);

#endif
