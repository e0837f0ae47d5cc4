/* What a process' threads are called, as the kernel has it. */
#ifndef CORE_RECORDER_THREAD_NAMES_H
#define CORE_RECORDER_THREAD_NAMES_H

#include "core/base/arena.h"
#include "core/base/hash.h"
#include "core/hotspot/vm_threads.h"
#include "core/perf/perf_records.h"

struct thread_name {
    int32_t tid;
    char name[KERNEL_NAME_BYTES];
};

/* A thread's new name, in what is being drained. */
struct thread_name_change {
    uint64_t time_ns;
    struct thread_name is;
};

struct thread_names {
    struct hash_set by_tid;
    struct thread_name *threads; /* owned */
    size_t n, room;
    struct thread_name_change *changes; /* owned */
    size_t n_changes, changes_room;
};

/* To be freed by thread_names_free. */
void thread_names_init(struct thread_names *names);
void thread_names_free(struct thread_names *names);

/* A thread was found with this name, or has a new one. */
void thread_names_set(struct thread_names *names, int32_t tid, const char *name);

/*
 * Before what it is called is asked for in a drain: it is called so from this moment on; and after the drain.
 */
void thread_names_change(struct thread_names *names, int32_t tid, uint64_t time_ns, const char *name);
void thread_names_settle(struct thread_names *names);

/* A thread has ended. */
void thread_names_forget(struct thread_names *names, int32_t tid);

/* Of one that was not found yet, the kernel is asked.  "": it has ended.  Until the next call. */
const char *thread_names_get(struct thread_names *names, pid_t pid, int32_t tid);

/* As it was called at a moment; *is_latest: it has had no other name since.  A new thread's first name is its own. */
const char *thread_names_at(struct thread_names *names, pid_t pid, int32_t tid, uint64_t time_ns, bool *is_latest);

/*
 * What Java calls the threads that are sampled, beside what the kernel does: the kernel's name has 15 bytes and, of a
 * thread that another one renames, stays what it was.
 *
 * A name is read from the JVM when the thread is sampled, once in some rounds, and kept with the kernel's name of the
 * thread: a thread that has had other names since is found by that.
 */

#define JAVA_THREAD_NAME_BYTES 104u

struct java_thread_name {
    uint64_t round; /* in which it was read */
    char name[JAVA_THREAD_NAME_BYTES];
};

/* All zero is none. */
struct java_thread_names {
    struct hash_set by_comm; /* of thread id and the kernel's name */
    struct java_thread_name *all;
    size_t n, room;
    uint64_t round;
};

/* What is read from now on is newer. */
void java_thread_names_round(struct java_thread_names *names);

/*
 * comm       as the kernel called it then
 * is_latest  it does so now
 * has_run    since its sample before
 *
 * Returns "": not known, or no Java thread.  Until the next call.
 */
const char *java_thread_names_get(struct java_thread_names *names, const struct vm_threads *threads, int32_t tid,
                                  const char *comm, bool is_latest, bool has_run);

void java_thread_names_free(struct java_thread_names *names);

#endif
