/* From native code to the Java method that called it, by the call frame information of libraries. */
#include "core/hotspot/stack_walk_internal.h"

#define NATIVE_MAX     512 /* frames of native code in a row */
#define DATA_WORDS_MIN 3u  /* an anchor */
#define DATA_WORDS_MAX 12u /* below the frame pointer */

static bool read_location(const struct thread_state *thread, const struct cursor_frame *frame, uint64_t cfa,
                          const struct native_location *location, uint64_t *address)
{
    *address = location->base == NATIVE_SP ? frame->sp : location->base == NATIVE_FP ? frame->fp : cfa;
    *address += (uint64_t)location->offset;
    return !location->is_behind_word || stack_word_at(thread, *address, address);
}

/* Where a native function returns to, which may still be in the link register. */
static bool read_return(const struct thread_state *thread, const struct cursor_frame *frame, uint64_t cfa,
                        const struct native_rule *rule, uint64_t *pc)
{
    uint64_t at;
    *pc = thread->link;
    return rule->is_linked ? stack_is_interrupted(thread, frame)
                           : read_location(thread, frame, cfa, &rule->return_to, &at) && stack_word_at(thread, at, pc);
}

/*
 * Functions that are written in assembler, as HotSpot's copying of arrays, may have no call frame information: where a
 * thread is in one, it is taken for one without a frame, if what would be its return address is behind known code.
 */
static bool leave_leaf(struct stack_walker *walker, const struct thread_state *thread, struct cursor_frame *frame)
{
    bool has_link = walker->rules->has_link;
    uint64_t pc = thread->link;
    if (!stack_is_interrupted(thread, frame) || (!has_link && !stack_word_at(thread, frame->sp, &pc)))
        return false;
    pc = stack_strip(walker, pc);
    /* With a link register, the function may have a frame all the same, which is to be looked for. */
    if (code_blobs_has(walker->blobs, pc) ? has_link || !stack_is_return(walker, pc)
                                          : native_frames_at(walker->native, pc - 1)->kind != NATIVE_CALLED)
        return false;
    *frame = (struct cursor_frame){ .pc = pc, .sp = frame->sp + (has_link ? 0 : 8), .fp = frame->fp };
    return true;
}

/* The caller of a native function.  Returns false where there is none, or it is not known. */
static bool leave_native(struct stack_walker *walker, const struct thread_state *thread, struct cursor_frame *frame,
                         enum native_kind *kind)
{
    const struct native_rule *rule = native_frames_at(walker->native, frame->is_innermost ? frame->pc : frame->pc - 1);
    uint64_t cfa, at, fp = frame->fp, pc;
    *kind = rule->kind;
    if (rule->kind == NATIVE_UNKNOWN && leave_leaf(walker, thread, frame))
        return true;
    if (rule->kind <= NATIVE_OUTERMOST || !read_location(thread, frame, 0, &rule->cfa, &cfa) || cfa < frame->sp ||
        (cfa == frame->sp && !rule->is_linked) || !read_return(thread, frame, cfa, rule, &pc) ||
        (rule->has_fp && (!read_location(thread, frame, cfa, &rule->fp, &at) || !stack_word_at(thread, at, &fp)))) {
        *kind = rule->kind == NATIVE_OUTERMOST ? NATIVE_OUTERMOST : NATIVE_UNKNOWN;
        return false;
    }
    *frame = (struct cursor_frame){
        .pc = stack_strip(walker, pc), .sp = cfa, .fp = fp, .is_innermost = rule->kind == NATIVE_SIGNAL
    };
    return true;
}

bool stack_leave_natives(struct stack_walker *walker, const struct thread_state *thread, struct cursor_frame *frame,
                         bool *is_outermost)
{
    enum native_kind kind = NATIVE_CALLED;
    *is_outermost = false;
    for (int n = 0; n < NATIVE_MAX && !code_blobs_has(walker->blobs, frame->pc); n++)
        if (!leave_native(walker, thread, frame, &kind)) {
            *is_outermost = kind == NATIVE_OUTERMOST;
            return *is_outermost;
        }
    return true;
}

/* ---- upcalls ---- */

/*
 * Native code that calls Java by a stub of the foreign function API (JDK 22 and later).
 *
 * The stub keeps the anchor of the thread's latest Java frame behind that its frame pointer points to: HotSpot's
 * UpcallStub::FrameData, an anchor and some pointers, which the frame's alignment may put a word lower.  While the stub
 * enters and leaves Java the anchor is not there; then the native code's frames are walked.
 */

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
