/* How many bytes of the heap are in use, and how often it was collected. */
#ifndef CORE_HOTSPOT_VM_HEAP_H
#define CORE_HOTSPOT_VM_HEAP_H

#include "core/base/std.h"

struct vm;

/* ---- vm_heap.c ---- */

/* How many bytes of the heap are in use, from the JVM's own structures: exact while all threads stand still. */

#define VM_HEAP_WORDS 10u

/* The sum of some words less that of others. */
struct vm_heap {
    uint64_t words[VM_HEAP_WORDS]; /* addresses: those that are added, then those that are subtracted */
    size_t n_added, n;             /* n is 0: not known */
};

/*
 * Of the JVM that is being read.  Known are Serial, Parallel, G1 (without the region that threads allocate in, which is
 * full when a collection begins for want of room), Shenandoah and ZGC in JDK 17.
 */
void vm_heap_open(struct vm *vm, struct vm_heap *heap);

/* Returns whether *bytes is known. */
bool vm_heap_used(struct vm *vm, const struct vm_heap *heap, uint64_t *bytes);

/* ---- vm_collections.c ---- */

/* Whether the garbage collector has worked between two moments: it changes references in the frames of stacks. */

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
