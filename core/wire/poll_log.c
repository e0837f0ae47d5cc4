#include "core/wire/poll_log.h"

#define STACK_FLAG_CUT 1u

/* ---- writing ---- */

static uint8_t *begin(struct sink *s, enum poll_kind kind)
{
    uint8_t *length = wire_begin_entry(s);
    sink_u8(s, (uint8_t)kind);
    return length;
}

void poll_log_put_method(struct sink *s, const struct poll_method *method)
{
    uint8_t *length = begin(s, POLL_METHOD);
    sink_varint(s, method->number);
    sink_varint(s, method->flags);
    wire_text_put(s, method->class_name);
    wire_text_put(s, method->name);
    wire_text_put(s, method->descriptor);
    wire_text_put(s, method->source);
    wire_text_put(s, method->code);
    sink_varint(s, method->n_lines);
    for (uint32_t i = 0; i < method->n_lines; i++) {
        sink_varint(s, method->lines[i].index);
        sink_varint(s, method->lines[i].line);
    }
    wire_end_entry(s, length);
}

void poll_log_put_counts(struct sink *s, const struct poll_counts *counts)
{
    uint8_t *length = begin(s, POLL_COUNTS);
    sink_varint(s, counts->number);
    sink_varint(s, counts->calls);
    sink_varint(s, (uint32_t)(counts->tier + 1));
    wire_end_entry(s, length);
}

void poll_log_put_stack(struct sink *s, const struct poll_stack *stack)
{
    uint8_t *length = begin(s, POLL_STACK);
    sink_varint(s, stack->thread);
    sink_varint(s, (uint32_t)stack->tid);
    sink_varint(s, stack->time_ns);
    sink_varint(s, stack->cpu_ns);
    sink_varint(s, stack->is_cut ? STACK_FLAG_CUT : 0);
    sink_varint(s, stack->n_frames);
    for (uint32_t i = 0; i < stack->n_frames; i++) {
        sink_varint(s, stack->frames[i].method);
        sink_varint(s, (uint32_t)(stack->frames[i].index + 1));
    }
    wire_end_entry(s, length);
}

void poll_log_put_state(struct sink *s, const struct poll_state *state)
{
    uint8_t *length = begin(s, POLL_STATE);
    sink_varint(s, state->n_samples);
    sink_varint(s, state->n_put_off);
    sink_varint(s, state->cost_ns);
    sink_varint(s, state->longest_ns);
    wire_end_entry(s, length);
}

/* ---- reading ---- */

static void get_method(struct cursor *c, struct poll_method *method, struct code_line *lines)
{
    method->number = cursor_below(c, POLL_METHODS_MAX);
    method->flags = cursor_below(c, 4);
    method->class_name = wire_text_get(c, POLL_ENTRY_BYTES);
    method->name = wire_text_get(c, POLL_ENTRY_BYTES);
    method->descriptor = wire_text_get(c, POLL_ENTRY_BYTES);
    method->source = wire_text_get(c, POLL_ENTRY_BYTES);
    method->code = wire_text_get(c, POLL_ENTRY_BYTES);
    c->bad = c->bad || method->code.n > 65535;
    method->n_lines = cursor_below(c, CODE_LINES_MAX + 1);
    method->lines = lines;
    for (uint32_t i = 0; i < method->n_lines; i++) {
        lines[i].index = cursor_below(c, 65536);
        lines[i].line = cursor_below(c, 65536);
    }
}

static void get_counts(struct cursor *c, struct poll_counts *counts)
{
    counts->number = cursor_below(c, POLL_METHODS_MAX);
    counts->calls = cursor_below(c, UINT32_MAX);
    counts->tier = cursor_below(c, 6) - 1;
}

static void get_stack(struct cursor *c, struct poll_stack *stack, struct poll_frame *frames)
{
    stack->thread = cursor_below(c, POLL_THREADS_MAX);
    stack->tid = (int32_t)cursor_below(c, INT32_MAX);
    stack->time_ns = cursor_varint(c);
    stack->cpu_ns = cursor_varint(c);
    stack->is_cut = (cursor_below(c, 2) & STACK_FLAG_CUT) != 0;
    stack->n_frames = cursor_below(c, POLL_FRAMES_MAX + 1);
    stack->frames = frames;
    for (uint32_t i = 0; i < stack->n_frames; i++) {
        frames[i].method = cursor_below(c, POLL_METHODS_MAX);
        frames[i].index = (int32_t)cursor_below(c, 65537) - 1;
    }
}

static void get_state(struct cursor *c, struct poll_state *state)
{
    state->n_samples = cursor_varint(c);
    state->n_put_off = cursor_varint(c);
    state->cost_ns = cursor_varint(c);
    state->longest_ns = cursor_varint(c);
}

int poll_log_get(struct cursor *c, struct poll_entry *entry)
{
    struct cursor rest = *c, inner;
    int rc = cursor_entry(&rest, POLL_ENTRY_BYTES, &inner);
    if (rc <= 0)
        return rc;
    uint8_t kind = cursor_u8(&inner);
    if (kind >= POLL_N_KINDS)
        return -1;
    entry->kind = (enum poll_kind)kind;
    if (entry->kind == POLL_METHOD)
        get_method(&inner, &entry->method, entry->lines);
    else if (entry->kind == POLL_COUNTS)
        get_counts(&inner, &entry->counts);
    else if (entry->kind == POLL_STACK)
        get_stack(&inner, &entry->stack, entry->frames);
    else
        get_state(&inner, &entry->state);
    if (inner.bad || cursor_left(&inner) != 0)
        return -1;
    *c = rest;
    return 1;
}
