/*
 * Blocks are found as the JVM does it: a heap's segment map has, for each segment of it, how many segments back a block
 * begins.
 */
#include "core/hotspot/code_heaps.h"
#include "core/hotspot/vm_fields.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define HEAPS_MAX    8
#define HOPS_MAX     100000
#define MAP_BYTES    512u
#define FREE_SEGMENT 0xff
#define ASKED_OFTEN  4u
#define MAP_MAX      ((uint64_t)16 << 20)

/* The heaps are where they are for ever; what is read of them once need not be read again for each method. */
static struct heap {
    uint64_t address;
    uint64_t low, high;    /* what is reserved for it */
    uint64_t map;          /* of segments, a byte for each */
    int32_t log2;          /* of a segment's bytes */
    _Atomic uint64_t used; /* up to here its memory was in use when that was read last */
    uint8_t *copy;         /* of the map, in this round; owned */
    size_t n_copy, room;
    uint32_t n_asked;
} heaps[HEAPS_MAX];
static int32_t n_heaps;

/* Where fields are: offsets. */
static struct {
    uint64_t heaps;                                 /* the address of a pointer to the list of heaps, */
    uint64_t only;                                  /* or, JDK 8, to the only one */
    uint64_t list_length, list_data;                /* in the list */
    uint64_t heap_memory, heap_segments, heap_log2; /* in a heap */
    uint64_t space_low, space_used, space_high;     /* in a VirtualSpace */
    uint64_t block_bytes;                           /* of a block's header */
} at;

static bool find_fields(void)
{
    struct vm_field list[] = {
        { "CodeCache", "_heaps", &at.heaps, true },
        { "GrowableArrayBase", "_len", &at.list_length, false },
        { "GenericGrowableArray", "_len", &at.list_length, false }, /* JDK 11 */
        { "GrowableArray<int>", "_data", &at.list_data, false },
    };
    struct vm_field only = { "CodeCache", "_heap", &at.only, true };
    struct vm_field fields[] = {
        { "CodeHeap", "_memory", &at.heap_memory, false },
        { "CodeHeap", "_segmap", &at.heap_segments, false },
        { "CodeHeap", "_log2_segment_size", &at.heap_log2, false },
        { "VirtualSpace", "_low", &at.space_low, false },
        { "VirtualSpace", "_high", &at.space_used, false },
        { "VirtualSpace", "_high_boundary", &at.space_high, false },
    };
    at.block_bytes = vm_type_bytes("HeapBlock");
    return vm_fields_find(fields, sizeof fields / sizeof *fields) && at.block_bytes != VM_NONE &&
           (vm_fields_find(list, sizeof list / sizeof *list) || vm_fields_find(&only, 1));
}

static bool read_heap(uint64_t address, struct heap *heap)
{
    heap->address = address;
    return vm_read_u64(address + at.heap_memory + at.space_low, &heap->low) &&
           vm_read_u64(address + at.heap_memory + at.space_high, &heap->high) &&
           vm_read_u64(address + at.heap_segments + at.space_low, &heap->map) &&
           vm_read(address + at.heap_log2, &heap->log2, sizeof heap->log2) && heap->log2 >= 1 && heap->log2 <= 30;
}

static void read_heaps(void)
{
    uint64_t list, data, heap;
    int32_t n = 0;
    if (!find_fields())
        return;
    if (at.heaps == VM_NONE) {
        n_heaps = vm_read_u64(at.only, &heap) && read_heap(heap, &heaps[0]);
        return;
    }
    if (!vm_read_u64(at.heaps, &list) || !vm_read(list + at.list_length, &n, sizeof n) ||
        !vm_read_u64(list + at.list_data, &data))
        return;
    for (int32_t i = 0; i < n && i < HEAPS_MAX; i++)
        if (vm_read_u64(data + 8 * (uint64_t)i, &heap) && read_heap(heap, &heaps[n_heaps]))
            n_heaps++;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

/* What a heap uses of its memory, and of its map, grows, and is never given back. */
static void read_in_place(size_t i)
{
    struct heap *heap = &heaps[i];
    uint64_t used, map_used;
    if (vm_read_u64(heap->address + at.heap_memory + at.space_used, &used) && used <= heap->high) {
        vm_read_in_place(2 * i, heap->low, used);
        atomic_store(&heap->used, used);
    }
    if (vm_read_u64(heap->address + at.heap_segments + at.space_used, &map_used) && map_used >= heap->map)
        vm_read_in_place(2 * i + 1, heap->map, map_used);
}

/*
 * A process looks into another's heaps in rounds.  Where it asks more than a few times in one, all of the map that is
 * in use costs less than a piece of it each time.
 */
static bool is_in_rounds;

void code_heaps_round(void)
{
    is_in_rounds = true;
    for (int32_t i = 0; i < n_heaps; i++) {
        heaps[i].n_asked = 0;
        heaps[i].n_copy = 0;
    }
}

static void copy_map(struct heap *heap)
{
    uint64_t end;
    if (!is_in_rounds || ++heap->n_asked != ASKED_OFTEN ||
        !vm_read_u64(heap->address + at.heap_segments + at.space_used, &end) || end <= heap->map ||
        end - heap->map > MAP_MAX)
        return;
    size_t n = (size_t)(end - heap->map);
    if (n > heap->room) {
        free(heap->copy);
        heap->copy = malloc(n);
        heap->room = heap->copy == NULL ? 0 : n;
    }
    if (n <= heap->room && vm_read(heap->map, heap->copy, n))
        heap->n_copy = n;
}

/* Some bytes of the map, from the 'first' segment's on. */
static bool read_map(const struct heap *heap, uint64_t first, uint8_t *map, uint64_t n)
{
    if (first + n > heap->n_copy)
        return vm_read(heap->map + first, map, (size_t)n);
    memcpy(map, heap->copy + first, (size_t)n);
    return true;
}

/* Most blocks need a step or two: those are in one piece of the map. */
static uint64_t find_block(const struct heap *heap, uint64_t address)
{
    uint64_t segment = (address - heap->low) >> heap->log2, first = 0, n = 0;
    uint8_t map[MAP_BYTES] = { 0 };
    for (int hops = 0; hops < HOPS_MAX; hops++) {
        if (segment < first || n == 0) {
            n = segment < MAP_BYTES ? segment + 1 : MAP_BYTES;
            first = segment + 1 - n;
            if (!read_map(heap, first, map, n))
                return 0;
        }
        uint8_t back = map[segment - first];
        if (back == FREE_SEGMENT || back > segment)
            return 0;
        if (back == 0)
            return heap->low + (segment << heap->log2);
        segment -= back;
    }
    return 0;
}

uint64_t code_heaps_find(uint64_t address)
{
    pthread_once(&once, read_heaps);
    for (int32_t i = 0; i < n_heaps; i++) {
        if (address < heaps[i].low || address >= heaps[i].high)
            continue;
        if (address >= atomic_load(&heaps[i].used))
            read_in_place((size_t)i);
        copy_map(&heaps[i]);
        uint64_t block = find_block(&heaps[i], address);
        return block == 0 ? 0 : block + at.block_bytes;
    }
    return 0;
}

/*
 * A block begins at each segment that is no segment behind one.  The map is in use in whole pages: what it has of
 * segments whose memory is not in use yet says nothing.
 */
static void walk(const struct heap *heap, code_block_fn *fn, void *context)
{
    uint8_t map[4096];
    uint64_t used = atomic_load(&heap->used), n_segments = used < heap->low ? 0 : (used - heap->low) >> heap->log2;
    for (uint64_t first = 0; first < n_segments; first += sizeof map) {
        uint64_t left = n_segments - first;
        size_t got = vm_read_some(heap->map + first, map, left < sizeof map ? left : sizeof map);
        for (size_t i = 0; i < got; i++)
            if (map[i] == 0)
                fn(context, heap->low + ((first + i) << heap->log2) + at.block_bytes);
        if (got < sizeof map)
            break;
    }
}

void code_heaps_walk(code_block_fn *fn, void *context)
{
    pthread_once(&once, read_heaps);
    for (int32_t i = 0; i < n_heaps; i++) {
        read_in_place((size_t)i);
        walk(&heaps[i], fn, context);
    }
}

bool code_heaps_range(uint64_t *low, uint64_t *high)
{
    pthread_once(&once, read_heaps);
    *low = UINT64_MAX;
    *high = 0;
    for (int32_t i = 0; i < n_heaps; i++) {
        *low = heaps[i].low < *low ? heaps[i].low : *low;
        *high = heaps[i].high > *high ? heaps[i].high : *high;
    }
    return n_heaps > 0;
}

bool code_heaps_interpreter(uint64_t *low, uint64_t *high)
{
    uint64_t code, buffer, limit, queue;
    int32_t n_bytes = 0;
    struct vm_field fields[] = { { "AbstractInterpreter", "_code", &code, true },
                                 { "StubQueue", "_stub_buffer", &buffer, false },
                                 { "StubQueue", "_buffer_limit", &limit, false } };
    if (!vm_fields_find(fields, sizeof fields / sizeof *fields) || !vm_read_u64(code, &queue) ||
        !vm_read_u64(queue + buffer, low) || !vm_read(queue + limit, &n_bytes, sizeof n_bytes) || n_bytes <= 0)
        return false;
    *high = *low + (uint64_t)n_bytes;
    return true;
}
