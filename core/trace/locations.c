#include "core/trace/locations.h"

/* ---- writing ---- */

static void put_code(struct sink *s, const struct location_entry *entry)
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

void locations_put(struct sink *s, const struct location_entry *entry)
{
    sink_u8(s, (uint8_t)entry->kind);
    sink_varint(s, entry->number);
    switch (entry->kind) {
    case LOCATION_FILE:
        wire_text_put_short(s, entry->path);
        wire_text_put_short(s, entry->build_id);
        wire_text_put_short(s, entry->symbols);
        break;
    case LOCATION_SYMBOL:
        sink_varint(s, entry->offset);
        sink_varint(s, entry->n_bytes);
        wire_text_put_short(s, entry->name);
        break;
    case LOCATION_METHOD:
        wire_text_put_short(s, entry->class_name);
        wire_text_put_short(s, entry->name);
        wire_text_put_short(s, entry->descriptor);
        wire_text_put_short(s, entry->source);
        break;
    case LOCATION_IN_FILE:
        sink_varint(s, entry->file);
        sink_varint(s, entry->offset);
        break;
    case LOCATION_IN_CODE:
        put_code(s, entry);
        break;
    }
}

/* ---- reading ---- */

static void get_code(struct cursor *c, struct location_entry *entry)
{
    entry->code = (enum location_code)cursor_below(c, LOCATION_CODES);
    entry->tier = cursor_below(c, 16);
    entry->name = wire_text_get_short(c);
    entry->n_frames = cursor_below(c, LOCATION_FRAMES_MAX + 1);
    for (uint32_t i = 0; i < entry->n_frames; i++) {
        entry->frames[i].method = cursor_below(c, LOCATION_NUMBERS_MAX);
        entry->frames[i].line = cursor_below(c, UINT32_MAX);
    }
}

int locations_get(struct cursor *c, struct location_entry *entry)
{
    uint8_t kind = cursor_u8(c);
    entry->kind = (enum location_kind)kind;
    entry->number = cursor_below(c, LOCATION_NUMBERS_MAX);
    entry->n_frames = 0;
    switch (entry->kind) {
    case LOCATION_FILE:
        entry->path = wire_text_get_short(c);
        entry->build_id = wire_text_get_short(c);
        entry->symbols = wire_text_get_short(c);
        break;
    case LOCATION_SYMBOL:
        entry->offset = cursor_varint(c);
        entry->n_bytes = cursor_varint(c);
        entry->name = wire_text_get_short(c);
        break;
    case LOCATION_METHOD:
        entry->class_name = wire_text_get_short(c);
        entry->name = wire_text_get_short(c);
        entry->descriptor = wire_text_get_short(c);
        entry->source = wire_text_get_short(c);
        break;
    case LOCATION_IN_FILE:
        entry->file = cursor_below(c, LOCATION_NUMBERS_MAX);
        entry->offset = cursor_varint(c);
        break;
    case LOCATION_IN_CODE:
        get_code(c, entry);
        break;
    default:
        return -1;
    }
    return c->bad ? -1 : 0;
}
