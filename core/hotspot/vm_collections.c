#include "core/hotspot/vm_collections.h"

#include "core/hotspot/vm_fields.h"

#include <stdlib.h>
#include <string.h>

#define FLAGS_MAX  8192u
#define NAME_BYTES 24u /* of longer ones, the end is left out */
#define AT_ONCE    64u

/* Of n flags, each of so many bytes: what the pointers at 'at' point to. */
static void read_names(const uint8_t *at, uint64_t bytes, uint64_t n, char texts[AT_ONCE][NAME_BYTES])
{
    struct vm_piece pieces[AT_ONCE];
    for (uint64_t i = 0; i < n; i++) {
        pieces[i].n_bytes = NAME_BYTES;
        memcpy(&pieces[i].address, at + i * bytes, sizeof pieces[i].address);
    }
    vm_read_each(pieces, n, texts);
}

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
    char texts[AT_ONCE][NAME_BYTES];
    bool is_read = all != NULL && vm_read(flags, all, (size_t)(n * bytes));
    for (uint64_t i = 0; is_read && i < n; i += AT_ONCE) {
        uint64_t now = n - i < AT_ONCE ? n - i : AT_ONCE;
        read_names(all + i * bytes + name, bytes, now, texts);
        for (uint64_t k = 0; k < now * n_names; k++)
            if (strncmp(texts[k / n_names], names[k % n_names], NAME_BYTES) == 0)
                memcpy(&values[k % n_names], all + (i + k / n_names) * bytes + value, sizeof *values);
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
