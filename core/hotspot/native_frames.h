/*
 * Frames of native code, by the call frame information (.eh_frame) of the library that it is of: how to get from an
 * instruction of a function to the function's caller.
 */
#ifndef CORE_HOTSPOT_NATIVE_FRAMES_H
#define CORE_HOTSPOT_NATIVE_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

/* What an address counts from. */
enum native_base { NATIVE_SP, NATIVE_FP, NATIVE_CFA };

enum native_kind {
    NATIVE_UNKNOWN,   /* nothing is known of this code */
    NATIVE_OUTERMOST, /* it has no caller */
    NATIVE_CALLED,
    NATIVE_SIGNAL /* the kernel called it: the caller was interrupted at its instruction, which is no call */
};

/* An address: of the base's value, or of the word that the base points to, plus an offset. */
struct native_location {
    enum native_base base;
    bool is_behind_word;
    int64_t offset;
};

struct native_rule {
    enum native_kind kind;
    struct native_location cfa;           /* the caller's stack pointer */
    struct native_location return_to, fp; /* where the return address is, and the caller's frame pointer */
    bool has_fp;                          /* else the caller's frame pointer is the function's */
    bool is_linked;                       /* the return address is in the link register, and return_to is nothing */
};

struct native_frames;
struct vm;

/* NULL: no memory. */
struct native_frames *native_frames_open(struct vm *vm);
void native_frames_close(struct native_frames *native); /* NULL is fine */

/* Libraries may have been loaded and unloaded. */
void native_frames_round(struct native_frames *native);

/* The rule of an instruction; of a function that has called, one in front of its return address.  Never NULL. */
const struct native_rule *native_frames_at(struct native_frames *native, uint64_t pc);

#endif
