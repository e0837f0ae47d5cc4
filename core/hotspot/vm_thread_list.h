/*
 * Where the JVM that is read has its list of threads, and in a thread what the system calls it.
 */
#ifndef CORE_HOTSPOT_VM_THREAD_LIST_H
#define CORE_HOTSPOT_VM_THREAD_LIST_H

#include <stdbool.h>
#include <stdint.h>

/* VM_NONE: not known. */
struct vm_thread_list {
    uint64_t list;          /* the address of the pointer to it */
    uint64_t length, data;  /* in the list */
    uint64_t os_thread, id; /* in a Thread, in its OSThread */
};

/* Returns whether all are known. */
bool vm_thread_list_find(struct vm_thread_list *list);

/* The array of the threads' addresses.  Returns how many there are, or -1: it cannot be read. */
int64_t vm_thread_list_read(const struct vm_thread_list *list, uint64_t *data);

#endif
