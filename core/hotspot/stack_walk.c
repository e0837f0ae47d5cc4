#include "core/hotspot/stack_walk_internal.h"

#include "core/base/xalloc.h"
#include "core/hotspot/vm.h"

#define SCAN_BYTES 1024u /* from the stack pointer on, where a frame is not complete */

static const char *const ends[STACK_ENDS] = {
    [STACK_WHOLE] = "whole",
    [STACK_CUT] = "the stack is longer than what was copied of it (--stack-size)",
    [STACK_NO_JAVA] = "no Java method on the stack",
    [STACK_INTERPRETER] = "an interpreted frame is not complete",
    [STACK_COMPILED] = "a compiled frame is not complete",
    [STACK_STUB] = "a stub's frame is not known",
    [STACK_ENTRY] = "a call from the JVM into Java is not complete",
    [STACK_TOO_DEEP] = "the stack has more than 2,048 frames",
};

const char *stack_end_name(enum stack_end end)
{
    return ends[end];
}

/* ---- opening ---- */

static bool find_layout(struct stack_walker *walker)
{
    const struct frame_rules *rules = walker->rules;
    uint64_t call_return;
    struct vm_field fields[] = {
        { "StubRoutines", "_call_stub_return_address", &call_return, true },
        { "JavaCallWrapper", "_anchor", &walker->wrapper_anchor, false },
        { "JavaFrameAnchor", "_last_Java_sp", &walker->last_sp, false },
        { "JavaFrameAnchor", "_last_Java_fp", &walker->last_fp, false },
        { "JavaFrameAnchor", "_last_Java_pc", &walker->last_pc, false },
    };
    struct vm_field entry = { "ContinuationEntry", "_return_pc", &walker->entry_return, true };
    walker->entry_bytes = vm_type_bytes(walker->vm, "ContinuationEntry");
    if (!vm_fields_find(walker->vm, &entry, 1) || walker->entry_bytes == VM_NONE)
        walker->entry_return = 0;
    /* Not all processors' JVMs export these. */
    if (!vm_constant(walker->vm, "frame::interpreter_frame_sender_sp_offset", &walker->sender_sp))
        walker->sender_sp = rules->sender_sp;
    if (!vm_constant(walker->vm, "frame::entry_frame_call_wrapper_offset", &walker->wrapper))
        walker->wrapper = rules->call_wrapper;
    return vm_fields_find(walker->vm, fields, sizeof fields / sizeof *fields) &&
           vm_read_u64(walker->vm, call_return, &walker->call_return);
}

struct stack_walker *stack_walker_open(struct vm *vm, const struct frame_rules *rules, struct err *err)
{
    struct stack_walker *walker = xcalloc(1, sizeof *walker);
    walker->methods = known_methods_open(vm);
    walker->native = native_frames_open(vm);
    walker->vm = vm;
    walker->rules = rules;
    walker->blobs = code_blobs_open(vm, rules, walker->methods, err);
    if (walker->blobs != NULL && find_layout(walker))
        return walker;
    if (walker->blobs != NULL) {
        err_set(err, "the layout of this JVM's stacks is not known (JDK %u)", (unsigned)vm_release(vm));
        err_next(err, "use --mechanism polling, which asks the JVM itself");
    }
    stack_walker_close(walker);
    return NULL;
}

void stack_walker_close(struct stack_walker *walker)
{
    if (walker == NULL)
        return;
    code_blobs_close(walker->blobs);
    native_frames_close(walker->native);
    known_methods_close(walker->methods);
    free(walker);
}

void stack_walker_round(struct stack_walker *walker)
{
    known_methods_round(walker->methods);
    code_blobs_round(walker->blobs);
    native_frames_round(walker->native);
}

/* ---- where no frame is known ---- */

static bool walk_native(struct stack_walker *walker, const struct thread_state *thread, struct cursor_frame *frame,
                        struct java_stack *stack)
{
    const struct cursor_frame start = *frame;
    bool is_outermost;
    stack->end = STACK_NO_JAVA;
    if (!stack_leave_natives(walker, thread, frame, &is_outermost) || is_outermost)
        return is_outermost;
    stack->end = stack_walk_from(walker, thread, *frame, stack);
    if (stack->end == STACK_WHOLE || stack->end == STACK_CUT || stack->end == STACK_TOO_DEEP)
        return true;
    *frame = start; /* what was taken for a function without a frame was none */
    return false;
}

/*
 * In the code cache: the innermost method is known, or it is a stub, which the JVM's own threads call, too; but not
 * whether it has a frame.
 */
static void walk_incomplete(struct stack_walker *walker, const struct thread_state *thread, struct java_stack *stack)
{
    const struct code_at *at = code_blobs_at(walker->blobs, thread->pc);
    bool is_stub = at->n_frames == 0, is_interpreted = code_blobs_is_interpreter(walker->blobs, thread->pc);
    enum stack_end end = is_stub && !is_interpreted ? STACK_NO_JAVA : stack->end;
    struct cursor_frame innermost = { thread->pc, thread->sp, thread->fp, true }, caller = innermost;
    stack->n = 0;
    if (is_interpreted && stack_leave_unfinished(walker, thread, &caller, stack)) {
        stack->end = stack_walk_from(walker, thread, caller, stack);
        if (stack->end == STACK_WHOLE || stack->end == STACK_CUT)
            return;
        stack->n = 0;
    }
    stack_add_code(at, stack);
    if (!stack_search(walker, thread, &innermost, end == STACK_NO_JAVA ? thread->n_bytes : SCAN_BYTES, stack))
        stack->end = end;
}

void stack_walk(struct stack_walker *walker, const struct thread_state *thread, struct java_stack *stack)
{
    struct cursor_frame innermost = { thread->pc, thread->sp, thread->fp, true };
    stack->n = 0;
    stack->is_guessed = false;
    stack->is_in_java = code_blobs_has(walker->blobs, thread->pc);
    if (!stack->is_in_java) {
        if (walk_native(walker, thread, &innermost, stack))
            return;
        stack->n = 0;
        if (!stack_search(walker, thread, &innermost, thread->n_bytes, stack))
            stack->end = STACK_NO_JAVA;
        return;
    }
    stack->end = stack_walk_from(walker, thread, innermost, stack);
    if (stack->end != STACK_WHOLE && stack->end != STACK_CUT && stack->end != STACK_TOO_DEEP)
        walk_incomplete(walker, thread, stack);
}

void stack_walk_heap(struct stack_walker *walker, const struct thread_state *thread, uint64_t sp,
                     struct java_stack *stack)
{
    struct cursor_frame innermost = { .sp = sp };
    stack->is_guessed = stack->is_in_java = false;
    stack->end = STACK_COMPILED;
    if (!stack_word_at(thread, sp - 8, &innermost.pc) || !stack_word_at(thread, sp - 16, &innermost.fp))
        return;
    innermost.pc = stack_strip(walker, innermost.pc);
    if (code_blobs_is_interpreter(walker->blobs, innermost.pc))
        innermost.fp = sp - 16 + 8 * innermost.fp;
    if (code_blobs_has(walker->blobs, innermost.pc))
        stack->end = stack_walk_from(walker, thread, innermost, stack);
}
