/*
 * What Java calls a thread: Thread.name, which may be longer than the kernel's 15 bytes and may have been changed by
 * another thread.
 */
#ifndef CORE_HOTSPOT_VM_THREAD_NAMES_H
#define CORE_HOTSPOT_VM_THREAD_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vm;

/* Of the JVM that is being read; after vm_objects_open. */
void vm_thread_names_open(struct vm *vm);

/*
 * address  of the JavaThread
 * name     n bytes, for UTF-8 that ends with a NUL; what does not fit is left out
 *
 * Returns false: it is not known.
 */
bool vm_thread_name(struct vm *vm, uint64_t address, char *name, size_t n);

#endif
