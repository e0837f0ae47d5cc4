#include "core/emu/plugin/vm_memory.h"

#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE_BITS  12
#define PAGES_KEPT 8192u

/* Numbers of pages that are there, each at its own place; 0: none. */
static uint64_t pages[PAGES_KEPT];

void *vm_map(size_t n)
{
    /* cppcheck-suppress invalidFunctionArg */
    char *at = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    /* cppcheck-suppress memleak */
    return at == MAP_FAILED ? NULL : at;
}

void vm_memory_forget(void)
{
    memset(pages, 0, sizeof pages);
}

static bool is_there(uint64_t page)
{
    uint64_t *kept = &pages[page % PAGES_KEPT];
    char byte;
    struct iovec here = { &byte, 1 }, there = { (void *)(uintptr_t)(page << PAGE_BITS), 1 };
    if (*kept == page && page != 0)
        return true;
    if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) != 1)
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

bool vm_get_text(uint64_t address, char *text, size_t n)
{
    for (size_t i = 0; i + 1 < n; i++) {
        if (!vm_get(address + i, text + i, 1))
            break;
        if (text[i] == '\0')
            return true;
        text[i + 1] = '\0';
    }
    if (n > 0)
        text[n - 1] = '\0';
    return false;
}
