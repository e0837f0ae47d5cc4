#include "core/trace/places.h"

/* ---- writing ---- */

static void put_code(struct sink *s, const struct place_entry *entry)
{
    sink_varint(s, entry->code);
    sink_varint(s, entry->tier);
    wire_text_put_short(s, entry->name);
    sink_varint(s, entry->n_frames);
    for (uint32_t i = 0; i < entry->n_frames; i++) {
        sink_varint(s, entry->frames[i].method);
        sink_varint(s, entry->frames[i].line);
    }
}

void places_put(struct sink *s, const struct place_entry *entry)
{
    sink_u8(s, (uint8_t)entry->kind);
    sink_varint(s, entry->number);
    switch (entry->kind) {
    case PLACE_FILE:
        wire_text_put_short(s, entry->path);
        wire_text_put_short(s, entry->build_id);
        wire_text_put_short(s, entry->symbols);
        break;
    case PLACE_SYMBOL:
        sink_varint(s, entry->offset);
        sink_varint(s, entry->n_bytes);
        wire_text_put_short(s, entry->name);
        break;
    case PLACE_METHOD:
        wire_text_put_short(s, entry->class_name);
        wire_text_put_short(s, entry->name);
        wire_text_put_short(s, entry->descriptor);
        wire_text_put_short(s, entry->source);
        break;
    case PLACE_IN_FILE:
        sink_varint(s, entry->file);
        sink_varint(s, entry->offset);
        break;
    case PLACE_IN_CODE:
        put_code(s, entry);
        break;
    }
}

/* ---- reading ---- */

static void get_code(struct cursor *c, struct place_entry *entry)
{
    entry->code = (enum place_code)cursor_below(c, PLACE_CODES);
    entry->tier = cursor_below(c, 16);
    entry->name = wire_text_get_short(c);
    entry->n_frames = cursor_below(c, PLACE_FRAMES_MAX + 1);
    for (uint32_t i = 0; i < entry->n_frames; i++) {
        entry->frames[i].method = cursor_below(c, PLACE_NUMBERS_MAX);
        entry->frames[i].line = cursor_below(c, UINT32_MAX);
    }
}

int places_get(struct cursor *c, struct place_entry *entry)
{
    uint8_t kind = cursor_u8(c);
    entry->kind = (enum place_kind)kind;
    entry->number = cursor_below(c, PLACE_NUMBERS_MAX);
    entry->n_frames = 0;
    switch (entry->kind) {
    case PLACE_FILE:
        entry->path = wire_text_get_short(c);
        entry->build_id = wire_text_get_short(c);
        entry->symbols = wire_text_get_short(c);
        break;
    case PLACE_SYMBOL:
        entry->offset = cursor_varint(c);
        entry->n_bytes = cursor_varint(c);
        entry->name = wire_text_get_short(c);
        break;
    case PLACE_METHOD:
        entry->class_name = wire_text_get_short(c);
        entry->name = wire_text_get_short(c);
        entry->descriptor = wire_text_get_short(c);
        entry->source = wire_text_get_short(c);
        break;
    case PLACE_IN_FILE:
        entry->file = cursor_below(c, PLACE_NUMBERS_MAX);
        entry->offset = cursor_varint(c);
        break;
    case PLACE_IN_CODE:
        get_code(c, entry);
        break;
    default:
        return -1;
    }
    return c->bad ? -1 : 0;
}
