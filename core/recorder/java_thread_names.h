/*
 * What Java calls the threads that are sampled, beside what the kernel does: the kernel's name has 15 bytes and, of a
 * thread that another one renames, stays what it was.
 *
 * A name is read from the JVM when the thread is sampled, once in four rounds, and kept with the kernel's name of the
 * thread: a thread that has had other names since is found by that.
 */
#ifndef CORE_RECORDER_JAVA_THREAD_NAMES_H
#define CORE_RECORDER_JAVA_THREAD_NAMES_H

#include "core/base/hash.h"
#include "core/hotspot/vm_threads.h"

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
 *
 * Returns "": not known, or no Java thread.  Until the next call.
 */
const char *java_thread_names_get(struct java_thread_names *names, const struct vm_threads *threads, int32_t tid,
                                  const char *comm, bool is_latest);

void java_thread_names_free(struct java_thread_names *names);

#endif
