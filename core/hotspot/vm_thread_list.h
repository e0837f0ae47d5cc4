/*
 * Where the JVM that is read has its list of threads, and in a thread what the system calls it.
 */
#ifndef CORE_HOTSPOT_VM_THREAD_LIST_H
#define CORE_HOTSPOT_VM_THREAD_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vm;

/* VM_NONE: not known. */
struct vm_thread_list {
    uint64_t list;          /* the address of the pointer to it */
    uint64_t length, data;  /* in the list; VM_NONE: the pointer is to the first thread, as in JDK 8 and 11, */
    uint64_t next;          /* and each thread points to the next one */
    uint64_t os_thread, id; /* in a Thread, in its OSThread */
};

/* Returns whether all are known. */
bool vm_thread_list_find(struct vm *vm, struct vm_thread_list *list);

/*
 * The addresses of the threads, of at most 'room' of them.  Returns how many there are, perhaps more than room, or -1:
 * the list cannot be read.
 */
int64_t vm_thread_list_read(struct vm *vm, const struct vm_thread_list *list, uint64_t *threads, size_t room);

#endif
