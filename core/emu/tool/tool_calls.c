#include "core/emu/tool/tool_jvm.h"

#include "core/base/xalloc.h"

void tool_call_release(struct tool_call *call)
{
    while (call != NULL && --call->n_users == 0) {
        struct tool_call *caller = call->caller;
        free(call);
        call = caller;
    }
}

void tool_calls_leave(struct tool_calls *calls, uint32_t n, uint64_t time, const struct tool_calls_listener *listener)
{
    while (calls->n > n) {
        struct tool_call *call = calls->all[calls->n - 1];
        call->is_over = true;
        if (call->caller != NULL)
            call->caller->n_bytes += call->n_bytes;
        if (listener != NULL)
            listener->over(call, calls->n - 1, time, listener->context);
        calls->n--;
        tool_call_release(call);
    }
}

/* Is a call the one that a frame is of?  The caller's is. */
static bool is_same(const struct tool_call *call, const struct tool_frame *frame, const struct tool_frame *caller)
{
    bool is_inlined = caller != NULL && caller->limit == frame->limit;
    return call->method == frame->method && call->limit == frame->limit &&
           (!is_inlined || call->call_index == caller->index);
}

static void push(struct tool_calls *calls, const struct tool_frame *frame, const struct tool_frame *caller,
                 uint64_t time)
{
    struct tool_call *call = xmalloc(sizeof *call), *outer = calls->n == 0 ? NULL : calls->all[calls->n - 1];
    *call = (struct tool_call){ .caller = outer,
                                .method = frame->method,
                                .limit = frame->limit,
                                .call_index = caller == NULL ? -1 : caller->index,
                                .is_compiled = frame->is_compiled,
                                .is_by_c2 = frame->is_by_c2,
                                .n_users = 1,
                                .began = time };
    if (outer != NULL)
        outer->n_users++;
    *xpush(calls->all, calls->room, calls->n) = call;
}

void tool_calls_enter(struct tool_calls *calls, const struct tool_frame *frames, uint32_t n, uint64_t time,
                      const struct tool_calls_listener *listener)
{
    uint32_t same = 0;
    while (same < n && same < calls->n &&
           is_same(calls->all[same], &frames[same], same == 0 ? NULL : &frames[same - 1]))
        same++;
    tool_calls_leave(calls, same, time, listener);
    for (; calls->n < n; same++)
        push(calls, &frames[same], same == 0 ? NULL : &frames[same - 1], time);
}

struct tool_call *tool_calls_create(struct tool_calls *calls, uint64_t n_bytes)
{
    struct tool_call *call = calls->n == 0 ? NULL : calls->all[calls->n - 1];
    if (call != NULL) {
        call->n_users++;
        call->n_bytes += n_bytes;
    }
    return call;
}

/* Those of the same frame: how many, the outermost of them in group[0]; of too many, the innermost are left out. */
static uint32_t group_of(const struct tool_call *call, const struct tool_call *group[TOOL_FRAMES_MAX])
{
    uint32_t n = 1, left_out;
    for (const struct tool_call *c = call; c->caller != NULL && c->caller->limit == call->limit; c = c->caller)
        n++;
    left_out = n > TOOL_FRAMES_MAX ? n - TOOL_FRAMES_MAX : 0;
    for (uint32_t i = n; i-- > 0; call = call->caller)
        if (i < n - left_out)
            group[i] = call;
    return n - left_out;
}

const struct tool_call *tool_call_inlined(const struct tool_call *call, const struct tool_frame *now, uint32_t n)
{
    const struct tool_call *group[TOOL_FRAMES_MAX];
    uint32_t n_group = group_of(call, group), same = 1;
    if (n == 0 || group[0]->method != now[0].method)
        return call;
    while (same < n_group && same < n && group[same]->method == now[same].method &&
           group[same]->call_index == now[same - 1].index)
        same++;
    return group[same - 1];
}

void tool_calls_free(struct tool_calls *calls, uint64_t time, const struct tool_calls_listener *listener)
{
    tool_calls_leave(calls, 0, time, listener);
    free(calls->all);
    *calls = (struct tool_calls){ .n = 0 };
}
