#include "core/wire/protocol.h"

void protocol_put_method(struct sink *s, const struct protocol_method *method)
{
    uint8_t *length = wire_begin_entry(s);
    sink_u8(s, PROTOCOL_METHOD);
    sink_varint(s, method->id);
    sink_varint(s, method->first_line);
    sink_varint(s, method->code_bytes);
    sink_u8(s, method->has_loop);
    wire_text_put(s, method->class_name);
    wire_text_put(s, method->name);
    wire_text_put(s, method->descriptor);
    wire_text_put(s, method->source);
    wire_end_entry(s, length);
}

void protocol_put_value(struct sink *s, const struct protocol_value *value)
{
    uint8_t *length = wire_begin_entry(s);
    sink_u8(s, PROTOCOL_VALUE);
    sink_varint(s, value->id);
    sink_varint(s, value->method);
    sink_varint(s, value->kind);
    wire_text_put(s, value->text);
    wire_end_entry(s, length);
}

static void get_method(struct cursor *c, struct protocol_method *method)
{
    method->id = (uint32_t)cursor_varint(c);
    method->first_line = (uint32_t)cursor_varint(c);
    method->code_bytes = (uint32_t)cursor_varint(c);
    method->has_loop = cursor_u8(c) != 0;
    method->class_name = wire_text_get(c, PROTOCOL_METHOD_BYTES);
    method->name = wire_text_get(c, PROTOCOL_METHOD_BYTES);
    method->descriptor = wire_text_get(c, PROTOCOL_METHOD_BYTES);
    method->source = wire_text_get(c, PROTOCOL_METHOD_BYTES);
}

static void get_value(struct cursor *c, struct protocol_value *value)
{
    value->id = (uint32_t)cursor_varint(c);
    value->method = (uint32_t)cursor_varint(c);
    value->kind = (uint32_t)cursor_varint(c);
    value->text = wire_text_get_short(c);
}

int protocol_get_entry(struct cursor *c, struct protocol_method *method, struct protocol_value *value)
{
    uint8_t entry = cursor_u8(c);
    if (entry == PROTOCOL_METHOD)
        get_method(c, method);
    else if (entry == PROTOCOL_VALUE)
        get_value(c, value);
    else
        return -1;
    return c->bad || cursor_left(c) != 0 ? -1 : entry;
}
