#include "report/recompilation.h"

#include "core/base/xalloc.h"
#include "core/trace/recording_info.h"

struct window {
    uint64_t start_ticks, end_ticks;
};

/* Calls of a method. */
struct recompilation_calls {
    bool is_compared;
    uint64_t n_in, n_out, in_ticks, out_ticks;
};

struct recompilation_frame {
    uint32_t method;
    uint64_t ticks, cpu_ticks; /* at its entry */
};

/* Of the methods that are compared only. */
struct recompilation_stack {
    struct recompilation_frame *frames; /* owned */
    size_t n, room;
};

struct recompilation_reading {
    const struct trace_reader *outline;
    struct arena *arena;
    const char *why;        /* there is nothing to compare */
    struct window *windows; /* as they follow each other; the arena's */
    size_t n_windows;
    struct recompilation_calls *calls; /* by method; owned */
    uint32_t n_methods;
    struct recompilation_stack *stacks; /* by thread; owned */
    uint32_t n_threads;
};

/* ---- calls ---- */

/* In a recompilation window, outside, or on its edge: then it says nothing. */
static void add_call(const struct recompilation_reading *r, struct recompilation_calls *calls,
                     const struct recompilation_frame *frame, const struct calltree_step *exit)
{
    uint64_t cpu_ticks = exit->cpu_ticks - frame->cpu_ticks;
    for (size_t i = 0; i < r->n_windows; i++) {
        const struct window *window = &r->windows[i];
        if (frame->ticks >= window->end_ticks || exit->ticks < window->start_ticks)
            continue;
        bool is_inside = frame->ticks >= window->start_ticks && exit->ticks < window->end_ticks;
        calls->n_in += is_inside;
        calls->in_ticks += is_inside ? cpu_ticks : 0;
        return;
    }
    calls->n_out++;
    calls->out_ticks += cpu_ticks;
}

/* Calls above it have lost their exits.  A call in a call of the same method is part of that one. */
static void leave(const struct recompilation_reading *r, struct recompilation_stack *stack,
                  const struct calltree_step *step)
{
    size_t at = stack->n;
    while (at > 0 && stack->frames[at - 1].method != step->method)
        at--;
    if (at == 0)
        return;
    stack->n = --at;
    for (size_t i = 0; i < at; i++)
        if (stack->frames[i].method == step->method)
            return;
    add_call(r, &r->calls[step->method], &stack->frames[at], step);
}

static void take_step(void *context, const struct calltree_step *step)
{
    struct recompilation_reading *r = context;
    if (step->thread >= r->n_threads)
        return;
    struct recompilation_stack *stack = &r->stacks[step->thread];
    if (step->kind == TRACE_MOUNT || step->kind == TRACE_UNMOUNT) /* calls around it say nothing */
        stack->n = 0;
    if (step->kind > TRACE_UNWIND || step->method >= r->n_methods || !r->calls[step->method].is_compared)
        return;
    if (step->kind == TRACE_ENTER)
        *xpush(stack->frames, stack->room, stack->n) =
            (struct recompilation_frame){ step->method, step->ticks, step->cpu_ticks };
    else
        leave(r, stack, step);
}

/* ---- what the recording says of itself ---- */

static void find_windows(struct recompilation_reading *r)
{
    uint32_t n = info_count(r->outline, INFO_LIVE_WINDOW);
    struct info_window told;
    r->windows = arena_alloc(r->arena, ((size_t)n + 1) * sizeof *r->windows);
    for (uint32_t i = 0; i < n; i++)
        if (info_read(r->outline, INFO_LIVE_WINDOW, i, r->arena, &told) == 2 && told.end_ticks > told.start_ticks)
            r->windows[r->n_windows++] = (struct window){ told.start_ticks, told.end_ticks };
}

/* Those that were recorded to the end.  Returns how many. */
static size_t mark_compared(const struct recompilation_reading *r)
{
    size_t n = 0;
    for (uint32_t i = 0; i < r->n_methods; i++) {
        struct info_live_method told;
        r->calls[i].is_compared = info_read(r->outline, INFO_LIVE_METHOD, i, r->arena, &told) > 0 &&
                                  strcmp(told.state, INFO_STATE_ENABLED) == 0;
        n += r->calls[i].is_compared;
    }
    return n;
}

/* ---- the comparison ---- */

static void compare(const struct report_source *source, const struct recompilation_reading *r,
                    struct recompilation *recompilation)
{
    const struct recompilation_calls *most = NULL;
    for (uint32_t i = 0; i < r->n_methods; i++) {
        const struct recompilation_calls *calls = &r->calls[i];
        if (calls->n_in < RECOMPILED_CALLS_MIN || calls->n_out < RECOMPILED_CALLS_MIN || calls->out_ticks == 0 ||
            (most != NULL && calls->in_ticks <= most->in_ticks))
            continue;
        most = calls;
        recompilation->method = i;
    }
    recompilation->why = most == NULL ? "no phase has enough calls both during recompilation and after it" : NULL;
    if (most == NULL)
        return;
    recompilation->n_in = most->n_in;
    recompilation->n_out = most->n_out;
    recompilation->in_ns = report_ns(source, most->in_ticks) / (double)most->n_in;
    recompilation->out_ns = report_ns(source, most->out_ticks) / (double)most->n_out;
    recompilation->extra_ns = (recompilation->in_ns - recompilation->out_ns) * (double)most->n_in;
}

/* Room for the calls that are compared. */
static void make_room(struct recompilation_reading *r)
{
    r->calls = xcalloc((size_t)r->n_methods + 1, sizeof *r->calls);
    r->stacks = xcalloc((size_t)r->n_threads + 1, sizeof *r->stacks);
}

void recompilation_begin(const struct trace_reader *outline, struct arena *arena,
                         struct recompilation_reading **reading, struct observers *observers)
{
    struct recompilation_reading *r = *reading = arena_alloc(arena, sizeof *r);
    *r = (struct recompilation_reading){ .outline = outline,
                                         .arena = arena,
                                         .why = "only live recordings measure the JIT compilers",
                                         .n_methods = trace_n_methods(outline),
                                         .n_threads = trace_n_threads(outline) };
    if (info_text(outline, INFO_LIVE_BUDGET) == NULL)
        return;
    r->why = "no class was recompiled because of mmprof";
    find_windows(r);
    if (r->n_windows == 0)
        return;
    make_room(r);
    if (mark_compared(r) > 0)
        observers->all[observers->n++] = (struct calltree_observer){ .context = r, .step = take_step };
}

void recompilation_end(struct recompilation_reading *r, const struct report_source *source,
                       struct recompilation *recompilation)
{
    *recompilation = (struct recompilation){ .why = r == NULL ? "this view does not compute it" : r->why };
    for (size_t i = 0; r != NULL && i < r->n_windows; i++)
        recompilation->windows_ns += report_ns(source, r->windows[i].end_ticks - r->windows[i].start_ticks);
    if (r != NULL && r->n_windows > 0)
        compare(source, r, recompilation);
}

void recompilation_close(struct recompilation_reading *r)
{
    for (uint32_t i = 0; r != NULL && r->stacks != NULL && i < r->n_threads; i++)
        free(r->stacks[i].frames);
    if (r == NULL)
        return;
    free(r->stacks);
    free(r->calls);
    r->stacks = NULL;
    r->calls = NULL;
}
