/*
 * Which object of the old generation an address is in, and where that object would be under each policy: the what-if
 * address space.  An object that was not placed, and all other memory, is where it is.
 *
 * Changed while the program stands (in a collection); read by all of its threads in between, without a lock.
 */
#ifndef CORE_EMU_PLACEMENT_PLACEMENT_MAP_H
#define CORE_EMU_PLACEMENT_PLACEMENT_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLACEMENT_MAX          8 /* policies of one run */
#define PLACEMENT_HEATS        2 /* by what was sampled so far, and by what an earlier run sampled: hindsight */
#define PLACEMENT_LAYOUT_BYTES 256
#define PLACEMENT_ALIGN        8 /* of objects, as HotSpot's */
#define PLACEMENT_SPACE_BITS   40
#define PLACEMENT_HOT          (UINT32_C(1) << 31)
#define PLACEMENT_OBJECTS_MAX  (UINT32_C(1) << 26)
#define PLACEMENT_LAYOUTS_MAX  (UINT32_C(1) << 16)

/* Where a byte of an object is under another order of its fields. */
struct placement_layout {
    uint8_t to[PLACEMENT_LAYOUT_BYTES];
};

struct placement_object {
    uint64_t start;
    uint32_t class_of;                 /* its number */
    uint32_t layouts[PLACEMENT_HEATS]; /* 0: its own order */
    uint32_t places[PLACEMENT_MAX];    /* in units of 8 bytes, with PLACEMENT_HOT in the hot space; 0: where it is */
};

struct placement_map {
    uint64_t heap, heap_bytes;
    uint32_t *indices;                /* mapped: for each 8 bytes of heap the object's index; 0: none */
    struct placement_object *objects; /* mapped; the first is none */
    struct placement_layout *layouts; /* mapped; the first is none */
    uint64_t base;                    /* of the cold space; the hot one is 2^40 behind it */
    uint32_t n_objects, n_layouts;
};

/* base: from here on no address is the program's.  Returns 0, or -1: no memory. */
int placement_map_open(struct placement_map *map, uint64_t heap, uint64_t heap_bytes, uint64_t base);
void placement_map_close(struct placement_map *map);

/* An object of so many bytes that is at start now; the number of the new one, or 0: there are too many. */
uint32_t placement_map_add(struct placement_map *map, uint64_t start, uint64_t n_bytes, uint32_t class_of);

/* A new order of fields; 0: there are too many. */
uint32_t placement_map_layout(struct placement_map *map, const struct placement_layout *layout);

/* What was in these addresses is not there any more; and all. */
void placement_map_clear(struct placement_map *map, uint64_t start, uint64_t end);
void placement_map_clear_all(struct placement_map *map);

/* The object that an address is in; NULL: none that was placed. */
static inline const struct placement_object *placement_map_find(const struct placement_map *map, uint64_t address)
{
    uint64_t at = address - map->heap;
    if (at >= map->heap_bytes)
        return NULL;
    uint32_t index = map->indices[at / PLACEMENT_ALIGN];
    return index == 0 ? NULL : &map->objects[index];
}

/* Where an address in an object is under a policy; heat: of the order of fields, PLACEMENT_HEATS: fields stay. */
static inline uint64_t placement_map_address(const struct placement_map *map, const struct placement_object *object,
                                             unsigned policy, unsigned heat, uint64_t address)
{
    uint64_t offset = address - object->start;
    uint32_t place = object->places[policy], layout = heat < PLACEMENT_HEATS ? object->layouts[heat] : 0;
    if (layout != 0 && offset < PLACEMENT_LAYOUT_BYTES)
        offset = map->layouts[layout].to[offset];
    if (place == 0)
        return object->start + offset;
    uint64_t space = map->base + ((uint64_t)(place >> 31) << PLACEMENT_SPACE_BITS);
    return space + (uint64_t)(place & (PLACEMENT_HOT - 1)) * PLACEMENT_ALIGN + offset;
}

#endif
