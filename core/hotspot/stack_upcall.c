/*
 * Native code that calls Java by a stub of the foreign function API (JDK 22 and later).
 *
 * The stub keeps the anchor of the thread's latest Java frame behind that its frame pointer points to: HotSpot's
 * UpcallStub::FrameData, an anchor and some pointers, which the frame's alignment may put a word lower.  While the stub
 * enters and leaves Java the anchor is not there; then the native code's frames are walked.
 */
#include "core/hotspot/stack_walk_internal.h"

#define DATA_WORDS_MIN 3u  /* an anchor */
#define DATA_WORDS_MAX 12u /* below the frame pointer */

bool stack_is_upcall(struct stack_walker *walker, uint64_t pc)
{
    const struct code_blob *blob = code_blobs_has(walker->blobs, pc) && !code_blobs_is_interpreter(walker->blobs, pc)
                                       ? code_blobs_at(walker->blobs, pc)->blob
                                       : NULL;
    return blob != NULL && blob->is_upcall;
}

/* An anchor has a stack pointer above the frame, and an address that a call returns to. */
static bool is_anchor(struct stack_walker *walker, const struct thread_state *thread, uint64_t fp, uint64_t at)
{
    uint64_t sp, pc;
    return stack_word_at(thread, at + walker->last_sp, &sp) && stack_word_at(thread, at + walker->last_pc, &pc) &&
           sp > fp && sp % 8 == 0 && pc != 0 && stack_is_return(walker, stack_strip(walker, pc));
}

/* The stub's caller, by the frame pointer, but where the frame is not there yet, or no more. */
static bool leave_stub(struct stack_walker *walker, const struct thread_state *thread, struct cursor_frame *frame)
{
    const struct code_at *at = code_blobs_at(walker->blobs, frame->pc);
    bool has_none = frame->is_innermost && (at->shapes == FRAME_NONE || frame->pc == at->blob->begin);
    bool is_pushed = frame->is_innermost && at->shapes == FRAME_PUSHED;
    uint64_t record = is_pushed ? frame->sp : frame->fp, pc = thread->link, fp = frame->fp, sp = frame->sp;
    if (has_none && !walker->rules->has_link) {
        if (!stack_word_at(thread, sp, &pc))
            return false;
        sp += 8;
    } else if (!has_none) {
        if (!stack_word_at(thread, record, &fp) || !stack_word_at(thread, record + 8, &pc))
            return false;
        sp = record + 16;
    }
    *frame = (struct cursor_frame){ .pc = stack_strip(walker, pc), .sp = sp, .fp = fp };
    return true;
}

enum stack_end stack_leave_upcall(struct stack_walker *walker, const struct thread_state *thread,
                                  struct cursor_frame *frame, bool *is_outermost)
{
    for (uint64_t n = DATA_WORDS_MIN; !frame->is_innermost && n <= DATA_WORDS_MAX; n++)
        if (is_anchor(walker, thread, frame->fp, frame->fp - 8 * n))
            return stack_leave_anchor(walker, thread, frame->fp - 8 * n, frame, is_outermost);
    return leave_stub(walker, thread, frame) && stack_leave_natives(walker, thread, frame, is_outermost) ? STACK_WHOLE
                                                                                                         : STACK_ENTRY;
}
