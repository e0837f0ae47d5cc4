#include "core/emu/tool/tool_host.h"

#include "core/base/ticks.h"
#include "core/base/xalloc.h"
#include "core/emu/plugin/qemu_api.h"

#define PAGE_BYTES      4096u
#define STACK_BYTES_MAX ((uint64_t)64 << 20)

/* ---- creation ---- */

/* Behind the last page of a stack that is at an address. */
static uint64_t find_stack_end(uint64_t address)
{
    uint64_t page = address & ~(uint64_t)(PAGE_BYTES - 1), last = page + STACK_BYTES_MAX;
    char byte;
    while (page < last && qemu_read(page, &byte, 1))
        page += PAGE_BYTES;
    return page;
}

/* The frames of a thread that creates an object; 0: not known. */
static uint32_t read_frames(struct tool_stack *stack, struct tool_thread *thread)
{
    if (thread->frames == NULL)
        thread->frames = xcalloc(TOOL_FRAMES_MAX, sizeof *thread->frames);
    if (thread->java_thread == 0)
        thread->java_thread = tool_stack_thread(stack, thread->thread->tid);
    if (thread->stack_end == 0) /* it has left Java for the first time */
        thread->stack_end = find_stack_end(tool_stack_sp(stack, thread->java_thread));
    return tool_stack_read(stack, thread->java_thread, thread->stack_end, thread->frames);
}

static void set_innermost(struct tool_thread *thread)
{
    const struct tool_frame *innermost = thread->n_frames == 0 ? NULL : &thread->frames[thread->n_frames - 1];
    thread->over_at = innermost == NULL ? 0 : innermost->limit;
    thread->own_sp = innermost == NULL ? 0 : innermost->own_sp;
}

void tool_uses_begin(struct tool_stack *stack, struct tool_thread *thread, struct tool_object *object,
                     const struct tool_calls_listener *listener)
{
    uint64_t now = object->object.created;
    uint32_t n = read_frames(stack, thread);
    if (n == 0) /* what is known of the calls around goes on */
        return;
    tool_calls_enter(&thread->calls, thread->frames, n, now, listener);
    thread->n_frames = n;
    thread->call_pc = 0;
    set_innermost(thread);
    /* It calls the JVM, through a stub or not: that returns to here. */
    object->call = object->lasting =
        tool_calls_create(&thread->calls, (uint64_t)(object->object.stands_for * (double)object->object.bytes));
    object->object.is_by_c2 = object->call != NULL && object->call->is_by_c2;
}

void tool_uses_leave(struct tool_thread *thread, uint64_t sp)
{
    while (thread->n_frames > 0 && thread->frames[thread->n_frames - 1].limit <= sp)
        thread->n_frames--;
    set_innermost(thread);
    thread->call_pc = 0;
}

/* ---- uses ---- */

/* A stub's, or the JVM's, is where the thread was before. */
static struct mmprof_location *location_of(struct tool_jvm *jvm, struct tool_thread *thread,
                                           const struct tool_kept *kept)
{
    struct mmprof_location *location =
        kept->code == TOOL_JAVA ? tool_jvm_location(jvm, kept->instruction, kept->bytecode) : NULL;
    if (location != NULL)
        thread->location = location;
    return thread->location;
}

void tool_uses_take(struct tool_jvm *jvm, struct tool_thread *thread, const struct tool_kept *kept,
                    struct tool_object *object)
{
    object->object.last_site = location_of(jvm, thread, kept);
    object->object.has_changed_thread = object->object.thread != thread->thread;
    object->last_pc = 0;
    if (object->object.has_changed_thread)
        return;
    object->lasting = tool_call_lasting(object->lasting);
    uint32_t n = thread->calls.n;
    bool is_innermost = object->lasting != NULL && object->lasting->is_compiled && n > 0 &&
                        thread->calls.all[n - 1]->limit == object->lasting->limit;
    if (is_innermost)
        object->last_pc = kept->call_pc != 0 ? kept->call_pc : kept->instruction;
}

/* What compiled code has inlined at an instruction, the outermost first. */
static uint32_t inlined_at(struct tool_jvm *jvm, uint64_t pc, struct tool_frame frames[CODE_FRAMES_MAX])
{
    struct code_frame from[CODE_FRAMES_MAX];
    uint32_t point, number = jvm->has_code ? code_map_find(&jvm->code, pc, ticks_now()) : UINT32_MAX;
    if (number == UINT32_MAX || jvm->code.pieces[number].kind != CODE_COMPILED)
        return 0;
    const struct code_piece *piece = &jvm->code.pieces[number];
    uint32_t n = code_piece_frames(piece, pc - piece->start, from, &point);
    for (uint32_t i = 0; i < n; i++)
        frames[i] = (struct tool_frame){ .method = tool_jvm_code_method(jvm, from[i].method), .index = from[i].index };
    return n;
}

void tool_uses_end(struct tool_jvm *jvm, struct tool_object *object)
{
    struct tool_frame frames[CODE_FRAMES_MAX];
    const struct tool_call *call = object->object.has_changed_thread ? NULL : object->lasting;
    if (call != NULL && object->last_pc != 0)
        call = tool_call_inlined(call, frames, inlined_at(jvm, object->last_pc, frames));
    object->object.common = call == NULL || object->object.n_uses == 0 ? NULL : call->method;
    tool_call_release(object->call);
    object->call = object->lasting = NULL;
}
