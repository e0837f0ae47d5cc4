#include "core/wire/jit_events.h"

/* ---- writing ---- */

static void put_compiled(struct sink *s, const struct jit_event *event)
{
    sink_varint(s, event->flags);
    sink_varint(s, event->code_bytes);
    sink_varint(s, event->n_inlined);
    for (uint32_t i = 0; i < event->n_inlined; i++) {
        sink_varint(s, event->inlined[i].method);
        sink_varint(s, event->inlined[i].caller);
    }
}

void jit_events_put(struct sink *s, const struct jit_event *event)
{
    uint8_t *length = wire_begin_entry(s);
    sink_u8(s, (uint8_t)event->kind);
    if (event->kind != JIT_METHOD)
        sink_varint(s, event->ticks);
    sink_varint(s, event->method);
    if (event->kind == JIT_METHOD) {
        wire_text_put(s, event->class_name);
        wire_text_put(s, event->name);
        wire_text_put(s, event->descriptor);
    }
    if (event->kind == JIT_COMPILED)
        put_compiled(s, event);
    wire_end_entry(s, length);
}

/* ---- reading ---- */

static void get_compiled(struct cursor *c, struct jit_event *event)
{
    event->flags = cursor_below(c, 4);
    event->code_bytes = cursor_below(c, UINT32_MAX);
    event->n_inlined = cursor_below(c, JIT_MAX_INLINED + 1);
    for (uint32_t i = 0; i < event->n_inlined; i++) {
        event->inlined[i].method = cursor_below(c, JIT_MAX_METHODS);
        event->inlined[i].caller = cursor_below(c, JIT_MAX_METHODS);
    }
}

static void get_entry(struct cursor *c, struct jit_event *event)
{
    uint8_t kind = cursor_u8(c);
    if (kind > JIT_WATCHED) {
        c->bad = true;
        return;
    }
    event->kind = (enum jit_kind)kind;
    event->ticks = event->kind == JIT_METHOD ? 0 : cursor_varint(c);
    event->method = cursor_below(c, JIT_MAX_METHODS);
    event->flags = event->code_bytes = event->n_inlined = 0;
    if (event->kind == JIT_METHOD) {
        event->class_name = wire_text_get(c, JIT_ENTRY_BYTES);
        event->name = wire_text_get(c, JIT_ENTRY_BYTES);
        event->descriptor = wire_text_get(c, JIT_ENTRY_BYTES);
    }
    if (event->kind == JIT_COMPILED)
        get_compiled(c, event);
}

int jit_events_get(struct cursor *c, struct jit_event *event)
{
    struct cursor rest = *c, inner;
    int rc = cursor_entry(&rest, JIT_ENTRY_BYTES, &inner);
    if (rc <= 0)
        return rc;
    get_entry(&inner, event);
    if (inner.bad || cursor_left(&inner) != 0)
        return -1;
    *c = rest;
    return 1;
}
