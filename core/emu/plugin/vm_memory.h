/*
 * Reading the emulated JVM's memory, which is the plugin's own, by pointers that may be bad: a fault of ours would be
 * taken for the program's.  Whether a page is there is asked of the kernel once a page, and remembered until
 * vm_memory_forget.
 */
#ifndef CORE_EMU_PLUGIN_VM_MEMORY_H
#define CORE_EMU_PLUGIN_VM_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define VM_TEXT_BYTES 256

/* n bytes of memory, zeros, which takes room when it is used; NULL: there is none. */
void *vm_map(size_t n);

/*
 * Where the variables of HotSpot's tables are, SIM_N_SYMBOLS addresses, in the order of SIM_SYMBOL_NAMES: core/hotspot
 * reads this JVM from now on, under the lock that guards the memory here.
 */
void vm_memory_use(const uint64_t *symbols);

/* What was there may be gone. */
void vm_memory_forget(void);

/* n bytes; returns whether they are there. */
bool vm_get(uint64_t address, void *value, size_t n);

static inline bool vm_get_u64(uint64_t address, uint64_t *value)
{
    return vm_get(address, value, sizeof *value);
}

static inline bool vm_get_u32(uint64_t address, uint32_t *value)
{
    return vm_get(address, value, sizeof *value);
}

static inline bool vm_get_u16(uint64_t address, uint16_t *value)
{
    return vm_get(address, value, sizeof *value);
}

/* 0: not there. */
static inline uint64_t vm_pointer(uint64_t address)
{
    uint64_t value = 0;
    return vm_get_u64(address, &value) ? value : 0;
}

/* Memory that is known to be there. */
static inline uint64_t vm_known_u64(uint64_t address)
{
    uint64_t value;
    memcpy(&value, (const void *)(uintptr_t)address, sizeof value);
    return value;
}

static inline uint32_t vm_known_u32(uint64_t address)
{
    uint32_t value;
    memcpy(&value, (const void *)(uintptr_t)address, sizeof value);
    return value;
}

/* ---- tables of elements that begin with an address, or a number, of 64 bits ---- */

/* For qsort: in ascending order. */
int vm_compare(const void *a, const void *b);

/* The last of n such elements, in order, each of so many bytes, that begins at or before an address; or NULL. */
static inline const void *vm_last_before(const void *elements, uint32_t n, size_t n_bytes, uint64_t address)
{
    const char *all = elements;
    uint32_t low = 0, high = n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        uint64_t begin;
        memcpy(&begin, all + middle * n_bytes, sizeof begin);
        if (begin <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? NULL : all + (low - 1) * n_bytes;
}

/*
 * A hash table of such elements, which 0 is at the beginning of when they are empty: the element that begins with a key
 * of n_key bytes, or an empty one that is to get it; NULL: neither is among so many from the hash's place on.
 */
struct vm_table {
    void *elements;       /* mapped */
    uint32_t mask, tries; /* mask: a power of two of elements, less 1 */
};

static inline __attribute__((always_inline)) void *vm_table_find(const struct vm_table *table, size_t n_bytes,
                                                                 uint64_t hash, const void *key, size_t n_key)
{
    static const uint64_t nothing;
    for (uint32_t i = 0; i < table->tries; i++) {
        char *element = (char *)table->elements + ((hash + i) & table->mask) * n_bytes;
        if (memcmp(element, key, n_key) == 0 || memcmp(element, &nothing, sizeof nothing) == 0)
            return element;
    }
    return NULL;
}

/* A number's, or an address', which is of 8 bytes or more. */
static inline uint64_t vm_hash(uint64_t number)
{
    uint64_t hash = number * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

#endif
