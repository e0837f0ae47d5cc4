/*
 * The JVM's Java threads and their ids in the kernel, read from outside.
 */
#ifndef CORE_HOTSPOT_VM_THREADS_H
#define CORE_HOTSPOT_VM_THREADS_H

#include "core/hotspot/vm_thread_list.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct vm;

struct vm_thread {
    uint64_t address;  /* of the JavaThread */
    int32_t tid;       /* in our PID namespace; 0: not known yet */
    int32_t inner_tid; /* in the JVM's */
};

struct vm_threads {
    struct vm *vm; /* borrowed */
    struct vm_thread_list where;
    pid_t pid, inner_pid;
    struct vm_thread *all; /* owned */
    uint32_t n, room;
    uint64_t *list; /* owned: as the JVM has it, n_list addresses; */
    uint64_t *next; /* owned: the same, being read; room for both */
    uint32_t n_list, list_room;
    bool is_known; /* the JVM's layout is */
};

void vm_threads_open(struct vm *vm, struct vm_threads *threads);

/* Which there are now: what was found before stays where nothing has changed. */
void vm_threads_round(struct vm_threads *threads);

/* NULL: none. */
const struct vm_thread *vm_threads_by_tid(const struct vm_threads *threads, int32_t tid);
const struct vm_thread *vm_threads_by_address(const struct vm_threads *threads, uint64_t address);
void vm_threads_free(struct vm_threads *threads);

#endif
