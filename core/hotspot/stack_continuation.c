/*
 * A virtual thread on its carrier, JDK 21 and later: its frames, as far as they have come back from the heap, are above
 * (to the inside of) the frame of Continuation.enterSpecial, which holds a ContinuationEntry.  The outermost of them
 * returns to a stub that gets more from the heap: what it replaces there is the return to enterSpecial.
 *
 * Frames that are in the heap are not walked: the carrier's follow.
 */
#include "core/hotspot/stack_walk_internal.h"
#include "core/hotspot/vm.h"
#include "core/hotspot/vm_methods.h"

#define ALIGNMENT    16u   /* of an entry */
#define SEARCH_BYTES 8192u /* from a stub's stack pointer to the entry: there is room for frames on their way */

bool stack_is_continuation(struct stack_walker *walker, uint64_t pc)
{
    const struct code_blob *blob =
        walker->entry_return == 0 || !code_blobs_has(walker->blobs, pc) ? NULL : code_blobs_at(walker->blobs, pc)->blob;
    return blob != NULL && blob->is_continuation;
}

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
bool stack_leave_continuation(struct stack_walker *walker, const struct thread_state *thread, uint64_t from,
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
