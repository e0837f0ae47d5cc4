#include "core/agent/control/protocol.h"

static void put_text(struct sink *s, struct protocol_text text)
{
    sink_varint(s, text.n);
    sink_bytes(s, text.at, text.n);
}

static struct protocol_text get_text(struct cursor *c)
{
    struct protocol_text text;
    text.at = cursor_text(c, PROTOCOL_METHOD_BYTES, &text.n);
    return text;
}

void protocol_put_method(struct sink *s, const struct protocol_method *method)
{
    uint8_t *length = s->at;
    sink_u32le(s, 0);
    sink_varint(s, method->id);
    sink_varint(s, method->first_line);
    sink_varint(s, method->code_bytes);
    sink_u8(s, method->has_loop);
    put_text(s, method->class_name);
    put_text(s, method->name);
    put_text(s, method->descriptor);
    put_text(s, method->source);
    if (!s->full) {
        struct sink front = sink_into(length, 4);
        sink_u32le(&front, (uint32_t)(s->at - length - 4));
    }
}

int protocol_get_method(struct cursor *c, struct protocol_method *method)
{
    method->id = (uint32_t)cursor_varint(c);
    method->first_line = (uint32_t)cursor_varint(c);
    method->code_bytes = (uint32_t)cursor_varint(c);
    method->has_loop = cursor_u8(c) != 0;
    method->class_name = get_text(c);
    method->name = get_text(c);
    method->descriptor = get_text(c);
    method->source = get_text(c);
    return c->bad || cursor_left(c) != 0 ? -1 : 0;
}
