#include "core/emu/memtrace/memtrace.h"

/* NUMBER, MAYBE, TID: 32 bits.  MAYBE: one more than the number, 0: it is not known. */
enum entry_part { END, NUMBER, MAYBE, TID, LONG, FLAG, TEXT };

struct entry_field {
    enum entry_part type;
    size_t offset;
};

#define AT(type, member)                              \
    {                                                 \
        type, offsetof(struct memtrace_entry, member) \
    }

/* What stands behind an entry's kind, in this order. */
static const struct entry_field fields[MEMTRACE_KINDS][9] = {
    [MEMTRACE_THREAD] = { AT(NUMBER, number), AT(TID, tid), AT(TEXT, name) },
    [MEMTRACE_CLASS] = { AT(NUMBER, number), AT(TEXT, name) },
    [MEMTRACE_METHOD] = { AT(NUMBER, number), AT(TEXT, class_name), AT(TEXT, name), AT(TEXT, descriptor),
                          AT(TEXT, source) },
    [MEMTRACE_LOCATION] = { AT(NUMBER, number), AT(NUMBER, method), AT(NUMBER, line) },
    [MEMTRACE_CODE] = { AT(NUMBER, method), AT(LONG, address), AT(LONG, bytes) },
    [MEMTRACE_CREATED] = { AT(LONG, object), AT(NUMBER, class_number), AT(MAYBE, location), AT(LONG, bytes),
                           AT(NUMBER, thread), AT(LONG, address), AT(LONG, time) },
    [MEMTRACE_MOVED] = { AT(LONG, object), AT(LONG, address) },
    [MEMTRACE_DIED] = { AT(LONG, object), AT(NUMBER, class_number), AT(MAYBE, location), AT(LONG, bytes),
                        AT(FLAG, has_died), AT(LONG, created), AT(LONG, lifetime), AT(LONG, n_uses) },
    [MEMTRACE_TOTALS] = { AT(LONG, time), AT(LONG, n_accesses) },
    [MEMTRACE_LAST_USE] = { AT(LONG, object), AT(MAYBE, location), AT(MAYBE, method), AT(NUMBER, info) },
    [MEMTRACE_COLLECTION] = { AT(LONG, time) },
    [MEMTRACE_CALL] = { AT(MAYBE, method), AT(NUMBER, thread), AT(NUMBER, line), AT(LONG, created), AT(LONG, time),
                        AT(LONG, bytes) },
    [MEMTRACE_C2] = { AT(NUMBER, method), AT(LONG, time) },
    [MEMTRACE_INTERVAL] = { AT(LONG, bytes) },
};

static void put_text(struct sink *s, const struct wire_text *text)
{
    size_t n = text->n < MEMTRACE_TEXT_BYTES ? text->n : MEMTRACE_TEXT_BYTES;
    sink_varint(s, n);
    sink_bytes(s, text->at, n);
}

static void put_field(struct sink *s, enum entry_part type, const void *from)
{
    const uint32_t *number = from;
    switch (type) {
    case NUMBER:
    case TID:
        sink_varint(s, *number);
        break;
    case MAYBE:
        sink_varint(s, *number == MEMTRACE_NO_NUMBER ? 0 : (uint64_t)*number + 1);
        break;
    case LONG:
        sink_varint(s, *(const uint64_t *)from);
        break;
    case FLAG:
        sink_u8(s, *(const bool *)from);
        break;
    default:
        put_text(s, from);
        break;
    }
}

void memtrace_put(struct sink *s, const struct memtrace_entry *entry)
{
    sink_u8(s, (uint8_t)entry->kind);
    for (const struct entry_field *field = fields[entry->kind]; field->type != END; field++)
        put_field(s, field->type, (const char *)entry + field->offset);
}

static void get_field(struct cursor *c, enum entry_part type, void *to)
{
    uint32_t *number = to;
    struct wire_text *text = to;
    switch (type) {
    case NUMBER:
    case TID:
        *number = cursor_below(c, type == TID ? INT32_MAX : UINT32_MAX);
        break;
    case MAYBE:
        *number = cursor_below(c, UINT32_MAX) - 1; /* 0 becomes MEMTRACE_NO_NUMBER */
        break;
    case LONG:
        *(uint64_t *)to = cursor_varint(c);
        break;
    case FLAG:
        *(bool *)to = cursor_u8(c) != 0;
        break;
    default:
        text->at = cursor_text(c, MEMTRACE_TEXT_BYTES, &text->n);
        break;
    }
}

int memtrace_get(struct cursor *c, struct memtrace_entry *entry)
{
    *entry = (struct memtrace_entry){ .location = MEMTRACE_NO_NUMBER };
    uint8_t kind = cursor_u8(c);
    if (c->bad || kind >= MEMTRACE_KINDS || kind == MEMTRACE_ACCESS)
        return -1;
    entry->kind = (enum memtrace_kind)kind;
    for (const struct entry_field *field = fields[kind]; field->type != END; field++)
        get_field(c, field->type, (char *)entry + field->offset);
    return c->bad || entry->info >= MEMTRACE_USE_END ? -1 : 0;
}
