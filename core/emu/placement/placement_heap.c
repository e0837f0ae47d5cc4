#include "core/emu/placement/placement_result.h"

#include "core/base/xalloc.h"
#include "core/hotspot/vm.h"

#define NUMBERS      (1u << 16)
#define OLD_MAX      65536u
#define LEVELS_MAX   64
#define OOP_MAPS_MAX 256u

/* A class that was seen has a number of placement_classes. */
struct placement_number {
    uint64_t klass, symbol;
    uint32_t number;
};

/* ---- opening ---- */

static void find_references(struct placement_heap *heap)
{
    static const char *const names[] = { "UseCompressedOops" };
    struct vm_field fields[] = {
        { "CompressedOops", "_narrow_oop._base", &heap->narrow_base_at, true }, /* JDK 17 */
        { "CompressedOops", "_narrow_oop._shift", &heap->narrow_shift_at, true },
        { "CompressedOops", "_base", &heap->narrow_base_at, true },
        { "CompressedOops", "_shift", &heap->narrow_shift_at, true },
        { "Klass", "_vtable_len", &heap->vtable, false },
        { "InstanceKlass", "_itable_len", &heap->itable, false },
        { "InstanceKlass", "_nonstatic_oop_map_size", &heap->oop_maps, false },
    };
    vm_fields_find(vm_here(), fields, sizeof fields / sizeof *fields);
    heap->klass_bytes = vm_type_bytes(vm_here(), "InstanceKlass");
    if (!vm_flags_are_set(vm_here(), names, 1, &heap->has_narrow_oops))
        heap->has_narrow_oops = true;
}

static uint64_t read_reference(void *context, uint64_t at)
{
    const struct placement_heap *heap = context;
    if (!heap->has_narrow_oops)
        return vm_known_u64(at);
    uint32_t narrow = vm_known_u32(at);
    return narrow == 0 ? 0 : heap->narrow_base + ((uint64_t)narrow << heap->narrow_shift);
}

int placement_heap_open(struct placement_heap *heap, const uint64_t *symbols, uint64_t base, const char **why)
{
    vm_memory_use(symbols);
    if (vm_tables_read(vm_here(), &heap->tables, why) < 0)
        return -1;
    vm_classes_open(&heap->classes, &heap->tables);
    *why = "its tables lack where it is";
    if (heap_walk_open(&heap->walk, &heap->tables, &heap->classes) < 0)
        return -1;
    heap->numbers = (struct vm_table){ sim_map(NUMBERS * sizeof(struct placement_number)), NUMBERS - 1, 64 };
    heap->old = sim_map(OLD_MAX * sizeof *heap->old);
    heap->samples = sim_map(PLACEMENT_SAMPLES_MAX * sizeof *heap->samples);
    placement_map_open(&heap->world.map, heap->walk.base, heap->walk.end - heap->walk.base, base);
    find_references(heap);
    vm_classes_forget(&heap->classes);
    heap->world.read_reference = read_reference;
    heap->world.reference_bytes = heap->has_narrow_oops ? 4 : 8;
    heap->world.context = heap;
    placement_policies_reset(&heap->world);
    return 0;
}

/* ---- classes ---- */

struct learning {
    const struct placement_heap *heap;
    struct placement_class *class;
    uint32_t level;
    uint32_t n_maps;
    uint32_t maps[OOP_MAPS_MAX][2]; /* the first reference's offset, how many */
};

/* Where a class' instances have references: behind its virtual tables. */
static void read_oop_maps(struct learning *learning, uint64_t klass)
{
    const struct placement_heap *heap = learning->heap;
    uint32_t n_vtable, n_itable, n_words;
    if (heap->vtable == VM_NONE || heap->itable == VM_NONE || heap->oop_maps == VM_NONE ||
        heap->klass_bytes == VM_NONE || !vm_get_u32(klass + heap->vtable, &n_vtable) ||
        !vm_get_u32(klass + heap->itable, &n_itable) || !vm_get_u32(klass + heap->oop_maps, &n_words))
        return;
    uint64_t at = klass + heap->klass_bytes + 8 * ((uint64_t)n_vtable + n_itable);
    uint32_t n = n_words < OOP_MAPS_MAX ? n_words : OOP_MAPS_MAX;
    if (vm_get(at, learning->maps, n * sizeof *learning->maps))
        learning->n_maps = n;
}

static bool is_reference(const struct learning *learning, uint32_t offset)
{
    for (uint32_t i = 0; i < learning->n_maps; i++) {
        uint64_t n_bytes = learning->maps[i][1] * learning->heap->world.reference_bytes;
        if (offset >= learning->maps[i][0] && offset - learning->maps[i][0] < n_bytes)
            return true;
    }
    return false;
}

/* Takes each field, and says no to each. */
static bool take_field(const struct class_field *field, void *context)
{
    struct learning *learning = context;
    if (!field->is_static && field->offset >= 8)
        placement_class_field(learning->class, field->offset, learning->level, is_reference(learning, field->offset));
    return false;
}

static void learn_fields(const struct placement_heap *heap, struct placement_class *class, uint64_t klass)
{
    const struct class_layout *layout = &heap->tables.classes;
    static struct learning learning; /* too large for a thread of QEMU's; one is at work at a time */
    struct class_field none;
    learning = (struct learning){ .heap = heap, .class = class };
    read_oop_maps(&learning, klass);
    for (int i = 0; klass != 0 && layout->super != VM_NONE && i < LEVELS_MAX; i++) {
        class_field_find(vm_here(), layout, klass, take_field, &learning, &none);
        klass = vm_pointer(klass + layout->super);
        learning.level++;
    }
    placement_class_ready(class);
}

static void learn(const struct placement_heap *heap, struct placement_class *class, const struct vm_class *its)
{
    uint32_t helper = 0;
    if (its->shape == VM_INSTANCE) {
        class->n_bytes = its->n_bytes;
        learn_fields(heap, class, its->klass);
    } else if (its->shape == VM_ARRAY && vm_get_u32(its->klass + heap->tables.layout_helper, &helper) &&
               helper >> 30 == 2) { /* of objects: HotSpot's tag 0b10, of numbers 0b11 */
        class->elements = its->n_bytes;
    }
}

static uint32_t number_of(struct placement_heap *heap, const struct vm_class *its)
{
    const uint64_t key[2] = { its->klass, its->name };
    char name[VM_TEXT_BYTES] = "";
    struct placement_number *number =
        vm_table_find(&heap->numbers, sizeof *number, vm_hash(its->klass >> 3 ^ its->name << 20), key, sizeof key);
    if (number == NULL || number->klass != 0)
        return number == NULL ? 0 : number->number;
    if (!vm_class_name(&heap->tables, its->klass, name, sizeof name))
        return 0;
    *number = (struct placement_number){ its->klass, its->name, placement_classes_add(&heap->world.classes, name) };
    if (number->number == 0)
        return 0;
    struct placement_class *class = &heap->world.classes.classes[number->number];
    learn(heap, class, its);
    placement_hindsight_apply(&heap->hindsight, class);
    return number->number;
}

/* ---- samples ---- */

void placement_heap_sample(struct placement_heap *heap, uint64_t address)
{
    pthread_mutex_lock(&heap->lock);
    if (heap->n_samples < PLACEMENT_SAMPLES_MAX)
        heap->samples[heap->n_samples++] = address;
    pthread_mutex_unlock(&heap->lock);
}

/* After heap_walk_look. */
static void take_samples(struct placement_heap *heap)
{
    struct heap_object object;
    pthread_mutex_lock(&heap->lock);
    qsort(heap->samples, heap->n_samples, sizeof *heap->samples, vm_compare);
    for (uint32_t i = 0; i < heap->n_samples; i++)
        if (heap_walk_find(&heap->walk, heap->samples[i], &object) == HEAP_OBJECT)
            placement_classes_sample(&heap->world.classes, number_of(heap, object.class),
                                     heap->samples[i] - object.start);
    heap->n_samples = 0;
    pthread_mutex_unlock(&heap->lock);
    placement_classes_age(&heap->world.classes);
}

/* ---- the old generation ---- */

/* How it was when it was looked at last; NULL: it had no such part. */
static const struct placement_old *before(const struct placement_heap *heap, uint64_t bottom)
{
    const struct placement_old *old = vm_last_before(heap->old, heap->n_old, sizeof *heap->old, bottom);
    return old != NULL && old->bottom == bottom ? old : NULL;
}

/* What is no old part now, or has less in it than before, has nothing that was placed. */
static void clear_gone(struct placement_heap *heap)
{
    for (uint32_t i = 0; i < heap->n_old; i++) {
        const struct placement_old *old = &heap->old[i];
        const struct heap_part *part =
            vm_last_before(heap->walk.parts, heap->walk.n_parts, sizeof *heap->walk.parts, old->bottom);
        bool is_there = part != NULL && part->bottom == old->bottom && part->space == HEAP_OLD && part->top >= old->top;
        if (!is_there)
            placement_map_clear(&heap->world.map, old->bottom, old->end);
    }
}

static void remember_old(struct placement_heap *heap)
{
    heap->n_old = 0;
    for (uint32_t i = 0; i < heap->walk.n_parts && heap->n_old < OLD_MAX; i++)
        if (heap->walk.parts[i].space == HEAP_OLD)
            heap->old[heap->n_old++] =
                (struct placement_old){ heap->walk.parts[i].bottom, heap->walk.parts[i].top, heap->walk.parts[i].end };
}

/* The objects in these addresses, one behind the other. */
static void add_objects(struct placement_heap *heap, uint64_t at, uint64_t top, uint32_t first)
{
    while (at < top && top - at >= 16) {
        const struct vm_class *class = vm_class_of(&heap->classes, at);
        uint64_t n = vm_object_bytes(&heap->classes, class, at);
        uint32_t number = n < 16 || n > top - at ? 0 : number_of(heap, class);
        uint32_t n_new = heap->world.map.n_objects - first;
        if (number == 0 || placement_map_add(&heap->world.map, at, n, number) == 0)
            return;
        xgrow(heap->promoted, heap->promoted_room, n_new + 1);
        heap->promoted[n_new] = n;
        heap->n_objects++;
        heap->n_object_bytes += n;
        at += n;
    }
}

static void place_new(struct placement_heap *heap)
{
    uint32_t first = heap->world.map.n_objects;
    for (uint32_t i = 0; i < heap->walk.n_parts; i++) {
        const struct heap_part *part = &heap->walk.parts[i];
        const struct placement_old *old = before(heap, part->bottom);
        if (part->space == HEAP_OLD)
            add_objects(heap, old == NULL || old->top > part->top ? part->bottom : old->top, part->top, first);
    }
    placement_place(&heap->world, first, heap->promoted);
}

static uint64_t full_count(const struct placement_heap *heap)
{
    uint64_t at = heap_walk_full_count(&heap->walk);
    return at == 0 ? 0 : vm_known_u32(at);
}

static void read_narrow(struct placement_heap *heap)
{
    heap->narrow_base = vm_pointer(heap->narrow_base_at);
    if (!vm_get_u32(heap->narrow_shift_at, &heap->narrow_shift))
        heap->narrow_shift = 0;
}

void placement_heap_begin(struct placement_heap *heap)
{
    vm_memory_forget();
    vm_classes_forget(&heap->classes);
    heap_walk_look(&heap->walk);
    take_samples(heap);
    clear_gone(heap);
    remember_old(heap);
    heap->n_full = full_count(heap);
}

void placement_heap_end(struct placement_heap *heap)
{
    heap_walk_forget(&heap->walk);
    vm_memory_forget();
    vm_classes_forget(&heap->classes);
    read_narrow(heap);
    heap_walk_look(&heap->walk);
    heap->n_collections++;
    if (full_count(heap) != heap->n_full) {
        heap->n_full_collections++;
        placement_map_clear_all(&heap->world.map);
        placement_policies_reset(&heap->world);
        heap->n_old = 0;
    }
    clear_gone(heap);
    place_new(heap);
    remember_old(heap);
}

void placement_heap_finish(struct placement_heap *heap)
{
    vm_memory_forget();
    vm_classes_forget(&heap->classes);
    heap_walk_look(&heap->walk);
    take_samples(heap);
}
