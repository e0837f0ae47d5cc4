/*
 * Each thread's last stack, and what of a new one is new: old against new frames.
 *
 * A frame that stands elsewhere than in the thread's last sample, or returns elsewhere, or whose method or call site is
 * another one, is a new call, and so are all frames inside it: they began since then.  Where all of that is equal,
 * nothing is proven: the call may have ended, and another one have come to the same place.
 *
 * What proves nothing either:
 * - A frame of the same method that is of another kind: the JVM replaces interpreted frames by compiled ones in the
 *   middle of a call (on-stack replacement), and the other way round (deoptimization).
 * - Where the thread is in compiled code: debug information is of its calls, so which methods are inlined there is a
 *   guess.  The frame itself, and what is outside of it, is known.
 * - Frames of a virtual thread, inside of Continuation.enter: they come and go with it.
 * - Stacks that are not whole, and samples that come later than one that was taken after them.
 *
 * Source: PCCT §4 and §5.2, whose marks in return addresses HotSpot does not bear: its own stack walkers read them.
 */
#ifndef CORE_RECORDER_LAST_STACKS_H
#define CORE_RECORDER_LAST_STACKS_H

#include "core/base/hash.h"
#include "core/hotspot/stack_walk.h"

struct last_stack;

struct last_stacks {
    struct hash_set by_tid;
    struct last_stack *stacks; /* owned */
    uint32_t n, room;
    size_t bytes, max_bytes; /* of frames: when they would be more, all threads' last stacks are forgotten */
};

/* A stack, innermost first; borrowed. */
struct new_stack {
    int32_t tid;
    uint64_t time_ns;
    uint32_t n;
    uint32_t n_movable; /* innermost frames that are a virtual thread's */
    bool is_in_java;    /* as struct java_stack has it */
    const struct java_frame *frames;
    const uint32_t *methods; /* by number */
};

/* Counted from the outermost frame on. */
struct stack_change {
    uint32_t n_same;               /* frames with the same methods and call sites as in the thread's last stack */
    uint32_t new_first, new_after; /* frames from 'first' on, less than 'after', are surely new calls */
};

/*
 * Compare a whole stack with the thread's last one, and keep it as that.
 *
 * Returns 0; 1: it was taken before that one, and nothing is known or kept; -1: no memory, likewise.
 */
int last_stacks_compare(struct last_stacks *last, const struct new_stack *stack, struct stack_change *change);
void last_stacks_free(struct last_stacks *last);

#endif
