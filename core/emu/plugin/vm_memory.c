#include "core/emu/plugin/vm_memory.h"

#include "core/emu/model/sim_slots.h"
#include "core/emu/plugin/qemu_api.h"
#include "core/hotspot/vm_state.h"

#define PAGE_BITS  12
#define PAGES_KEPT 8192u

/* Numbers of pages that are there, each at its own place; 0: none. */
static uint64_t pages[PAGES_KEPT];

void vm_memory_forget(void)
{
    memset(pages, 0, sizeof pages);
}

static bool is_there(uint64_t page)
{
    uint64_t *kept = &pages[page % PAGES_KEPT];
    char byte;
    if (*kept == page && page != 0)
        return true;
    if (!qemu_read(page << PAGE_BITS, &byte, 1))
        return false;
    *kept = page;
    return true;
}

bool vm_get(uint64_t address, void *value, size_t n)
{
    uint64_t last = address + n - 1;
    if (last < address)
        return false;
    for (uint64_t page = address >> PAGE_BITS; page <= last >> PAGE_BITS; page++)
        if (!is_there(page))
            return false;
    memcpy(value, (const void *)(uintptr_t)address, n);
    return true;
}

static uint64_t find_symbol(void *context, const char *name)
{
    static const char *const names[SIM_N_SYMBOLS] = SIM_SYMBOL_NAMES;
    const uint64_t *symbols = context;
    for (int i = 0; i < SIM_N_SYMBOLS; i++)
        if (strcmp(names[i], name) == 0)
            return symbols[i];
    return 0;
}

static struct vm here;

struct vm *vm_here(void)
{
    return &here;
}

void vm_memory_use(const uint64_t *symbols)
{
    static uint64_t own[SIM_N_SYMBOLS];
    memcpy(own, symbols, sizeof own);
    vm_init(&here, &(struct vm_library){ getpid(), find_symbol, own, vm_get });
}

int vm_compare(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}
