/* The two parts of reading virtual threads: which sets have them (vm_virtual_sets.c), and each of them (vm_virtual.c).
 */
#ifndef CORE_HOTSPOT_VM_VIRTUAL_INTERNAL_H
#define CORE_HOTSPOT_VM_VIRTUAL_INTERNAL_H

#include "core/hotspot/vm_heap.h"
#include "core/hotspot/vm_objects.h"
#include "core/hotspot/vm_virtual.h"

#define VIRTUAL_SETS_MAX 1024u

enum virtual_class { VIRTUAL_THREAD, VIRTUAL_CHUNK, VIRTUAL_ROOT, VIRTUAL_COUNTING, VIRTUAL_REGISTRY, VIRTUAL_CLASSES };

/* A ConcurrentHashMap: its array of bins. */
struct virtual_table {
    uint64_t data; /* of its first element; 0: it has none */
    uint32_t n_bins;
};

struct virtual_sets {
    struct vm *vm; /* borrowed */
    /* Until a virtual thread has been made, its class is not initialized: Thread's subclasses tell. */
    uint64_t java_thread, subclass, sibling, init_state, thread_class;
    int32_t initialized;
    bool may_have_none;
    /* Classes that the boot loader has defined: they come one before the other. */
    uint64_t loaders, next_loader, loader_classes, next_class, name, boot, newest;
    uint64_t classes[VIRTUAL_CLASSES]; /* 0: not loaded yet */
    uint32_t root_field, counting_field, registry_field;
    struct vm_object_field map, table, key, next, first, referent, counter, base, cells, cell;
    struct vm_object_field of_container[2];
    uint64_t sets[VIRTUAL_SETS_MAX]; /* addresses, now */
    uint32_t n;
};

void virtual_sets_open(struct virtual_sets *sets, struct vm *vm);

/* Which there are now.  Returns whether the JVM has the class of virtual threads, and it is known. */
bool virtual_sets_find(struct virtual_sets *sets);

/* How many the JVM has only counted (-Djdk.trackAllThreads=false). */
uint64_t virtual_sets_untracked(struct virtual_sets *sets);

/* How many threads all sets have, as they count them themselves; less than that may be known. */
uint64_t virtual_sets_count(struct virtual_sets *sets);

/* The table of a set; false: it cannot be read. */
bool virtual_sets_table(struct virtual_sets *sets, uint64_t set, struct virtual_table *table);

#endif
