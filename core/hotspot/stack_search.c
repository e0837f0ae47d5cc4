/*
 * Native code may have no call frame information, and a frame of Java code may not be complete: the innermost return
 * address counts from which all of the rest of the stack can be walked.
 *
 * On x86-64 the caller's frame begins above that address.  On aarch64 the address may still be in the link register,
 * and native code stores it, behind the frame pointer, at the lower end of its own frame, whose size is not known: the
 * records of frame and return address are followed, and the caller's frame is looked for above.
 */
#include "core/hotspot/stack_walk_internal.h"

#define ALIGNMENT 16u /* of aarch64's stack pointer */

struct frame_search {
    struct stack_walker *walker;
    const struct thread_state *thread;
    const struct cursor_frame *known;
    struct java_stack *stack;
    uint32_t n_before; /* frames, which stay */
};

/* is_cut: the outermost frames may be missing. */
static bool try_frame(const struct frame_search *search, struct cursor_frame frame, bool is_cut)
{
    struct java_stack *stack = search->stack;
    stack->n = search->n_before;
    stack->end = stack_walk_from(search->walker, search->thread, frame, stack);
    stack->is_guessed = stack->end == STACK_WHOLE || (is_cut && stack->end == STACK_CUT && stack->n > search->n_before);
    return stack->is_guessed;
}

/*
 * Native code returns only to where compiled code has called native code: what earlier calls of Java code have left on
 * the stack, below the frames that are there now, does not count.
 */
static bool is_java_return(const struct frame_search *search, uint64_t pc)
{
    struct code_blobs *blobs = search->walker->blobs;
    if (!code_blobs_has(blobs, pc) || !stack_is_return(search->walker, pc))
        return false;
    if (search->stack->is_in_java || code_blobs_is_interpreter(blobs, pc))
        return true;
    const struct code_at *at = code_blobs_at(blobs, pc);
    return at->blob == NULL || at->blob->kind != BLOB_NMETHOD || at->is_native_call;
}

/* A stub and a native method's wrapper have a frame pointer of their own: to the outermost two words of their frame. */
static bool has_own_pointer(const struct frame_search *search, const struct cursor_frame *frame, uint64_t *sp)
{
    if (code_blobs_is_interpreter(search->walker->blobs, frame->pc))
        return false;
    const struct code_blob *blob = code_blobs_at(search->walker->blobs, frame->pc)->blob;
    if (blob == NULL || blob->kind == BLOB_NMETHOD || blob->frame_bytes < 16)
        return false;
    *sp = frame->fp + 16 - blob->frame_bytes;
    return *sp >= frame->sp && *sp < frame->fp + 16;
}

/*
 * The stack pointer is the frame's, or lower by less than the rules say: with one that is wrong, the walk may well get
 * out of what was copied of the stack, which is not taken for the end before all are tried.
 */
static bool try_above(const struct frame_search *search, struct cursor_frame frame)
{
    struct code_blobs *blobs = search->walker->blobs;
    uint32_t search_bytes = search->walker->rules->search_bytes;
    struct cursor_frame by_pointer = frame;
    bool has_pointer = code_blobs_is_interpreter(blobs, frame.pc) || frame.pc == search->walker->call_return;
    if (search_bytes == 0 || has_pointer)
        return try_frame(search, frame, true);
    if (has_own_pointer(search, &frame, &by_pointer.sp) && try_frame(search, by_pointer, true))
        return true;
    for (uint32_t n = 0; n < search_bytes; n += ALIGNMENT) {
        struct cursor_frame above = { .pc = frame.pc, .sp = frame.sp + n, .fp = frame.fp };
        if (try_frame(search, above, false))
            return true;
    }
    return try_frame(search, frame, true);
}

/* The return address is in the link register still; it is older where it is in the current frame's record, too. */
static bool try_link(const struct frame_search *search)
{
    const struct thread_state *thread = search->thread;
    uint64_t link = stack_strip(search->walker, thread->link), stored;
    if (!search->known->is_innermost || !is_java_return(search, link) ||
        (stack_word_at(thread, thread->fp + 8, &stored) && stored == thread->link))
        return false;
    return try_above(search, (struct cursor_frame){ .pc = link, .sp = thread->sp, .fp = thread->fp });
}

/* A record: the caller's frame pointer, which is the address of its record, and the return address. */
static bool follow_records(const struct frame_search *search)
{
    const struct thread_state *thread = search->thread;
    uint64_t at = search->known->fp, fp, pc;
    while (at % 8 == 0 && stack_word_at(thread, at, &fp) && stack_word_at(thread, at + 8, &pc)) {
        pc = stack_strip(search->walker, pc);
        if (is_java_return(search, pc))
            return try_above(search, (struct cursor_frame){ .pc = pc, .sp = at + 16, .fp = fp });
        if (fp <= at)
            return false;
        at = fp;
    }
    return false;
}

/*
 * From the innermost return address within n bytes, with the frame pointer below it, or else the known frame's; it may
 * be of a call that has returned.
 */
static bool scan(const struct frame_search *search, size_t n_bytes)
{
    const struct thread_state *thread = search->thread;
    uint64_t from = search->known->sp & ~(uint64_t)7;
    for (uint64_t at = from; at - from < n_bytes; at += 8) {
        struct cursor_frame frame = { .sp = at + 8, .fp = search->known->fp };
        uint64_t fp;
        if (!stack_word_at(thread, at, &frame.pc))
            return false;
        frame.pc = stack_strip(search->walker, frame.pc);
        if (!is_java_return(search, frame.pc))
            continue;
        bool is_pushed = at > thread->sp && stack_word_at(thread, at - 8, &fp) && fp > at;
        for (int i = is_pushed ? 0 : 1; i < 2; i++) {
            frame.fp = i == 0 ? fp : search->known->fp;
            if (search->stack->is_in_java ? try_frame(search, frame, true) : try_above(search, frame))
                return true;
        }
    }
    return false;
}

bool stack_search(struct stack_walker *walker, const struct thread_state *thread, const struct cursor_frame *known,
                  size_t n_bytes, struct java_stack *stack)
{
    const struct frame_search search = { walker, thread, known, stack, stack->n };
    if (walker->rules->has_link && (try_link(&search) || (!stack->is_in_java && follow_records(&search))))
        return true;
    if (scan(&search, n_bytes))
        return true;
    stack->n = search.n_before;
    return false;
}
