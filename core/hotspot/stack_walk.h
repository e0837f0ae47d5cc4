/*
 * Java stacks from outside of the JVM: from a thread's registers and a copy of its stack's innermost bytes, as the
 * kernel takes them with a sample.  The thread is not stopped, no safepoint is needed, and nothing runs in the JVM.
 *
 * Frames are found as HotSpot itself finds them (its frame.cpp): interpreted ones by their frame pointer, compiled ones
 * by the size of their frame, inlined ones in the debug information of compiled code, those outside of native code by
 * what the JVM keeps of them where it calls Java, and innermost native ones by their library's call frame information.
 * Where a frame is not complete (prologue, epilogue, routines without frames), and in native code without such
 * information, the innermost return address on the stack counts from which all of the rest of the stack can be walked.
 */
#ifndef CORE_HOTSPOT_STACK_WALK_H
#define CORE_HOTSPOT_STACK_WALK_H

#include "core/base/err.h"
#include "core/hotspot/known_methods.h"

struct vm;

#define STACK_FRAMES_MAX 2048u

enum frame_kind {
    FRAME_INTERPRETED,
    FRAME_COMPILED, /* by C1 or C2: 'tier' */
    FRAME_INLINED,  /* in the compiled one outside of it */
    FRAME_NATIVE,   /* the wrapper of a native method */
    FRAME_STUB,     /* innermost: code of the JVM's own making; no method */
    FRAME_POLLED    /* not of a walk: JVMTI does not tell */
};

struct java_frame {
    struct known_method *method; /* the walker's; NULL: not known */
    int32_t index;               /* of its bytecode; -1: not known */
    enum frame_kind kind;
    uint8_t tier;
    /* Where its caller's frame ends, and the call returns to; an inlined one has its compiled one's.  0: not known. */
    uint64_t sp, return_pc;
    uint64_t own_begin, own_end; /* addresses on the stack that nobody but itself writes to; equal: not known */
};

/* Why a stack could not be walked to its end. */
enum stack_end {
    STACK_WHOLE,
    STACK_CUT,         /* it is longer than what was copied of it: the outermost frames are missing */
    STACK_NO_JAVA,     /* native code that no Java method has called */
    STACK_INTERPRETER, /* a frame that does not hold together, of the interpreter, */
    STACK_COMPILED,    /* of compiled code, */
    STACK_STUB,        /* of a stub */
    STACK_ENTRY,       /* or where the JVM calls Java */
    STACK_TOO_DEEP,
    STACK_ENDS
};

/* "the stack is longer than what was copied of it (--stack-size)", ...: as a note calls it. */
const char *stack_end_name(enum stack_end end);

/* What the kernel took of a thread: registers, and n bytes from the stack pointer on; borrowed. */
struct thread_state {
    uint64_t pc, sp, fp;
    uint64_t link;     /* the link register, where there is one */
    uint64_t bytecode; /* in the interpreter: the address of the bytecode that it is at */
    const uint8_t *stack;
    size_t n_bytes;
    uint64_t bottom; /* of frames in the heap: where they end; 0: it is a thread's stack */
};

struct java_stack {
    enum stack_end end;
    bool is_in_java; /* the thread was in code of the code cache, not in native code */
    bool is_guessed; /* frames are missing that are not known: the innermost Java ones may be of calls that have
                        returned */
    uint32_t n;
    struct java_frame frames[STACK_FRAMES_MAX]; /* the innermost first */
};

struct frame_rules;
struct stack_walker;

/*
 * By the rules of the JVM's processor (frame_rules_here).  NULL with *err set
 * (reason and next step): its layout is not known.
 */
struct stack_walker *stack_walker_open(struct vm *vm, const struct frame_rules *rules, struct err *err);
void stack_walker_close(struct stack_walker *walker); /* NULL is fine */

/* Samples from now on are later: code may have changed. */
void stack_walker_round(struct stack_walker *walker);

/* Never fails: what is known is in *stack, and why there is no more. */
void stack_walk(struct stack_walker *walker, const struct thread_state *thread, struct java_stack *stack);

/*
 * The frames of a virtual thread in the heap: the innermost of them returns to the pc in front of 'sp', and 'stack' has
 * what is from two words in front of sp on.  They are added to those that the stack has.
 */
void stack_walk_heap(struct stack_walker *walker, const struct thread_state *thread, uint64_t sp,
                     struct java_stack *stack);

/* ---- stack_anchor.c ---- */

/*
 * What a Java thread that is in native code has of its last Java frame: from there its stack can be walked where native
 * frames cannot, as those with a frame pointer that nobody has saved.
 */
struct stack_anchor {
    uint64_t sp, fp, pc; /* sp: 0: it is in Java code, or runs none; fp and pc: 0: they are below sp */
    uint64_t base;       /* the stack's highest address */
};

/* Where a JavaThread has them. */
struct stack_anchors {
    uint64_t anchor, base;
};

#define STACK_ANCHOR_BYTES 16u /* below sp that are needed */

/* Returns whether the JVM says where they are. */
bool stack_anchors_find(struct vm *vm, struct stack_anchors *where);

/* Of the JavaThread at an address; zeros: it cannot be read. */
struct stack_anchor stack_anchor_read(const struct stack_walker *walker, const struct stack_anchors *where,
                                      uint64_t address);

/* As stack_walk, from the anchor on; 'thread' has the stack from STACK_ANCHOR_BYTES below its sp on. */
void stack_walk_anchor(struct stack_walker *walker, const struct thread_state *thread, struct stack_anchor anchor,
                       struct java_stack *stack);

#endif
