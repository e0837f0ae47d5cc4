/*
 * The calls that a thread is in, as far as objects were created in them: which call an object comes from, and which
 * call is the innermost one that has lasted from an object's creation to its last use, its lowest common caller
 * (thesis §A.4).
 *
 * A stack is walked when an object is created, and not in between: a call is over when the stack pointer comes back to
 * where it began, and what is over stays so.  So the lowest common caller is the innermost call of the object's that is
 * not over at its last use.  Calls that compiled code has inlined begin and end without the stack pointer: these are
 * compared by where the code was.
 *
 * The caller's lock guards all of it.
 */
#ifndef CORE_EMU_TOOL_TOOL_CALLS_H
#define CORE_EMU_TOOL_TOOL_CALLS_H

#include "core/emu/tool/mmprof_tool.h"

#define TOOL_FRAMES_MAX 1024u

/* A frame of a stack.  Inlined ones have the limit of the compiled one that they are in. */
struct tool_frame {
    struct mmprof_method *method;
    int32_t index;   /* of the bytecode that it is at; -1: not known */
    uint64_t limit;  /* it is over when the stack pointer is here, or above */
    uint64_t own_sp; /* where the stack pointer is while it calls; 0: not known */
    bool is_compiled, is_by_c2;
};

struct tool_call {
    struct tool_call *caller; /* NULL: the outermost, or not known */
    struct mmprof_method *method;
    uint64_t limit;
    int32_t call_index; /* of the caller's bytecode that called it */
    bool is_over, is_compiled, is_by_c2;
    uint32_t n_users;
    uint64_t began, n_bytes; /* when it was seen first; of objects created in it, and in calls from it that are over */
};

/* Those of a thread that are not over, the outermost first. */
struct tool_calls {
    struct tool_call **all; /* owned */
    uint32_t n, room;
};

/* Hears of a call that is over, when 'all' still has it. */
struct tool_calls_listener {
    void (*over)(const struct tool_call *call, uint32_t depth, uint64_t time, void *context);
    void *context;
};

/* The stack is this now, the outermost frame first.  Returns 0, or -1: no memory, and what is known is shorter. */
int tool_calls_enter(struct tool_calls *calls, const struct tool_frame *frames, uint32_t n, uint64_t time,
                     const struct tool_calls_listener *listener);

/* Only the outermost n are left. */
void tool_calls_leave(struct tool_calls *calls, uint32_t n, uint64_t time, const struct tool_calls_listener *listener);

/* An object of n_bytes is created in the innermost one.  Returns that one, to be released, or NULL: none is known. */
struct tool_call *tool_calls_create(struct tool_calls *calls, uint64_t n_bytes);

void tool_call_release(struct tool_call *call);

/* The innermost one, of this and its callers, that is not over; NULL: none, or not known. */
static inline struct tool_call *tool_call_lasting(struct tool_call *call)
{
    while (call != NULL && call->is_over)
        call = call->caller;
    return call;
}

/*
 * Of a call that compiled code may have inlined, or one of its callers: the innermost that the code is still in.  now:
 * what is inlined where the code is, the outermost first, with the bytecodes that these are at; no frames: not known.
 */
const struct tool_call *tool_call_inlined(const struct tool_call *call, const struct tool_frame *now, uint32_t n);

/* All of a thread are over. */
void tool_calls_free(struct tool_calls *calls, uint64_t time, const struct tool_calls_listener *listener);

#endif
