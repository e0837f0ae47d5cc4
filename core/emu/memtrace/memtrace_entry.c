#include "core/emu/memtrace/memtrace.h"

static void put_text(struct sink *s, struct memtrace_text text)
{
    size_t n = text.n < MEMTRACE_TEXT_BYTES ? text.n : MEMTRACE_TEXT_BYTES;
    sink_varint(s, n);
    sink_bytes(s, text.at, n);
}

static struct memtrace_text get_text(struct cursor *c)
{
    struct memtrace_text text;
    text.at = cursor_text(c, MEMTRACE_TEXT_BYTES, &text.n);
    return text;
}

/* A number that may not be known. */
static void put_maybe(struct sink *s, uint32_t number)
{
    sink_varint(s, number == MEMTRACE_NO_NUMBER ? 0 : (uint64_t)number + 1);
}

static uint32_t get_maybe(struct cursor *c)
{
    uint32_t number = cursor_below(c, UINT32_MAX);
    return number == 0 ? MEMTRACE_NO_NUMBER : number - 1;
}

static void put_object(struct sink *s, const struct memtrace_entry *entry)
{
    sink_varint(s, entry->object);
    sink_varint(s, entry->class_number);
    put_maybe(s, entry->place);
    sink_varint(s, entry->bytes);
    if (entry->kind == MEMTRACE_CREATED) {
        sink_varint(s, entry->thread);
        sink_varint(s, entry->address);
        sink_varint(s, entry->time);
        return;
    }
    sink_u8(s, entry->has_died);
    sink_varint(s, entry->created);
    sink_varint(s, entry->lifetime);
    sink_varint(s, entry->n_uses);
}

static void get_object(struct cursor *c, struct memtrace_entry *entry)
{
    entry->object = cursor_varint(c);
    entry->class_number = cursor_below(c, UINT32_MAX);
    entry->place = get_maybe(c);
    entry->bytes = cursor_varint(c);
    if (entry->kind == MEMTRACE_CREATED) {
        entry->thread = cursor_below(c, UINT32_MAX);
        entry->address = cursor_varint(c);
        entry->time = cursor_varint(c);
        return;
    }
    entry->has_died = cursor_u8(c) != 0;
    entry->created = cursor_varint(c);
    entry->lifetime = cursor_varint(c);
    entry->n_uses = cursor_varint(c);
}

static void put_name(struct sink *s, const struct memtrace_entry *entry)
{
    sink_varint(s, entry->number);
    switch (entry->kind) {
    case MEMTRACE_THREAD:
        sink_varint(s, (uint32_t)entry->tid);
        put_text(s, entry->name);
        break;
    case MEMTRACE_CLASS:
        put_text(s, entry->name);
        break;
    case MEMTRACE_METHOD:
        put_text(s, entry->class_name);
        put_text(s, entry->name);
        put_text(s, entry->descriptor);
        put_text(s, entry->source);
        break;
    default:
        sink_varint(s, entry->method);
        sink_varint(s, entry->line);
        break;
    }
}

static void get_name(struct cursor *c, struct memtrace_entry *entry)
{
    entry->number = cursor_below(c, UINT32_MAX);
    switch (entry->kind) {
    case MEMTRACE_THREAD:
        entry->tid = (int32_t)cursor_below(c, INT32_MAX);
        entry->name = get_text(c);
        break;
    case MEMTRACE_CLASS:
        entry->name = get_text(c);
        break;
    case MEMTRACE_METHOD:
        entry->class_name = get_text(c);
        entry->name = get_text(c);
        entry->descriptor = get_text(c);
        entry->source = get_text(c);
        break;
    default:
        entry->method = cursor_below(c, UINT32_MAX);
        entry->line = cursor_below(c, UINT32_MAX);
        break;
    }
}

void memtrace_put(struct sink *s, const struct memtrace_entry *entry)
{
    sink_u8(s, (uint8_t)entry->kind);
    if (entry->kind <= MEMTRACE_PLACE) {
        put_name(s, entry);
    } else if (entry->kind == MEMTRACE_CREATED || entry->kind == MEMTRACE_DIED) {
        put_object(s, entry);
    } else if (entry->kind == MEMTRACE_CODE) {
        sink_varint(s, entry->method);
        sink_varint(s, entry->address);
        sink_varint(s, entry->bytes);
    } else if (entry->kind == MEMTRACE_MOVED) {
        sink_varint(s, entry->object);
        sink_varint(s, entry->address);
    } else {
        sink_varint(s, entry->time);
        sink_varint(s, entry->n_accesses);
    }
}

int memtrace_get(struct cursor *c, struct memtrace_entry *entry)
{
    *entry = (struct memtrace_entry){ .place = MEMTRACE_NO_NUMBER };
    uint8_t kind = cursor_u8(c);
    if (c->bad || kind >= MEMTRACE_KINDS || kind == MEMTRACE_ACCESS)
        return -1;
    entry->kind = (enum memtrace_kind)kind;
    if (kind <= MEMTRACE_PLACE) {
        get_name(c, entry);
    } else if (kind == MEMTRACE_CREATED || kind == MEMTRACE_DIED) {
        get_object(c, entry);
    } else if (kind == MEMTRACE_CODE) {
        entry->method = cursor_below(c, UINT32_MAX);
        entry->address = cursor_varint(c);
        entry->bytes = cursor_varint(c);
    } else if (kind == MEMTRACE_MOVED) {
        entry->object = cursor_varint(c);
        entry->address = cursor_varint(c);
    } else {
        entry->time = cursor_varint(c);
        entry->n_accesses = cursor_varint(c);
    }
    return c->bad ? -1 : 0;
}
