/*
 * How many bytes threads have allocated in the Java heap since their start, by the JVM's own counters: what
 * ThreadMXBean.getThreadAllocatedBytes tells.
 */
#ifndef CORE_HOTSPOT_VM_ALLOCATED_H
#define CORE_HOTSPOT_VM_ALLOCATED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vm;

/* Does this JVM export where they are? */
bool vm_allocated_is_known(struct vm *vm);

/* The sum over n threads, by the JVM's own structures of them (0: there is none); one that has ended counts as 0. */
uint64_t vm_allocated_bytes(struct vm *vm, const uint64_t *threads, size_t n);

#endif
