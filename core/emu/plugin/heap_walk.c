#include "core/emu/plugin/vm_memory.h"

#include "core/emu/model/sim_machine.h"

#include <sys/mman.h>

#define CHUNK_BITS   15
#define PARTS_MAX    65536u
#define BUFFERS_MAX  16384u
#define TAG_EDEN     2u /* a G1 region's, JDK 17 to 25 */
#define TAG_SURVIVOR 3u

static size_t chunks_bytes(const struct heap_walk *heap)
{
    return (size_t)(((heap->end - heap->base) >> CHUNK_BITS) + 1) * sizeof *heap->firsts;
}

int heap_walk_open(struct heap_walk *heap, const struct vm_tables *tables, struct vm_classes *classes)
{
    uint64_t at = vm_pointer(tables->heap), start, words;
    *heap = (struct heap_walk){ .tables = tables, .classes = classes };
    if (at == 0 || !vm_get_u64(at + tables->heap_reserved + tables->region_start, &start) ||
        !vm_get_u64(at + tables->heap_reserved + tables->region_words, &words) || start == 0 || words == 0 ||
        words > HEAP_WORDS_MAX)
        return -1;
    heap->base = start;
    heap->end = start + 8 * words;
    heap->firsts = sim_map(chunks_bytes(heap));
    heap->parts = sim_map(PARTS_MAX * sizeof *heap->parts);
    heap->buffers = sim_map(BUFFERS_MAX * sizeof *heap->buffers);
    return 0;
}

void heap_walk_forget(struct heap_walk *heap)
{
    /* cppcheck-suppress invalidFunctionArg */
    madvise(heap->firsts, chunks_bytes(heap), MADV_DONTNEED);
    heap->stretch_end = 0;
}

/* ---- how it is divided ---- */

static void add_part(struct heap_walk *heap, uint64_t bottom, uint64_t top, uint64_t end, enum heap_space space)
{
    if (bottom < heap->base || top < bottom || end < top || end > heap->end || heap->n_parts == PARTS_MAX)
        return;
    heap->parts[heap->n_parts++] = (struct heap_part){ bottom, top, end, space };
}

static void add_space(struct heap_walk *heap, uint64_t space, enum heap_space kind)
{
    const struct vm_tables *t = heap->tables;
    uint64_t bottom, top, end;
    if (vm_get_u64(space + t->space_bottom, &bottom) && vm_get_u64(space + t->space_top, &top) &&
        vm_get_u64(space + t->space_end, &end))
        add_part(heap, bottom, top, end, kind);
}

/* Serial's and Parallel's. */
static void look_generations(struct heap_walk *heap)
{
    const struct vm_tables *t = heap->tables;
    uint64_t at = t->collector == VM_SERIAL ? vm_pointer(t->heap) : 0;
    uint64_t young = vm_pointer(at + t->young), old = vm_pointer(at + t->old);
    add_space(heap, vm_pointer(young + t->eden), HEAP_EDEN);
    add_space(heap, vm_pointer(young + t->from), HEAP_SURVIVOR);
    add_space(heap, vm_pointer(young + t->to), HEAP_SURVIVOR);
    add_space(heap, vm_pointer(old + t->tenured), HEAP_OLD);
}

static void add_region(struct heap_walk *heap, uint64_t region)
{
    const struct vm_tables *t = heap->tables;
    uint64_t bottom, top, end;
    uint32_t tag;
    if (region == 0 || !vm_get_u64(region + t->g1_bottom, &bottom) || !vm_get_u64(region + t->g1_top, &top) ||
        !vm_get_u64(region + t->g1_end, &end) || !vm_get_u32(region + t->g1_type + t->g1_tag, &tag) || tag == 0)
        return;
    struct heap_part *last = heap->n_parts == 0 ? NULL : &heap->parts[heap->n_parts - 1];
    bool is_large = (tag & t->humongous_mask) != 0;
    if (is_large && last != NULL && last->space == HEAP_HUMONGOUS && last->end == bottom && (tag & 1) != 0) {
        last->top = top; /* it goes on with the object that began before */
        last->end = end;
        return;
    }
    add_part(heap, bottom, top, end,
             is_large              ? HEAP_HUMONGOUS
             : tag == TAG_EDEN     ? HEAP_EDEN
             : tag == TAG_SURVIVOR ? HEAP_SURVIVOR
                                   : HEAP_OLD);
}

static void look_g1(struct heap_walk *heap)
{
    const struct vm_tables *t = heap->tables;
    uint64_t table = vm_pointer(t->heap) + t->g1_manager + t->g1_regions;
    uint64_t base = vm_pointer(table + t->g1_base), n = vm_pointer(table + t->g1_length);
    for (uint64_t i = 0; base != 0 && i < n; i++)
        add_region(heap, vm_pointer(base + 8 * i));
}

/*
 * Behind the end at which a thread stops stands the end of what it may allocate in (JDK 17 to 25: _allocation_end,
 * which the tables do not have), and behind that is room for the filler that ends the buffer, two words, or for
 * prefetching.
 */
static void add_buffer(struct heap_walk *heap, uint64_t thread)
{
    const struct vm_tables *t = heap->tables;
    uint64_t at = thread + t->tlab, start, top, end, last;
    uint32_t reserve = 0;
    if (!vm_get_u64(at + t->tlab_start, &start) || !vm_get_u64(at + t->tlab_top, &top) ||
        !vm_get_u64(at + t->tlab_end, &end) || start < heap->base || top < start || end < top || end > heap->end ||
        heap->n_buffers == BUFFERS_MAX)
        return;
    if (t->tlab_desired == t->tlab_end + 16 && vm_get_u64(at + t->tlab_end + 8, &last) && last > end &&
        last <= heap->end)
        end = last;
    if (t->tlab_reserve != VM_NONE)
        vm_get_u32(t->tlab_reserve, &reserve);
    end += 8 * (uint64_t)(reserve > 2 ? reserve : 2);
    heap->buffers[heap->n_buffers++] = (struct heap_part){ start, top, end, HEAP_EDEN };
}

static void look_buffers(struct heap_walk *heap)
{
    const struct vm_tables *t = heap->tables;
    uint64_t list = vm_pointer(t->threads), data = vm_pointer(list + t->threads_data);
    uint32_t n = 0;
    if (list == 0 || data == 0 || !vm_get_u32(list + t->n_threads, &n))
        return;
    for (uint32_t i = 0; i < n; i++)
        add_buffer(heap, vm_pointer(data + 8 * (uint64_t)i));
}

void heap_walk_look(struct heap_walk *heap)
{
    heap->n_parts = heap->n_buffers = 0;
    heap->stretch_end = 0;
    if (heap->tables->collector == VM_G1)
        look_g1(heap);
    else
        look_generations(heap);
    look_buffers(heap);
    qsort(heap->parts, heap->n_parts, sizeof *heap->parts, vm_compare);
    qsort(heap->buffers, heap->n_buffers, sizeof *heap->buffers, vm_compare);
}

/* ---- finding ---- */

/* The last part that begins at or before an address, or NULL. */
static const struct heap_part *part_before(const struct heap_part *parts, uint32_t n, uint64_t address)
{
    return vm_last_before(parts, n, sizeof *parts, address);
}

/* The stretch of objects without a gap that an address is in. */
static bool find_stretch(struct heap_walk *heap, const struct heap_part *part, uint64_t address)
{
    const struct heap_part *buffer = part_before(heap->buffers, heap->n_buffers, address);
    const struct heap_part *end = heap->buffers + heap->n_buffers, *next = buffer == NULL ? heap->buffers : buffer + 1;
    heap->in_buffer = buffer != NULL && address < buffer->end;
    if (heap->in_buffer) {
        heap->stretch = buffer->bottom;
        heap->stretch_end = buffer->top;
        return address < buffer->top;
    }
    heap->stretch = buffer != NULL && buffer->end > part->bottom ? buffer->end : part->bottom;
    heap->stretch_end = next < end && next->bottom < part->top ? next->bottom : part->top;
    return address < heap->stretch_end;
}

static uint16_t *first_of(const struct heap_walk *heap, uint64_t address)
{
    return &heap->firsts[(address - heap->base) >> CHUNK_BITS];
}

/* The object nearest before an address whose start is known. */
static uint64_t known_before(const struct heap_walk *heap, uint64_t address)
{
    uint64_t chunk = (address - heap->base) >> CHUNK_BITS, last = (heap->stretch - heap->base) >> CHUNK_BITS;
    for (; !heap->in_buffer && chunk + 1 > last; chunk--) {
        uint64_t start = heap->base + (chunk << CHUNK_BITS) + 8 * ((uint64_t)heap->firsts[chunk] - 1);
        if (heap->firsts[chunk] != 0 && start <= address && start >= heap->stretch)
            return start;
        if (chunk == 0)
            break;
    }
    return heap->stretch;
}

static void remember(struct heap_walk *heap, uint64_t object)
{
    uint16_t *first = first_of(heap, object);
    if (*first == 0 && !heap->in_buffer)
        *first = (uint16_t)(((object - heap->base) & ((UINT64_C(1) << CHUNK_BITS) - 1)) / 8 + 1);
}

/* From heap->at on, which is not behind the address; what cannot be read ends the stretch. */
static enum heap_answer walk_to(struct heap_walk *heap, uint64_t address, struct heap_object *object)
{
    while (heap->at < heap->stretch_end && heap->stretch_end - heap->at >= 16) {
        const struct vm_class *class = vm_class_of(heap->classes, heap->at);
        uint64_t n = vm_object_bytes(heap->classes, class, heap->at);
        if (n < 16 || n > heap->stretch_end - heap->at)
            break;
        remember(heap, heap->at);
        if (address < heap->at + n) {
            object->start = heap->at;
            object->class = class;
            return HEAP_OBJECT;
        }
        heap->at += n;
    }
    heap->broken = heap->at;
    return HEAP_BROKEN;
}

/* The count stands behind that of all (JDK 17 to 25: _total_full_collections, which the tables do not have). */
uint64_t heap_walk_full_count(const struct heap_walk *heap)
{
    uint64_t at = heap->tables->collections == VM_NONE ? 0 : vm_pointer(heap->tables->heap);
    uint32_t all, full;
    if (at == 0 || !vm_get_u32(at + heap->tables->collections, &all) ||
        !vm_get_u32(at + heap->tables->collections + 4, &full) || full > all)
        return 0;
    return at + heap->tables->collections + 4;
}

enum heap_space heap_walk_space(const struct heap_walk *heap, uint64_t address)
{
    const struct heap_part *part = part_before(heap->parts, heap->n_parts, address);
    return part == NULL || address >= part->end ? HEAP_NO_SPACE : part->space;
}

void heap_walk_used(const struct heap_walk *heap, uint64_t used[HEAP_SPACES])
{
    memset(used, 0, HEAP_SPACES * sizeof *used);
    for (uint32_t i = 0; i < heap->n_parts; i++)
        used[heap->parts[i].space] += heap->parts[i].top - heap->parts[i].bottom;
}

/* Is it worth the while to look for an object nearer than where the walk is?  Not within one large object. */
static bool is_far(struct heap_walk *heap, uint64_t address)
{
    if (address - heap->at <= UINT64_C(1) << CHUNK_BITS)
        return false;
    return address - heap->at >= vm_object_bytes(heap->classes, vm_class_of(heap->classes, heap->at), heap->at);
}

enum heap_answer heap_walk_find(struct heap_walk *heap, uint64_t address, struct heap_object *object)
{
    object->space = HEAP_NO_SPACE;
    if (address < heap->base || address >= heap->end)
        return HEAP_NOT_HEAP;
    const struct heap_part *part = part_before(heap->parts, heap->n_parts, address);
    if (part == NULL || address >= part->end)
        return HEAP_UNUSED;
    object->space = part->space;
    if (address >= part->top)
        return HEAP_UNUSED;
    if (address < heap->stretch || address >= heap->stretch_end) {
        if (!find_stretch(heap, part, address)) {
            heap->stretch_end = 0;
            return HEAP_UNUSED;
        }
        heap->broken = UINT64_MAX;
        heap->at = known_before(heap, address);
    } else if (address >= heap->broken) {
        return HEAP_BROKEN;
    } else if (address < heap->at) {
        heap->at = known_before(heap, address);
    } else if (is_far(heap, address)) {
        uint64_t nearer = known_before(heap, address);
        heap->at = nearer > heap->at ? nearer : heap->at;
    }
    return walk_to(heap, address, object);
}
