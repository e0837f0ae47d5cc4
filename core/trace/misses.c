#include "core/trace/misses.h"

/* ---- writing ---- */

static void put_named(struct sink *s, const struct miss_entry *entry)
{
    sink_varint(s, entry->number);
    if (entry->kind == MISS_OWNER) {
        sink_varint(s, entry->owner_kind);
    } else if (entry->kind == MISS_CELL) {
        sink_varint(s, entry->owner);
        sink_varint(s, entry->space);
        sink_varint(s, entry->offset);
    } else {
        place_text_put(s, entry->class_name);
    }
    place_text_put(s, entry->name);
    if (entry->kind == MISS_METHOD) {
        place_text_put(s, entry->descriptor);
        place_text_put(s, entry->source);
    }
}

static void put_counts(struct sink *s, const struct miss_entry *entry)
{
    sink_varint(s, entry->ticks);
    if (entry->kind == MISS_COUNTS) {
        sink_varint(s, entry->thread);
        sink_varint(s, entry->place);
        sink_varint(s, entry->line);
        sink_varint(s, entry->cell);
    } else {
        sink_varint(s, entry->n_accesses);
    }
    for (int i = 0; i < MISS_N_COUNTS; i++)
        sink_varint(s, entry->counts[i]);
    if (entry->kind == MISS_COUNTS) {
        sink_varint(s, entry->n_kept);
    } else {
        sink_varint(s, entry->n_looks);
        sink_varint(s, entry->look_ns);
    }
}

void misses_put(struct sink *s, const struct miss_entry *entry)
{
    sink_u8(s, (uint8_t)entry->kind);
    switch (entry->kind) {
    case MISS_OWNER:
    case MISS_CELL:
    case MISS_METHOD:
        put_named(s, entry);
        break;
    case MISS_COUNTS:
    case MISS_TOTALS:
        put_counts(s, entry);
        break;
    }
}

/* ---- reading ---- */

static void get_named(struct cursor *c, struct miss_entry *entry)
{
    entry->number = cursor_below(c, MISSES_NUMBERS_MAX);
    if (entry->kind == MISS_OWNER) {
        entry->owner_kind = (enum miss_owner)cursor_below(c, MISS_OWNERS);
    } else if (entry->kind == MISS_CELL) {
        entry->owner = cursor_below(c, MISSES_NUMBERS_MAX);
        entry->space = (enum miss_space)cursor_below(c, MISS_SPACES);
        entry->offset = cursor_below(c, UINT32_MAX);
    } else {
        entry->class_name = place_text_get(c);
    }
    entry->name = place_text_get(c);
    if (entry->kind == MISS_METHOD) {
        entry->descriptor = place_text_get(c);
        entry->source = place_text_get(c);
    }
}

static void get_counts(struct cursor *c, struct miss_entry *entry)
{
    entry->ticks = cursor_varint(c);
    if (entry->kind == MISS_COUNTS) {
        entry->thread = cursor_below(c, UINT32_MAX);
        entry->place = cursor_varint(c);
        entry->line = cursor_below(c, UINT32_MAX);
        entry->cell = cursor_below(c, MISSES_NUMBERS_MAX);
    } else {
        entry->n_accesses = cursor_varint(c);
    }
    for (int i = 0; i < MISS_N_COUNTS; i++)
        entry->counts[i] = cursor_varint(c);
    if (entry->kind == MISS_COUNTS) {
        entry->n_kept = cursor_varint(c);
    } else {
        entry->n_looks = cursor_varint(c);
        entry->look_ns = cursor_varint(c);
    }
}

int misses_get(struct cursor *c, struct miss_entry *entry)
{
    uint8_t kind = cursor_u8(c);
    memset(entry, 0, sizeof *entry);
    entry->kind = (enum miss_kind)kind;
    switch (entry->kind) {
    case MISS_OWNER:
    case MISS_CELL:
    case MISS_METHOD:
        get_named(c, entry);
        break;
    case MISS_COUNTS:
    case MISS_TOTALS:
        get_counts(c, entry);
        break;
    default:
        return -1;
    }
    return c->bad ? -1 : 0;
}
