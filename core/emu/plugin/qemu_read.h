/*
 * Memory of QEMU's or of the program's that may not be there, by system call: a fault of ours would be taken for the
 * program's.  Any thread asks, at any time: what vm_get remembers of pages is for one at a time.
 */
#ifndef CORE_EMU_PLUGIN_QEMU_READ_H
#define CORE_EMU_PLUGIN_QEMU_READ_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>
#include <unistd.h>

/* Each returns whether all n bytes were there. */
static inline bool qemu_read(uint64_t at, void *to, size_t n)
{
    struct iovec here = { to, n }, there = { (void *)(uintptr_t)at, n };
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)n;
}

static inline bool qemu_write(uint64_t at, void *from, size_t n)
{
    struct iovec here = { from, n }, there = { (void *)(uintptr_t)at, n };
    return process_vm_writev(getpid(), &here, 1, &there, 1, 0) == (ssize_t)n;
}

#endif
