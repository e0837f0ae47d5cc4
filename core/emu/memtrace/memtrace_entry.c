#include "core/emu/memtrace/memtrace.h"

#include <zlib.h>

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

/* ---- code ---- */

/* What is not as foretold, and follows in values, in this order. */
enum { NEW_INSTRUCTION = 1, NEW_INFO = 2, NEW_ADDRESS = 4, NEW_OBJECT = 8, NEAR = 16, FLAGS_END = 32 };

static uint64_t zigzag(uint64_t difference)
{
    return difference << 1 ^ (0 - (difference >> 63));
}

static uint64_t zagzig(uint64_t coded)
{
    return coded >> 1 ^ (0 - (coded & 1));
}

static struct memtrace_known *known_of(struct memtrace_coder *coder, uint64_t instruction)
{
    return &coder->known[instruction * UINT64_C(0x9e3779b97f4a7c15) >> 52];
}

/* The instruction's; what another one left there is forgotten. */
static struct memtrace_known *take_known(struct memtrace_coder *coder, uint64_t instruction)
{
    _Static_assert(MEMTRACE_CODER_ENTRIES == 1u << 12, "as many as the hash has");
    struct memtrace_known *known = known_of(coder, instruction);
    if (known->instruction != instruction)
        *known = (struct memtrace_known){ .instruction = instruction };
    return known;
}

/* Both sides do so with each access. */
static void learn(struct memtrace_coder *coder, struct memtrace_known *known, const struct memtrace_entry *access)
{
    known->stride = access->address - known->address;
    known->address = access->address;
    known->object_stride = access->object - known->object;
    known->object = access->object;
    known->info = access->info;
    known_of(coder, coder->instruction)->next = access->instruction;
    coder->instruction = access->instruction;
    coder->address = access->address;
}

uint8_t memtrace_encode(struct memtrace_coder *coder, const struct memtrace_entry *access, struct sink *values)
{
    uint8_t flags = 0;
    if (known_of(coder, coder->instruction)->next != access->instruction) {
        flags |= NEW_INSTRUCTION;
        sink_varint(values, zigzag(access->instruction - coder->instruction));
    }
    struct memtrace_known *known = take_known(coder, access->instruction);
    if (known->info != access->info) {
        flags |= NEW_INFO;
        sink_u8(values, (uint8_t)access->info);
    }
    if (known->address + known->stride != access->address) {
        uint64_t own = zigzag(access->address - known->address), near = zigzag(access->address - coder->address);
        flags |= (uint8_t)(NEW_ADDRESS | (near < own ? NEAR : 0));
        sink_varint(values, near < own ? near : own);
    }
    if (known->object + known->object_stride != access->object) {
        flags |= NEW_OBJECT;
        sink_varint(values, zigzag(access->object - known->object));
    }
    learn(coder, known, access);
    return flags;
}

void memtrace_decode(struct memtrace_coder *coder, uint8_t flags, struct cursor *values, struct memtrace_entry *access)
{
    access->instruction = (flags & NEW_INSTRUCTION) != 0 ? coder->instruction + zagzig(cursor_varint(values))
                                                         : known_of(coder, coder->instruction)->next;
    struct memtrace_known *known = take_known(coder, access->instruction);
    access->info = (flags & NEW_INFO) != 0 ? cursor_u8(values) : known->info;
    access->address = known->address + known->stride;
    if ((flags & NEW_ADDRESS) != 0)
        access->address = ((flags & NEAR) != 0 ? coder->address : known->address) + zagzig(cursor_varint(values));
    access->object = known->object + known->object_stride;
    if ((flags & NEW_OBJECT) != 0)
        access->object = known->object + zagzig(cursor_varint(values));
    values->bad = values->bad || flags >= FLAGS_END || access->info >= MEMTRACE_INFO_END;
    access->bytes = UINT64_C(1) << (access->info & MEMTRACE_LOG2);
    learn(coder, known, access);
}

/* ---- write ---- */

int memtrace_write_header(FILE *out)
{
    uint8_t bytes[MEMTRACE_HEADER_BYTES];
    struct sink s = sink_into(bytes, sizeof bytes);
    sink_bytes(&s, MEMTRACE_MAGIC, 8);
    sink_u32le(&s, MEMTRACE_VERSION);
    sink_u32le(&s, 0);
    return fwrite(bytes, sizeof bytes, 1, out) == 1 ? 0 : -1;
}

int memtrace_write_chunk(FILE *out, enum memtrace_chunk kind, const void *bytes, size_t n)
{
    uLongf n_packed = compressBound((uLong)n);
    uint8_t header[MEMTRACE_CHUNK_HEADER], *packed = malloc(n_packed);
    if (packed == NULL)
        return -1;
    int rc = -1;
    if (compress2(packed, &n_packed, bytes, (uLong)n, Z_BEST_SPEED) == Z_OK) {
        struct sink s = sink_into(header, sizeof header);
        sink_u32le(&s, MEMTRACE_CHUNK_MAGIC);
        sink_u32le(&s, (uint32_t)kind);
        sink_u32le(&s, (uint32_t)n);
        sink_u32le(&s, (uint32_t)n_packed);
        sink_u32le(&s, (uint32_t)crc32(0, packed, (uInt)n_packed));
        sink_u32le(&s, (uint32_t)crc32(0, header, sizeof header - 4));
        rc = fwrite(header, sizeof header, 1, out) == 1 && fwrite(packed, n_packed, 1, out) == 1 ? 0 : -1;
    }
    free(packed);
    return rc;
}
