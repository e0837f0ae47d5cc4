#include "core/emu/tool/tool_jvm.h"

#include "core/base/xalloc.h"
#include "core/emu/plugin/vm_memory.h"
#include "core/hotspot/stack_walk_internal.h"
#include "core/hotspot/vm.h"

#define TIER_C2     4
#define THREADS_MAX 4096

int tool_stack_open(struct tool_stack *stack, struct tool_names *names)
{
    struct err ignored;
    struct vm_field fields[] = { { "JavaThread", "_anchor", &stack->anchor, false } };
    stack->names = names;
    if (!vm_fields_find(vm_here(), fields, 1) || !vm_thread_list_find(vm_here(), &stack->list))
        return -1;
    stack->walker = stack_walker_open(vm_here(), frame_rules_here(), &ignored);
    if (stack->walker == NULL)
        return -1;
    stack_walker_round(stack->walker);
    return 0;
}

void tool_stack_round(struct tool_stack *stack)
{
    if (stack->walker != NULL)
        stack_walker_round(stack->walker);
}

uint64_t tool_stack_thread(const struct tool_stack *stack, int32_t tid)
{
    uint64_t threads[THREADS_MAX];
    int64_t n = vm_thread_list_read(vm_here(), &stack->list, threads, THREADS_MAX);
    for (int64_t i = 0; i < n && i < THREADS_MAX; i++) {
        uint64_t thread = threads[i], os_thread = vm_pointer(thread + stack->list.os_thread);
        uint32_t id = 0;
        if (thread != 0 && os_thread != 0 && vm_get_u32(os_thread + stack->list.id, &id) && (int32_t)id == tid)
            return thread;
    }
    return 0;
}

uint64_t tool_stack_sp(const struct tool_stack *stack, uint64_t java_thread)
{
    return stack->walker == NULL || java_thread == 0 ? 0
                                                     : vm_pointer(java_thread + stack->anchor + stack->walker->last_sp);
}

/* ---- frames ---- */

static struct mmprof_method *name_method(struct tool_stack *stack, const struct known_method *known)
{
    static struct vm_method m; /* too large for a thread of QEMU's */
    if (!vm_method_read_parts(vm_here(), &m, known->address, &known->parts, NULL))
        return NULL;
    m.class_name[m.n_class_name] = m.name[m.n_name] = m.descriptor[m.n_descriptor] = m.source[m.n_source] = '\0';
    const struct tool_method_text text = { m.class_name, m.name, m.descriptor, m.source };
    return tool_names_method(stack->names, &text);
}

static struct mmprof_method *method_of(struct tool_stack *stack, struct known_method *known)
{
    if (known == NULL)
        return NULL;
    if (!known->is_numbered) {
        known->number = stack->n_methods;
        *xpush(stack->methods, stack->methods_room, stack->n_methods) = name_method(stack, known);
        known->is_numbered = true;
    }
    return stack->methods[known->number];
}

/* Where the stack pointer of the innermost frame is while it calls. */
static uint64_t own_sp(const struct tool_stack *stack, uint64_t pc, uint64_t sp)
{
    const struct code_at *at =
        code_blobs_is_interpreter(stack->walker->blobs, pc) ? NULL : code_blobs_at(stack->walker->blobs, pc);
    if (at == NULL || at->blob == NULL)
        return 0;
    return at->blob->kind == BLOB_NMETHOD ? sp : at->blob->kind == BLOB_STUB ? sp + at->blob->frame_bytes : 0;
}

/* The innermost first becomes the outermost first. */
static uint32_t take_frames(struct tool_stack *stack, uint64_t innermost_sp, struct tool_frame *frames)
{
    const struct java_stack *from = &stack->stack;
    for (uint32_t i = 0; i < from->n; i++) {
        const struct java_frame *f = &from->frames[i];
        struct tool_frame *to = &frames[from->n - 1 - i];
        bool is_compiled = f->kind == FRAME_COMPILED || f->kind == FRAME_INLINED;
        uint64_t inner = i == 0 ? innermost_sp : frames[from->n - i].own_sp;
        if (i > 0 && from->frames[i - 1].sp != f->sp)
            inner = from->frames[i - 1].sp;
        *to = (struct tool_frame){ .method = method_of(stack, f->method),
                                   .index = f->index,
                                   .limit = f->sp,
                                   .own_sp = is_compiled ? inner : 0,
                                   .is_compiled = is_compiled,
                                   .is_by_c2 = is_compiled && f->tier == TIER_C2 };
        if (f->kind == FRAME_INTERPRETED && f->own_begin != 0)
            to->limit = f->own_begin;
    }
    return from->n;
}

uint32_t tool_stack_read(struct tool_stack *stack, uint64_t java_thread, uint64_t end,
                         struct tool_frame frames[TOOL_FRAMES_MAX])
{
    struct stack_walker *walker = stack->walker;
    uint64_t anchor = java_thread + stack->anchor, sp, fp, pc;
    if (walker == NULL || java_thread == 0 || !vm_get_u64(anchor + walker->last_sp, &sp) ||
        !vm_get_u64(anchor + walker->last_fp, &fp) || !vm_get_u64(anchor + walker->last_pc, &pc) || sp == 0 ||
        sp >= end || (pc == 0 && !vm_get_u64(sp - 8, &pc)))
        return 0;
    /* cppcheck-suppress intToPointerCast */
    const struct thread_state thread = {
        .pc = pc, .sp = sp, .fp = fp, .stack = (const uint8_t *)(uintptr_t)sp, .n_bytes = end - sp
    };
    stack->stack.n = 0;
    stack->stack.is_guessed = false;
    stack->stack.end = stack_walk_from(walker, &thread, (struct cursor_frame){ stack_strip(walker, pc), sp, fp, false },
                                       &stack->stack);
    if (stack->stack.end != STACK_WHOLE || stack->stack.n > TOOL_FRAMES_MAX)
        return 0;
    return take_frames(stack, own_sp(stack, pc, sp), frames);
}
