#include "core/emu/placement/placement_policy.h"

#include "core/emu/model/sim_machine.h"

#include <sys/mman.h>

#define PAGE_BYTES 4096u

static size_t indices_bytes(const struct placement_map *map)
{
    return (size_t)(map->heap_bytes / PLACEMENT_ALIGN) * sizeof *map->indices;
}

static void forget_bytes(void *at, size_t n)
{
    /* cppcheck-suppress invalidFunctionArg */
    madvise(at, n, MADV_DONTNEED);
}

void placement_map_open(struct placement_map *map, uint64_t heap, uint64_t heap_bytes, uint64_t base)
{
    *map =
        (struct placement_map){ .heap = heap, .heap_bytes = heap_bytes, .base = base, .n_objects = 1, .n_layouts = 1 };
    map->indices = sim_map(indices_bytes(map));
    map->objects = sim_map(PLACEMENT_OBJECTS_MAX * sizeof *map->objects);
    map->layouts = sim_map(PLACEMENT_LAYOUTS_MAX * sizeof *map->layouts);
}

void placement_map_close(struct placement_map *map)
{
    munmap(map->indices, indices_bytes(map));
    munmap(map->objects, PLACEMENT_OBJECTS_MAX * sizeof *map->objects);
    munmap(map->layouts, PLACEMENT_LAYOUTS_MAX * sizeof *map->layouts);
    *map = (struct placement_map){ .heap = 0 };
}

uint32_t placement_map_add(struct placement_map *map, uint64_t start, uint64_t n_bytes, uint32_t class_of)
{
    uint64_t at = (start - map->heap) / PLACEMENT_ALIGN, n = n_bytes / PLACEMENT_ALIGN;
    if (map->n_objects == PLACEMENT_OBJECTS_MAX || start < map->heap || n_bytes > map->heap_bytes ||
        start - map->heap > map->heap_bytes - n_bytes)
        return 0;
    uint32_t index = map->n_objects++;
    map->objects[index] = (struct placement_object){ .start = start, .class_of = class_of };
    for (uint64_t i = 0; i < n; i++)
        map->indices[at + i] = index;
    return index;
}

uint32_t placement_map_layout(struct placement_map *map, const struct placement_layout *layout)
{
    if (map->n_layouts == PLACEMENT_LAYOUTS_MAX)
        return 0;
    map->layouts[map->n_layouts] = *layout;
    return map->n_layouts++;
}

/* Whole pages go back to the system: a heap's old generation is mostly cleared as a whole. */
void placement_map_clear(struct placement_map *map, uint64_t start, uint64_t end)
{
    if (start < map->heap || end > map->heap + map->heap_bytes || start >= end)
        return;
    char *from = (char *)(map->indices + (start - map->heap) / PLACEMENT_ALIGN);
    char *to = (char *)(map->indices + (end - map->heap) / PLACEMENT_ALIGN);
    char *first = from + (-(uintptr_t)from & (PAGE_BYTES - 1)), *last = to - ((uintptr_t)to & (PAGE_BYTES - 1));
    if (first >= last) {
        memset(from, 0, (size_t)(to - from));
        return;
    }
    memset(from, 0, (size_t)(first - from));
    memset(last, 0, (size_t)(to - last));
    forget_bytes(first, (size_t)(last - first));
}

void placement_map_clear_all(struct placement_map *map)
{
    forget_bytes(map->indices, indices_bytes(map));
    forget_bytes(map->objects, map->n_objects * sizeof *map->objects);
    map->n_objects = 1;
}
