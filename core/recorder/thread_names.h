/*
 * What a process' threads are called, as the kernel has it.
 */
#ifndef CORE_RECORDER_THREAD_NAMES_H
#define CORE_RECORDER_THREAD_NAMES_H

#include "core/base/arena.h"
#include "core/base/hash.h"
#include "core/perf/perf_records.h"

#include <sys/types.h>

struct thread_name {
    int32_t tid;
    char name[KERNEL_NAME_BYTES];
};

struct thread_names {
    struct hash_set by_tid;
    struct thread_name *threads; /* owned */
    size_t n, room;
};

/* To be freed by thread_names_free. */
void thread_names_init(struct thread_names *names);
void thread_names_free(struct thread_names *names);

/* A thread was found with this name, or has a new one.  Returns 0, or -1: no memory. */
int thread_names_set(struct thread_names *names, int32_t tid, const char *name);

/* A thread has ended. */
void thread_names_forget(struct thread_names *names, int32_t tid);

/* Of one that was not found yet, the kernel is asked.  "": it has ended.  Until the next call. */
const char *thread_names_get(struct thread_names *names, pid_t pid, int32_t tid);

#endif
