/* From a known frame to its callers: interpreted, compiled and inlined ones, stubs, and virtual threads. */
#include "core/hotspot/stack_walk_internal.h"
#include "core/hotspot/vm.h"
#include "core/hotspot/vm_methods.h"

#define FIXED_BYTES  80u   /* of an interpreted frame, from its frame pointer down, without the method's own stack */
#define ALIGNMENT    16u   /* of an entry */
#define SEARCH_BYTES 8192u /* from a stub's stack pointer to the entry: there is room for frames on their way */

/*
 * The frame pointer that a callee of an interpreted frame has stored at an address: in the heap, where frames move, the
 * distance from there on, in words.
 */
static uint64_t stored_fp(const struct stack_walker *walker, const struct thread_state *thread, uint64_t address,
                          uint64_t fp, uint64_t pc)
{
    return thread->bottom != 0 && code_blobs_is_interpreter(walker->blobs, pc) ? address + 8 * fp : fp;
}

/* May a frame return to this address, with this stack pointer?  In the heap, what the outermost one returns to is not
 * there. */
static bool is_return_to(struct stack_walker *walker, const struct thread_state *thread, uint64_t pc, uint64_t sp)
{
    return stack_is_bottom(thread, sp) || stack_is_return(walker, pc);
}

/* The caller of a routine that has pushed n bytes, the last 8 of which are the frame pointer if there are any. */
static bool leave_pushed(struct stack_walker *walker, const struct thread_state *thread, struct cursor_frame *frame,
                         uint64_t n_bytes)
{
    uint64_t pc, fp = frame->fp, at = frame->sp + n_bytes;
    if (!stack_word_at(thread, at, &pc) || !is_return_to(walker, thread, stack_strip(walker, pc), at + 8) ||
        (n_bytes > 0 && !stack_word_at(thread, at - 8, &fp)))
        return false;
    pc = stack_strip(walker, pc);
    *frame = (struct cursor_frame){ .pc = pc, .sp = at + 8, .fp = stored_fp(walker, thread, at - 8, fp, pc) };
    return true;
}

/* The caller of a routine that has stored nothing on the stack of which it has taken n bytes. */
static bool leave_unstored(struct stack_walker *walker, const struct thread_state *thread, struct cursor_frame *frame,
                           uint64_t n_bytes)
{
    uint64_t pc = thread->link, sp = frame->sp + n_bytes;
    if (!walker->rules->has_link) {
        if (!stack_word_at(thread, sp, &pc))
            return false;
        sp += 8;
    }
    pc = stack_strip(walker, pc);
    if (!stack_is_return(walker, pc) || (walker->rules->has_link && !stack_is_interrupted(thread, frame)))
        return false;
    *frame = (struct cursor_frame){ .pc = pc, .sp = sp, .fp = frame->fp };
    return true;
}

/* ---- frames ---- */

static void add_frame(struct java_stack *stack, struct known_method *method, int32_t index, enum frame_kind kind,
                      uint32_t tier)
{
    if (stack->n < STACK_FRAMES_MAX)
        stack->frames[stack->n++] = (struct java_frame){ method, index, kind, (uint8_t)tier, 0, 0, 0, 0 };
}

/* Is the bytecode pointer one of its code?  *index is that of the bytecode, or -1 in a native method. */
static bool is_in_code(const struct known_method *known, uint64_t bytecode, int32_t *index)
{
    bool is_in = bytecode >= known->parts.code && bytecode - known->parts.code < known->parts.n_code;
    *index = is_in ? (int32_t)(bytecode - known->parts.code) : -1;
    return is_in || known->parts.n_code == 0;
}

static uint64_t words(int32_t n)
{
    return 8 * (uint64_t)(int64_t)n;
}

/* JDK 8 has no mirror in the frame: what is behind it is a word nearer. */
static bool find_bytecode(const struct stack_walker *walker, const struct thread_state *thread, uint64_t at,
                          const struct known_method *method, int32_t *index)
{
    uint64_t bytecode, nearer;
    return stack_word_at(thread, at + words(walker->rules->bytecode), &bytecode) &&
           (is_in_code(method, bytecode, index) ||
            (stack_word_at(thread, at + words(walker->rules->bytecode + 1), &nearer) &&
             is_in_code(method, nearer, index)));
}

static enum stack_end leave_interpreted(struct stack_walker *walker, const struct thread_state *thread,
                                        struct cursor_frame *frame, struct java_stack *stack)
{
    uint64_t at = frame->fp + words(walker->sender_sp), address, sp, fp, pc;
    struct known_method *method;
    int32_t index, now;
    if (stack_is_beyond(thread, frame->fp + 8))
        return STACK_CUT;
    if (frame->fp < frame->sp || !stack_word_at(thread, at + words(walker->rules->method), &address) ||
        !stack_word_at(thread, at, &sp) || !stack_word_at(thread, frame->fp, &fp) ||
        !stack_word_at(thread, frame->fp + 8, &pc))
        return STACK_INTERPRETER;
    pc = stack_strip(walker, pc);
    sp = thread->bottom != 0 ? frame->fp + 8 * sp : sp;
    fp = stored_fp(walker, thread, frame->fp, fp, pc);
    /* An interpreted caller's stack pointer may be below: aarch64 has it where the caller's largest stack would end. */
    if (sp <= frame->fp && walker->rules->has_link && code_blobs_is_interpreter(walker->blobs, pc))
        sp = frame->fp + 16;
    if (sp <= frame->fp || !is_return_to(walker, thread, pc, sp) ||
        (method = known_methods_get(walker->methods, address)) == NULL ||
        !find_bytecode(walker, thread, at, method, &index))
        return STACK_INTERPRETER;
    /* The frame has the bytecode of its latest call: where it is now, a register has. */
    if (frame->is_innermost && is_in_code(method, thread->bytecode, &now))
        index = now;
    add_frame(stack, method, index, FRAME_INTERPRETED, 0);
    *frame = (struct cursor_frame){ .pc = pc, .sp = sp, .fp = fp };
    return STACK_WHOLE;
}

/*
 * On x86-64 the interpreter pushes a new frame word by word: return address and frame pointer are there, and of the
 * rest maybe the caller's stack pointer, which is in the bytecode's register until then, and the method.
 */
bool stack_leave_unfinished(struct stack_walker *walker, const struct thread_state *thread, struct cursor_frame *frame,
                            struct java_stack *stack)
{
    uint64_t at = frame->fp + words(walker->sender_sp), sp = thread->bytecode, fp, pc, method;
    struct known_method *known = NULL;
    if (walker->rules->has_link || frame->fp < frame->sp || frame->fp - frame->sp > FIXED_BYTES ||
        !stack_word_at(thread, frame->fp, &fp) || !stack_word_at(thread, frame->fp + 8, &pc))
        return false;
    stack_word_at(thread, at, &sp);
    if (sp <= frame->fp || !stack_is_return(walker, pc))
        return false;
    if (stack_word_at(thread, at + words(walker->rules->method), &method))
        known = known_methods_get(walker->methods, method);
    if (known != NULL)
        add_frame(stack, known, known->parts.n_code > 0 ? 0 : -1, FRAME_INTERPRETED, 0);
    *frame = (struct cursor_frame){ .pc = pc, .sp = sp, .fp = fp };
    return true;
}

void stack_add_code(const struct code_at *at, struct java_stack *stack)
{
    if (at->n_frames == 0)
        add_frame(stack, NULL, -1, FRAME_STUB, 0);
    for (uint32_t i = 0; i < at->n_frames; i++) {
        enum frame_kind kind = i + 1 < at->n_frames            ? FRAME_INLINED
                               : at->blob->kind == BLOB_NATIVE ? FRAME_NATIVE
                                                               : FRAME_COMPILED;
        add_frame(stack, at->frames[i].method, at->frames[i].index, kind, at->blob->nmethod.tier);
    }
}

/* Debug information is of what is in front of its address, or at it; but of calls, what they return to is behind them.
 */
static const struct code_at *executing(struct stack_walker *walker, const struct code_at *at,
                                       const struct cursor_frame *frame)
{
    return frame->is_innermost && at->is_behind_call ? code_blobs_at(walker->blobs, frame->pc + 1) : at;
}

/* A frame that is not there yet, or no more: FRAME_ bits. */
static bool leave_incomplete(struct stack_walker *walker, const struct thread_state *thread, const struct code_at *at,
                             struct cursor_frame *frame)
{
    unsigned shapes = at->shapes;
    uint64_t taken = at->blob->frame_bytes - (walker->rules->has_link ? 0 : 8);
    return ((shapes & FRAME_NONE) != 0 && leave_unstored(walker, thread, frame, 0)) ||
           ((shapes & FRAME_PUSHED) != 0 && leave_pushed(walker, thread, frame, 8)) ||
           ((shapes & FRAME_TAKEN) != 0 && leave_unstored(walker, thread, frame, taken));
}

static enum stack_end leave_sized(struct stack_walker *walker, const struct thread_state *thread,
                                  const struct code_at *at, struct cursor_frame *frame)
{
    if (frame->is_innermost && leave_incomplete(walker, thread, at, frame))
        return STACK_WHOLE;
    if (at->blob->frame_bytes < 16)
        return STACK_STUB;
    if (stack_is_beyond(thread, frame->sp + at->blob->frame_bytes - 8))
        return STACK_CUT;
    if (leave_pushed(walker, thread, frame, at->blob->frame_bytes - 8))
        return STACK_WHOLE;
    return at->blob->kind == BLOB_STUB ? STACK_STUB : STACK_COMPILED;
}

/* A routine that begins with 'push rbp; mov rbp, rsp', or 'stp x29, x30, [sp, #-16]!; mov x29, sp'. */
static bool leave_by_pointer(struct stack_walker *walker, const struct thread_state *thread, struct cursor_frame *frame)
{
    struct cursor_frame by_pointer = *frame;
    by_pointer.sp = frame->fp;
    if (frame->fp < frame->sp || !leave_pushed(walker, thread, &by_pointer, 8))
        return false;
    *frame = by_pointer;
    return true;
}

/* Such a routine, or one without a frame.  What is in the link register may be in a frame, too. */
static enum stack_end leave_routine(struct stack_walker *walker, const struct thread_state *thread,
                                    const struct code_at *at, struct cursor_frame *frame)
{
    uint64_t stored;
    if (frame->is_innermost && at->shapes == FRAME_PUSHED && leave_pushed(walker, thread, frame, 8))
        return STACK_WHOLE;
    bool is_stored = walker->rules->has_link && frame->fp >= frame->sp &&
                     stack_word_at(thread, frame->fp + 8, &stored) && stored == thread->link;
    if (is_stored && leave_by_pointer(walker, thread, frame))
        return STACK_WHOLE;
    return (frame->is_innermost && leave_unstored(walker, thread, frame, 0)) || leave_by_pointer(walker, thread, frame)
               ? STACK_WHOLE
               : STACK_STUB;
}

/*
 * It was left to its caller.  Its own are an interpreted frame's local variables but for the arguments, and all of a
 * compiled one but for what is pushed first, its calls' arguments (core/recorder/last_stacks.c knows how many), and
 * where it is deoptimized, which writes to it.
 */
static void set_caller(struct java_frame *frame, const struct cursor_frame *left, const struct cursor_frame *caller,
                       bool is_deoptimized)
{
    frame->sp = caller->sp;
    frame->return_pc = caller->pc;
    if (frame->kind == FRAME_INTERPRETED) {
        frame->own_begin = left->fp + 16;
        frame->own_end = caller->sp;
    } else if (frame->kind != FRAME_NATIVE && !is_deoptimized && caller->sp >= left->sp + 16) {
        frame->own_begin = left->sp;
        frame->own_end = caller->sp - 16;
    }
}

/* The caller was deoptimized: its calls, which are known already, returned to 'pc' before. */
static void restore_return(struct java_stack *stack, uint64_t sp, uint64_t pc)
{
    for (uint32_t i = stack->n; i-- > 0 && stack->frames[i].sp == sp;)
        stack->frames[i].return_pc = pc;
}

static enum stack_end leave(struct stack_walker *walker, const struct thread_state *thread, struct cursor_frame *frame,
                            struct java_stack *stack)
{
    if (code_blobs_is_interpreter(walker->blobs, frame->pc))
        return leave_interpreted(walker, thread, frame, stack);
    const struct code_at *at = code_blobs_at(walker->blobs, frame->pc);
    struct code_blob *blob = at->blob;
    uint64_t original;
    if (blob == NULL)
        return STACK_COMPILED;
    if (blob->kind == BLOB_NMETHOD && !frame->is_innermost &&
        (frame->pc == blob->deopt[0] || frame->pc == blob->deopt[1])) {
        if (!stack_word_at(thread, frame->sp + blob->original_pc, &original) || original < blob->begin ||
            original >= blob->end)
            return STACK_COMPILED;
        restore_return(stack, frame->sp, original);
        walker->is_deoptimized = true;
        frame->pc = original;
        at = code_blobs_at(walker->blobs, original);
        if (at->blob != blob)
            return STACK_COMPILED;
    }
    bool is_method = blob->kind == BLOB_NMETHOD || blob->kind == BLOB_NATIVE;
    if (is_method || frame->is_innermost)
        stack_add_code(is_method ? executing(walker, at, frame) : at, stack);
    return blob->kind == BLOB_ADAPTER || blob->kind == BLOB_ROUTINES ? leave_routine(walker, thread, at, frame)
                                                                     : leave_sized(walker, thread, at, frame);
}

/* The JVM called Java: what Java called the JVM is in the wrapper of that call, if anything did. */
static enum stack_end leave_entry(struct stack_walker *walker, const struct thread_state *thread,
                                  struct cursor_frame *frame, bool *is_outermost)
{
    uint64_t wrapper;
    if (stack_is_beyond(thread, frame->fp))
        return STACK_CUT;
    if (!stack_word_at(thread, frame->fp + words(walker->wrapper), &wrapper))
        return STACK_ENTRY;
    return stack_leave_anchor(walker, thread, wrapper + walker->wrapper_anchor, frame, is_outermost);
}

/* ---- continuations ---- */

/*
 * A virtual thread on its carrier, JDK 21 and later: its frames, as far as they have come back from the heap, are above
 * (to the inside of) the frame of Continuation.enterSpecial, which holds a ContinuationEntry.  The outermost of them
 * returns to a stub that gets more from the heap: what it replaces there is the return to enterSpecial.
 *
 * Frames that are in the heap are not walked: the carrier's follow.
 */

static bool is_run(struct vm *vm, struct known_method *known)
{
    if (known != NULL && !known->is_asked) {
        known->is_asked = true;
        known->is_run = vm_method_is(vm, known->address, "jdk/internal/vm/Continuation", "run");
    }
    return known != NULL && known->is_run;
}

/* Behind an entry are the frame pointer and the return address of enterSpecial's caller, which is Continuation.run. */
static bool is_entry(struct stack_walker *walker, const struct thread_state *thread, uint64_t at)
{
    uint64_t fp, pc, method;
    int64_t of_method = 8 * ((int64_t)walker->sender_sp + walker->rules->method);
    if (!stack_word_at(thread, at + walker->entry_bytes, &fp) ||
        !stack_word_at(thread, at + walker->entry_bytes + 8, &pc))
        return false;
    pc = stack_strip(walker, pc);
    if (code_blobs_is_interpreter(walker->blobs, pc))
        return stack_word_at(thread, fp + (uint64_t)of_method, &method) &&
               is_run(walker->vm, known_methods_get(walker->methods, method));
    if (!stack_is_return(walker, pc))
        return false;
    const struct code_at *code = code_blobs_at(walker->blobs, pc);
    return code->n_frames > 0 && is_run(walker->vm, code->frames[0].method);
}

/* An interpreted frame's caller's stack pointer may be above the entry, or what it was when the frame went to the heap.
 */
static bool leave_continuation(struct stack_walker *walker, const struct thread_state *thread, uint64_t from,
                               struct cursor_frame *frame)
{
    uint64_t return_pc, begin = (from + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
    if (!vm_read_u64(walker->vm, walker->entry_return, &return_pc) || return_pc == 0)
        return false;
    for (uint64_t at = begin; at - begin < SEARCH_BYTES; at += ALIGNMENT)
        if (is_entry(walker, thread, at)) {
            *frame = (struct cursor_frame){ .pc = return_pc, .sp = at, .fp = at + walker->entry_bytes };
            return true;
        }
    return false;
}

/* ---- all ---- */

enum stack_end stack_walk_from(struct stack_walker *walker, const struct thread_state *thread,
                               struct cursor_frame frame, struct java_stack *stack)
{
    bool is_outermost = false;
    enum stack_end end = STACK_WHOLE;
    uint64_t above = frame.sp; /* of this the next frame is */
    while (end == STACK_WHOLE && !is_outermost && !stack_is_bottom(thread, frame.sp)) {
        if (stack->n >= STACK_FRAMES_MAX)
            return STACK_TOO_DEEP;
        bool is_entry = frame.pc == walker->call_return, is_upcall = stack_is_upcall(walker, frame.pc);
        uint32_t n_before = stack->n;
        if (!is_entry && stack_is_continuation(walker, frame.pc) && leave_continuation(walker, thread, above, &frame))
            continue;
        above = frame.sp;
        if (code_blobs_is_interpreter(walker->blobs, frame.pc))
            above = frame.fp;
        const struct cursor_frame left = frame;
        walker->is_deoptimized = false;
        end = is_entry    ? leave_entry(walker, thread, &frame, &is_outermost)
              : is_upcall ? stack_leave_upcall(walker, thread, &frame, &is_outermost)
                          : leave(walker, thread, &frame, stack);
        for (uint32_t i = n_before; end == STACK_WHOLE && i < stack->n; i++)
            set_caller(&stack->frames[i], &left, &frame, walker->is_deoptimized);
    }
    return end;
}
