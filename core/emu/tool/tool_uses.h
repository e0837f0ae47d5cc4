/*
 * Who uses an object last, and what the creator and he have in common (thesis §A.4): for tools that want_callers.
 */
#ifndef CORE_EMU_TOOL_TOOL_USES_H
#define CORE_EMU_TOOL_TOOL_USES_H

#include "core/emu/tool/tool_host.h"
#include "core/emu/tool/tool_jvm.h"
#include "core/emu/tool/tool_objects.h"
#include "core/emu/tool/tool_stack.h"

/* A thread has created it: the call is the innermost one of thread->calls from now on. */
void tool_uses_begin(struct tool_stack *stack, struct tool_thread *thread, struct tool_object *object,
                     const struct tool_calls_listener *listener);

/* The stack pointer comes to where calls began: which are left, in the thread itself. */
void tool_uses_leave(struct tool_thread *thread, uint64_t sp);

/* A thread that runs Java code uses it. */
void tool_uses_take(struct tool_jvm *jvm, struct tool_thread *thread, const struct tool_kept *kept,
                    struct tool_object *object);

/* It has died: what is known is set, and its call is released. */
void tool_uses_end(struct tool_jvm *jvm, struct tool_object *object);

#endif
