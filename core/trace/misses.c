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
        wire_text_put_short(s, entry->class_name);
    }
    wire_text_put_short(s, entry->name);
    if (entry->kind == MISS_METHOD) {
        wire_text_put_short(s, entry->descriptor);
        wire_text_put_short(s, entry->source);
    }
}

/* What an entry of counts has: each in this order. */
static bool has_location(enum miss_kind kind)
{
    return kind == MISS_COUNTS || kind == MISS_ACCESSES;
}

static bool has_accesses(enum miss_kind kind)
{
    return kind == MISS_TOTALS || kind == MISS_ACCESSES;
}

static void put_counts(struct sink *s, const struct miss_entry *entry)
{
    sink_varint(s, entry->ticks);
    if (entry->kind != MISS_TOTALS)
        sink_varint(s, entry->thread);
    if (has_location(entry->kind)) {
        sink_varint(s, entry->location);
        sink_varint(s, entry->line);
    }
    if (entry->kind != MISS_TOTALS)
        sink_varint(s, entry->cell);
    if (has_accesses(entry->kind))
        sink_varint(s, entry->n_accesses);
    for (int i = 0; i < MISS_N_COUNTS && entry->kind != MISS_ACCESSES; i++)
        sink_varint(s, entry->counts[i]);
    if (has_location(entry->kind))
        sink_varint(s, entry->n_kept);
    if (entry->kind == MISS_TOTALS) {
        sink_varint(s, entry->n_looks);
        sink_varint(s, entry->look_ns);
    }
}

static void put_used(struct sink *s, const struct miss_entry *entry)
{
    sink_varint(s, entry->ticks);
    for (int i = MISS_NO_SPACE + 1; i < MISS_SPACES; i++)
        sink_varint(s, entry->used[i]);
}

static void put_bytecode(struct sink *s, const struct miss_entry *entry)
{
    sink_varint(s, entry->number);
    sink_varint(s, entry->index);
    sink_u8(s, entry->opcode);
    wire_text_put_short(s, entry->class_name);
    wire_text_put_short(s, entry->name);
    wire_text_put_short(s, entry->descriptor);
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
    case MISS_ACCESSES:
    case MISS_CONTENTS:
        put_counts(s, entry);
        break;
    case MISS_USED:
        put_used(s, entry);
        break;
    case MISS_BYTECODE:
        put_bytecode(s, entry);
        break;
    case MISS_AT:
        sink_varint(s, entry->location);
        sink_varint(s, entry->number);
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
        entry->class_name = wire_text_get_short(c);
    }
    entry->name = wire_text_get_short(c);
    if (entry->kind == MISS_METHOD) {
        entry->descriptor = wire_text_get_short(c);
        entry->source = wire_text_get_short(c);
    }
}

static void get_counts(struct cursor *c, struct miss_entry *entry)
{
    entry->ticks = cursor_varint(c);
    if (entry->kind != MISS_TOTALS)
        entry->thread = cursor_below(c, UINT32_MAX);
    if (has_location(entry->kind)) {
        entry->location = cursor_varint(c);
        entry->line = cursor_below(c, UINT32_MAX);
    }
    if (entry->kind != MISS_TOTALS)
        entry->cell = cursor_below(c, MISSES_NUMBERS_MAX);
    if (has_accesses(entry->kind))
        entry->n_accesses = cursor_varint(c);
    for (int i = 0; i < MISS_N_COUNTS && entry->kind != MISS_ACCESSES; i++)
        entry->counts[i] = cursor_varint(c);
    if (has_location(entry->kind))
        entry->n_kept = cursor_varint(c);
    if (entry->kind == MISS_TOTALS) {
        entry->n_looks = cursor_varint(c);
        entry->look_ns = cursor_varint(c);
    }
}

static void get_used(struct cursor *c, struct miss_entry *entry)
{
    entry->ticks = cursor_varint(c);
    for (int i = MISS_NO_SPACE + 1; i < MISS_SPACES; i++)
        entry->used[i] = cursor_varint(c);
}

static void get_bytecode(struct cursor *c, struct miss_entry *entry)
{
    entry->number = cursor_below(c, MISSES_NUMBERS_MAX);
    entry->index = cursor_below(c, UINT16_MAX);
    entry->opcode = cursor_u8(c);
    entry->class_name = wire_text_get_short(c);
    entry->name = wire_text_get_short(c);
    entry->descriptor = wire_text_get_short(c);
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
    case MISS_ACCESSES:
    case MISS_CONTENTS:
        get_counts(c, entry);
        break;
    case MISS_USED:
        get_used(c, entry);
        break;
    case MISS_BYTECODE:
        get_bytecode(c, entry);
        break;
    case MISS_AT:
        entry->location = cursor_varint(c);
        entry->number = cursor_below(c, MISSES_NUMBERS_MAX + 1);
        break;
    default:
        return -1;
    }
    return c->bad ? -1 : 0;
}
