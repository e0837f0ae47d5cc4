/*
 * The Java frames of a thread of the emulated JVM that is in the JVM or in native code: from where it left Java on.
 */
#ifndef CORE_EMU_TOOL_TOOL_STACK_H
#define CORE_EMU_TOOL_TOOL_STACK_H

#include "core/emu/tool/tool_calls.h"
#include "core/emu/tool/tool_names.h"
#include "core/hotspot/stack_walk.h"
#include "core/hotspot/vm_thread_list.h"

struct tool_stack {
    struct stack_walker *walker; /* owned; NULL: none is known */
    struct tool_names *names;    /* borrowed */
    struct vm_thread_list list;
    uint64_t anchor;                /* in a JavaThread */
    struct mmprof_method **methods; /* owned: by the number that a known_method has */
    uint32_t n_methods, methods_room;
    struct java_stack stack; /* the one that was walked last */
};

/* Of the JVM that vm_memory_use has opened.  Returns 0, or -1: its layout is not known. */
int tool_stack_open(struct tool_stack *stack, struct tool_names *names);

/* Code or classes may have changed. */
void tool_stack_round(struct tool_stack *stack);

/* A thread's JavaThread by its number in the system; 0: not known. */
uint64_t tool_stack_thread(const struct tool_stack *stack, int32_t tid);

/* Where its stack pointer was when it left Java; 0: not known. */
uint64_t tool_stack_sp(const struct tool_stack *stack, uint64_t java_thread);

/*
 * Its frames, the outermost first; of more than TOOL_FRAMES_MAX, none.  end: behind its stack's last byte.  Returns how
 * many, 0: not known.
 */
uint32_t tool_stack_read(struct tool_stack *stack, uint64_t java_thread, uint64_t end,
                         struct tool_frame frames[TOOL_FRAMES_MAX]);

#endif
