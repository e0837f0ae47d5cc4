/*
 * Blocks are found as the JVM does it: a heap's segment map has, for each segment of it, how many segments back a block
 * begins.
 */
#include "core/hotspot/nmethod.h"
#include "core/hotspot/vm_state.h"

#include <stdatomic.h>

#define HOPS_MAX     100000
#define MAP_BYTES    512u
#define FREE_SEGMENT 0xff
#define ASKED_OFTEN  4u
#define MAP_MAX      ((uint64_t)16 << 20)

static bool find_fields(struct vm *vm)
{
    struct code_heaps *at = &vm->heaps;
    struct vm_field list[] = {
        { "CodeCache", "_heaps", &at->list, true },
        { "GrowableArrayBase", "_len", &at->list_length, false },
        { "GenericGrowableArray", "_len", &at->list_length, false }, /* JDK 11 */
        { "GrowableArray<int>", "_data", &at->list_data, false },
    };
    struct vm_field only = { "CodeCache", "_heap", &at->only, true };
    struct vm_field fields[] = {
        { "CodeHeap", "_memory", &at->heap_memory, false },
        { "CodeHeap", "_segmap", &at->heap_segments, false },
        { "CodeHeap", "_log2_segment_size", &at->heap_log2, false },
        { "VirtualSpace", "_low", &at->space_low, false },
        { "VirtualSpace", "_high", &at->space_used, false },
        { "VirtualSpace", "_high_boundary", &at->space_high, false },
    };
    at->block_bytes = vm_type_bytes(vm, "HeapBlock");
    return vm_fields_find(vm, fields, sizeof fields / sizeof *fields) && at->block_bytes != VM_NONE &&
           (vm_fields_find(vm, list, sizeof list / sizeof *list) || vm_fields_find(vm, &only, 1));
}

static bool read_heap(struct vm *vm, uint64_t address, struct code_heap *heap)
{
    struct code_heaps *at = &vm->heaps;
    heap->address = address;
    return vm_read_u64(vm, address + at->heap_memory + at->space_low, &heap->low) &&
           vm_read_u64(vm, address + at->heap_memory + at->space_high, &heap->high) &&
           vm_read_u64(vm, address + at->heap_segments + at->space_low, &heap->map) &&
           vm_read(vm, address + at->heap_log2, &heap->log2, sizeof heap->log2) && heap->log2 >= 1 && heap->log2 <= 30;
}

static void read_heaps(struct vm *vm)
{
    struct code_heaps *at = &vm->heaps;
    uint64_t list, data, heap;
    int32_t n = 0;
    if (!find_fields(vm))
        return;
    if (at->list == VM_NONE) {
        at->n = vm_read_u64(vm, at->only, &heap) && read_heap(vm, heap, &at->heaps[0]);
        return;
    }
    if (!vm_read_u64(vm, at->list, &list) || !vm_read(vm, list + at->list_length, &n, sizeof n) ||
        !vm_read_u64(vm, list + at->list_data, &data))
        return;
    for (int32_t i = 0; i < n && i < CODE_HEAPS_MAX; i++)
        if (vm_read_u64(vm, data + 8 * (uint64_t)i, &heap) && read_heap(vm, heap, &at->heaps[at->n]))
            at->n++;
}

/* What a heap uses of its memory, and of its map, grows, and is never given back. */
static void read_in_place(struct vm *vm, size_t i)
{
    struct code_heaps *at = &vm->heaps;
    struct code_heap *heap = &at->heaps[i];
    uint64_t used, map_used;
    if (vm_read_u64(vm, heap->address + at->heap_memory + at->space_used, &used) && used <= heap->high) {
        vm_read_in_place(vm, 2 * i, heap->low, used);
        atomic_store(&heap->used, used);
    }
    if (vm_read_u64(vm, heap->address + at->heap_segments + at->space_used, &map_used) && map_used >= heap->map)
        vm_read_in_place(vm, 2 * i + 1, heap->map, map_used);
}

/*
 * A process looks into another's heaps in rounds.  Where it asks more than a few times in one, all of the map that is
 * in use costs less than a piece of it each time.
 */
void code_heaps_round(struct vm *vm)
{
    struct code_heaps *at = &vm->heaps;
    at->is_in_rounds = true;
    for (int32_t i = 0; i < at->n; i++) {
        at->heaps[i].n_asked = 0;
        at->heaps[i].n_copy = 0;
    }
}

static void copy_map(struct vm *vm, struct code_heap *heap)
{
    struct code_heaps *at = &vm->heaps;
    uint64_t end;
    if (!at->is_in_rounds || ++heap->n_asked != ASKED_OFTEN ||
        !vm_read_u64(vm, heap->address + at->heap_segments + at->space_used, &end) || end <= heap->map ||
        end - heap->map > MAP_MAX)
        return;
    size_t n = (size_t)(end - heap->map);
    if (n > heap->room) {
        free(heap->copy);
        heap->copy = malloc(n);
        heap->room = heap->copy == NULL ? 0 : n;
    }
    if (n <= heap->room && vm_read(vm, heap->map, heap->copy, n))
        heap->n_copy = n;
}

/* Some bytes of the map, from the 'first' segment's on. */
static bool read_map(struct vm *vm, const struct code_heap *heap, uint64_t first, uint8_t *map, uint64_t n)
{
    if (first + n > heap->n_copy)
        return vm_read(vm, heap->map + first, map, (size_t)n);
    memcpy(map, heap->copy + first, (size_t)n);
    return true;
}

/* Most blocks need a step or two: those are in one piece of the map. */
static uint64_t find_block(struct vm *vm, const struct code_heap *heap, uint64_t address)
{
    uint64_t segment = (address - heap->low) >> heap->log2, first = 0, n = 0;
    uint8_t map[MAP_BYTES] = { 0 };
    for (int hops = 0; hops < HOPS_MAX; hops++) {
        if (segment < first || n == 0) {
            n = segment < MAP_BYTES ? segment + 1 : MAP_BYTES;
            first = segment + 1 - n;
            if (!read_map(vm, heap, first, map, n))
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

uint64_t code_heaps_find(struct vm *vm, uint64_t address)
{
    struct code_heaps *at = &vm->heaps;
    vm_once(vm, &vm->heaps.once, read_heaps);
    for (int32_t i = 0; i < at->n; i++) {
        if (address < at->heaps[i].low || address >= at->heaps[i].high)
            continue;
        if (address >= atomic_load(&at->heaps[i].used))
            read_in_place(vm, (size_t)i);
        copy_map(vm, &at->heaps[i]);
        uint64_t block = find_block(vm, &at->heaps[i], address);
        return block == 0 ? 0 : block + at->block_bytes;
    }
    return 0;
}

/*
 * A block begins at each segment that is no segment behind one.  The map is in use in whole pages: what it has of
 * segments whose memory is not in use yet says nothing.
 */
static void walk(struct vm *vm, const struct code_heap *heap, code_block_fn *fn, void *context)
{
    uint8_t map[4096];
    uint64_t used = atomic_load(&heap->used), n_segments = used < heap->low ? 0 : (used - heap->low) >> heap->log2;
    for (uint64_t first = 0; first < n_segments; first += sizeof map) {
        uint64_t left = n_segments - first;
        size_t got = vm_read_some(vm, heap->map + first, map, left < sizeof map ? left : sizeof map);
        for (size_t i = 0; i < got; i++)
            if (map[i] == 0)
                fn(context, heap->low + ((first + i) << heap->log2) + vm->heaps.block_bytes);
        if (got < sizeof map)
            break;
    }
}

void code_heaps_walk(struct vm *vm, code_block_fn *fn, void *context)
{
    struct code_heaps *at = &vm->heaps;
    vm_once(vm, &vm->heaps.once, read_heaps);
    for (int32_t i = 0; i < at->n; i++) {
        read_in_place(vm, (size_t)i);
        walk(vm, &at->heaps[i], fn, context);
    }
}

bool code_heaps_range(struct vm *vm, uint64_t *low, uint64_t *high)
{
    struct code_heaps *at = &vm->heaps;
    vm_once(vm, &vm->heaps.once, read_heaps);
    *low = UINT64_MAX;
    *high = 0;
    for (int32_t i = 0; i < at->n; i++) {
        *low = at->heaps[i].low < *low ? at->heaps[i].low : *low;
        *high = at->heaps[i].high > *high ? at->heaps[i].high : *high;
    }
    return at->n > 0;
}

int code_heaps_of(const struct vm *vm, uint64_t address)
{
    for (int32_t i = 0; i < vm->heaps.n; i++)
        if (address >= vm->heaps.heaps[i].low && address < vm->heaps.heaps[i].high)
            return (int)i;
    return -1;
}

bool code_heaps_are_apart(const struct vm *vm)
{
    bool is_full = false;
    for (int32_t i = 0; i < vm->heaps.n; i++)
        is_full = is_full || atomic_load(&vm->heaps.heaps[i].used) >= vm->heaps.heaps[i].high;
    return vm->heaps.n > 1 && !is_full;
}

bool code_heaps_interpreter(struct vm *vm, uint64_t *low, uint64_t *high)
{
    uint64_t code, buffer, limit, queue;
    int32_t n_bytes = 0;
    struct vm_field fields[] = { { "AbstractInterpreter", "_code", &code, true },
                                 { "StubQueue", "_stub_buffer", &buffer, false },
                                 { "StubQueue", "_buffer_limit", &limit, false } };
    if (!vm_fields_find(vm, fields, sizeof fields / sizeof *fields) || !vm_read_u64(vm, code, &queue) ||
        !vm_read_u64(vm, queue + buffer, low) || !vm_read(vm, queue + limit, &n_bytes, sizeof n_bytes) || n_bytes <= 0)
        return false;
    *high = *low + (uint64_t)n_bytes;
    return true;
}
