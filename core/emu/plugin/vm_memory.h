/*
 * Reading the emulated JVM's memory, which is the plugin's own, by pointers that may be bad: a fault of ours would be
 * taken for the program's.  Whether a page is there is asked of the kernel once a page, and remembered until
 * vm_memory_forget.
 */
#ifndef CORE_PLUGIN_VM_MEMORY_H
#define CORE_PLUGIN_VM_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define VM_TEXT_BYTES 256

/* n bytes of memory, zeros, which takes room when it is used; NULL: there is none. */
void *vm_map(size_t n);

/* What was there may be gone. */
void vm_memory_forget(void);

/* n bytes; returns whether they are there. */
bool vm_get(uint64_t address, void *value, size_t n);

/* A text that ends with NUL, at the address; of a longer one than fits the end is left out.  As above. */
bool vm_get_text(uint64_t address, char *text, size_t n);

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

#endif
