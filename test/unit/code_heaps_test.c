/* Blocks of a code cache: those in use, and none behind what is in use, whatever the map has there. */
#include "core/hotspot/nmethod.h"
#include "core/hotspot/vm_state.h"

#include "test/unit/jvm/structures.h"
#include "test/unit/tap.h"

#define PAGE     4096u
#define LOG2     7
#define SEGMENTS (PAGE >> LOG2) /* of a page of memory */
#define FREE     0xff

static struct vm vm;

static uint64_t blocks[64];
static size_t n_blocks;

static void take(void *context, uint64_t address)
{
    (void)context;
    if (n_blocks < sizeof blocks / sizeof *blocks)
        blocks[n_blocks] = address;
    n_blocks++;
}

static void walk(void)
{
    n_blocks = 0;
    code_heaps_walk(&vm, take, NULL);
}

static uint64_t inside(const struct jvm_heap *heap, size_t segment)
{
    return (uint64_t)(uintptr_t)heap->memory.low + (segment << LOG2) + JVM_BLOCK_BYTES;
}

/* A block of so many segments: each of the others says how far back it begins. */
static void make_block(const struct jvm_heap *heap, size_t segment, size_t n)
{
    for (size_t i = 0; i < n; i++)
        heap->map.low[segment + i] = (uint8_t)i;
}

/* The map is a whole page, and so has zeros for segments whose memory is not in use. */
static void make_heap(struct jvm_heap *heap, uint8_t at[6 * PAGE])
{
    *heap = (struct jvm_heap){ .memory = { at, at + PAGE, at + 4 * PAGE },
                               .map = { at + 4 * PAGE, at + 5 * PAGE, at + 6 * PAGE },
                               .log2 = LOG2 };
    memset(heap->map.low, FREE, SEGMENTS);
}

static void test_blocks(struct jvm_heap *heap)
{
    make_block(heap, 2, 3);
    make_block(heap, SEGMENTS - 1, 1);
    walk();
    CHECK_NUMBER("blocks in use are found, and what the map has of memory that is not in use is none", n_blocks, 2);
    CHECK_NUMBER("one is behind its header", blocks[0], inside(heap, 2));
    CHECK_NUMBER("the last one of the memory in use is found", blocks[1], inside(heap, SEGMENTS - 1));
    CHECK_NUMBER("an address in a block is of it", code_heaps_find(&vm, inside(heap, 4) + 1), inside(heap, 2));
    CHECK_NUMBER("one that is free is of none", code_heaps_find(&vm, inside(heap, 5)), 0);
}

static void test_growing(struct jvm_heap *heap)
{
    heap->memory.used += PAGE;
    memset(heap->map.low + SEGMENTS, FREE, SEGMENTS);
    make_block(heap, SEGMENTS + 7, 2);
    walk();
    CHECK_NUMBER("more are found when more memory is in use", n_blocks, 3);
    CHECK_NUMBER("there", blocks[2], inside(heap, SEGMENTS + 7));
    CHECK_NUMBER("an address there is of its block", code_heaps_find(&vm, inside(heap, SEGMENTS + 8)), blocks[2]);
}

int main(void)
{
    static uint8_t bytes[2][6 * PAGE];
    static struct jvm_heap heap, empty;
    static struct jvm_heap *all[] = { &heap, &empty };
    static struct jvm_heaps heaps = { 2, all };
    vm_init(&vm, &(struct vm_library){ .pid = 0 });
    make_heap(&heap, bytes[0]);
    make_heap(&empty, bytes[1]);
    empty.memory.used = empty.memory.low;
    jvm_heaps = &heaps;
    test_blocks(&heap);
    test_growing(&heap);
    return tap_done();
}
