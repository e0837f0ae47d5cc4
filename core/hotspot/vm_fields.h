/*
 * Reading HotSpot's own structures, whose layout libjvm.so exports for its debugger (gHotSpotVMStructs,
 * gHotSpotVMTypes): of the JVM that this process is, or, after vm_fields_use, of another process.
 *
 * The layout is constants of libjvm.so.  All else is read by process_vm_readv, in the own process, too: an address that
 * is none makes the answer unknown, and not a crash.  That costs some microseconds, and one for each page: what the JVM
 * never gives back is read in place.
 */
#ifndef CORE_HOTSPOT_VM_FIELDS_H
#define CORE_HOTSPOT_VM_FIELDS_H

#include "core/base/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define VM_NONE UINT64_MAX

/* The libjvm.so of another process, or of the one that an emulator runs in this one. */
struct vm_library {
    pid_t pid;
    uint64_t (*symbol)(void *context, const char *name);   /* its address in that process; 0: it exports none */
    void *context;                                         /* borrowed */
    bool (*read)(uint64_t address, void *bytes, size_t n); /* in place of the system call; NULL */
};

/* Read that process from now on.  Before anything is read, and once: a process looks at one JVM. */
void vm_fields_use(const struct vm_library *library);

/* The same again; pid 0: this process is the JVM. */
const struct vm_library *vm_fields_library(void);

/* n bytes of the process; false: they are not all there. */
bool vm_read(uint64_t address, void *bytes, size_t n);
bool vm_read_u64(uint64_t address, uint64_t *value);

/*
 * From low to high memory is the JVM's for as long as it runs: read it in place from now on.  which: the range, below
 * VM_RANGES; its latest ends count.
 */
#define VM_RANGES 16u

void vm_read_in_place(size_t which, uint64_t low, uint64_t high);

/* Those of n bytes (some pages at most) that are there before the first one that is not. */
size_t vm_read_some(uint64_t address, void *bytes, size_t n);

/* Several pieces, one behind the other into the same bytes, by one system call. */
struct vm_piece {
    uint64_t address;
    size_t n_bytes;
};

#define VM_PIECES_MAX 5

bool vm_read_pieces(const struct vm_piece *pieces, size_t n_pieces, void *bytes);

/* Any number, by few system calls; zeros for one that is not all there. */
void vm_read_each(const struct vm_piece *pieces, size_t n_pieces, void *bytes);
void vm_read_words(const uint64_t *addresses, size_t n, uint64_t *words);

/* The text that a pointer at an address points to; false: it is longer than n - 1, or not there. */
bool vm_read_text(uint64_t address, char *text, size_t n);

/* A number of n bytes at an offset of what was read; 0: it is not all there. */
static inline uint64_t vm_number(const uint8_t *bytes, size_t n_bytes, uint64_t offset, size_t n)
{
    struct cursor c = cursor_over(bytes, n_bytes);
    cursor_bytes(&c, (size_t)offset);
    return cursor_little(&c, n);
}

/* A field of a type: its offset, or the address of a static one; VM_NONE: this JVM does not export it. */
struct vm_field {
    const char *type, *field;
    uint64_t *value;
    bool is_static;
};

/*
 * Several rows may have one value: what releases call it otherwise, of which the first one found counts.  Returns
 * whether each value was found.
 */
bool vm_fields_find(struct vm_field *fields, size_t n);

/* A constant, as "frame::interpreter_frame_sender_sp_offset".  Returns whether this JVM exports it. */
bool vm_constant(const char *name, int32_t *value);

/* The size of a type in bytes; VM_NONE: this JVM does not export it. */
uint64_t vm_type_bytes(const char *name);

/* The JVM's feature release: 17; 0: not known. */
uint32_t vm_release(void);

/*
 * What is subtracted from each digit of a number in HotSpot's streams: JDK 20 and later write no zero bytes
 * (JDK-8292758).
 */
uint32_t vm_excluded_digits(void);

#endif
