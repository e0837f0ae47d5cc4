/* The parts of a stack walk, each on those before it: words, native code, known frames, the search for one. */
#ifndef CORE_HOTSPOT_STACK_WALK_INTERNAL_H
#define CORE_HOTSPOT_STACK_WALK_INTERNAL_H

#include "core/hotspot/known_methods.h"
#include "core/hotspot/stack_walk.h"

struct native_frames;
struct vm;

/* ---- native_frames.c ---- */

/*
 * Frames of native code, by the call frame information (.eh_frame) of the library that it is of: how to get from an
 * instruction of a function to the function's caller.
 */

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

struct native_frames *native_frames_open(struct vm *vm);
void native_frames_close(struct native_frames *native); /* NULL is fine */

/* Libraries may have been loaded and unloaded. */
void native_frames_round(struct native_frames *native);

/* The rule of an instruction; of a function that has called, one in front of its return address.  Never NULL. */
const struct native_rule *native_frames_at(struct native_frames *native, uint64_t pc);

/* ---- the walker, of stack_walk.c ---- */

struct stack_walker {
    struct vm *vm; /* borrowed */
    const struct frame_rules *rules;
    struct code_blobs *blobs;
    struct native_frames *native;
    struct known_methods *methods;
    bool is_deoptimized;  /* the frame that is being left is about to be */
    uint64_t call_return; /* where a call of Java returns to in the JVM's call stub */
    int32_t sender_sp, wrapper;
    uint64_t wrapper_anchor, last_sp, last_fp, last_pc;
    uint64_t entry_return, entry_bytes; /* of ContinuationEntry: address of its static field; 0: there is none */
};

/* A walk on its way. */
struct cursor_frame {
    uint64_t pc, sp, fp;
    bool is_innermost;
};

/* ---- stack_words.c ---- */

/* A word of the stack; false: it is not one of those that were copied. */
bool stack_word_at(const struct thread_state *thread, uint64_t address, uint64_t *word);

/* Is a word's address behind those that were copied? */
bool stack_is_beyond(const struct thread_state *thread, uint64_t address);

/* Is this the stack pointer of what is no frame in the heap any more? */
bool stack_is_bottom(const struct thread_state *thread, uint64_t sp);

/* An address without the bits that authenticate it. */
uint64_t stack_strip(const struct stack_walker *walker, uint64_t address);

/* May a call return to this address? */
bool stack_is_return(struct stack_walker *walker, uint64_t pc);

/* Is an address in the stubs that move virtual threads' frames? */
bool stack_is_continuation(struct stack_walker *walker, uint64_t pc);

/* The frame that an anchor at this address has; *is_outermost: none. */
enum stack_end stack_leave_anchor(struct stack_walker *walker, const struct thread_state *thread, uint64_t anchor,
                                  struct cursor_frame *frame, bool *is_outermost);

/* Does the thread have the registers of this frame?  Not where a signal's handler runs. */
static inline bool stack_is_interrupted(const struct thread_state *thread, const struct cursor_frame *frame)
{
    return frame->pc == thread->pc && frame->sp == thread->sp;
}

/* ---- stack_native.c ---- */

/* From native code to the first frame in the code cache.  Returns false where it is not known. */
bool stack_leave_natives(struct stack_walker *walker, const struct thread_state *thread, struct cursor_frame *frame,
                         bool *is_outermost);

/* Is an address in a stub by which native code calls Java? */
bool stack_is_upcall(struct stack_walker *walker, uint64_t pc);

/*
 * From such a stub to what Java called the native code with; *is_outermost: nothing did, and there is no frame.  Why
 * there are no more.
 */
enum stack_end stack_leave_upcall(struct stack_walker *walker, const struct thread_state *thread,
                                  struct cursor_frame *frame, bool *is_outermost);

/* ---- stack_frames.c ---- */

/* Add the frames from this one on; why there are no more. */
enum stack_end stack_walk_from(struct stack_walker *walker, const struct thread_state *thread,
                               struct cursor_frame frame, struct java_stack *stack);

/* Add the frames of code at an address: of a method with those inlined, or of a stub. */
void stack_add_code(const struct code_at *at, struct java_stack *stack);

/* The caller of an interpreted frame that is being made, which is added as far as it is known; false: it is none. */
bool stack_leave_unfinished(struct stack_walker *walker, const struct thread_state *thread, struct cursor_frame *frame,
                            struct java_stack *stack);

/* ---- stack_search.c ---- */

/*
 * Where the caller of a frame, the outermost that is known, is not known: that to which the innermost return address
 * belongs from which the rest can be walked.  n_bytes: of the stack, are looked at.  Returns whether there is one,
 * whose frames are then in the stack, behind those that it had; they are marked as guessed.
 */
bool stack_search(struct stack_walker *walker, const struct thread_state *thread, const struct cursor_frame *known,
                  size_t n_bytes, struct java_stack *stack);

#endif
