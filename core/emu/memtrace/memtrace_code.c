/*
 * An instruction mostly does what it did before: the one that came behind it last time comes again, its address goes on
 * by the same step, it is in the same object or the next, and its size is the same.  What is foretold so takes a bit of
 * the flags; and where all of it is, the flags are 0, and long rows of zeros take next to nothing when compressed.
 */
#include "core/emu/memtrace/memtrace.h"

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
