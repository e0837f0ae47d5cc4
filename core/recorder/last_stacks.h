/*
 * Each thread's last stack, and what of a new one is new: old against new frames.
 *
 * A frame that stands elsewhere than in the thread's last sample, or returns elsewhere, or whose method or call site is
 * another one, is a new call, and so are all frames inside it: they began since then.  Where all of that is equal,
 * nothing is proven: the call may have ended, and another one have come to the same place.  But while a call goes on,
 * its caller's frame does not change: where local variables there have other values, such as a loop's counter, it is
 * another call; provided that no garbage collection has changed references there since.
 *
 * What proves nothing either:
 * - A frame of the same method that is of another kind: the JVM replaces interpreted frames by compiled ones in the
 *   middle of a call (on-stack replacement), and the other way round (deoptimization).
 * - Where the thread is in compiled code: debug information is of its calls, so which methods are inlined there is a
 *   guess.  The frame itself, and what is outside of it, is known.
 * - Stacks of stubs, and of native code that no native method has called: the innermost frame was looked for.
 * - Frames of a virtual thread, inside of Continuation.enter: they come and go with it.
 * - Stacks that are not whole, and samples that come later than one that was taken after them.
 *
 * Source: PCCT §4 and §5.2, whose marks in return addresses HotSpot does not bear: its own stack walkers read them.
 */
#ifndef CORE_RECORDER_LAST_STACKS_H
#define CORE_RECORDER_LAST_STACKS_H

#include "core/base/hash.h"
#include "core/hotspot/stack_walk.h"
#include "core/hotspot/vm_heap.h"

struct last_stack;

struct last_stacks {
    struct hash_set by_tid;
    struct last_stack *stacks; /* owned */
    uint32_t n, room;
    uint64_t around[STACK_FRAMES_MAX]; /* of the stack that is being compared */
    size_t bytes, max_bytes;           /* of frames: when they would be more, all threads' last stacks are forgotten */
};

/* Of a method. */
struct frame_traits {
    uint16_t n_arguments; /* at most so many words of its caller's frame are its arguments */
    bool is_continuation; /* what it calls is of a virtual thread */
};

struct frame_traits frame_traits_of(const char *class_name, const char *descriptor);

/* All borrowed. */
struct new_stack {
    int32_t tid;
    uint64_t time_ns;
    const struct java_stack *stack;
    const struct thread_state *thread;
    /* Collections that had begun before it was taken, and after; VM_COLLECTIONS_UNKNOWN. */
    uint64_t collections_before, collections_after;
    const uint32_t *methods; /* by frame, their numbers */
    const struct frame_traits *traits;
};

/* Counted from the outermost frame on. */
struct stack_change {
    uint32_t n_same;               /* frames with the same methods and call sites as in the thread's last stack */
    uint32_t new_first, new_after; /* frames from 'first' on, less than 'after', are surely new calls */
};

/*
 * Compare a stack with the thread's last one, and keep it as that.
 *
 * Returns 0; 1: it proves nothing, as said above, and is not kept.
 */
int last_stacks_compare(struct last_stacks *last, const struct new_stack *next, struct stack_change *change);

/* A stack of which the outermost frames may not have been copied.  All borrowed. */
struct cut_stack {
    int32_t tid;
    const struct thread_state *thread;
    struct java_stack *stack;
    uint32_t *methods; /* by frame, their numbers; room for STACK_FRAMES_MAX */
    struct vm *vm;     /* for read(): a word of the thread's stack as it is now; false: it is not there */
    bool (*read)(struct vm *vm, uint64_t address, uint64_t *word);
};

/*
 * Put behind it those of the thread's last stack: where a frame of the two is the same one, it stands in the same place
 * and returns to the same one, all that are outside of that; else those that stand where nothing was copied, and have
 * not changed until now, and what is between is not known.
 *
 * Returns how the stack ends now.
 */
enum stack_end last_stacks_complete(const struct last_stacks *last, const struct cut_stack *cut);

/* A thread has ended. */
void last_stacks_forget(struct last_stacks *last, int32_t tid);

void last_stacks_free(struct last_stacks *last);

#endif
