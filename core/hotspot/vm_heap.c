#include "core/hotspot/vm_heap.h"

#include "core/hotspot/vm.h"

/* A field and its type; JDKs have it in the one or the other. */
struct step {
    const char *types[2], *field;
};

static bool find_field(struct vm *vm, const struct step *step, bool is_static, uint64_t *value)
{
    for (size_t i = 0; i < 2 && step->types[i] != NULL; i++) {
        struct vm_field field = { step->types[i], step->field, value, is_static };
        if (vm_fields_find(vm, &field, 1))
            return true;
    }
    return false;
}

/* What a pointer in an object at an address points to. */
static bool follow(struct vm *vm, uint64_t from, const struct step *step, uint64_t *to)
{
    uint64_t offset;
    return find_field(vm, step, false, &offset) && vm_read_u64(vm, from + offset, to) && *to != 0;
}

/* ---- heaps of spaces ---- */

static const struct step serial_young = { { "GenCollectedHeap", "SerialHeap" }, "_young_gen" },
                         serial_old = { { "GenCollectedHeap", "SerialHeap" }, "_old_gen" },
                         serial_eden = { { "DefNewGeneration" }, "_eden_space" },
                         serial_from = { { "DefNewGeneration" }, "_from_space" },
                         serial_to = { { "DefNewGeneration" }, "_to_space" },
                         serial_space = { { "TenuredGeneration" }, "_the_space" },
                         serial_top = { { "ContiguousSpace" }, "_top" },
                         serial_bottom = { { "ContiguousSpace", "Space" }, "_bottom" },
                         parallel_young = { { "ParallelScavengeHeap" }, "_young_gen" },
                         parallel_old = { { "ParallelScavengeHeap" }, "_old_gen" },
                         parallel_eden = { { "PSYoungGen" }, "_eden_space" },
                         parallel_from = { { "PSYoungGen" }, "_from_space" },
                         parallel_to = { { "PSYoungGen" }, "_to_space" },
                         parallel_space = { { "PSOldGen" }, "_object_space" },
                         parallel_top = { { "MutableSpace" }, "_top" },
                         parallel_bottom = { { "MutableSpace" }, "_bottom" };

#define SPACES 4u

/* Young and old; then the young one's spaces and the old one's; then a space's ends. */
static void know_spaces(struct vm *vm, struct vm_heap *heap, uint64_t young, uint64_t old,
                        const struct step *const spaces[SPACES], const struct step *top, const struct step *bottom)
{
    uint64_t space, top_at, bottom_at;
    if (!find_field(vm, top, false, &top_at) || !find_field(vm, bottom, false, &bottom_at))
        return;
    for (size_t i = 0; i < SPACES; i++) {
        if (!follow(vm, i < SPACES - 1 ? young : old, spaces[i], &space))
            return;
        heap->words[i] = space + top_at;
        heap->words[SPACES + i] = space + bottom_at;
    }
    heap->n_added = SPACES;
    heap->n = 2 * SPACES;
}

static void know_serial(struct vm *vm, struct vm_heap *heap, uint64_t base)
{
    static const struct step *const spaces[SPACES] = { &serial_eden, &serial_from, &serial_to, &serial_space };
    uint64_t young, old;
    if (follow(vm, base, &serial_young, &young) && follow(vm, base, &serial_old, &old))
        know_spaces(vm, heap, young, old, spaces, &serial_top, &serial_bottom);
}

static void know_parallel(struct vm *vm, struct vm_heap *heap, uint64_t base)
{
    static const struct step *const spaces[SPACES] = { &parallel_eden, &parallel_from, &parallel_to, &parallel_space };
    uint64_t young_at, old_at, young, old;
    (void)base;
    if (find_field(vm, &parallel_young, true, &young_at) && find_field(vm, &parallel_old, true, &old_at) &&
        vm_read_u64(vm, young_at, &young) && vm_read_u64(vm, old_at, &old) && young != 0 && old != 0)
        know_spaces(vm, heap, young, old, spaces, &parallel_top, &parallel_bottom);
}

/* ---- heaps that count ---- */

/* A number in the heap, or in what is in it. */
static void know_number(struct vm *vm, struct vm_heap *heap, uint64_t base, const struct step *steps, size_t n)
{
    uint64_t offset;
    for (size_t i = 0; i < n; i++, base += offset)
        if (!find_field(vm, &steps[i], false, &offset))
            return;
    heap->words[0] = base;
    heap->n = heap->n_added = 1;
}

static void know_g1(struct vm *vm, struct vm_heap *heap, uint64_t base)
{
    static const struct step steps[] = { { { "G1CollectedHeap" }, "_summary_bytes_used" } };
    know_number(vm, heap, base, steps, 1);
}

static void know_shenandoah(struct vm *vm, struct vm_heap *heap, uint64_t base)
{
    static const struct step steps[] = { { { "ShenandoahHeap" }, "_used" } };
    know_number(vm, heap, base, steps, 1);
}

static void know_z(struct vm *vm, struct vm_heap *heap, uint64_t base)
{
    static const struct step steps[] = { { { "ZCollectedHeap" }, "_heap" },
                                         { { "ZHeap" }, "_page_allocator" },
                                         { { "ZPageAllocator" }, "_used" } };
    know_number(vm, heap, base, steps, 3);
}

static const struct {
    const char *flag;
    void (*know)(struct vm *vm, struct vm_heap *heap, uint64_t base);
} kinds[] = { { "UseSerialGC", know_serial },
              { "UseParallelGC", know_parallel },
              { "UseG1GC", know_g1 },
              { "UseShenandoahGC", know_shenandoah },
              { "UseZGC", know_z } };

void vm_heap_open(struct vm *vm, struct vm_heap *heap)
{
    uint64_t heap_at, base;
    bool is_set;
    *heap = (struct vm_heap){ .n = 0 };
    struct vm_field field = { "Universe", "_collectedHeap", &heap_at, true };
    if (!vm_fields_find(vm, &field, 1) || !vm_read_u64(vm, heap_at, &base) || base == 0)
        return;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (vm_flags_are_set(vm, &kinds[i].flag, 1, &is_set) && is_set) {
            kinds[i].know(vm, heap, base);
            return;
        }
}

bool vm_heap_used(struct vm *vm, const struct vm_heap *heap, uint64_t *bytes)
{
    uint64_t words[VM_HEAP_WORDS];
    *bytes = 0;
    if (heap->n == 0)
        return false;
    vm_read_words(vm, heap->words, heap->n, words);
    for (size_t i = 0; i < heap->n; i++)
        *bytes += i < heap->n_added ? words[i] : 0 - words[i];
    return *bytes < UINT64_C(1) << 48; /* what is read while it changes may be less than nothing */
}
