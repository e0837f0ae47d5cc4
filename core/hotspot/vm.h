/*
 * One JVM, whose own structures are read: the JVM that this process is, or another process'.  Any number of them can be
 * open at once.
 *
 * libjvm.so exports the layout of its structures for its debugger (gHotSpotVMStructs, gHotSpotVMTypes); the layout is
 * constant.  All else is read by process_vm_readv, in the own process, too: a wrong address gives no answer, and not a
 * crash.  A read costs some microseconds, and one more for each page: what the JVM never gives back is read in place.
 *
 * Each module keeps what it has learnt of the JVM's layout in struct vm (vm_state.h), which it finds out at first use.
 * Functions may be called by several threads unless they say otherwise; probes call none of them.
 */
#ifndef CORE_HOTSPOT_VM_H
#define CORE_HOTSPOT_VM_H

#include "core/base/bytes.h"
#include "core/base/err.h"

struct vm;
struct stack_walker;

/* ---- opening ---- */

/* How a JVM's memory and its libjvm.so are reached. */
struct vm_library {
    pid_t pid;                                             /* 0: this process is the JVM */
    uint64_t (*symbol)(void *context, const char *name);   /* its address in that process; 0: it exports none */
    void *context;                                         /* borrowed */
    bool (*read)(uint64_t address, void *bytes, size_t n); /* in place of the system call; NULL */
};

/*
 * Open another process' JVM.  Nothing is loaded into the process, and nothing in it is changed or stopped.
 *
 * Returns what vm_close closes, or NULL with *err set (reason and next step): no such process, no HotSpot JVM, or its
 * memory may not be read.
 */
struct vm *vm_open(pid_t pid, struct err *err);
void vm_close(struct vm *vm); /* NULL is fine */

pid_t vm_pid(const struct vm *vm);

/* ---- reading ---- */

/* n bytes of the process; false: they are not all there. */
bool vm_read(struct vm *vm, uint64_t address, void *bytes, size_t n);
bool vm_read_u64(struct vm *vm, uint64_t address, uint64_t *value);

/* Read up to n bytes (some pages at most).  Returns how many are there before the first one that is not. */
size_t vm_read_some(struct vm *vm, uint64_t address, void *bytes, size_t n);

/* Several pieces, one behind the other into the same bytes, by one system call. */
struct vm_piece {
    uint64_t address;
    size_t n_bytes;
};

#define VM_PIECES_MAX 5

bool vm_read_pieces(struct vm *vm, const struct vm_piece *pieces, size_t n_pieces, void *bytes);

/* Any number, by few system calls; zeros for one that is not all there. */
void vm_read_each(struct vm *vm, const struct vm_piece *pieces, size_t n_pieces, void *bytes);
void vm_read_words(struct vm *vm, const uint64_t *addresses, size_t n, uint64_t *words);

/* The text that a pointer at an address points to; false: it is longer than n - 1, or not there. */
bool vm_read_text(struct vm *vm, uint64_t address, char *text, size_t n);

/* A number of n bytes at an offset of what was read; 0: it is not all there. */
static inline uint64_t vm_number(const uint8_t *bytes, size_t n_bytes, uint64_t offset, size_t n)
{
    struct cursor c = cursor_over(bytes, n_bytes);
    cursor_bytes(&c, (size_t)offset);
    return cursor_little(&c, n);
}

/* ---- the layout ---- */

#define VM_NONE UINT64_MAX

/* A field of a type: its offset, or the address of a static one; VM_NONE: this JVM does not export it. */
struct vm_field {
    const char *type, *field;
    uint64_t *value;
    bool is_static;
};

/*
 * Several rows may have the same value: one for each name that a release gave the field; the first one found counts.
 * Returns whether each value was found.
 */
bool vm_fields_find(struct vm *vm, struct vm_field *fields, size_t n);

/* A constant, as "frame::interpreter_frame_sender_sp_offset".  Returns whether this JVM exports it. */
bool vm_constant(struct vm *vm, const char *name, int32_t *value);

/* The size of a type in bytes; VM_NONE: this JVM does not export it. */
uint64_t vm_type_bytes(struct vm *vm, const char *name);

/* The JVM's feature release: 17; 0: not known. */
uint32_t vm_release(struct vm *vm);

/*
 * What is subtracted from each digit of a number in HotSpot's streams, 0 or 1: JDK 20 and later write no zero bytes
 * (JDK-8292758).  By the release, until vm_check_stacks has found out.
 */
uint32_t vm_excluded_digits(struct vm *vm);

/* That it is so, whatever the release says: 0 or 1. */
void vm_exclude_digits(struct vm *vm, uint32_t excluded);

/* ---- flags (-XX:) ---- */

/* Which of some flags are true now; one that this JVM does not have is not.  Returns false when none can be read. */
bool vm_flags_are_set(struct vm *vm, const char *const *names, size_t n_names, bool *are_set);

/* Does this JVM have that flag? */
bool vm_flag_is_there(struct vm *vm, const char *flag);

/* Was a flag set to true when the JVM started?  False where it is not known. */
bool vm_flag_is_asked_for(struct vm *vm, const char *flag);

/* The value of a flag that is a text, cut at n - 1 bytes; false: it has none, or it is not known. */
bool vm_flag_text(struct vm *vm, const char *flag, char *text, size_t n);

/*
 * Is what a JVM exports of its layout true of it?  Some of its compiled code and the stacks of its waiting threads are
 * read, as samples need it, and have to agree with each other; a release that nobody has seen, or a build with a field
 * elsewhere, is refused instead of read wrongly.
 */

/*
 * Of the JVM that the walker is of.  Returns 0: what was read agrees, as far as there is code already; or -1 with *err
 * set (which check failed, and the next step).
 */
int vm_check_stacks(struct stack_walker *walker, struct err *err);

#endif
