/*
 * Whether the garbage collector has worked between two moments: it changes references in the frames of stacks.
 */
#ifndef CORE_HOTSPOT_VM_COLLECTIONS_H
#define CORE_HOTSPOT_VM_COLLECTIONS_H

#include <stdint.h>

struct vm;

#define VM_COLLECTIONS_UNKNOWN UINT64_MAX

struct vm_collections {
    uint64_t counter, active; /* addresses; 0: not known */
};

/*
 * Of the JVM that is being read.  Known are collectors that move objects while all threads stand still: Serial,
 * Parallel, G1.
 */
void vm_collections_open(struct vm *vm, struct vm_collections *collections);

/* How many have begun; VM_COLLECTIONS_UNKNOWN: also while one is under way. */
uint64_t vm_collections_count(struct vm *vm, const struct vm_collections *collections);

#endif
