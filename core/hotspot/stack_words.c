/* The words of a copied stack, and which of them a call may return to. */
#include "core/hotspot/stack_walk_internal.h"

bool stack_word_at(const struct thread_state *thread, uint64_t address, uint64_t *word)
{
    if (address < thread->sp || thread->n_bytes < sizeof *word || address - thread->sp > thread->n_bytes - sizeof *word)
        return false;
    memcpy(word, thread->stack + (address - thread->sp), sizeof *word);
    return true;
}

bool stack_is_beyond(const struct thread_state *thread, uint64_t address)
{
    return address >= thread->sp && address - thread->sp > thread->n_bytes - sizeof(uint64_t);
}

bool stack_is_bottom(const struct thread_state *thread, uint64_t sp)
{
    return thread->bottom != 0 && sp + 2 * sizeof(uint64_t) >= thread->bottom;
}

uint64_t stack_strip(const struct stack_walker *walker, uint64_t address)
{
    return address & walker->rules->address_bits;
}

bool stack_is_continuation(struct stack_walker *walker, uint64_t pc)
{
    const struct code_blob *blob =
        walker->entry_return == 0 || !code_blobs_has(walker->blobs, pc) ? NULL : code_blobs_at(walker->blobs, pc)->blob;
    return blob != NULL && blob->is_continuation;
}

bool stack_is_return(struct stack_walker *walker, uint64_t pc)
{
    if (pc == walker->call_return || code_blobs_is_interpreter(walker->blobs, pc))
        return true;
    if (!code_blobs_has(walker->blobs, pc))
        return false;
    const struct code_at *at = code_blobs_at(walker->blobs, pc);
    if (at->blob == NULL || pc <= at->blob->begin)
        return false;
    if (at->blob->kind == BLOB_NMETHOD)
        return at->is_call || pc == at->blob->deopt[0] || pc == at->blob->deopt[1];
    return at->blob->kind == BLOB_NATIVE || at->blob->kind == BLOB_STUB || at->blob->is_upcall ||
           stack_is_continuation(walker, pc);
}

enum stack_end stack_leave_anchor(struct stack_walker *walker, const struct thread_state *thread, uint64_t anchor,
                                  struct cursor_frame *frame, bool *is_outermost)
{
    uint64_t sp, fp, pc;
    if (stack_is_beyond(thread, anchor + walker->last_sp) || stack_is_beyond(thread, anchor + walker->last_pc))
        return STACK_CUT;
    if (!stack_word_at(thread, anchor + walker->last_sp, &sp) ||
        !stack_word_at(thread, anchor + walker->last_fp, &fp) || !stack_word_at(thread, anchor + walker->last_pc, &pc))
        return STACK_ENTRY;
    *is_outermost = sp == 0;
    if (sp == 0)
        return STACK_WHOLE;
    if (sp <= frame->sp)
        return STACK_ENTRY;
    if (stack_is_beyond(thread, sp))
        return STACK_CUT;
    if ((pc == 0 && !stack_word_at(thread, sp - 8, &pc)) || (fp == 0 && !stack_word_at(thread, sp - 16, &fp)))
        return STACK_ENTRY;
    *frame = (struct cursor_frame){ .pc = stack_strip(walker, pc), .sp = sp, .fp = fp };
    return STACK_WHOLE;
}
