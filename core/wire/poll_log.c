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

static void put_frames(struct sink *s, bool is_cut, const struct poll_frame *frames, uint32_t n)
{
    sink_varint(s, is_cut ? STACK_FLAG_CUT : 0);
    sink_varint(s, n);
    for (uint32_t i = 0; i < n; i++) {
        sink_varint(s, frames[i].method);
        sink_varint(s, (uint32_t)(frames[i].index + 1));
    }
}

void poll_log_put_stack(struct sink *s, const struct poll_stack *stack)
{
    uint8_t *length = begin(s, POLL_STACK);
    sink_varint(s, stack->thread);
    sink_varint(s, (uint32_t)stack->tid);
    sink_varint(s, stack->time_ns);
    sink_varint(s, stack->cpu_ns);
    wire_text_put(s, stack->name);
    put_frames(s, stack->is_cut, stack->frames, stack->n_frames);
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

void poll_log_put_class(struct sink *s, const struct poll_class *class_name)
{
    uint8_t *length = begin(s, POLL_CLASS);
    sink_varint(s, class_name->number);
    wire_text_put(s, class_name->name);
    wire_end_entry(s, length);
}

void poll_log_put_allocation(struct sink *s, const struct poll_allocation *allocation)
{
    uint8_t *length = begin(s, POLL_ALLOCATION);
    sink_varint(s, (uint32_t)allocation->tid);
    sink_varint(s, allocation->time_ns);
    sink_varint(s, allocation->class_number);
    sink_varint(s, allocation->size_bytes);
    sink_varint(s, allocation->interval_bytes);
    sink_varint(s, allocation->before_bytes);
    put_frames(s, allocation->is_cut, allocation->frames, allocation->n_frames);
    wire_end_entry(s, length);
}

void poll_log_put_allocated(struct sink *s, const struct poll_allocated *allocated)
{
    uint8_t *length = begin(s, POLL_ALLOCATED);
    sink_varint(s, allocated->n_samples);
    sink_varint(s, allocated->n_lost);
    sink_varint(s, allocated->ns);
    sink_varint(s, allocated->cost_ns);
    sink_varint(s, allocated->agent_ns);
    sink_varint(s, allocated->jvm_bytes);
    sink_varint(s, allocated->is_counted);
    wire_end_entry(s, length);
}

void poll_log_put_heap(struct sink *s, const struct poll_heap *heap)
{
    uint8_t *length = begin(s, POLL_HEAP);
    sink_varint(s, heap->time_ns);
    sink_varint(s, heap->kind);
    sink_varint(s, heap->number);
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

static uint32_t get_frames(struct cursor *c, bool *is_cut, struct poll_frame *frames)
{
    *is_cut = (cursor_below(c, 2) & STACK_FLAG_CUT) != 0;
    uint32_t n = cursor_below(c, POLL_FRAMES_MAX + 1);
    for (uint32_t i = 0; i < n; i++) {
        frames[i].method = cursor_below(c, POLL_METHODS_MAX);
        frames[i].index = (int32_t)cursor_below(c, 65537) - 1;
    }
    return n;
}

static void get_stack(struct cursor *c, struct poll_stack *stack, struct poll_frame *frames)
{
    stack->thread = cursor_below(c, POLL_THREADS_MAX);
    stack->tid = (int32_t)cursor_below(c, INT32_MAX);
    stack->time_ns = cursor_varint(c);
    stack->cpu_ns = cursor_varint(c);
    stack->name = wire_text_get(c, POLL_NAME_BYTES);
    stack->n_frames = get_frames(c, &stack->is_cut, frames);
    stack->frames = frames;
}

static void get_class(struct cursor *c, struct poll_class *class_name)
{
    class_name->number = cursor_below(c, POLL_CLASSES_MAX);
    class_name->name = wire_text_get(c, POLL_ENTRY_BYTES);
}

static void get_allocation(struct cursor *c, struct poll_allocation *allocation, struct poll_frame *frames)
{
    allocation->tid = (int32_t)cursor_below(c, INT32_MAX);
    allocation->time_ns = cursor_varint(c);
    allocation->class_number = cursor_below(c, POLL_CLASSES_MAX);
    allocation->size_bytes = cursor_varint(c);
    allocation->interval_bytes = cursor_varint(c);
    allocation->before_bytes = cursor_varint(c);
    allocation->n_frames = get_frames(c, &allocation->is_cut, frames);
    allocation->frames = frames;
}

static void get_allocated(struct cursor *c, struct poll_allocated *allocated)
{
    allocated->n_samples = cursor_varint(c);
    allocated->n_lost = cursor_varint(c);
    allocated->ns = cursor_varint(c);
    allocated->cost_ns = cursor_varint(c);
    allocated->agent_ns = cursor_varint(c);
    allocated->jvm_bytes = cursor_varint(c);
    allocated->is_counted = cursor_below(c, 2) != 0;
}

static void get_heap(struct cursor *c, struct poll_heap *heap)
{
    heap->time_ns = cursor_varint(c);
    heap->kind = (enum poll_heap_kind)cursor_below(c, POLL_HEAP_KINDS);
    heap->number = cursor_varint(c);
}

static void get_state(struct cursor *c, struct poll_state *state)
{
    state->n_samples = cursor_varint(c);
    state->n_put_off = cursor_varint(c);
    state->cost_ns = cursor_varint(c);
    state->longest_ns = cursor_varint(c);
}

static void get_entry(struct cursor *c, struct poll_entry *entry)
{
    switch (entry->kind) {
    case POLL_METHOD:
        get_method(c, &entry->method, entry->lines);
        break;
    case POLL_COUNTS:
        get_counts(c, &entry->counts);
        break;
    case POLL_STACK:
        get_stack(c, &entry->stack, entry->frames);
        break;
    case POLL_CLASS:
        get_class(c, &entry->class_name);
        break;
    case POLL_ALLOCATION:
        get_allocation(c, &entry->allocation, entry->frames);
        break;
    case POLL_ALLOCATED:
        get_allocated(c, &entry->allocated);
        break;
    case POLL_HEAP:
        get_heap(c, &entry->heap);
        break;
    default:
        get_state(c, &entry->state);
    }
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
    get_entry(&inner, entry);
    if (inner.bad || cursor_left(&inner) != 0)
        return -1;
    *c = rest;
    return 1;
}
