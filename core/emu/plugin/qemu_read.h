/*
 * Memory of QEMU's that may not be there.  Any thread asks, at any time: what vm_get remembers of pages is for one at a
 * time.
 */
#ifndef CORE_PLUGIN_QEMU_READ_H
#define CORE_PLUGIN_QEMU_READ_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>
#include <unistd.h>

/* Returns whether all n bytes were there. */
static inline bool qemu_read(uint64_t at, void *to, size_t n)
{
    struct iovec here = { to, n }, there = { (void *)(uintptr_t)at, n };
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)n;
}

#endif
