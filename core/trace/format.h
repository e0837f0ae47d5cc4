/*
 * The trace file's bytes: what writer and reader share.  mmprof.trace(5) specifies them; change both together.
 *
 * Everything that is counted is a "number" of 1 to 9 bytes: the count n of one bits at the low end of the first byte
 * says how many bytes follow; the bits above the lowest zero, little-endian, are the value (n = 8: the eight bytes
 * that follow are).  As short as LEB128, but its length is known from its first byte: one load, no loop, no
 * mispredicted branch, which is what decodes a record in a few ns.
 */
#ifndef CORE_TRACE_FORMAT_H
#define CORE_TRACE_FORMAT_H

#include "core/base/bytes.h"
#include "core/trace/misses.h"
#include "core/wire/ring.h"

#include <zlib.h>

#define FILE_MAGIC        "\x89MMPROF\n"
#define FILE_MAGIC_BYTES  8
#define FILE_HEADER_BYTES 16
/* A reader refuses a later one.  1: no groups of counters, no READINGS; 2: no predicted records. */
#define FORMAT_MAJOR 3
/* Additions that an older reader may ignore, of version 2: 1: LOCATIONS, IP_SAMPLES; 2: CPU_TIMES, COLLECTIONS; 3:
 * MISSES; 4: ACCESSES; 5: HEAP; 6: STACKS; 7: CONTEXTS, SAMPLES (and no STACKS any more); 8: WAITS; 9: ALLOCATIONS; 10:
 * HEAP_EVENTS; 11: VALUES.  Of version 3: 1: BYTECODES; 2: EVENT_SAMPLES; 3: PRESSURE; 4: CODE; 5:
 * VIRTUAL_WAITS. */
#define FORMAT_MINOR 5

#define CHUNK_MAGIC        UINT32_C(0x6b6863d7) /* d7 'c' 'h' 'k' */
#define CHUNK_HEADER_BYTES 24
#define CHUNK_SIGNED_BYTES 20 /* of the header: the last field is their CRC */
#define CHUNK_PAYLOAD_MAX  (UINT32_C(1) << 20)

/* A reader skips types that it does not know. */
enum chunk_type {
    CHUNK_INFO = 1,
    CHUNK_CLOCK = 2,
    CHUNK_COUNTERS = 3,
    CHUNK_THREADS = 4,
    CHUNK_METHODS = 5,
    CHUNK_KERNEL = 6,
    CHUNK_RECORDS = 7,
    CHUNK_END = 8,
    CHUNK_READINGS = 9,
    CHUNK_CONTROL = 10,
    CHUNK_JIT = 11,
    CHUNK_LOCATIONS = 12,
    CHUNK_IP_SAMPLES = 13,
    CHUNK_CPU_TIMES = 14,
    CHUNK_COLLECTIONS = 15,
    CHUNK_MISSES = 16,
    CHUNK_ACCESSES = 17,
    CHUNK_HEAP = 18,
    CHUNK_STACKS = 19,
    CHUNK_CONTEXTS = 20,
    CHUNK_SAMPLES = 21,
    CHUNK_WAITS = 22,
    CHUNK_ALLOCATIONS = 23,
    CHUNK_VALUES = 24,
    CHUNK_HEAP_EVENTS = 25,
    CHUNK_BYTECODES = 27,
    CHUNK_EVENT_SAMPLES = 28,
    CHUNK_PRESSURE = 29,
    CHUNK_CODE = 30,
    CHUNK_VIRTUAL_WAITS = 31
};

#define CHUNK_FLAGS_N_COUNTERS 0x7f /* of RECORDS and READINGS: values that follow each record */
#define CHUNK_FLAG_PREDICTED   0x80 /* of RECORDS: they are coded as predict.h has it */

/* The low two bits of a record's first number; the rest of it is the ticks since the record before.  Where records are
 * predicted, bit 0 is 1 if this one was not; only then the tag follows; the rest is in the chunk's unit of time. */
enum record_tag { TAG_ENTER = 0, TAG_EXIT = 1, TAG_UNWIND = 2, TAG_OTHER = 3 };

/* The low two bits of the second number after TAG_OTHER; the rest of it is a method, or a gap's count, or more. */
enum record_other { OTHER_EXIT = 0, OTHER_UNWIND = 1, OTHER_GAP = 2, OTHER_VIRTUAL = 3 };

/* After OTHER_VIRTUAL, two bits more; where records are predicted, three. */
enum record_virtual {
    VIRTUAL_RESUME = 0,
    VIRTUAL_MOUNT = 1,
    VIRTUAL_UNMOUNT = 2,
    VIRTUAL_OPEN = 3,
    VIRTUAL_CLOCK = 4 /* no record: the moment of the next one, which the unit of time does not fit */
};

#define TAG_BITS        2
#define MISSED_BITS     (1 + TAG_BITS) /* of the first number of a record that was not predicted */
#define VIRTUAL_BITS    3              /* where records are predicted */
#define PHASE_BITS      2              /* of a moment: quarters of a tick */
#define KERNEL_TAG_BITS 3              /* of a kernel event: the kind, from TRACE_CPU_IN; of CONTROL: from _ENABLED */

#define IP_SAMPLE_FLAG_KERNEL   1 /* of an IP sample's first number; the rest of it is ticks */
#define IP_SAMPLE_FLAG_BITS     1
#define METHOD_FLAG_LOOP        1
#define SAMPLE_FLAG_KERNEL      1 /* of a sample's flags; then frame, tier and end, 3 bits each */
#define SAMPLE_FLAG_WAITING     2
#define SAMPLE_FRAME_SHIFT      2
#define SAMPLE_TIER_SHIFT       5
#define SAMPLE_END_SHIFT        8
#define SAMPLE_TIER_MAX         7
#define SAMPLE_END_MAX          15
#define THREAD_FLAG_RING        1
#define COUNTER_FLAG_IN_RECORDS 1
#define COUNTER_KIND_SHIFT      1 /* two bits of a counter's flags; above them its group */
#define COUNTER_GROUP_SHIFT     3

#define STRING_MAX_BYTES 65535
#define THREAD_INDEX_MAX ((UINT32_C(1) << 20) - 1)
#define NUMBER_MAX_BYTES 9

/*
 * So many values follow each other as they are, each the difference to the one before: an unchanged one takes a byte.
 * Of more, most are a group's whose turn it is not, so the changed ones come after a bitmap that names them.
 */
#define COUNTERS_PLAIN_MAX       8
#define COUNTERS_BITMAP_BYTES(n) (((n) + 7) / 8)

/* A moment of its own, tag, method or count (or thread and series), counters. */
#define RECORD_MAX_BYTES (NUMBER_MAX_BYTES * (5 + RING_COUNTERS_MAX) + COUNTERS_BITMAP_BYTES(RING_COUNTERS_MAX))

#define LIKELY(condition)   __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* Eight bytes, little-endian: compilers make one instruction of each. */
static inline uint64_t load_u64le(const uint8_t *b)
{
    return (uint64_t)b[0] | (uint64_t)b[1] << 8 | (uint64_t)b[2] << 16 | (uint64_t)b[3] << 24 | (uint64_t)b[4] << 32 |
           (uint64_t)b[5] << 40 | (uint64_t)b[6] << 48 | (uint64_t)b[7] << 56;
}

static inline void store_u64le(uint8_t *b, uint64_t value)
{
    b[0] = (uint8_t)value;
    b[1] = (uint8_t)(value >> 8);
    b[2] = (uint8_t)(value >> 16);
    b[3] = (uint8_t)(value >> 24);
    b[4] = (uint8_t)(value >> 32);
    b[5] = (uint8_t)(value >> 40);
    b[6] = (uint8_t)(value >> 48);
    b[7] = (uint8_t)(value >> 56);
}

/* Write a number; NUMBER_MAX_BYTES must be writable whatever its length.  Returns where the next byte goes. */
static inline uint8_t *number_put(uint8_t *at, uint64_t value)
{
    if (UNLIKELY(value >> 56 != 0)) {
        at[0] = 0xff;
        store_u64le(at + 1, value);
        return at + NUMBER_MAX_BYTES;
    }
    unsigned n_more = (63u - (unsigned)__builtin_clzll(value | 1)) * 37 >> 8; /* a seventh, for 0..55 */
    store_u64le(at, ((value << 1 | 1) << n_more) - 1);
    return at + n_more + 1;
}

/* Read a number; NUMBER_MAX_BYTES must be readable whatever its length.  Returns where the next byte stands. */
static inline const uint8_t *number_get(const uint8_t *at, uint64_t *value)
{
    uint64_t bits = load_u64le(at);
    if (UNLIKELY((bits & 0xff) == 0xff)) {
        *value = load_u64le(at + 1);
        return at + NUMBER_MAX_BYTES;
    }
    unsigned n_more = (unsigned)__builtin_ctzll(~bits);
    *value = bits << (56 - 8 * n_more) >> (57 - 7 * n_more);
    return at + n_more + 1;
}

static inline uint64_t cursor_number(struct cursor *c)
{
    uint8_t first = cursor_u8(c);
    size_t n_more = (size_t)__builtin_ctz(~(unsigned)first);
    uint64_t rest = cursor_little(c, n_more);
    return n_more == 8 ? rest : rest << (7 - n_more) | (uint64_t)first >> (n_more + 1);
}

static inline void sink_number(struct sink *s, uint64_t value)
{
    uint8_t bytes[NUMBER_MAX_BYTES];
    sink_bytes(s, bytes, (size_t)(number_put(bytes, value) - bytes));
}

/* The chunk that an entry of misses is in. */
static inline enum chunk_type misses_chunk(enum miss_kind kind)
{
    if (kind == MISS_USED)
        return CHUNK_HEAP;
    if (kind == MISS_BYTECODE || kind == MISS_AT)
        return CHUNK_BYTECODES;
    return kind == MISS_ACCESSES || kind == MISS_CONTENTS ? CHUNK_ACCESSES : CHUNK_MISSES;
}

static inline uint32_t checksum(const void *bytes, size_t n)
{
    return (uint32_t)crc32(0, bytes, (uInt)n);
}

#endif
