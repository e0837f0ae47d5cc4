#include "core/hotspot/vm_heap.h"

#include "core/hotspot/vm.h"

void vm_collections_open(struct vm *vm, struct vm_collections *collections)
{
    static const char *const names[] = { "UseSerialGC", "UseParallelGC", "UseG1GC" };
    uint64_t heap_at, heap, counter, active;
    bool are_set[3];
    *collections = (struct vm_collections){ 0, 0 };
    struct vm_field fields[] = { { "Universe", "_collectedHeap", &heap_at, true },
                                 { "CollectedHeap", "_total_collections", &counter, false } };
    struct vm_field old = { "CollectedHeap", "_is_gc_active", &active, false },
                    new = { "CollectedHeap", "_is_stw_gc_active", &active, false };
    if (!vm_fields_find(vm, fields, 2) || !(vm_fields_find(vm, &old, 1) || vm_fields_find(vm, &new, 1)) ||
        !vm_flags_are_set(vm, names, 3, are_set) || !vm_read_u64(vm, heap_at, &heap) || heap == 0)
        return;
    if (are_set[0] || are_set[1] || are_set[2])
        *collections = (struct vm_collections){ heap + counter, heap + active };
}

uint64_t vm_collections_count(struct vm *vm, const struct vm_collections *collections)
{
    uint32_t count;
    uint8_t is_active;
    if (collections->counter == 0 || !vm_read(vm, collections->active, &is_active, 1) || is_active != 0 ||
        !vm_read(vm, collections->counter, &count, sizeof count))
        return VM_COLLECTIONS_UNKNOWN;
    return count;
}
