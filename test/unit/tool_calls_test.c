/*
 * The lowest common caller of an object's creation and its last use, on stacks that are made up.
 */
#include "core/emu/tool/tool_jvm.h"

#include "test/unit/tap.h"

#define N_METHODS 5

static struct mmprof_method methods[N_METHODS];
static struct mmprof_method *const main_of = &methods[0], *const loop = &methods[1], *const make = &methods[2],
                                   *const use = &methods[3], *const other = &methods[4];

static struct tool_calls calls;
static uint32_t n_over;
static const struct tool_call *last_over;
static uint64_t last_bytes;

static void on_over(const struct tool_call *call, uint32_t depth, uint64_t time, void *context)
{
    (void)depth, (void)time, (void)context;
    n_over++;
    last_over = call;
    last_bytes = call->n_bytes;
}

static const struct tool_calls_listener listener = { on_over, NULL };

/* Frames are 0x100 bytes; stacks grow down from 0x10000. */
static struct tool_frame frame(struct mmprof_method *method, int32_t index, uint32_t depth)
{
    return (struct tool_frame){ .method = method, .index = index, .limit = 0x10000 - 0x100 * depth };
}

static struct tool_call *create(const struct tool_frame *frames, uint32_t n)
{
    tool_calls_enter(&calls, frames, n, 7, &listener);
    return tool_calls_create(&calls, 16);
}

static void test_lasting(void)
{
    const struct tool_frame stack[] = { frame(main_of, 3, 0), frame(loop, 8, 1), frame(make, 2, 2) };
    struct tool_call *call = create(stack, 3);
    CHECK("while its creator lasts, an object's caller is that", tool_call_lasting(call)->method == make);
    tool_calls_leave(&calls, 2, 9, &listener);
    CHECK("when that is over, it is its caller", tool_call_lasting(call)->method == loop && n_over == 1);
    const struct tool_frame again[] = { frame(main_of, 3, 0), frame(loop, 8, 1), frame(make, 2, 2) };
    struct tool_call *next = create(again, 3);
    CHECK("another call of the same method at the same place is another call", next != call);
    CHECK("and what lasts is the same", next->caller == call->caller);
    CHECK("so the first object's is still the caller", tool_call_lasting(call)->method == loop);
    tool_calls_leave(&calls, 0, 20, &listener);
    CHECK("when all are over there is none", tool_call_lasting(call) == NULL && tool_call_lasting(next) == NULL);
    CHECK_NUMBER("bytes count for all callers", last_bytes, 32);
    tool_call_release(call);
    tool_call_release(next);
}

/* Of stacks that were not walked in between, those frames are new that are not where they were. */
static void test_changed(void)
{
    const struct tool_frame before[] = { frame(main_of, 3, 0), frame(loop, 8, 1), frame(make, 2, 2) };
    const struct tool_frame behind[] = { frame(main_of, 3, 0), frame(other, 1, 1), frame(make, 2, 2) };
    struct tool_call *call = create(before, 3);
    n_over = 0;
    struct tool_call *next = create(behind, 3);
    CHECK("another method in between: what was below is over, too", n_over == 2 && next->caller->method == other);
    CHECK("they have main in common", tool_call_lasting(call)->method == main_of);
    tool_call_release(call);
    tool_call_release(next);
    tool_calls_leave(&calls, 0, 30, &listener);
}

/* loop has inlined make and use: one frame. */
static void test_inlined(void)
{
    const struct tool_frame stack[] = { frame(main_of, 3, 0), frame(loop, 8, 1), frame(make, 2, 1) };
    const struct tool_frame in_make[] = { frame(loop, 8, 1), frame(make, 5, 1) },
                            in_use[] = { frame(loop, 9, 1), frame(use, 0, 1) }, in_loop[] = { frame(loop, 8, 1) },
                            elsewhere[] = { frame(other, 8, 1), frame(make, 5, 1) };
    struct tool_call *call = create(stack, 3);
    const struct tool_call *lasting = tool_call_lasting(call);
    CHECK("what is inlined does not end with the stack pointer", lasting->method == make);
    CHECK("in its own call it is that", tool_call_inlined(lasting, in_make, 2)->method == make);
    CHECK("in another that is inlined, the one that both are in",
          tool_call_inlined(lasting, in_use, 2)->method == loop);
    CHECK("in the frame's own code, that", tool_call_inlined(lasting, in_loop, 1)->method == loop);
    CHECK("what is not known says nothing", tool_call_inlined(lasting, in_use, 0)->method == make);
    CHECK("nor what is other code", tool_call_inlined(lasting, elsewhere, 2)->method == make);
    const struct tool_frame moved[] = { frame(main_of, 3, 0), frame(loop, 12, 1), frame(make, 2, 1) };
    struct tool_call *next = create(moved, 3);
    CHECK("inlined at another place it is another call", next != call && next->caller == call->caller);
    tool_call_release(call);
    tool_call_release(next);
    tool_calls_free(&calls, 40, &listener);
    CHECK_NUMBER("in the end there are none", calls.n, 0);
}

int main(void)
{
    test_lasting();
    test_changed();
    test_inlined();
    CHECK("nothing is known where no stack was", tool_calls_create(&calls, 8) == NULL);
    return tap_done();
}
