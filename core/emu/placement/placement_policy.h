/*
 * The policies: where objects go that a collection has copied to the old generation (PEBSI §4.2, §5.2).
 *
 *     identity   where they are: the second model is to say what the first does
 *     hot-cold   objects of hot classes into a space of their own, which has at most 30 % of the bytes of both; within
 *                a space as they came (§4.2.1)
 *     children   the same, and in the hot space objects behind those that refer to them, the hottest field first, as a
 *                copying collector comes to them (§4.2.2)
 *     fields     where they are, with the fields of each class in the order of their heat
 *
 * What has been placed stays.  No memory is used again before all objects are placed anew.
 */
#ifndef CORE_EMU_PLACEMENT_PLACEMENT_POLICY_H
#define CORE_EMU_PLACEMENT_PLACEMENT_POLICY_H

#include "core/base/std.h"

/*
 * Which object of the old generation an address is in, and where that object would be under each policy: the what-if
 * address space.  An object that was not placed, and all other memory, is where it is.
 *
 * Changed while the program stands (in a collection); read by all of its threads in between, without a lock.
 */

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

/* base: from here on no address is the program's. */
void placement_map_open(struct placement_map *map, uint64_t heap, uint64_t heap_bytes, uint64_t base);
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

/*
 * Classes, and how hot each and each of its fields is: by sampled load misses, as PEBSI §4.2 has it (every sample of a
 * field heats its class), or by those of an earlier run (hindsight).  And the order of a class' fields that puts hot
 * ones together.
 */

#define PLACEMENT_CLASSES_MAX 32768u
#define PLACEMENT_FIELDS_MAX  60u
#define PLACEMENT_NAME_BYTES  256

enum placement_heat { PLACEMENT_BY_SAMPLES, PLACEMENT_BY_HINDSIGHT };

struct placement_field {
    uint32_t offset, n_bytes; /* n_bytes: until the next field, or the object's end */
    uint32_t level;           /* how many superclasses are below the one that declares it */
    bool is_reference;
    uint32_t recent; /* samples since heat was added up */
    double heat[PLACEMENT_HEATS];
};

struct placement_class {
    char name[PLACEMENT_NAME_BYTES];
    uint64_t n_bytes;  /* of an instance; 0: an array, or of no fixed length */
    uint64_t elements; /* an array of references: where they begin; else 0 */
    uint32_t n_fields, recent;
    double heat[PLACEMENT_HEATS];
    struct placement_field fields[PLACEMENT_FIELDS_MAX]; /* by offset */
    uint32_t layouts[PLACEMENT_HEATS];                   /* the latest, of the map */
    /* Objects that were placed, and their bytes. */
    uint64_t n_objects, n_object_bytes;
};

struct placement_classes {
    struct placement_class *classes; /* mapped; number 0 is of none */
    uint32_t n;
    uint64_t n_samples; /* in objects */
};

void placement_classes_open(struct placement_classes *all);
void placement_classes_close(struct placement_classes *all);

/* A new one, zeroed, with a name in which what would break a line is '?'; 0: there are too many. */
uint32_t placement_classes_add(struct placement_classes *all, const char *name);

/*
 * A field of an instance, in any order, before placement_class_ready; offset: of its first byte.  Those beyond
 * PLACEMENT_FIELDS_MAX are left out, and such a class' order is not changed.
 */
void placement_class_field(struct placement_class *class, uint32_t offset, uint32_t level, bool is_reference);
void placement_class_ready(struct placement_class *class);

/* A load's miss at an offset of an object was sampled: of its fields, or its elements; the header has no heat. */
void placement_classes_sample(struct placement_classes *all, uint32_t number, uint64_t offset);

/*
 * At each collection: what was sampled since the last one is added to the heat, and what was not sampled at all cools
 * down by half: a class can get cold again (PEBSI §4.2).
 */
void placement_classes_age(struct placement_classes *all);

/*
 * The order that puts the hottest field first, among the bytes that the fields of the same class (not of its
 * superclasses, whose order all of their subclasses share) have; each is aligned as it was.  Returns whether it is
 * another one than the class has.
 */
bool placement_class_order(const struct placement_class *class, unsigned heat, struct placement_layout *layout);

enum placement_kind { PLACEMENT_IDENTITY, PLACEMENT_HOT_COLD, PLACEMENT_CHILDREN, PLACEMENT_FIELDS, PLACEMENT_KINDS };

#define PLACEMENT_HOT_SHARE 0.3 /* PEBSI §5.2.1 */
#define PLACEMENT_HOTTEST   8   /* fields whose children are placed by heat; those behind them as they stand */

extern const char *const placement_kind_names[PLACEMENT_KINDS];

struct placement_policy {
    enum placement_kind kind;
    enum placement_heat heat;
    /* Of the cold space and the hot one. */
    uint64_t next[2];    /* in units of 8 bytes: the first free place */
    uint64_t n_bytes[2]; /* placed */
};

struct placement_world {
    struct placement_map map;
    struct placement_classes classes;
    struct placement_policy policies[PLACEMENT_MAX];
    uint32_t n_policies;
    /* The object that a reference points to, at an address of the program's memory; 0: none. */
    uint64_t (*read_reference)(void *context, uint64_t at);
    uint64_t reference_bytes;
    void *context;   /* borrowed */
    uint32_t *queue; /* owned; of objects, as queue_room has room */
    uint32_t queue_room;
};

/* Zeroes what is placed: after placement_map_clear_all, too. */
void placement_policies_reset(struct placement_world *world);

/*
 * Place the objects from this number of the map on, which came just now, with so many bytes each, in the order of their
 * addresses.
 */
void placement_place(struct placement_world *world, uint32_t first, const uint64_t *n_bytes);

#endif
