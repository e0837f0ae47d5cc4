#include "core/hotspot/vm_collections.h"

#include "core/hotspot/vm_fields.h"

#include <stdlib.h>
#include <string.h>

#define FLAGS_MAX  8192u
#define NAME_BYTES 24u

/* Where the value of each of the names' flags is; 0: there is no such flag. */
static bool find_flags(const char *const *names, size_t n_names, uint64_t *values)
{
    uint64_t flags_at, count_at, name, value, flags, n = 0, bytes = vm_type_bytes("JVMFlag");
    struct vm_field fields[] = { { "JVMFlag", "flags", &flags_at, true },
                                 { "JVMFlag", "numFlags", &count_at, true },
                                 { "JVMFlag", "_name", &name, false },
                                 { "JVMFlag", "_addr", &value, false } };
    memset(values, 0, n_names * sizeof *values);
    if (!vm_fields_find(fields, sizeof fields / sizeof *fields) || bytes == VM_NONE || bytes > 256 ||
        !vm_read_u64(flags_at, &flags) || !vm_read_u64(count_at, &n) || n == 0 || n > FLAGS_MAX)
        return false;
    uint8_t *all = malloc((size_t)(n * bytes));
    char text[NAME_BYTES];
    bool is_read = all != NULL && vm_read(flags, all, (size_t)(n * bytes));
    for (uint64_t i = 0; is_read && i < n; i++) {
        uint64_t at;
        memcpy(&at, all + i * bytes + name, sizeof at);
        if (at == 0 || vm_read_some(at, text, sizeof text - 1) < sizeof text - 1)
            continue;
        text[sizeof text - 1] = '\0';
        for (size_t k = 0; k < n_names; k++)
            if (strcmp(text, names[k]) == 0)
                memcpy(&values[k], all + i * bytes + value, sizeof values[k]);
    }
    free(all);
    return is_read;
}

void vm_collections_open(struct vm_collections *collections)
{
    static const char *const names[] = { "UseSerialGC", "UseParallelGC", "UseG1GC" };
    uint64_t values[3], heap_at, heap, counter, active;
    bool is_known = false;
    *collections = (struct vm_collections){ 0, 0 };
    struct vm_field fields[] = { { "Universe", "_collectedHeap", &heap_at, true },
                                 { "CollectedHeap", "_total_collections", &counter, false } };
    struct vm_field old = { "CollectedHeap", "_is_gc_active", &active, false },
                    new = { "CollectedHeap", "_is_stw_gc_active", &active, false };
    if (!vm_fields_find(fields, 2) || !(vm_fields_find(&old, 1) || vm_fields_find(&new, 1)) ||
        !find_flags(names, 3, values) || !vm_read_u64(heap_at, &heap) || heap == 0)
        return;
    for (size_t i = 0; i < 3; i++) {
        uint8_t is_used = 0;
        is_known = is_known || (values[i] != 0 && vm_read(values[i], &is_used, 1) && is_used == 1);
    }
    if (is_known)
        *collections = (struct vm_collections){ heap + counter, heap + active };
}

uint64_t vm_collections_count(const struct vm_collections *collections)
{
    uint32_t count;
    uint8_t is_active;
    if (collections->counter == 0 || !vm_read(collections->active, &is_active, 1) || is_active != 0 ||
        !vm_read(collections->counter, &count, sizeof count))
        return VM_COLLECTIONS_UNKNOWN;
    return count;
}
