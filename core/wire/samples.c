#include "core/wire/samples.h"

#define STACK_FLAG_CUT 1u
#define N_TOTALS       10u

/* ---- writing ---- */

static uint8_t *begin(struct sink *s, enum sample_kind kind)
{
    uint8_t *length = s->at;
    sink_u32le(s, 0);
    sink_u8(s, (uint8_t)kind);
    return length;
}

static void finish(struct sink *s, uint8_t *length)
{
    if (s->full)
        return;
    struct sink front = sink_into(length, 4);
    sink_u32le(&front, (uint32_t)(s->at - length - 4));
}

void samples_put_method(struct sink *s, const struct sample_method *method)
{
    uint8_t *length = begin(s, SAMPLE_METHOD);
    sink_varint(s, method->number);
    sink_varint(s, method->code_bytes);
    sink_varint(s, method->flags);
    wire_text_put(s, method->class_name);
    wire_text_put(s, method->name);
    wire_text_put(s, method->descriptor);
    finish(s, length);
}

void samples_put_stack(struct sink *s, const struct sample_stack *stack)
{
    uint8_t *length = begin(s, SAMPLE_STACK);
    sink_varint(s, stack->thread);
    sink_varint(s, stack->at_ns);
    sink_varint(s, stack->cpu_ns);
    sink_varint(s, stack->is_cut ? STACK_FLAG_CUT : 0);
    sink_varint(s, stack->n_frames);
    sink_varint(s, stack->n_same);
    for (uint32_t i = 0; i < stack->n_frames; i++)
        sink_varint(s, stack->methods[i]);
    finish(s, length);
}

void samples_put_totals(struct sink *s, const struct sample_totals *totals)
{
    const uint64_t values[N_TOTALS] = { totals->n_rounds,    totals->n_samples,   totals->n_late, totals->longest_ns,
                                        totals->cost_ns,     totals->total_ns,    totals->cpu_ns, totals->unseen_cpu_ns,
                                        totals->n_no_frames, totals->is_cut_short };
    uint8_t *length = begin(s, SAMPLE_END);
    for (size_t i = 0; i < N_TOTALS; i++)
        sink_varint(s, values[i]);
    finish(s, length);
}

/* ---- reading ---- */

static void get_method(struct cursor *c, struct sample_method *method)
{
    method->number = cursor_below(c, SAMPLES_MAX_METHODS);
    method->code_bytes = cursor_below(c, 65536);
    method->flags = cursor_below(c, 16);
    method->class_name = wire_text_get(c, SAMPLES_ENTRY_BYTES);
    method->name = wire_text_get(c, SAMPLES_ENTRY_BYTES);
    method->descriptor = wire_text_get(c, SAMPLES_ENTRY_BYTES);
}

static void get_stack(struct cursor *c, struct sample_stack *stack, uint32_t *frames)
{
    stack->thread = cursor_below(c, SAMPLES_MAX_THREADS);
    stack->at_ns = cursor_varint(c);
    stack->cpu_ns = cursor_varint(c);
    stack->is_cut = (cursor_below(c, 2) & STACK_FLAG_CUT) != 0;
    stack->n_frames = cursor_below(c, SAMPLES_MAX_FRAMES + 1);
    stack->n_same = cursor_below(c, stack->n_frames + 1);
    stack->methods = frames;
    for (uint32_t i = 0; i < stack->n_frames; i++)
        frames[i] = cursor_below(c, SAMPLES_MAX_METHODS);
}

static void get_totals(struct cursor *c, struct sample_totals *totals)
{
    uint64_t *const values[N_TOTALS] = { &totals->n_rounds,    &totals->n_samples,     &totals->n_late,
                                         &totals->longest_ns,  &totals->cost_ns,       &totals->total_ns,
                                         &totals->cpu_ns,      &totals->unseen_cpu_ns, &totals->n_no_frames,
                                         &totals->is_cut_short };
    for (size_t i = 0; i < N_TOTALS; i++)
        *values[i] = cursor_varint(c);
}

int samples_get(struct cursor *c, struct sample_entry *entry)
{
    struct cursor rest = *c, inner;
    int rc = cursor_entry(&rest, SAMPLES_ENTRY_BYTES, &inner);
    if (rc <= 0)
        return rc;
    uint8_t kind = cursor_u8(&inner);
    if (kind > SAMPLE_END)
        return -1;
    entry->kind = (enum sample_kind)kind;
    if (entry->kind == SAMPLE_METHOD)
        get_method(&inner, &entry->method);
    else if (entry->kind == SAMPLE_STACK)
        get_stack(&inner, &entry->stack, entry->frames);
    else
        get_totals(&inner, &entry->totals);
    if (inner.bad || cursor_left(&inner) != 0)
        return -1;
    *c = rest;
    return 1;
}
