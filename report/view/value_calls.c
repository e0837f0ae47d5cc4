#include "report/view/value_calls.h"

#include "core/base/xalloc.h"

#define MARKS "mmprof/Marks" /* core/agent/Marks.java */

struct value_calls_thread {
    struct value_call *calls; /* owned; in the order of their starts */
    uint32_t n, room;
    uint32_t *open; /* owned; indexes of those that are open, the outermost first */
    uint32_t n_open, open_room;
    uint32_t base; /* of them the carrier's, while a virtual thread is here */
    uint32_t mark; /* the key of its mark; 0: none */
};

static bool is_mark(const struct trace_method *method)
{
    return method != NULL && strcmp(method->names.class_name, MARKS) == 0 && strcmp(method->names.method, "mark") == 0;
}

void value_calls_open(struct value_calls **calls, const struct trace_reader *outline,
                      const struct statistics_options *metrics)
{
    const struct statistics_options wall = { .clock = PHASES_WALL, .metrics = { { .is_time = true } }, .n_metrics = 1 };
    struct value_calls *c = *calls = xcalloc(1, sizeof *c);
    c->outline = outline;
    c->n_told_apart = trace_n_methods(outline);
    c->mark = VALUE_CALLS_NONE;
    c->is_told_apart = xcalloc((size_t)c->n_told_apart + 1, sizeof *c->is_told_apart);
    c->by_clock = statistics_open(metrics);
    c->by_wall = statistics_open(&wall);
    for (uint32_t id = 0; id < trace_n_values(outline); id++) {
        const struct trace_value *value = trace_value(outline, id);
        if (value == NULL || value->method >= c->n_told_apart)
            continue;
        c->is_told_apart[value->method] = true;
        if (is_mark(trace_method(outline, value->method)))
            c->mark = value->method;
    }
}

void value_calls_close(struct value_calls *c)
{
    if (c == NULL)
        return;
    for (uint32_t i = 0; i < c->n_threads; i++) {
        free(c->threads[i].calls);
        free(c->threads[i].open);
    }
    free(c->threads);
    statistics_close(c->by_clock);
    statistics_close(c->by_wall);
    free(c->is_told_apart);
    free(c->entries);
    free(c->unwinds);
    free(c);
}

/* ---- the pass ---- */

static void add_call(struct value_calls *c, struct value_calls_thread *t, uint32_t key, uint64_t ticks)
{
    if (c->n_kept == VALUE_CALLS_KEPT) {
        c->n_not_kept++;
        return;
    }
    uint32_t outer = t->n_open > t->base ? t->open[t->n_open - 1] : VALUE_CALLS_NONE;
    *xpush(t->open, t->open_room, t->n_open) = t->n;
    *xpush(t->calls, t->room, t->n) = (struct value_call){ key, outer, ticks, UINT64_MAX };
    c->n_kept++;
}

/* End all calls from one on, counted from the outermost. */
static void end_calls(struct value_calls_thread *t, uint32_t from, uint64_t ticks)
{
    while (t->n_open > from)
        t->calls[t->open[--t->n_open]].end_ticks = ticks;
}

static void end_call(struct value_calls_thread *t, uint32_t key, uint64_t ticks)
{
    uint32_t at = t->n_open;
    while (at > t->base && t->calls[t->open[at - 1]].key != key)
        at--;
    if (at > t->base)
        end_calls(t, at - 1, ticks);
}

static void count(struct value_calls *c, const struct calltree_step *step)
{
    bool is_entry = step->kind == TRACE_ENTER || step->kind == TRACE_OPEN;
    if (!is_entry && step->kind != TRACE_UNWIND)
        return;
    xgrow_zeroed(c->entries, c->n_keys, (size_t)step->method + 1);
    xgrow_zeroed(c->unwinds, c->n_unwinds_room, (size_t)step->method + 1);
    *(is_entry ? &c->entries[step->method] : &c->unwinds[step->method]) += 1;
}

/* A step of a call that is told apart, its key in the place of the method. */
static void take_call(struct value_calls *c, struct value_calls_thread *t, const struct calltree_step *step)
{
    count(c, step);
    if (step->kind == TRACE_EXIT || step->kind == TRACE_UNWIND)
        end_call(t, step->method, step->ticks);
    else
        add_call(c, t, step->method, step->ticks);
}

static bool has_method(const struct calltree_step *step)
{
    return step->kind <= TRACE_OPEN;
}

static void tell_statistics(struct value_calls *c, const struct calltree_step *step)
{
    struct calltree_observer clock = statistics_observer(c->by_clock), wall = statistics_observer(c->by_wall);
    clock.step(clock.context, step);
    wall.step(wall.context, step);
}

/* What happened since the thread's step before is told once: by the first of those that take this one's place. */
static void end_mark(struct value_calls *c, struct value_calls_thread *t, struct calltree_step *step)
{
    struct calltree_step end = *step;
    if (t->mark == 0)
        return;
    end.kind = TRACE_EXIT;
    end.method = end.value = t->mark;
    t->mark = 0;
    tell_statistics(c, &end);
    take_call(c, t, &end);
    step->n_metrics = 0;
}

/* A mark is a call that lasts until the thread's next one; null only ends the one before. */
static void take_mark(struct value_calls *c, struct value_calls_thread *t, struct calltree_step step)
{
    const struct trace_value *value = trace_value(c->outline, step.value);
    bool is_pause = value != NULL && value->kind == VALUE_NULL;
    if (step.kind == TRACE_ENTER)
        end_mark(c, t, &step);
    if (step.kind != TRACE_ENTER || is_pause || step.value == 0)
        step.kind = TRACE_GAP;
    tell_statistics(c, &step);
    if (step.kind == TRACE_ENTER) {
        take_call(c, t, &step);
        t->mark = step.value;
    }
}

static void take_step(void *context, const struct calltree_step *told)
{
    struct value_calls *c = context;
    struct calltree_step step = *told;
    if (step.part != VM_PART_APPLICATION)
        return;
    xgrow_zeroed(c->threads, c->n_threads, (size_t)step.thread + 1);
    struct value_calls_thread *t = &c->threads[step.thread];
    bool is_told_apart = has_method(told) && told->method < c->n_told_apart && c->is_told_apart[told->method];
    if (has_method(told) && told->value != 0)
        step.method = told->value;
    if (has_method(told) && told->method == c->mark) {
        take_mark(c, t, step);
        return;
    }
    if (step.kind == TRACE_UNMOUNT)
        end_mark(c, t, &step);
    if (has_method(told) && !is_told_apart && c->mark != VALUE_CALLS_NONE) /* a mark outlives the call that set it */
        step.kind = TRACE_GAP;
    tell_statistics(c, &step);
    if (is_told_apart) {
        take_call(c, t, &step);
        return;
    }
    if (step.kind == TRACE_MOUNT)
        t->base = t->n_open;
    if (step.kind == TRACE_UNMOUNT) {
        end_calls(t, t->base, step.ticks);
        t->base = 0;
    }
}

struct calltree_observer value_calls_observer(struct value_calls *c)
{
    return (struct calltree_observer){ .context = c, .step = take_step };
}

/* ---- results ---- */

uint64_t value_calls_entries(const struct value_calls *c, uint32_t key)
{
    return key < c->n_keys ? c->entries[key] : 0;
}

uint64_t value_calls_unwinds(const struct value_calls *c, uint32_t key)
{
    return key < c->n_unwinds_room ? c->unwinds[key] : 0;
}

/* Calls nest: what is open then is the latest one that has begun, or around it. */
const struct value_call *value_calls_at(const struct value_calls *c, uint32_t thread, uint64_t ticks)
{
    const struct value_calls_thread *t = thread < c->n_threads ? &c->threads[thread] : NULL;
    uint32_t low = 0, high = t == NULL ? 0 : t->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (t->calls[middle].start_ticks <= ticks)
            low = middle + 1;
        else
            high = middle;
    }
    const struct value_call *call = low == 0 ? NULL : &t->calls[low - 1];
    while (call != NULL && call->end_ticks <= ticks)
        call = value_calls_outer(c, thread, call);
    return call;
}

const struct value_call *value_calls_outer(const struct value_calls *c, uint32_t thread, const struct value_call *call)
{
    return call->outer == VALUE_CALLS_NONE ? NULL : &c->threads[thread].calls[call->outer];
}
