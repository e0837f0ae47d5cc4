/* Stacks from the last Java frame on, as the thread itself has it. */
#include "core/hotspot/stack_walk_internal.h"

#include "core/hotspot/vm.h"

bool stack_anchors_find(struct vm *vm, struct stack_anchors *where)
{
    struct vm_field fields[] = { { "JavaThread", "_anchor", &where->anchor, false },
                                 { "JavaThread", "_stack_base", &where->base, false },
                                 { "Thread", "_stack_base", &where->base, false } };
    return vm_fields_find(vm, fields, sizeof fields / sizeof *fields);
}

struct stack_anchor stack_anchor_read(const struct stack_walker *walker, const struct stack_anchors *where,
                                      uint64_t address)
{
    const uint64_t at = address + where->anchor, addresses[4] = { at + walker->last_sp, at + walker->last_fp,
                                                                  at + walker->last_pc, address + where->base };
    uint64_t words[4];
    vm_read_words(walker->vm, addresses, 4, words);
    return (struct stack_anchor){ .sp = words[0], .fp = words[1], .pc = words[2], .base = words[3] };
}

static enum stack_end walk(struct stack_walker *walker, struct thread_state thread, struct stack_anchor anchor,
                           struct java_stack *stack)
{
    if ((anchor.fp == 0 && code_blobs_is_interpreter(walker->blobs, anchor.pc)) ||
        (anchor.pc == 0 && !stack_word_at(&thread, anchor.sp - 8, &anchor.pc)) ||
        (anchor.fp == 0 && !stack_word_at(&thread, anchor.sp - 16, &anchor.fp)))
        return STACK_NO_JAVA;
    thread.pc = stack_strip(walker, anchor.pc);
    return stack_walk_from(walker, &thread, (struct cursor_frame){ .pc = thread.pc, .sp = anchor.sp, .fp = anchor.fp },
                           stack);
}

void stack_walk_anchor(struct stack_walker *walker, const struct thread_state *thread, struct stack_anchor anchor,
                       struct java_stack *stack)
{
    stack->n = 0;
    stack->is_guessed = stack->is_in_java = false;
    stack->end = walk(walker, *thread, anchor, stack);
}
